/*
 * autostart.h - whether the program starts with the user's session.
 */
#ifndef TRAY_AUTOSTART_H
#define TRAY_AUTOSTART_H

#include <glib.h>

/* A file of $XDG_CONFIG_HOME/autostart says so, or one for all users, which that replaces. name is that of the file
 * without its ending. */
gboolean autostart_is_on(const char *name);

/* Writes the user's file, or takes it away; if there is one for all users, it says that it is off.
 * arguments are those that the program is to be started with, NULL at the end. FALSE, with an error, when it cannot. */
gboolean autostart_set(const char *name, gboolean is_on, const char *title, char **arguments, GError **error);

#endif
