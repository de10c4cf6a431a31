#include "settings_window.h"

#include "autostart.h"
#include "preferences.h"
#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>

enum { NAME_BYTES = 256, URL_BYTES = 1024 };

#define TYPE_SETTINGS_WINDOW (settings_window_get_type())
G_DECLARE_FINAL_TYPE(SettingsWindow, settings_window, TRAY, SETTINGS_WINDOW, GtkApplicationWindow)

struct _SettingsWindow {
    GtkApplicationWindow parent;
    SettingsWindowOptions options;
    Model *model;
    gboolean is_closed, is_filling;
    GtkWidget *name, *relay, *alerts, *previews, *bursts, *autostart, *save, *outcome, *guest;
};

G_DEFINE_TYPE(SettingsWindow, settings_window, GTK_TYPE_APPLICATION_WINDOW)

static void say(SettingsWindow *self, const char *text) { gtk_label_set_text(GTK_LABEL(self->outcome), text); }

static const char *text_of(GtkWidget *entry) { return gtk_entry_get_text(GTK_ENTRY(entry)); }

static const char *or_empty(const char *text) { return text ? text : ""; }

/* Name and relay --------------------------------------------------------------------------------------------------- */

static gboolean is_changed(SettingsWindow *self) {
    return g_strcmp0(text_of(self->name), or_empty(model_own_name(self->model))) != 0 ||
           g_strcmp0(text_of(self->relay), or_empty(model_relay_url(self->model))) != 0;
}

/* What is wrong with the fields' values; NULL = nothing. */
static const char *fault(SettingsWindow *self) {
    char *url = preferences_relay_url(text_of(self->relay));
    gboolean is_relay = url != NULL;
    g_free(url);
    if (!is_relay) return _("A relay's address is like 192.168.1.5:9001 or wss://relay.example.org.");
    if (strlen(text_of(self->name)) > NAME_BYTES) return _("This name is too long.");
    return NULL;
}

static void on_edited(GtkWidget *widget, SettingsWindow *self) {
    (void)widget;
    if (self->is_filling) return;
    const char *why = fault(self);
    gtk_widget_set_sensitive(self->save, !why && is_changed(self));
    say(self, why ? why : "");
}

static void on_save(GtkWidget *widget, SettingsWindow *self) {
    (void)widget;
    if (!gtk_widget_get_sensitive(self->save)) return;
    char *url = preferences_relay_url(text_of(self->relay)), *name = g_strstrip(g_strdup(text_of(self->name)));
    char *failure = NULL;
    g_object_ref(self);
    gboolean is_done = model_set_up(self->model, *name ? name : NULL, *url ? url : NULL, &failure);
    if (!self->is_closed && is_done) {
        self->is_filling = TRUE;
        gtk_entry_set_text(GTK_ENTRY(self->name), name);
        gtk_entry_set_text(GTK_ENTRY(self->relay), url);
        self->is_filling = FALSE;
        gtk_widget_set_sensitive(self->save, FALSE);
    }
    if (!self->is_closed) say(self, is_done ? _("Saved.") : failure);
    g_object_unref(self);
    g_free(failure);
    g_free(name);
    g_free(url);
}

/* Switches --------------------------------------------------------------------------------------------------------- */

static void on_alerts(GtkToggleButton *button, SettingsWindow *self) {
    if (!self->is_filling) model_allow_alerts(self->model, gtk_toggle_button_get_active(button));
}

static void on_previews(GtkToggleButton *button, SettingsWindow *self) {
    if (self->is_filling) return;
    model_set_settings(self->model, json_pack("{s:b}", "showPreview", gtk_toggle_button_get_active(button)), NULL,
                       NULL);
}

static void on_bursts(GtkToggleButton *button, SettingsWindow *self) {
    if (self->is_filling) return;
    int limit = gtk_toggle_button_get_active(button) ? BURST_LIMIT : 0;
    model_set_settings(self->model, json_pack("{s:i}", "burstLimit", limit), NULL, NULL);
}

