/* The first page of a device's pairing window: how to pair, and the shortest ways to do so. */
#include "pair_pages.h"
#include "preferences.h"
#include "widgets.h"

#include <glib/gi18n.h>

gboolean pair_use_relay(PairWindow *self) {
    if (!self->relay) return TRUE;
    char *url = preferences_relay_url(gtk_entry_get_text(GTK_ENTRY(self->relay))), *failure = NULL;
    const char *old = model_relay_url(self->model);
    gboolean is_used = url && g_str_equal(url, old ? old : "");
    if (!url) {
        pair_fail(self, _("A relay's address is like 192.168.1.5:9001 or wss://relay.example.org."));
    } else if (!is_used) {
        is_used = model_set_up(self->model, model_own_name(self->model), *url ? url : NULL, &failure);
        if (!is_used) pair_fail(self, failure);
        g_free(failure);
    }
    if (url) gtk_entry_set_text(GTK_ENTRY(self->relay), url);
    g_free(url);
    return is_used;
}

static void on_relay(GtkEntry *entry, PairWindow *self) {
    (void)entry;
    if (pair_use_relay(self)) gtk_widget_grab_focus(self->type_entry);
}

static void on_ended(GObject *owner, json_t *result, const char *failure) {
    PairWindow *self = TRAY_PAIR_WINDOW(owner);
    (void)result; /* an event reports the outcome, too, in either case */
    if (self->is_closed || !failure) return;
    if (model_lacks_relay(self->model)) {
        pair_fail(self, _("Enter the relay's address as well: the desktop shows it as “Relay at ws://…”."));
        gtk_widget_grab_focus(self->relay);
    } else {
        pair_fail(self, failure);
    }
}

static void on_type(GtkWidget *widget, PairWindow *self) {
    (void)widget;
    GString *digits = g_string_new(NULL);
    gboolean is_code = TRUE;
    for (const char *at = gtk_entry_get_text(GTK_ENTRY(self->type_entry)); *at; at++) {
        if (g_ascii_isdigit(*at)) g_string_append_c(digits, *at);
        else if (*at != ' ' && *at != '-') is_code = FALSE;
    }
    if (!is_code || (digits->len != 12 && digits->len != 6)) {
        pair_fail(self, _("The code has twelve digits, such as 123456-789012."));
    } else if (pair_use_relay(self)) {
        pair_set_busy(self, TRUE);
        model_type(self->model, digits->str, G_OBJECT(self), on_ended);
    }
    g_string_free(digits, TRUE);
}

static void add(GtkWidget *grid, int row, const char *mnemonic, GtkWidget *widget, GtkWidget *named) {
    GtkWidget *label = gtk_label_new_with_mnemonic(mnemonic);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), named);
    gtk_label_set_xalign(GTK_LABEL(label), 1);
    gtk_style_context_add_class(gtk_widget_get_style_context(label), "dim-label");
    gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
    gtk_widget_set_hexpand(widget, TRUE);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

GtkWidget *pair_start_page(PairWindow *self) {
    GtkWidget *page = widget_column(16), *grid = gtk_grid_new();
    gtk_widget_set_valign(page, GTK_ALIGN_CENTER);
    GtkWidget *title = widget_label(_("Get notifications from another machine"), "page-title");
    gtk_container_add(GTK_CONTAINER(page), title);
    gtk_container_add(GTK_CONTAINER(page),
                      widget_note(_("Run “bellwire desktop --lan” on the machine that sends, or open Bellwire there. It "
                                    "shows a QR code and twelve digits. Either one is enough.")));
    g_object_set(grid, "row-spacing", 10, "column-spacing", 12, NULL);

    GtkWidget *pictures = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    GtkWidget *image = pair_image_button(self);
    gtk_container_add(GTK_CONTAINER(pictures), image);
    gtk_container_add(GTK_CONTAINER(pictures), pair_paste_button(self));
    add(grid, 0, _("_QR code"), pictures, image);

    GtkWidget *digits = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    self->type_entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->type_entry), "123456-789012");
    gtk_entry_set_max_length(GTK_ENTRY(self->type_entry), 32);
    gtk_entry_set_input_purpose(GTK_ENTRY(self->type_entry), GTK_INPUT_PURPOSE_DIGITS);
    gtk_style_context_add_class(gtk_widget_get_style_context(self->type_entry), "digits");
    widget_name(self->type_entry, _("Digits of the pairing code"), NULL);
    g_signal_connect(self->type_entry, "activate", G_CALLBACK(on_type), self);
    gtk_box_pack_start(GTK_BOX(digits), self->type_entry, TRUE, TRUE, 0);
    self->type_button = gtk_button_new_with_mnemonic(_("_Pair"));
    gtk_style_context_add_class(gtk_widget_get_style_context(self->type_button), "suggested-action");
    g_signal_connect(self->type_button, "clicked", G_CALLBACK(on_type), self);
    gtk_container_add(GTK_CONTAINER(digits), self->type_button);
    add(grid, 1, _("_Digits"), digits, self->type_entry);

    const char *url = model_relay_url(self->model);
    self->relay = gtk_entry_new();
    gtk_entry_set_text(GTK_ENTRY(self->relay), url ? url : "");
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->relay), "ws://192.168.1.5:9001");
    gtk_entry_set_max_length(GTK_ENTRY(self->relay), 1024);
    gtk_entry_set_input_purpose(GTK_ENTRY(self->relay), GTK_INPUT_PURPOSE_URL);
    widget_name(self->relay, _("Relay"), NULL);
    g_signal_connect(self->relay, "activate", G_CALLBACK(on_relay), self);
    add(grid, 2, _("Re_lay"), self->relay, self->relay);
    gtk_container_add(GTK_CONTAINER(page), grid);
    GtkWidget *note = widget_note(_("With digits, also enter the relay that the other machine shows as “Relay at ws://…”. A "
                                    "QR code contains it."));
    gtk_style_context_add_class(gtk_widget_get_style_context(note), "dim-label");
    gtk_container_add(GTK_CONTAINER(page), note);
    return page;
}
