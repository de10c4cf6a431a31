/*
 * quiet.h - quiet for a while: the alerts' own quiet hours, put in place of the user's and taken back at the end.
 */
#ifndef TRAY_QUIET_H
#define TRAY_QUIET_H

#include "model.h"

typedef struct Quiet Quiet;

/* The file keeps what is to be put back, so that quiet ends in time, or at the next start. changed is called when quiet
 * begins or ends. */
Quiet *quiet_new(Model *model, const char *file, void (*changed)(gpointer), gpointer user_data);
void quiet_free(Quiet *self);

/* Until when, in seconds since 1970; 0 = it is not quiet. */
gint64 quiet_until(Quiet *self);
/* FALSE, and a problem of the model, when it cannot be; the user's own quiet hours stay then. */
gboolean quiet_begin(Quiet *self, gint64 until);
void quiet_end(Quiet *self);

/* In an hour, at a full minute; and the next eight o'clock in the morning. */
gint64 quiet_an_hour(void);
gint64 quiet_morning(void);

#endif
