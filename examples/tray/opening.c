#include "opening.h"

#include "model.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTEN "127.0.0.1:9001"

static json_t *own_options(const Opening *self) {
    json_t *options = json_pack("{s:s, s:s*, s:s*}", "state_dir", self->state_dir, "relay_url", self->relay_url, "name",
                                self->name);
    if (!self->is_desktop) {
        json_object_set_new(options, "shared", json_true());
        json_object_set_new(options, "alerts", json_string("system"));
        json_object_set_new(options, "application_id", json_string(APPLICATION_ID));
        json_object_set_new(options, "application_name", json_string("Bellwire"));
        json_object_set_new(options, "icon", json_string(APPLICATION_ID));
        json_object_set_new(options, "burst_limit", json_integer(BURST_LIMIT));
        json_object_set_new(options, "late_alerts", json_string("summary"));
    } else if (!self->relay_url) {
        json_object_set_new(options, "relay",
                            json_pack("{s:s}", "listen", self->listen ? self->listen : LISTEN));
    }
    return options;
}

static bw_status open_with(const Side *side, json_t *options, void **handle) {
    char *text = json_dumps(options, 0);
    json_decref(options);
    bw_status status = side->open(text, handle);
    free(text);
    return status;
}

/* Whether the last call failed because another program has the device, with other options. */
static gboolean differs_from_holder(void) {
    char *error = bw_last_error();
    json_t *whole = error ? json_loads(error, JSON_ALLOW_NUL, NULL) : NULL;
    const char *reason = json_string_value(json_object_get(json_object_get(whole, "detail"), "reason"));
    gboolean differs = g_strcmp0(reason, "shared_option") == 0;
    json_decref(whole);
    bw_free(error);
    return differs;
}

char *opening_lan_address(const char *listen) {
    const char *own = listen ? listen : LISTEN, *port = strrchr(own, ':');
    if (!port || (!g_str_has_prefix(own, "127.") && !g_str_has_prefix(own, "localhost:"))) return NULL;
    /* The address from which the default route leaves; connecting a datagram socket sends nothing. */
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(9)}, here = {0};
    socklen_t size = sizeof here;
    char text[INET_ADDRSTRLEN] = "";
    inet_pton(AF_INET, "192.0.2.1", &there.sin_addr);
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    gboolean is_found = descriptor >= 0 && connect(descriptor, (struct sockaddr *)&there, sizeof there) == 0 &&
                        getsockname(descriptor, (struct sockaddr *)&here, &size) == 0 &&
                        inet_ntop(AF_INET, &here.sin_addr, text, sizeof text) && !g_str_has_prefix(text, "127.");
    if (descriptor >= 0) close(descriptor);
    return is_found ? g_strconcat(text, port, NULL) : NULL;
}

bw_status opening_open(const Opening *self, const Side *side, void **handle, gboolean *is_guest) {
    *is_guest = FALSE;
    bw_status status = open_with(side, own_options(self), handle);
    if (status != BW_E_INVALID || self->is_desktop || !differs_from_holder()) return status;
    *is_guest = TRUE;
    return open_with(side,
                     json_pack("{s:s, s:b, s:s}", "state_dir", self->state_dir, "shared", 1, "application_id",
                               APPLICATION_ID),
                     handle);
}
