/* The desktop itself: it pushes to its devices, and keeps the history. */
#include "side.h"

#include <jansson.h>
#include <stdlib.h>

enum { PATIENCE_MS = 30000 };

static bw_status open_desktop(const char *options_json, void **handle) {
    bw_desktop *desktop = NULL;
    bw_status status = bw_desktop_open(options_json, &desktop);
    *handle = desktop;
    return status;
}

static bw_status start(void *handle) { return bw_desktop_start(handle); }
static bw_status close_desktop(void *handle) { return bw_desktop_close(handle); }
static int32_t fd(void *handle) { return bw_desktop_fd(handle); }
static bw_status dispatch(void *handle) { return bw_desktop_dispatch(handle); }

static bw_status subscribe(void *handle, bw_event_callback callback, void *user_data) {
    return bw_desktop_subscribe(handle, "*", callback, user_data, NULL, NULL);
}

static bw_status state(void *handle, char **json) { return bw_desktop_state(handle, json); }
static bw_status peers(void *handle, char **json) { return bw_desktop_devices(handle, json); }
static bw_status unpair(void *handle, const char *peer) { return bw_desktop_unpair(handle, peer); }
static bw_status page(void *handle, const char *params, char **json) {
    return bw_desktop_history(handle, params, json);
}

/* The settings are in its own store. Its devices are notified of changes. */
static bw_status settings(void *handle, char **json) {
    return bw_desktop_invoke(handle, "notification.getSettings", NULL, PATIENCE_MS, json);
}

static bw_status set_settings(void *handle, const char *json, bw_completion done, void *data, bw_destroy destroy) {
    return bw_desktop_invoke_async(handle, "notification.updateSettings", json, PATIENCE_MS, done, data, destroy);
}

static bw_status of_one(void *handle, const char *method, const char *id, bw_completion done, void *data,
                        bw_destroy destroy) {
    json_t *params = json_pack("{s:s}", "notificationId", id);
    char *text = json_dumps(params, 0);
    bw_status status = bw_desktop_invoke_async(handle, method, text, PATIENCE_MS, done, data, destroy);
    free(text);
    json_decref(params);
    return status;
}

static bw_status mark_read(void *handle, const char *peer, const char *id, bw_completion done, void *data,
                           bw_destroy destroy) {
    (void)peer;
    return of_one(handle, "notification.markAsRead", id, done, data, destroy);
}

static bw_status mark_all_read(void *handle, const char *peer, bw_completion done, void *data, bw_destroy destroy) {
    (void)peer;
    return bw_desktop_invoke_async(handle, "notification.markAllAsRead", NULL, PATIENCE_MS, done, data, destroy);
}

static bw_status delete_one(void *handle, const char *peer, const char *id, bw_completion done, void *data,
                            bw_destroy destroy) {
    (void)peer;
    return of_one(handle, "notification.delete", id, done, data, destroy);
}

static bw_status show(void *handle, bw_completion done, void *data, bw_destroy destroy) {
    return bw_desktop_offer_async(handle, PATIENCE_MS, done, data, destroy);
}

static bw_status show_digits(void *handle, bw_completion done, void *data, bw_destroy destroy) {
    return bw_desktop_code_async(handle, PATIENCE_MS, done, data, destroy);
}

/* Returns at once with the scanned device; the outcome comes as pairing.changed. */
static bw_status scan(void *handle, const char *text, bw_completion done, void *data, bw_destroy destroy) {
    char *device = NULL;
    bw_status status = bw_desktop_scan(handle, text, &device);
    if (status >= 0) done(data, status, device);
    bw_free(device);
    destroy(data);
    return status;
}

static bw_status cancel(void *handle) { return bw_desktop_pairing_cancel(handle, NULL); }
static bw_status confirm(void *handle, const char *flow, int32_t accept) {
    return bw_desktop_confirm(handle, flow, accept);
}

static bw_status moves(void *handle, char **json) { return bw_desktop_rekey_status(handle, json); }
static bw_status confirm_move(void *handle, const char *peer, const char *new_id, int32_t accept) {
    return bw_desktop_rekey_confirm(handle, peer, new_id, accept);
}

const Side desktop_side = {
    .kind = "desktop",
    .open = open_desktop,
    .start = start,
    .close = close_desktop,
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
    .show_digits = show_digits,
    .scan = scan,
    .cancel = cancel,
    .confirm = confirm,
    .moves = moves,
    .confirm_move = confirm_move,
};
