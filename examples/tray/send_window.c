#include "send_window.h"

#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>

enum { TITLE_BYTES = 1024, NAME_LIMIT = 40 };

#define TYPE_SEND_WINDOW (send_window_get_type())
G_DECLARE_FINAL_TYPE(SendWindow, send_window, TRAY, SEND_WINDOW, GtkApplicationWindow)

struct _SendWindow {
    GtkApplicationWindow parent;
    Model *model;
    gboolean is_closed;
    GtkWidget *title, *body, *to, *priority, *send, *outcome;
};

G_DEFINE_TYPE(SendWindow, send_window, GTK_TYPE_APPLICATION_WINDOW)

static void on_title(GtkEditable *title, SendWindow *self) {
    (void)title;
    gsize bytes = strlen(gtk_entry_get_text(GTK_ENTRY(self->title)));
    gtk_widget_set_sensitive(self->send, bytes > 0 && bytes <= TITLE_BYTES);
}

static void on_sent(GObject *owner, json_t *result, const char *failure) {
    SendWindow *self = TRAY_SEND_WINDOW(owner);
    if (self->is_closed) return;
    gtk_widget_set_sensitive(self->send, TRUE);
    if (failure) {
        gtk_label_set_text(GTK_LABEL(self->outcome), failure);
        return;
    }
    int delivered = (int)json_integer_value(json_object_get(result, "deliveredCount"));
    int waiting = (int)json_integer_value(json_object_get(result, "failedCount"));
    char *text = waiting ? g_strdup_printf(_("Sent. %d received it; %d will when back online."), delivered, waiting)
                         : g_strdup_printf(_("Sent. %d received it."), delivered);
    gtk_label_set_text(GTK_LABEL(self->outcome), text);
    g_free(text);
    gtk_entry_set_text(GTK_ENTRY(self->title), "");
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->body)), "", -1);
    gtk_widget_grab_focus(self->title);
}

static void on_send(GtkWidget *widget, SendWindow *self) {
    (void)widget;
    if (!gtk_widget_get_sensitive(self->send)) return;
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->body));
    GtkTextIter begin, end;
    gtk_text_buffer_get_bounds(buffer, &begin, &end);
    char *body = gtk_text_buffer_get_text(buffer, &begin, &end, FALSE);
    json_t *params = json_pack("{s:s, s:s, s:s}", "title", gtk_entry_get_text(GTK_ENTRY(self->title)), "body", body,
                               "priority", gtk_combo_box_get_active_id(GTK_COMBO_BOX(self->priority)));
    const char *device = gtk_combo_box_get_active_id(GTK_COMBO_BOX(self->to));
    if (device && *device) json_object_set_new(params, "deviceId", json_string(device));
    g_free(body);
    gtk_widget_set_sensitive(self->send, FALSE);
    gtk_label_set_text(GTK_LABEL(self->outcome), _("Sending…"));
    model_notify(self->model, params, G_OBJECT(self), on_sent);
}

static void fill_devices(SendWindow *self) {
    json_t *peer;
    gsize index;
    GtkComboBoxText *to = GTK_COMBO_BOX_TEXT(self->to);
    gtk_combo_box_text_append(to, "", _("All devices"));
    json_array_foreach(model_peers(self->model), index, peer) {
        char *name = text_line(json_string_value(json_object_get(peer, "name")), NAME_LIMIT);
        gtk_combo_box_text_append(to, json_string_value(json_object_get(peer, "deviceId")), name);
        g_free(name);
    }
    gtk_combo_box_set_active(GTK_COMBO_BOX(self->to), 0);
}

static void send_window_dispose(GObject *object) {
    TRAY_SEND_WINDOW(object)->is_closed = TRUE;
    G_OBJECT_CLASS(send_window_parent_class)->dispose(object);
}

static void send_window_finalize(GObject *object) {
    g_object_unref(TRAY_SEND_WINDOW(object)->model);
    G_OBJECT_CLASS(send_window_parent_class)->finalize(object);
}

static void send_window_class_init(SendWindowClass *class) {
    G_OBJECT_CLASS(class)->dispose = send_window_dispose;
    G_OBJECT_CLASS(class)->finalize = send_window_finalize;
}

static void send_window_init(SendWindow *self) { (void)self; }

