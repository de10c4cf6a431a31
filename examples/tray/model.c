#include "model_parts.h"

#include "opening.h"
#include "text.h"

#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>

G_DEFINE_TYPE(Model, model, G_TYPE_OBJECT)

enum { CHANGED, PAIRING, MOVE, OPENED, ARRIVED, REOPENED, SIGNALS };
static guint signals[SIGNALS];

static gboolean reopen_as_holder(gpointer data);

static void model_finalize(GObject *object) {
    Model *self = TRAY_MODEL(object);
    json_decref(self->peers);
    json_decref(self->latest);
    g_free(self->state_dir);
    g_free(self->listen);
    g_free(self->preferences_file);
    preferences_clear(&self->own);
    g_free(self->shown_name);
    g_free(self->holder);
    g_free(self->authorization);
    g_free(self->problem);
    G_OBJECT_CLASS(model_parent_class)->finalize(object);
}

static void model_class_init(ModelClass *class) {
    G_OBJECT_CLASS(class)->finalize = model_finalize;
    GType type = G_TYPE_FROM_CLASS(class);
    signals[CHANGED] = g_signal_new("changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
    signals[PAIRING] =
        g_signal_new("pairing", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
    signals[MOVE] = g_signal_new("move", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
    signals[REOPENED] = g_signal_new("reopened", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
    signals[OPENED] = g_signal_new("opened", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                                   G_TYPE_STRING, G_TYPE_STRING);
    signals[ARRIVED] =
        g_signal_new("arrived", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING,
                     G_TYPE_POINTER);
}

static void model_init(Model *self) {
    self->peers = json_array();
    self->latest = json_array();
}

/* Peers' texts may contain U+0000; without this flag jansson would refuse the whole document. */
static json_t *parsed(const char *json) { return json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL); }

/* What a call gave, as a value of ours; NULL when it failed. */
static json_t *taken(bw_status status, char *json) {
    json_t *value = status >= 0 && json ? parsed(json) : NULL;
    if (status >= 0) bw_free(json);
    return value;
}

/* What one of the side's calls without parameters tells. */
json_t *model_told(Model *self, bw_status (*call)(void *handle, char **json)) {
    char *json = NULL;
    bw_status status = call(self->handle, &json);
    return taken(status, json);
}

/* What is shown -------------------------------------------------------------------------------------------------- */

static void keep(char **text, json_t *value) {
    g_free(*text);
    *text = g_strdup(json_string_value(value));
}

/* Who has the device; and what that program leaves of ours. */
static void look_at_sharing(Model *self, json_t *sharing) {
    gboolean is_holder = g_strcmp0(json_string_value(json_object_get(sharing, "part")), "guest") != 0;
    json_t *holder = is_holder ? NULL : json_object_get(sharing, "holder");
    keep(&self->holder, json_object_get(holder, "application"));
    /* The other program has ended, and its options still hold. */
    if (is_holder && self->is_guest && self->reopen_source == 0) self->reopen_source = g_idle_add(reopen_as_holder, self);
}

static void look_at_connection(Model *self) {
    json_t *state = model_told(self, self->side->state), *each, *peer;
    gsize index, place;
    self->is_online = FALSE;
    json_array_foreach(json_object_get(state, "connection"), index, each) {
        if (model_is_desktop(self)) {
            const char *stands = json_string_value(json_object_get(each, "state"));
            self->is_online |= g_strcmp0(stands, "online") == 0;
            continue;
        }
        gboolean is_online = json_is_true(json_object_get(each, "online"));
        const char *id = json_string_value(json_object_get(each, "desktop"));
        json_array_foreach(self->peers, place, peer) {
            if (g_strcmp0(json_string_value(json_object_get(peer, "id")), id) == 0)
                json_object_set_new(peer, "online", json_boolean(is_online));
        }
        self->is_online |= is_online;
    }
    self->unread = json_integer_value(json_object_get(state, "unread"));
    keep(&self->shown_name, json_object_get(state, "name"));
    keep(&self->authorization, json_object_get(state, "authorization"));
    look_at_sharing(self, json_object_get(state, "sharing"));
    json_decref(state);
}

static gboolean look_anew(gpointer data) {
    Model *self = data;
    self->changed_source = 0;
    json_t *peers = model_told(self, self->side->peers);
    if (peers) {
        json_decref(self->peers);
        self->peers = peers;
    }
    look_at_connection(self);
    json_t *page = model_page(self, json_pack("{s:i}", "limit", LATEST));
    if (page) {
        json_decref(self->latest);
        self->latest = json_incref(json_object_get(page, "notifications"));
        json_decref(page);
    }
    g_signal_emit(self, signals[CHANGED], 0);
    return G_SOURCE_REMOVE;
}

/* A thousand pushes in one dispatch are looked at once. */
void model_look_soon(Model *self) {
    if (self->changed_source == 0 && self->handle) self->changed_source = g_idle_add(look_anew, self);
}

void model_set_problem(Model *self, char *problem) {
    g_free(self->problem);
    self->problem = problem;
    model_look_soon(self);
}

/* Events --------------------------------------------------------------------------------------------------------- */

static void on_event(void *user_data, const char *event, const char *event_json) {
    Model *self = user_data;
    json_t *whole = parsed(event_json), *data = json_object_get(whole, "data");
    if (strcmp(event, "pairing.changed") == 0) {
        g_signal_emit(self, signals[PAIRING], 0, data);
    } else if (strcmp(event, "rekey.changed") == 0) {
        if (g_strcmp0(json_string_value(json_object_get(data, "state")), "confirming") == 0)
            g_signal_emit(self, signals[MOVE], 0, data);
    } else if (strcmp(event, "notification.received") == 0) {
        g_signal_emit(self, signals[ARRIVED], 0, json_string_value(json_object_get(whole, "desktop")), data);
    } else if (strcmp(event, "notification.response") == 0) {
        const char *action = json_string_value(json_object_get(data, "action"));
        if (g_strcmp0(action, "default") == 0)
            g_signal_emit(self, signals[OPENED], 0, json_string_value(json_object_get(whole, "desktop")),
                          json_string_value(json_object_get(data, "id")));
    } else if (strcmp(event, "notification.silent") == 0) {
        /* There is no work of ours in it. */
        bw_device_complete(self->handle, json_string_value(json_object_get(data, "id")), "no_data");
    } else if (strcmp(event, "problem") == 0) {
        model_set_problem(self, text_line(json_string_value(json_object_get(data, "message")), 400));
    } else if (strcmp(event, "queue.ended") == 0 &&
               g_strcmp0(json_string_value(json_object_get(data, "outcome")), "failed") == 0) {
        json_t *error = json_object_get(data, "error");
        model_set_problem(self, text_line(json_string_value(json_object_get(error, "message")), 400));
    }
    json_decref(whole);
    model_look_soon(self);
}

static gboolean on_readable(gint descriptor, GIOCondition condition, gpointer data) {
    (void)descriptor, (void)condition;
    Model *self = data;
    g_object_ref(self);
    bw_status status = self->side->dispatch(self->handle);
    /* What could not be marked as handed over comes again. */
    if (status == BW_E_STORE) model_set_problem(self, text_failure(status));
    g_object_unref(self);
    return G_SOURCE_CONTINUE;
}

/* Begin and end -------------------------------------------------------------------------------------------------- */

static bw_status begin(Model *self) {
    char *lan = self->own.uses_lan ? opening_lan_address(self->listen) : NULL;
    Opening opening = {model_is_desktop(self), self->state_dir, self->own.name, self->own.relay_url,
                       lan ? lan : self->listen};
    bw_status status = opening_open(&opening, self->side, &self->handle, &self->is_guest);
    g_free(lan);
    if (status >= 0) status = self->side->subscribe(self->handle, on_event, self);
    if (status >= 0) status = self->side->start(self->handle);
    int32_t descriptor = status >= 0 ? self->side->fd(self->handle) : -1;
    if (status >= 0 && descriptor < 0) status = descriptor;
    if (status >= 0) self->descriptor_source = g_unix_fd_add(descriptor, G_IO_IN, on_readable, self);
    return status;
}

Model *model_new(const ModelOptions *options, char **failure) {
    Model *self = g_object_new(model_get_type(), NULL);
    self->side = options->is_desktop ? &desktop_side : &device_side;
    self->state_dir = g_strdup(options->state_dir);
    self->listen = g_strdup(options->listen);
    self->preferences_file = g_build_filename(options->state_dir, "tray.json", NULL);
    preferences_load(&self->own, self->preferences_file);
    if (options->relay_url) preferences_set(&self->own.relay_url, options->relay_url);
    bw_status status = begin(self);
    if (status < 0) {
        *failure = text_failure(status);
        model_close(self);
        g_object_unref(self);
        return NULL;
    }
    look_anew(self);
    return self;
}

static void end(Model *self) {
    if (self->descriptor_source) g_source_remove(self->descriptor_source);
    if (self->changed_source) g_source_remove(self->changed_source);
    if (self->reopen_source) g_source_remove(self->reopen_source);
    self->descriptor_source = self->changed_source = self->reopen_source = 0;
    void *handle = self->handle;
    self->handle = NULL;
    self->is_asking = FALSE;
    if (handle) self->side->close(handle);
}

/* Calls in progress end with an error. */
static bw_status reopen(Model *self) {
    end(self);
    return begin(self);
}

static void reopened(Model *self) {
    g_signal_emit(self, signals[REOPENED], 0);
    if (self->handle) look_anew(self);
}

static gboolean set_up(Model *self, const char *name, const char *relay_url, gboolean uses_lan, char **failure) {
    Preferences old = self->own;
    self->own = (Preferences){.uses_lan = uses_lan};
    preferences_set(&self->own.name, name);
    preferences_set(&self->own.relay_url, relay_url);
    bw_status status = reopen(self);
    GError *error = NULL;
    if (status < 0) {
        *failure = text_failure(status);
        preferences_clear(&self->own);
        self->own = old;
        /* As it was; should that fail as well, the next attempt is the user's. */
        if (reopen(self) < 0) end(self);
    } else {
        preferences_clear(&old);
        if (!preferences_save(&self->own, self->preferences_file, &error)) {
            *failure = text_line(error->message, 400);
            g_error_free(error);
        }
    }
    reopened(self);
    return !*failure;
}

gboolean model_set_up(Model *self, const char *name, const char *relay_url, char **failure) {
    return set_up(self, name, relay_url, self->own.uses_lan, failure);
}

gboolean model_use_lan(Model *self, char **failure) {
    return set_up(self, self->own.name, self->own.relay_url, TRUE, failure);
}

char *model_lan_offer(Model *self) {
    gboolean has_relay = model_is_desktop(self) && !self->own.relay_url && !self->own.uses_lan;
    return has_relay ? opening_lan_address(self->listen) : NULL;
}

static gboolean reopen_as_holder(gpointer data) {
    Model *self = data;
    self->reopen_source = 0;
    bw_status status = reopen(self);
    if (status < 0) model_set_problem(self, text_failure(status));
    reopened(self);
    return G_SOURCE_REMOVE;
}

void model_close(Model *self) { end(self); }

gboolean model_is_desktop(Model *self) { return self->side == &desktop_side; }
gint64 model_unread(Model *self) { return self->unread; }
gboolean model_is_online(Model *self) { return self->is_online; }
json_t *model_peers(Model *self) { return self->peers; }
json_t *model_latest(Model *self) { return self->latest; }
const char *model_problem(Model *self) { return self->problem; }
const char *model_name(Model *self) { return self->shown_name; }
const char *model_own_name(Model *self) { return self->own.name; }
const char *model_relay_url(Model *self) { return self->own.relay_url; }
const char *model_holder(Model *self) { return self->is_guest ? self->holder : NULL; }
gboolean model_lacks_relay(Model *self) {
    return !model_is_desktop(self) && !self->own.relay_url && json_array_size(self->peers) == 0;
}

/* Calls ---------------------------------------------------------------------------------------------------------- */

Call *model_call_new(Model *self, GObject *owner, ModelDone done) {
    Call *call = g_new(Call, 1);
    *call = (Call){g_object_ref(self), owner ? g_object_ref(owner) : NULL, done};
    return call;
}

void model_call_free(void *data) {
    Call *call = data;
    if (call->owner) g_object_unref(call->owner);
    g_object_unref(call->model);
    g_free(call);
}

void model_on_end(void *user_data, bw_status status, const char *json) {
    Call *call = user_data;
    if (status == BW_E_CLOSED) return;
    json_t *result = status >= 0 && json ? parsed(json) : NULL;
    char *failure = status < 0 ? text_failure_of(status, json) : NULL;
    if (call->done) {
        call->done(call->owner, result, failure);
    } else {
        model_set_problem(call->model, g_strdup(failure));
    }
    g_free(failure);
    json_decref(result);
    model_look_soon(call->model);
}

/* Some errors are returned at once, without a completion; the user data has then been released. */
void model_begun(Model *self, bw_status status, GObject *owner, ModelDone done) {
    if (status >= 0 || status == BW_E_CLOSED) return;
    char *failure = text_failure(status);
    if (done) {
        done(owner, NULL, failure);
    } else {
        model_set_problem(self, g_strdup(failure));
    }
    g_free(failure);
}

json_t *model_page(Model *self, json_t *params) {
    char *text = json_dumps(params, 0), *json = NULL;
    bw_status status = self->side->page(self->handle, text, &json);
    json_t *page = taken(status, json);
    if (status < 0) {
        char *failure = text_failure(status);
        /* Changes reload pages, so reporting the same problem again would reload them endlessly. */
        if (g_strcmp0(failure, self->problem) != 0) model_set_problem(self, failure);
        else g_free(failure);
    }
    free(text);
    json_decref(params);
    return page;
}

void model_mark_read(Model *self, const char *peer, const char *id) {
    Call *call = model_call_new(self, NULL, NULL);
    model_begun(self, self->side->mark_read(self->handle, peer, id, model_on_end, call, model_call_free), NULL, NULL);
}

void model_delete(Model *self, const char *peer, const char *id) {
    Call *call = model_call_new(self, NULL, NULL);
    model_begun(self, self->side->delete_one(self->handle, peer, id, model_on_end, call, model_call_free), NULL, NULL);
}

static void mark_all_of(Model *self, const char *peer) {
    Call *call = model_call_new(self, NULL, NULL);
    model_begun(self, self->side->mark_all_read(self->handle, peer, model_on_end, call, model_call_free), NULL, NULL);
}

void model_mark_all_read(Model *self) {
    if (model_is_desktop(self)) {
        mark_all_of(self, NULL);
        return;
    }
    /* Those of desktops that are paired no more are unread as well. */
    enum { MOST = 500 };
    GHashTable *peers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    json_t *page = model_page(self, json_pack("{s:i, s:b}", "limit", MOST, "unreadOnly", 1)), *each;
    gsize index;
    json_array_foreach(self->peers, index, each)
        g_hash_table_add(peers, g_strdup(json_string_value(json_object_get(each, "id"))));
    json_array_foreach(json_object_get(page, "notifications"), index, each)
        g_hash_table_add(peers, g_strdup(json_string_value(json_object_get(each, "desktop"))));
    GHashTableIter iterator;
    gpointer peer;
    g_hash_table_iter_init(&iterator, peers);
    while (g_hash_table_iter_next(&iterator, &peer, NULL)) mark_all_of(self, peer);
    g_hash_table_unref(peers);
    json_decref(page);
}

void model_unpair(Model *self, const char *peer) {
    bw_status status = self->side->unpair(self->handle, peer);
    model_set_problem(self, status < 0 ? text_failure(status) : NULL);
}

void model_show_code(Model *self, GObject *owner, ModelDone done) {
    model_begun(self, self->side->show(self->handle, model_on_end, model_call_new(self, owner, done), model_call_free), owner, done);
}

void model_show_digits(Model *self, GObject *owner, ModelDone done) {
    model_begun(self, self->side->show_digits(self->handle, model_on_end, model_call_new(self, owner, done), model_call_free), owner, done);
}

void model_scan(Model *self, const char *text, GObject *owner, ModelDone done) {
    model_begun(self, self->side->scan(self->handle, text, model_on_end, model_call_new(self, owner, done), model_call_free), owner, done);
}

void model_type(Model *self, const char *digits, GObject *owner, ModelDone done) {
    model_begun(self, self->side->type(self->handle, digits, model_on_end, model_call_new(self, owner, done), model_call_free), owner, done);
}

void model_notify(Model *self, json_t *params, GObject *owner, ModelDone done) {
    enum { PATIENCE_MS = 10000 };
    char *text = json_dumps(params, 0);
    Call *call = model_call_new(self, owner, done);
    model_begun(self, bw_desktop_notify_async(self->handle, text, PATIENCE_MS, model_on_end, call, model_call_free), owner, done);
    free(text);
    json_decref(params);
}

void model_send(Model *self, const char *peer, json_t *params, GObject *owner, ModelDone done) {
    enum { PATIENCE_MS = 10000, A_DAY_MS = 86400000 };
    json_object_set_new(params, "queueMs", json_integer(A_DAY_MS));
    char *text = json_dumps(params, 0);
    Call *call = model_call_new(self, owner, done);
    model_begun(self, bw_notification_send_async(self->handle, peer, text, PATIENCE_MS, model_on_end, call, model_call_free), owner,
          done);
    free(text);
    json_decref(params);
}

void model_cancel_pairing(Model *self) {
    if (self->handle) self->side->cancel(self->handle);
}

gboolean model_confirm(Model *self, const char *flow, gboolean accepts) {
    return self->side->confirm && self->side->confirm(self->handle, flow, accepts) >= 0;
}

void model_repeat_moves(Model *self) {
    json_t *status = model_told(self, self->side->moves), *each;
    gsize index;
    json_array_foreach(json_object_get(status, "questions"), index, each) g_signal_emit(self, signals[MOVE], 0, each);
    json_decref(status);
}

gboolean model_confirm_move(Model *self, const char *peer, const char *new_id, gboolean accepts) {
    return self->side->confirm_move(self->handle, peer, new_id, accepts) >= 0;
}
