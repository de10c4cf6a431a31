#include "opening.h"

#include "model.h"

#include <jansson.h>
#include <stdlib.h>

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
                            json_pack("{s:s}", "listen", self->listen ? self->listen : "127.0.0.1:9001"));
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