static void add(GtkWidget *grid, int row, const char *mnemonic, GtkWidget *widget, GtkWidget *named) {
    GtkWidget *label = gtk_label_new_with_mnemonic(mnemonic);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), named);
    widget_name(named, gtk_label_get_text(GTK_LABEL(label)), NULL);
    gtk_label_set_xalign(GTK_LABEL(label), 1);
    gtk_widget_set_valign(label, named == widget ? GTK_ALIGN_CENTER : GTK_ALIGN_START);
    gtk_style_context_add_class(gtk_widget_get_style_context(label), "dim-label");
    gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static SendWindow *send_window_new(GtkApplication *application, Model *model) {
    SendWindow *self = g_object_new(TYPE_SEND_WINDOW, "application", application, "title", _("Send a notification"),
                                    "icon-name", APPLICATION_ID, "default-width", 440, "default-height", 320, NULL);
    self->model = g_object_ref(model);
    GtkWidget *header = gtk_header_bar_new();
    gtk_header_bar_set_title(GTK_HEADER_BAR(header), _("Send a notification"));
    gtk_header_bar_set_show_close_button(GTK_HEADER_BAR(header), TRUE);
    gtk_header_bar_set_decoration_layout(GTK_HEADER_BAR(header), ":close");
    gtk_window_set_titlebar(GTK_WINDOW(self), header);
    GtkWidget *grid = gtk_grid_new();
    g_object_set(grid, "margin", 18, "row-spacing", 10, "column-spacing", 12, NULL);

    self->title = gtk_entry_new();
    gtk_entry_set_max_length(GTK_ENTRY(self->title), TITLE_BYTES);
    add(grid, 0, _("_Title"), self->title, self->title);
    self->body = gtk_text_view_new();
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(self->body), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(self->body), FALSE);
    GtkWidget *scrolled = gtk_scrolled_window_new(NULL, NULL);
    gtk_scrolled_window_set_shadow_type(GTK_SCROLLED_WINDOW(scrolled), GTK_SHADOW_IN);
    gtk_container_add(GTK_CONTAINER(scrolled), self->body);
    gtk_widget_set_vexpand(scrolled, TRUE);
    add(grid, 1, _("T_ext"), scrolled, self->body);
    self->to = gtk_combo_box_text_new();
    fill_devices(self);
    add(grid, 2, _("T_o"), self->to, self->to);
    self->priority = gtk_combo_box_text_new();
    static const char *const priorities[][2] = {
        {"low", N_("Low")}, {"normal", N_("Normal")}, {"high", N_("High")}, {"urgent", N_("Urgent")}};
    for (gsize index = 0; index < G_N_ELEMENTS(priorities); index++)
        gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(self->priority), priorities[index][0], _(priorities[index][1]));
    gtk_combo_box_set_active_id(GTK_COMBO_BOX(self->priority), "normal");
    add(grid, 3, _("P_riority"), self->priority, self->priority);
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    self->outcome = widget_label("", "dim-label");
    gtk_box_pack_start(GTK_BOX(row), self->outcome, TRUE, TRUE, 0);
    self->send = gtk_button_new_with_mnemonic(_("_Send"));
    gtk_widget_set_sensitive(self->send, FALSE);
    gtk_style_context_add_class(gtk_widget_get_style_context(self->send), "suggested-action");
    gtk_container_add(GTK_CONTAINER(row), self->send);
    gtk_grid_attach(GTK_GRID(grid), row, 0, 4, 2, 1);
    gtk_container_add(GTK_CONTAINER(self), grid);

    g_signal_connect(self->title, "changed", G_CALLBACK(on_title), self);
    g_signal_connect(self->title, "activate", G_CALLBACK(on_send), self);
    g_signal_connect(self->send, "clicked", G_CALLBACK(on_send), self);
    gtk_window_set_position(GTK_WINDOW(self), GTK_WIN_POS_CENTER);
    widget_close_on_escape(GTK_WINDOW(self));
    gtk_widget_show_all(GTK_WIDGET(self));
    return self;
}

void send_window_present(GtkApplication *application, Model *model) {
    for (GList *each = gtk_application_get_windows(application); each; each = each->next) {
        if (TRAY_IS_SEND_WINDOW(each->data)) {
            gtk_window_present(each->data);
            return;
        }
    }
    gtk_window_present(GTK_WINDOW(send_window_new(application, model)));
}
