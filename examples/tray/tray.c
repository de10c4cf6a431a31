#include "tray.h"

#include "alarm.h"
#include "autostart.h"
#include "icon.h"
#include "text.h"

#include <glib/gi18n.h>
#include <libayatana-appindicator/app-indicator.h>
#include <string.h>

enum { PEERS = 6, NAME_LIMIT = 40, TITLE_LIMIT = 48, PROBLEM_LIMIT = 60 };

typedef struct {
    GtkWidget *item;
    char *peer, *id;
    gboolean is_read;
} Push;

struct Tray {
    TrayOptions options;
    Model *model;
    AppIndicator *indicator;
    Quiet *quiet;
    guint midnight;
    gboolean is_setting; /* a check mark that we set is no wish */
    GtkWidget *peers[PEERS], *nobody, *more, *problem;
    Push pushes[LATEST];
    GtkWidget *pushes_end, *mark_all, *quiet_hour, *quiet_morning, *quiet_end, *quiet_hours, *alerts;
    GtkWidget *autostart;
};

/* The menu ------------------------------------------------------------------------------------------------------- */

/* Panels draw the menu anew with every change of an item: only what is different is set. An underscore would make the
 * character after it an access key; two are one that is seen. */
static void say(GtkWidget *item, char *text) {
    char **parts = g_strsplit(text, "_", -1), *label = g_strjoinv("__", parts);
    if (g_strcmp0(gtk_menu_item_get_label(GTK_MENU_ITEM(item)), label) != 0)
        gtk_menu_item_set_label(GTK_MENU_ITEM(item), label);
    g_free(label);
    g_strfreev(parts);
    g_free(text);
}

static void show(GtkWidget *item, gboolean is_shown) {
    if (gtk_widget_get_visible(item) != is_shown) gtk_widget_set_visible(item, is_shown);
}

static void enable(GtkWidget *item, gboolean is_enabled) {
    if (gtk_widget_get_sensitive(item) != is_enabled) gtk_widget_set_sensitive(item, is_enabled);
}

/* Peers' texts keep their own writing direction, between invisible marks. */
static char *isolated(const char *text, glong limit) {
    char *line = text_line(text, limit), *whole = g_strdup_printf("\u2068%s\u2069", line);
    g_free(line);
    return whole;
}

static void update_peers(Tray *self) {
    gboolean is_desktop = model_is_desktop(self->model);
    json_t *peers = model_peers(self->model);
    gsize count = json_array_size(peers);
    for (gsize index = 0; index < PEERS; index++) {
        show(self->peers[index], index < count);
        if (index >= count) continue;
        json_t *peer = json_array_get(peers, index);
        char *name = isolated(json_string_value(json_object_get(peer, "name")), NAME_LIMIT);
        if (is_desktop) {
            gint64 seen = json_integer_value(json_object_get(peer, "lastSeenAt"));
            char *when = seen ? text_when(seen) : g_strdup(_("not yet"));
            say(self->peers[index], g_strdup_printf(_("%s – seen %s"), name, when));
            g_free(when);
        } else {
            gboolean is_online = json_is_true(json_object_get(peer, "online"));
            say(self->peers[index], g_strdup_printf("%s %s – %s", is_online ? "●" : "○", name,
                                                    is_online ? _("online") : _("offline")));
        }
        g_free(name);
    }
    show(self->nobody, count == 0);
    show(self->more, count > PEERS);
    if (count > PEERS) say(self->more, g_strdup_printf(_("and %d more"), (int)(count - PEERS)));
}

