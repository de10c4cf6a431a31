/* The page of the pairing window with those that are paired. */
#include "pair_pages.h"
#include "text.h"
#include "widgets.h"

static void on_unpair(GtkButton *button, PairWindow *self) {
    GtkStyleContext *style = gtk_widget_get_style_context(GTK_WIDGET(button));
    if (gtk_style_context_has_class(style, "destructive-action")) {
        model_unpair(self->model, g_object_get_data(G_OBJECT(button), "peer"));
    } else {
        gtk_style_context_add_class(style, "destructive-action");
        gtk_button_set_label(button, "_Unpair now");
    }
}

static GtkWidget *peer_row(PairWindow *self, json_t *peer) {
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12), *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    g_object_set(row, "margin", 12, NULL);
    char *name = text_line(json_string_value(json_object_get(peer, "name")), PAIR_NAME_LIMIT);
    GtkWidget *title = widget_label(name, "row-title");
    gtk_container_add(GTK_CONTAINER(column), title);

    json_t *online = json_object_get(peer, "online");
    char *seen = text_when(json_integer_value(json_object_get(peer, "lastSeenAt")));
    char *state = json_is_true(online) ? g_strdup("Online") : g_strdup_printf("Last seen %s", seen);
    char *sas = pair_sas_text(peer);
    char *line = g_strdup_printf("%s  ·  %s", state, sas ? sas : "not encrypted");
    gtk_container_add(GTK_CONTAINER(column), widget_label(line, "dim-label"));
    g_free(line);
    g_free(sas);
    g_free(state);
    g_free(seen);
    gtk_box_pack_start(GTK_BOX(row), column, TRUE, TRUE, 0);

    GtkWidget *button = gtk_button_new_with_mnemonic("_Unpair");
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    g_object_set_data_full(G_OBJECT(button), "peer", g_strdup(json_string_value(json_object_get(peer, "id"))), g_free);
    g_signal_connect(button, "clicked", G_CALLBACK(on_unpair), self);
    char *spoken = g_strdup_printf("Unpair %s", name);
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
        gtk_container_add(GTK_CONTAINER(row), peer_row(self, peer));
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
                                 widget_placeholder("Nothing is paired yet", "network-workgroup-symbolic"));
    widget_name(self->peers, model_is_desktop(self->model) ? "Paired devices" : "Paired desktops", NULL);
    gtk_container_add(GTK_CONTAINER(scrolled), self->peers);
    return scrolled;
}
