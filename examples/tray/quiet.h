/*
 * quiet.h - the user's quiet hours; and quiet for a while, which puts quiet hours of its own in their place and the
 * user's back at the end.
 */
#ifndef TRAY_QUIET_H
#define TRAY_QUIET_H

#include "model.h"

typedef struct Quiet Quiet;

/* Every day, in this machine's time zone, "HH:MM". Over midnight if the end is before the beginning. */
typedef struct {
    gboolean is_on;
    char begin[6], end[6];
} QuietHours;

/* The file keeps what is to be put back, so that quiet ends in time, or at the next start. changed is called when quiet
 * begins or ends. */
Quiet *quiet_new(Model *model, const char *file, void (*changed)(gpointer), gpointer user_data);
void quiet_free(Quiet *self);

/* Until when, in seconds since 1970; 0 = it is not quiet. */
gint64 quiet_until(Quiet *self);
/* FALSE, and a problem of the model, when it cannot be; the user's own quiet hours stay then. */
gboolean quiet_begin(Quiet *self, gint64 until);
void quiet_end(Quiet *self);

/* The user's quiet hours, also while it is quiet for a while. FALSE when they cannot be read. */
gboolean quiet_hours(Quiet *self, QuietHours *hours);
/* Changes them; they hold at once, or once quiet for a while has ended. The owner is held until done was called, which
 * has no result on success. */
void quiet_set_hours(Quiet *self, const QuietHours *hours, GObject *owner, ModelDone done);

/* In an hour, at a full minute; and the next eight o'clock in the morning. */
gint64 quiet_an_hour(void);
gint64 quiet_morning(void);

#endif
