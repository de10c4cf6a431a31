#include "preferences.h"

#include <glib/gstdio.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void preferences_set(char **text, const char *value) {
    char *copy = value && *value ? g_strdup(value) : NULL;
    g_free(*text);
    *text = copy;
}

void preferences_load(Preferences *self, const char *file) {
    json_t *whole = json_load_file(file, 0, NULL);
    preferences_set(&self->name, json_string_value(json_object_get(whole, "name")));
    preferences_set(&self->relay_url, json_string_value(json_object_get(whole, "relay_url")));
    self->uses_lan = json_is_true(json_object_get(whole, "lan"));
    json_decref(whole);
}

gboolean preferences_save(const Preferences *self, const char *file, GError **error) {
    json_t *whole = json_pack("{s:s*, s:s*, s:b}", "name", self->name, "relay_url", self->relay_url, "lan",
                              self->uses_lan);
    char *text = json_dumps(whole, 0);
    json_decref(whole);
    gboolean is_done = g_file_set_contents_full(file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
    free(text);
    return is_done;
}

void preferences_clear(Preferences *self) {
    preferences_set(&self->name, NULL);
    preferences_set(&self->relay_url, NULL);
}

char *preferences_relay_url(const char *text) {
    char *trimmed = g_strstrip(g_strdup(text));
    char *url = !*trimmed || strstr(trimmed, "://") ? g_strdup(trimmed) : g_strconcat("ws://", trimmed, NULL);
    g_free(trimmed);
    gboolean is_relay = !*url;
    GUri *parsed = *url ? g_uri_parse(url, G_URI_FLAGS_NONE, NULL) : NULL;
    if (parsed) {
        const char *scheme = g_uri_get_scheme(parsed), *host = g_uri_get_host(parsed);
        is_relay = (g_str_equal(scheme, "ws") || g_str_equal(scheme, "wss")) && host && *host && !strchr(url, ' ');
        g_uri_unref(parsed);
    }
    if (is_relay) return url;
    g_free(url);
    return NULL;
}
