/* A device: what desktops push comes here. */
#include "side.h"

#include <stddef.h>

enum { PATIENCE_MS = 30000 };

static bw_status open_device(const char *options_json, void **handle) {
    bw_device *device = NULL;
    bw_status status = bw_device_open(options_json, &device);
    *handle = device;
    return status;
}

static bw_status start(void *handle) { return bw_device_start(handle); }
static bw_status close_device(void *handle) { return bw_device_close(handle); }
static int32_t fd(void *handle) { return bw_device_fd(handle); }
static bw_status dispatch(void *handle) { return bw_device_dispatch(handle); }

static bw_status subscribe(void *handle, bw_event_callback callback, void *user_data) {
    return bw_device_subscribe(handle, "*", callback, user_data, NULL, NULL);
}

static bw_status state(void *handle, char **json) { return bw_device_state(handle, json); }
static bw_status peers(void *handle, char **json) { return bw_pairing_list(handle, json); }
static bw_status unpair(void *handle, const char *peer) { return bw_pairing_unpair(handle, peer); }
static bw_status page(void *handle, const char *params, char **json) { return bw_inbox_load(handle, params, json); }
static bw_status settings(void *handle, char **json) { return bw_alerts_settings(handle, json); }

/* They lie in its own store: it is done at once. */
static bw_status set_settings(void *handle, const char *json, bw_completion done, void *data, bw_destroy destroy) {
    bw_status status = bw_alerts_set_settings(handle, json, NULL);
    if (status >= 0) done(data, status, NULL);
    destroy(data);
    return status;
}

static bw_status mark_read(void *handle, const char *peer, const char *id, bw_completion done, void *data,
                           bw_destroy destroy) {
    return bw_inbox_mark_read_async(handle, peer, id, PATIENCE_MS, done, data, destroy);
}

static bw_status mark_all_read(void *handle, const char *peer, bw_completion done, void *data, bw_destroy destroy) {
    return bw_inbox_mark_all_read_async(handle, peer, PATIENCE_MS, done, data, destroy);
}

static bw_status delete_one(void *handle, const char *peer, const char *id, bw_completion done, void *data,
                            bw_destroy destroy) {
    return bw_inbox_delete_async(handle, peer, id, PATIENCE_MS, done, data, destroy);
}

static bw_status show(void *handle, bw_completion done, void *data, bw_destroy destroy) {
    return bw_pairing_show_async(handle, PATIENCE_MS, done, data, destroy);
}

static bw_status scan(void *handle, const char *text, bw_completion done, void *data, bw_destroy destroy) {
    return bw_pairing_scan_async(handle, text, PATIENCE_MS, done, data, destroy);
}

static bw_status type(void *handle, const char *digits, bw_completion done, void *data, bw_destroy destroy) {
    return bw_pairing_type_async(handle, digits, PATIENCE_MS, done, data, destroy);
}

static bw_status cancel(void *handle) { return bw_pairing_cancel(handle, NULL); }

static bw_status confirm(void *handle, const char *flow, int32_t accept) {
    return bw_pairing_confirm(handle, flow, accept);
}

static bw_status moves(void *handle, char **json) { return bw_device_rekey_status(handle, json); }

static bw_status confirm_move(void *handle, const char *peer, const char *new_id, int32_t accept) {
    return bw_device_rekey_confirm(handle, peer, new_id, accept);
}

const Side device_side = {
    .kind = "device",
    .open = open_device,
    .start = start,
    .close = close_device,
    .fd = fd,
    .dispatch = dispatch,
    .subscribe = subscribe,
    .state = state,
    .peers = peers,
    .unpair = unpair,
    .page = page,
    .settings = settings,
    .set_settings = set_settings,
    .mark_read = mark_read,
    .mark_all_read = mark_all_read,
    .delete_one = delete_one,
    .show = show,
    .scan = scan,
    .type = type,
    .cancel = cancel,
    .confirm = confirm,
    .moves = moves,
    .confirm_move = confirm_move,
};
