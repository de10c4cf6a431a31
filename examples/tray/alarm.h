/*
 * alarm.h - one call at a moment by the clock on the wall.
 */
#ifndef TRAY_ALARM_H
#define TRAY_ALARM_H

#include <glib.h>

/* Calls ring once, at that moment (seconds since 1970) or as soon as the machine is awake again; earlier when somebody
 * sets the clock, so that who is called looks at the time anew. A kernel timer in the main loop: nothing polls. Gives
 * what g_source_remove() takes, or 0. */
guint alarm_at(gint64 seconds, void (*ring)(gpointer), gpointer user_data);

#endif