static void on_autostart(GtkToggleButton *button, SettingsWindow *self) {
    if (self->is_filling) return;
    GError *error = NULL;
    const char *title = model_is_desktop(self->model) ? _("Bellwire desktop") : "Bellwire";
    if (!autostart_set(self->options.autostart, gtk_toggle_button_get_active(button), title,
                       self->options.start_arguments, &error)) {
        say(self, error->message);
        g_error_free(error);
    }
}

static void on_quiet_hours(GtkButton *button, SettingsWindow *self) {
    (void)button;
    self->options.quiet_hours(self->options.user_data);
}

static void check(GtkWidget *button, gboolean is_on) { gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), is_on); }

/* What has been changed elsewhere; what is being typed stays. */
static void look(SettingsWindow *self) {
    self->is_filling = TRUE;
    const char *holder = model_holder(self->model);
    char *program = text_line(holder, 60);
    char *note = g_strdup_printf(_("%s is using this device: its name, relay and alerts apply until it exits."),
                                 program);
    gtk_label_set_text(GTK_LABEL(self->guest), note);
    gtk_widget_set_visible(self->guest, holder != NULL);
    g_free(note);
    g_free(program);
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->name), or_empty(model_name(self->model)));
    if (self->alerts) {
        gtk_widget_set_sensitive(self->alerts, !holder);
        gtk_widget_set_sensitive(self->previews, !holder);
        gtk_widget_set_sensitive(self->bursts, !holder);
        check(self->alerts, model_alerts_allowed(self->model));
        json_t *settings = model_settings(self->model);
        check(self->previews, !json_is_false(json_object_get(settings, "showPreview")));
        check(self->bursts, json_integer_value(json_object_get(settings, "burstLimit")) > 0);
        json_decref(settings);
    }
    check(self->autostart, autostart_is_on(self->options.autostart));
    self->is_filling = FALSE;
}

/* The window ------------------------------------------------------------------------------------------------------- */

static void settings_window_dispose(GObject *object) {
    SettingsWindow *self = TRAY_SETTINGS_WINDOW(object);
    if (!self->is_closed) g_signal_handlers_disconnect_by_data(self->model, self);
    self->is_closed = TRUE;
    G_OBJECT_CLASS(settings_window_parent_class)->dispose(object);
}

static void settings_window_finalize(GObject *object) {
    g_object_unref(TRAY_SETTINGS_WINDOW(object)->model);
    G_OBJECT_CLASS(settings_window_parent_class)->finalize(object);
}

static void settings_window_class_init(SettingsWindowClass *class) {
    G_OBJECT_CLASS(class)->dispose = settings_window_dispose;
    G_OBJECT_CLASS(class)->finalize = settings_window_finalize;
}

static void settings_window_init(SettingsWindow *self) { (void)self; }

static GtkWidget *add_text(SettingsWindow *self, GtkWidget *grid, int row, const char *mnemonic, const char *value,
                           int limit) {
    GtkWidget *label = gtk_label_new_with_mnemonic(mnemonic), *entry = gtk_entry_new();
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), entry);
    gtk_label_set_xalign(GTK_LABEL(label), 1);
    gtk_style_context_add_class(gtk_widget_get_style_context(label), "dim-label");
    widget_name(entry, gtk_label_get_text(GTK_LABEL(label)), NULL);
    gtk_entry_set_max_length(GTK_ENTRY(entry), limit);
    gtk_entry_set_width_chars(GTK_ENTRY(entry), 32);
    gtk_entry_set_text(GTK_ENTRY(entry), or_empty(value));
    gtk_widget_set_hexpand(entry, TRUE);
    gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), entry, 1, row, 1, 1);
    g_signal_connect(entry, "changed", G_CALLBACK(on_edited), self);
    g_signal_connect(entry, "activate", G_CALLBACK(on_save), self);
    return entry;
}

static GtkWidget *add_check(SettingsWindow *self, GtkWidget *column, const char *mnemonic, GCallback toggled) {
    GtkWidget *button = gtk_check_button_new_with_mnemonic(mnemonic);
    g_signal_connect(button, "toggled", toggled, self);
    gtk_container_add(GTK_CONTAINER(column), button);
    return button;
}

