#include "desktop_alert.h"

#include "model.h"
#include "text.h"

#include <glib/gi18n.h>

#define SERVER "org.freedesktop.Notifications"
#define PATH "/org/freedesktop/Notifications"

enum { TITLE_LIMIT = 200, BODY_LIMIT = 1000, PATIENCE_MS = 5000 };

struct DesktopAlerts {
    GDBusConnection *bus;
    GCancellable *cancellable;
    guint taps, closings;
    GHashTable *shown; /* the server's number of each alert: the notification's id */
    void (*opened)(const char *id, gpointer);
    gpointer user_data;
};

typedef struct {
    DesktopAlerts *alerts;
    char *id, *title, *body;
    guchar urgency;
} Alert;

static void alert_free(Alert *alert) {
    g_free(alert->id);
    g_free(alert->title);
    g_free(alert->body);
    g_free(alert);
}

static void on_shown(GObject *bus, GAsyncResult *result, gpointer data) {
    Alert *alert = data;
    GVariant *reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(bus), result, NULL);
    if (reply) { /* without one there may be no alerts any more */
        guint32 number;
        g_variant_get(reply, "(u)", &number);
        g_hash_table_insert(alert->alerts->shown, GUINT_TO_POINTER(number), g_strdup(alert->id));
        g_variant_unref(reply);
    }
    alert_free(alert);
}

/* Most servers take the body as markup, some as text: they say so. */
static void on_capabilities(GObject *bus, GAsyncResult *result, gpointer data) {
    Alert *alert = data;
    GVariant *reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(bus), result, NULL);
    if (!reply) {
        alert_free(alert);
        return;
    }
    const char **capabilities;
    g_variant_get(reply, "(^a&s)", &capabilities);
    gboolean is_markup = g_strv_contains(capabilities, "body-markup");
    char *body = is_markup ? g_markup_escape_text(alert->body, -1) : g_strdup(alert->body);
    g_free(capabilities);
    g_variant_unref(reply);

    GVariantBuilder actions, hints;
    g_variant_builder_init(&actions, G_VARIANT_TYPE("as"));
    g_variant_builder_add(&actions, "s", "default");
    g_variant_builder_add(&actions, "s", _("Open"));
    g_variant_builder_init(&hints, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(&hints, "{sv}", "urgency", g_variant_new_byte(alert->urgency));
    g_variant_builder_add(&hints, "{sv}", "desktop-entry", g_variant_new_string(APPLICATION_ID));
    g_dbus_connection_call(G_DBUS_CONNECTION(bus), SERVER, PATH, SERVER, "Notify",
                           g_variant_new("(susssasa{sv}i)", "Bellwire", 0u, APPLICATION_ID, alert->title, body,
                                         &actions, &hints, -1),
                           G_VARIANT_TYPE("(u)"), G_DBUS_CALL_FLAGS_NONE, PATIENCE_MS, alert->alerts->cancellable,
                           on_shown, alert);
    g_free(body);
}

void desktop_alerts_show(DesktopAlerts *self, json_t *data) {
    if (!self->bus || json_is_true(json_object_get(data, "silenced"))) return;
    const char *priority = json_string_value(json_object_get(data, "priority"));
    Alert *alert = g_new(Alert, 1);
    alert->alerts = self;
    alert->id = g_strdup(json_string_value(json_object_get(data, "id")));
    alert->title = text_line(json_string_value(json_object_get(data, "title")), TITLE_LIMIT);
    alert->body = text_line(json_string_value(json_object_get(data, "body")), BODY_LIMIT);
    alert->urgency = g_strcmp0(priority, "urgent") == 0 ? 2 : g_strcmp0(priority, "low") == 0 ? 0 : 1;
    g_dbus_connection_call(self->bus, SERVER, PATH, SERVER, "GetCapabilities", NULL, G_VARIANT_TYPE("(as)"),
                           G_DBUS_CALL_FLAGS_NONE, PATIENCE_MS, self->cancellable, on_capabilities, alert);
}

static void on_signal(GDBusConnection *bus, const char *sender, const char *path, const char *interface,
                      const char *member, GVariant *parameters, gpointer data) {
    (void)bus, (void)sender, (void)path, (void)interface;
    DesktopAlerts *self = data;
    guint32 number;
    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(us)")) &&
        !g_variant_is_of_type(parameters, G_VARIANT_TYPE("(uu)")))
        return;
    g_variant_get_child(parameters, 0, "u", &number);
    const char *id = g_hash_table_lookup(self->shown, GUINT_TO_POINTER(number));
    if (!id) return;
    if (g_strcmp0(member, "ActionInvoked") == 0) self->opened(id, self->user_data);
    else g_hash_table_remove(self->shown, GUINT_TO_POINTER(number));
}

DesktopAlerts *desktop_alerts_new(void (*opened)(const char *id, gpointer), gpointer user_data) {
    DesktopAlerts *self = g_new0(DesktopAlerts, 1);
    self->opened = opened;
    self->user_data = user_data;
    self->cancellable = g_cancellable_new();
    self->shown = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    /* The application has it open already. */
    self->bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    if (!self->bus) return self;
    self->taps = g_dbus_connection_signal_subscribe(self->bus, SERVER, SERVER, "ActionInvoked", PATH, NULL,
                                                    G_DBUS_SIGNAL_FLAGS_NONE, on_signal, self, NULL);
    self->closings = g_dbus_connection_signal_subscribe(self->bus, SERVER, SERVER, "NotificationClosed", PATH, NULL,
                                                        G_DBUS_SIGNAL_FLAGS_NONE, on_signal, self, NULL);
    return self;
}

void desktop_alerts_free(DesktopAlerts *self) {
    g_cancellable_cancel(self->cancellable);
    if (self->bus) {
        g_dbus_connection_signal_unsubscribe(self->bus, self->taps);
        g_dbus_connection_signal_unsubscribe(self->bus, self->closings);
        g_object_unref(self->bus);
    }
    g_object_unref(self->cancellable);
    g_hash_table_unref(self->shown);
    g_free(self);
}
