/*
 * tray.h - the icon in the panel and its menu.
 */
#ifndef TRAY_TRAY_H
#define TRAY_TRAY_H

#include "model.h"
#include "quiet.h"

typedef struct Tray Tray;

/* What the menu asks the program for. */
typedef enum { TRAY_PAIR, TRAY_HISTORY, TRAY_SEND, TRAY_QUIET_HOURS, TRAY_SETTINGS, TRAY_QUIT } TrayWish;

typedef struct {
    Model *model;
    const char *name;        /* of the .desktop file for the autostart */
    const char *state_dir;   /* keeps what quiet has to put back */
    const char *icon_dir;    /* for the icons; goes with the tray */
    char **start_arguments;  /* for the autostart */
    void (*wish)(TrayWish, gpointer);
    gpointer user_data;
} TrayOptions;

Tray *tray_new(const TrayOptions *options);
void tray_free(Tray *self);

/* The name of its .desktop file. */
const char *tray_name(gboolean is_desktop);

/* The tray's. */
Quiet *tray_quiet(Tray *self);

#endif
