/*
 * settings_window.h - the name that others see, the relay, alerts, and the start with the session.
 */
#ifndef TRAY_SETTINGS_WINDOW_H
#define TRAY_SETTINGS_WINDOW_H

#include "model.h"

#include <gtk/gtk.h>

typedef struct {
    GtkApplication *application;
    Model *model;
    const char *autostart; /* the name of its entry */
    char **start_arguments;
    void (*quiet_hours)(gpointer); /* opens their window */
    gpointer user_data;
} SettingsWindowOptions;

/* The one settings window of the application; a second call raises it. */
void settings_window_present(const SettingsWindowOptions *options);

#endif
