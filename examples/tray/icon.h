/*
 * icon.h - the bell in the panel, with the number of unread notifications on it.
 */
#ifndef TRAY_ICON_H
#define TRAY_ICON_H

#include <glib.h>

typedef enum { BELL_ON, BELL_AWAY, BELL_QUIET } BellState;

/* Draws the bell in the sizes that panels have, as an icon theme below directory, and gives its name in that theme;
 * NULL if the files cannot be written. 0 = without a number. The icons of earlier calls are taken away, but for the last.
 * Ours to free. */
char *icon_write(const char *directory, BellState state, gint64 unread);

/* Takes away the theme. */
void icon_clear(const char *directory);

#endif