static void update_pushes(Tray *self) {
    json_t *latest = model_latest(self->model);
    gsize count = json_array_size(latest);
    for (gsize index = 0; index < LATEST; index++) {
        Push *push = &self->pushes[index];
        show(push->item, index < count);
        g_free(push->peer);
        g_free(push->id);
        push->peer = push->id = NULL;
        if (index >= count) continue;
        json_t *row = json_array_get(latest, index);
        push->peer = g_strdup(json_string_value(json_object_get(row, "desktop")));
        push->id = g_strdup(json_string_value(json_object_get(row, "id")));
        push->is_read = json_is_true(json_object_get(row, "read"));
        char *title = isolated(json_string_value(json_object_get(row, "title")), TITLE_LIMIT);
        char *when = text_when(json_integer_value(json_object_get(row, "createdAt")));
        /* A figure space is as wide as a digit, about that of the dot. */
        say(push->item, g_strdup_printf("%s %s – %s", push->is_read ? "\u2007" : "•", title, when));
        g_free(when);
        g_free(title);
    }
    show(self->pushes_end, count > 0);
}

static void update_quiet(Tray *self) {
    gint64 until = quiet_until(self->quiet);
    show(self->quiet_hour, until == 0);
    show(self->quiet_morning, until == 0);
    show(self->quiet_end, until != 0);
    char *text = text_until(until ? until : quiet_morning());
    say(until ? self->quiet_end : self->quiet_morning,
        g_strdup_printf(until ? _("Quiet until %s – end now") : _("Quiet until %s"), text));
    g_free(text);
    QuietHours hours = {0};
    if (quiet_hours(self->quiet, &hours) && hours.is_on)
        say(self->quiet_hours, g_strdup_printf(_("Quiet hours: %s–%s…"), hours.begin, hours.end));
    else
        say(self->quiet_hours, g_strdup(_("Quiet hours…")));
}

static void check(Tray *self, GtkWidget *item, gboolean is_on) {
    self->is_setting = TRUE;
    if (gtk_check_menu_item_get_active(GTK_CHECK_MENU_ITEM(item)) != is_on)
        gtk_check_menu_item_set_active(GTK_CHECK_MENU_ITEM(item), is_on);
    self->is_setting = FALSE;
}

static void update_icon(Tray *self) {
    gint64 unread = model_unread(self->model);
    gboolean is_away = json_array_size(model_peers(self->model)) == 0 || !model_is_online(self->model);
    BellState state = quiet_until(self->quiet) ? BELL_QUIET : is_away ? BELL_AWAY : BELL_ON;
    const char *of = model_is_desktop(self->model) ? _("Bellwire desktop") : "Bellwire";
    char *title = unread ? g_strdup_printf(ngettext("%s: %d unread", "%s: %d unread", (gulong)unread), of, (int)unread)
                         : g_strdup_printf(_("%s: no unread notifications"), of);
    char *name = icon_write(self->options.icon_dir, state, unread);
    const char *shown = name ? name : "dialog-information";
    if (g_strcmp0(app_indicator_get_icon(self->indicator), shown) != 0)
        app_indicator_set_icon_full(self->indicator, shown, title);
    if (g_strcmp0(app_indicator_get_title(self->indicator), title) != 0)
        app_indicator_set_title(self->indicator, title);
    g_free(name);
    g_free(title);
}

static void update(gpointer data) {
    Tray *self = data;
    update_peers(self);
    update_pushes(self);
    update_quiet(self);
    update_icon(self);
    const char *problem = model_problem(self->model);
    show(self->problem, problem != NULL);
    if (problem) {
        char *line = text_line(problem, PROBLEM_LIMIT);
        say(self->problem, g_strdup_printf("⚠ %s", line));
        g_free(line);
    }
    enable(self->mark_all, model_unread(self->model) > 0);
    if (self->alerts) {
        check(self, self->alerts, model_alerts_allowed(self->model));
        enable(self->alerts, !model_holder(self->model));
    }
    check(self, self->autostart, autostart_is_on(self->options.name));
}

/* Moments that were today are yesterday's then. */
static void on_midnight(gpointer data) {
    Tray *self = data;
    GDateTime *today = g_date_time_new_now_local(), *then = g_date_time_add_days(today, 1);
    GDateTime *midnight = g_date_time_new_local(g_date_time_get_year(then), g_date_time_get_month(then),
                                                g_date_time_get_day_of_month(then), 0, 0, 0);
    self->midnight = alarm_at(g_date_time_to_unix(midnight), on_midnight, self);
    g_date_time_unref(midnight);
    g_date_time_unref(then);
    g_date_time_unref(today);
    if (self->autostart) update(self);
}

