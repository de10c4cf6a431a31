/*
 * opening.h - the options with which the library is opened.
 */
#ifndef TRAY_OPENING_H
#define TRAY_OPENING_H

#include "side.h"

#include <glib.h>

typedef struct {
    gboolean is_desktop;
    const char *state_dir;
    const char *name, *relay_url; /* NULL = the library's default */
    const char *listen;           /* the address of a desktop's own relay, or NULL */
} Opening;

/* Opens the handle. If another program has the device open with other options, ours join it, and is_guest becomes TRUE:
 * its name, relay and alerts hold. */
bw_status opening_open(const Opening *self, const Side *side, void **handle, gboolean *is_guest);

/* The address of this machine in the local network, with the port of listen (NULL = the default): "192.168.1.5:9001".
 * NULL if there is none, or if listen is no loopback address; else ours to free. */
char *opening_lan_address(const char *listen);

#endif
