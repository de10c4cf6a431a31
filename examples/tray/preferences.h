/*
 * preferences.h - what the windows keep beside the library's own settings: the name that others see, and the relay.
 */
#ifndef TRAY_PREFERENCES_H
#define TRAY_PREFERENCES_H

#include <glib.h>

typedef struct {
    char *name, *relay_url; /* NULL = the library's default */
    gboolean uses_lan;      /* a desktop's own relay serves the local network, not only this machine */
} Preferences;

/* An unreadable file counts as none. */
void preferences_load(Preferences *self, const char *file);
/* Returns FALSE and sets error if the file cannot be written. */
gboolean preferences_save(const Preferences *self, const char *file, GError **error);
void preferences_clear(Preferences *self);

/* Replaces a text; an empty one becomes NULL. */
void preferences_set(char **text, const char *value);

/* "ws://192.168.1.5:9001" of "192.168.1.5:9001", without spaces around it; "" stays. NULL for what is no address of a
 * relay; else ours to free. */
char *preferences_relay_url(const char *text);

#endif