/* What is clicked ------------------------------------------------------------------------------------------------ */

static void on_pair(GtkMenuItem *item, Tray *self) {
    (void)item;
    self->options.wish(TRAY_PAIR, self->options.user_data);
}

static void on_history(GtkMenuItem *item, Tray *self) {
    (void)item;
    self->options.wish(TRAY_HISTORY, self->options.user_data);
}

static void on_send(GtkMenuItem *item, Tray *self) {
    (void)item;
    self->options.wish(TRAY_SEND, self->options.user_data);
}

static void on_settings(GtkMenuItem *item, Tray *self) {
    (void)item;
    self->options.wish(TRAY_SETTINGS, self->options.user_data);
}

static void on_quit(GtkMenuItem *item, Tray *self) {
    (void)item;
    self->options.wish(TRAY_QUIT, self->options.user_data);
}

static void on_push(GtkMenuItem *item, Tray *self) {
    for (gsize index = 0; index < LATEST; index++) {
        Push *push = &self->pushes[index];
        if (push->item != GTK_WIDGET(item) || !push->id) continue;
        if (push->is_read) {
            self->options.wish(TRAY_HISTORY, self->options.user_data);
        } else {
            model_mark_read(self->model, push->peer, push->id);
        }
        return;
    }
}

static void on_mark_all(GtkMenuItem *item, Tray *self) {
    (void)item;
    model_mark_all_read(self->model);
}

static void on_quiet_hour(GtkMenuItem *item, Tray *self) {
    (void)item;
    quiet_begin(self->quiet, quiet_an_hour());
}

static void on_quiet_morning(GtkMenuItem *item, Tray *self) {
    (void)item;
    quiet_begin(self->quiet, quiet_morning());
}

static void on_quiet_end(GtkMenuItem *item, Tray *self) {
    (void)item;
    quiet_end(self->quiet);
}

static void on_quiet_hours(GtkMenuItem *item, Tray *self) {
    (void)item;
    self->options.wish(TRAY_QUIET_HOURS, self->options.user_data);
}

static void on_alerts(GtkCheckMenuItem *item, Tray *self) {
    if (!self->is_setting) model_allow_alerts(self->model, gtk_check_menu_item_get_active(item));
}

static void on_autostart(GtkCheckMenuItem *item, Tray *self) {
    if (self->is_setting) return;
    GError *error = NULL;
    const char *title = model_is_desktop(self->model) ? _("Bellwire desktop") : "Bellwire";
    if (!autostart_set(self->options.name, gtk_check_menu_item_get_active(item), title, self->options.start_arguments,
                       &error)) {
        char *line = text_line(error->message, PROBLEM_LIMIT * 2);
        say(self->problem, g_strdup_printf("⚠ %s", line));
        show(self->problem, TRUE);
        g_free(line);
        g_error_free(error);
    }
    check(self, self->autostart, autostart_is_on(self->options.name));
}

/* Begin and end -------------------------------------------------------------------------------------------------- */

static GtkWidget *add(GtkWidget *menu, GtkWidget *item, GCallback clicked, Tray *self) {
    if (clicked)
        g_signal_connect(item, GTK_IS_CHECK_MENU_ITEM(item) ? "toggled" : "activate", clicked, self);
    gtk_menu_shell_append(GTK_MENU_SHELL(menu), item);
    gtk_widget_show(item);
    return item;
}

static GtkWidget *add_line(GtkWidget *menu) { return add(menu, gtk_separator_menu_item_new(), NULL, NULL); }

static GtkWidget *add_item(GtkWidget *menu, const char *label, GCallback clicked, Tray *self) {
    GtkWidget *item = gtk_menu_item_new_with_mnemonic(label);
    if (!clicked) gtk_widget_set_sensitive(item, FALSE);
    return add(menu, item, clicked, self);
}

