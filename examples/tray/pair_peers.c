/* The page of the pairing window with those that are paired. */
#include "pair_pages.h"
#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>

static void on_unpair(GtkButton *button, PairWindow *self) {
    GtkStyleContext *style = gtk_widget_get_style_context(GTK_WIDGET(button));
    if (gtk_style_context_has_class(style, "destructive-action")) {
        model_unpair(self->model, g_object_get_data(G_OBJECT(button), "peer"));
    } else {
        gtk_style_context_add_class(style, "destructive-action");
        gtk_button_set_label(button, _("_Unpair now"));
    }
}

static GtkWidget *peer_row(PairWindow *self, json_t *peer, GtkWidget *item) {
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12), *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    g_object_set(row, "margin", 12, NULL);
    char *name = text_line(json_string_value(json_object_get(peer, "name")), PAIR_NAME_LIMIT);
    GtkWidget *title = widget_label(name, "row-title");
    gtk_container_add(GTK_CONTAINER(column), title);

    json_t *online = json_object_get(peer, "online");
    char *seen = text_when(json_integer_value(json_object_get(peer, "lastSeenAt")));
    char *state = json_is_true(online) ? g_strdup(_("Online")) : g_strdup_printf(_("Last seen %s"), seen);
    char *sas = pair_sas_text(peer);
    char *line = g_strdup_printf("%s  ·  %s", state, sas ? sas : _("not encrypted"));
    gtk_container_add(GTK_CONTAINER(column), widget_label(line, "dim-label"));
    widget_name(item, name, line);
    g_free(line);
    g_free(sas);
    g_free(state);
    g_free(seen);
    gtk_box_pack_start(GTK_BOX(row), column, TRUE, TRUE, 0);

    GtkWidget *button = gtk_button_new_with_mnemonic(_("_Unpair"));
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    g_object_set_data_full(G_OBJECT(button), "peer", g_strdup(json_string_value(json_object_get(peer, "id"))), g_free);
    g_signal_connect(button, "clicked", G_CALLBACK(on_unpair), self);
    char *spoken = g_strdup_printf(_("Unpair %s"), name);
    widget_name(button, spoken, NULL);
    g_free(spoken);
    g_free(name);
    gtk_container_add(GTK_CONTAINER(row), button);
    return row;
}

void pair_fill_peers(PairWindow *self) {
    widget_empty(self->peers);
    json_t *peer;
    gsize index;
    json_array_foreach(model_peers(self->model), index, peer) {
        GtkWidget *row = gtk_list_box_row_new();
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
        gtk_list_box_row_set_selectable(GTK_LIST_BOX_ROW(row), FALSE);
        gtk_container_add(GTK_CONTAINER(row), peer_row(self, peer, row));
        gtk_container_add(GTK_CONTAINER(self->peers), row);
    }
    gtk_widget_show_all(self->peers);
}

GtkWidget *pair_peers_page(PairWindow *self) {
    GtkWidget *scrolled = gtk_scrolled_window_new(NULL, NULL);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
    self->peers = gtk_list_box_new();
    gtk_list_box_set_header_func(GTK_LIST_BOX(self->peers), widget_line_between, NULL, NULL);
    gtk_list_box_set_placeholder(GTK_LIST_BOX(self->peers),
                                 widget_placeholder(_("Nothing is paired yet"), "network-workgroup-symbolic"));
    widget_name(self->peers, model_is_desktop(self->model) ? _("Paired devices") : _("Paired desktops"), NULL);
    gtk_container_add(GTK_CONTAINER(scrolled), self->peers);
    return scrolled;
}