static void fill(SettingsWindow *self, GtkWidget *column) {
    GtkWidget *grid = gtk_grid_new();
    g_object_set(grid, "row-spacing", 10, "column-spacing", 12, NULL);
    self->name = add_text(self, grid, 0, _("_Name"), model_own_name(self->model), NAME_BYTES);
    self->relay = add_text(self, grid, 1, _("_Relay"), model_relay_url(self->model), URL_BYTES);
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->relay), "ws://192.168.1.5:9001");
    gtk_container_add(GTK_CONTAINER(column), grid);
    gboolean is_desktop = model_is_desktop(self->model);
    GtkWidget *note = widget_note(is_desktop ? _("Devices show the name. Without a relay here, this desktop runs its own.")
                                             : _("Desktops show the name. This relay is used in addition to those in the codes "
                                                 "you read."));
    gtk_style_context_add_class(gtk_widget_get_style_context(note), "dim-label");
    gtk_container_add(GTK_CONTAINER(column), note);
    self->guest = widget_note("");
    gtk_widget_set_no_show_all(self->guest, TRUE);
    gtk_container_add(GTK_CONTAINER(column), self->guest);

    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    self->outcome = widget_note("");
    gtk_box_pack_start(GTK_BOX(row), self->outcome, TRUE, TRUE, 0);
    self->save = gtk_button_new_with_mnemonic(_("_Save"));
    gtk_widget_set_sensitive(self->save, FALSE);
    gtk_widget_set_valign(self->save, GTK_ALIGN_START);
    gtk_style_context_add_class(gtk_widget_get_style_context(self->save), "suggested-action");
    g_signal_connect(self->save, "clicked", G_CALLBACK(on_save), self);
    gtk_container_add(GTK_CONTAINER(row), self->save);
    gtk_container_add(GTK_CONTAINER(column), row);
    gtk_container_add(GTK_CONTAINER(column), gtk_separator_new(GTK_ORIENTATION_HORIZONTAL));

    if (!is_desktop) {
        self->alerts = add_check(self, column, _("Show _alerts"), G_CALLBACK(on_alerts));
        self->previews = add_check(self, column, _("Show _texts in alerts"), G_CALLBACK(on_previews));
        self->bursts = add_check(self, column, _("Sum up _bursts of notifications"), G_CALLBACK(on_bursts));
    }
    self->autostart = add_check(self, column, _("Start at _login"), G_CALLBACK(on_autostart));
    GtkWidget *quiet = gtk_button_new_with_mnemonic(_("_Quiet hours…"));
    gtk_widget_set_halign(quiet, GTK_ALIGN_START);
    g_signal_connect(quiet, "clicked", G_CALLBACK(on_quiet_hours), self);
    gtk_container_add(GTK_CONTAINER(column), quiet);
}

static SettingsWindow *settings_window_new(const SettingsWindowOptions *options) {
    SettingsWindow *self = g_object_new(TYPE_SETTINGS_WINDOW, "application", options->application, "title",
                                        _("Settings"), "icon-name", APPLICATION_ID, "resizable", FALSE, NULL);
    self->options = *options;
    self->model = g_object_ref(options->model);
    widget_style();
    GtkWidget *header = gtk_header_bar_new(), *column = widget_column(12);
    gtk_header_bar_set_title(GTK_HEADER_BAR(header), _("Settings"));
    gtk_header_bar_set_show_close_button(GTK_HEADER_BAR(header), TRUE);
    gtk_header_bar_set_decoration_layout(GTK_HEADER_BAR(header), ":close");
    gtk_window_set_titlebar(GTK_WINDOW(self), header);
    fill(self, column);
    gtk_container_add(GTK_CONTAINER(self), column);
    look(self);
    g_signal_connect_swapped(self->model, "changed", G_CALLBACK(look), self);
    gtk_window_set_position(GTK_WINDOW(self), GTK_WIN_POS_CENTER);
    widget_close_on_escape(GTK_WINDOW(self));
    gtk_widget_show_all(GTK_WIDGET(self));
    return self;
}

void settings_window_present(const SettingsWindowOptions *options) {
    for (GList *each = gtk_application_get_windows(options->application); each; each = each->next) {
        if (TRAY_IS_SETTINGS_WINDOW(each->data)) {
            gtk_window_present(each->data);
            return;
        }
    }
    gtk_window_present(GTK_WINDOW(settings_window_new(options)));
}
