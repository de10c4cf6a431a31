/*
 * side.h - the two ways in which the library is embedded, as one table of calls each: a device, or the desktop itself.
 */
#ifndef TRAY_SIDE_H
#define TRAY_SIDE_H

#include <bellwire.h>

/* Each takes the handle that open returned. Calls to another machine use the _async form. */
typedef struct {
    const char *kind; /* "device" or "desktop" */
    bw_status (*open)(const char *options_json, void **handle);
    bw_status (*start)(void *handle);
    bw_status (*close)(void *handle);
    int32_t (*fd)(void *handle);
    bw_status (*dispatch)(void *handle);
    bw_status (*subscribe)(void *handle, bw_event_callback callback, void *user_data);

    bw_status (*state)(void *handle, char **state_json);
    bw_status (*peers)(void *handle, char **peers_json);
    bw_status (*unpair)(void *handle, const char *peer);
    bw_status (*page)(void *handle, const char *params_json, char **page_json);
    bw_status (*settings)(void *handle, char **settings_json);

    bw_status (*set_settings)(void *handle, const char *settings_json, bw_completion, void *, bw_destroy);
    bw_status (*mark_read)(void *handle, const char *peer, const char *id, bw_completion, void *, bw_destroy);
    bw_status (*mark_all_read)(void *handle, const char *peer, bw_completion, void *, bw_destroy);
    bw_status (*delete_one)(void *handle, const char *peer, const char *id, bw_completion, void *, bw_destroy);

    /* A code to be scanned, {"payload","expiresAt"}; one to be typed, {"code","expiresAt"}, NULL where there is none. */
    bw_status (*show)(void *handle, bw_completion, void *, bw_destroy);
    bw_status (*show_digits)(void *handle, bw_completion, void *, bw_destroy);
    /* The text of the other side's code; the digits that the other side shows, NULL where they are not typed. */
    bw_status (*scan)(void *handle, const char *text, bw_completion, void *, bw_destroy);
    bw_status (*type)(void *handle, const char *digits, bw_completion, void *, bw_destroy);
    bw_status (*cancel)(void *handle);
    /* The user's answer to a peer that asks, NULL where none does. */
    bw_status (*confirm)(void *handle, const char *flow, int32_t accept);
    /* Peers that ask to move to a new key, and the user's answer to one. */
    bw_status (*moves)(void *handle, char **status_json);
    bw_status (*confirm_move)(void *handle, const char *peer, const char *new_id, int32_t accept);
} Side;

extern const Side device_side, desktop_side;

#endif