static GtkWidget *add_check(GtkWidget *menu, const char *label, GCallback clicked, Tray *self) {
    return add(menu, gtk_check_menu_item_new_with_label(label), clicked, self);
}

static GtkWidget *build_menu(Tray *self) {
    gboolean is_desktop = model_is_desktop(self->model);
    GtkWidget *menu = gtk_menu_new();
    self->problem = add_item(menu, "", G_CALLBACK(on_history), self);
    self->nobody = add_item(menu, is_desktop ? _("No device is paired") : _("No desktop is paired"), NULL, self);
    for (gsize index = 0; index < PEERS; index++)
        self->peers[index] = add_item(menu, "", G_CALLBACK(on_pair), self);
    self->more = add_item(menu, "", G_CALLBACK(on_pair), self);
    add_line(menu);
    for (gsize index = 0; index < LATEST; index++)
        self->pushes[index].item = add_item(menu, "", G_CALLBACK(on_push), self);
    self->pushes_end = add_line(menu);
    self->mark_all = add_item(menu, _("Mark all as read"), G_CALLBACK(on_mark_all), self);
    GtkWidget *history = add_item(menu, _("History…"), G_CALLBACK(on_history), self);
    app_indicator_set_secondary_activate_target(self->indicator, history);
    if (is_desktop) add_item(menu, _("Send a notification…"), G_CALLBACK(on_send), self);
    add_line(menu);
    self->quiet_hour = add_item(menu, _("Quiet for an hour"), G_CALLBACK(on_quiet_hour), self);
    self->quiet_morning = add_item(menu, "", G_CALLBACK(on_quiet_morning), self);
    self->quiet_end = add_item(menu, "", G_CALLBACK(on_quiet_end), self);
    self->quiet_hours = add_item(menu, "", G_CALLBACK(on_quiet_hours), self);
    if (!is_desktop) self->alerts = add_check(menu, _("Show alerts"), G_CALLBACK(on_alerts), self);
    add_line(menu);
    add_item(menu, _("Pair…"), G_CALLBACK(on_pair), self);
    add_item(menu, _("Settings…"), G_CALLBACK(on_settings), self);
    self->autostart = add_check(menu, _("Start at login"), G_CALLBACK(on_autostart), self);
    add_item(menu, _("Quit"), G_CALLBACK(on_quit), self);
    return menu;
}

const char *tray_name(gboolean is_desktop) { return is_desktop ? APPLICATION_ID ".Desktop" : APPLICATION_ID; }

Tray *tray_new(const TrayOptions *options) {
    Tray *self = g_new0(Tray, 1);
    self->options = *options;
    self->model = g_object_ref(options->model);
    char *file = g_build_filename(options->state_dir, "tray-quiet.json", NULL);
    self->quiet = quiet_new(self->model, file, update, self);
    g_free(file);
    icon_clear(options->icon_dir);
    self->indicator = app_indicator_new_with_path(options->name, "dialog-information",
                                                  APP_INDICATOR_CATEGORY_COMMUNICATIONS, options->icon_dir);
    app_indicator_set_menu(self->indicator, GTK_MENU(build_menu(self)));
    update(self);
    app_indicator_set_status(self->indicator, APP_INDICATOR_STATUS_ACTIVE);
    on_midnight(self);
    g_signal_connect_swapped(self->model, "changed", G_CALLBACK(update), self);
    return self;
}

Quiet *tray_quiet(Tray *self) { return self->quiet; }

void tray_free(Tray *self) {
    if (self->midnight) g_source_remove(self->midnight);
    g_signal_handlers_disconnect_by_data(self->model, self);
    g_object_unref(self->indicator);
    quiet_free(self->quiet);
    icon_clear(self->options.icon_dir);
    for (gsize index = 0; index < LATEST; index++) {
        g_free(self->pushes[index].peer);
        g_free(self->pushes[index].id);
    }
    g_object_unref(self->model);
    g_free(self);
}
