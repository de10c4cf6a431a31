#include "widgets.h"

void widget_style(void) {
    static gboolean is_set;
    if (is_set) return;
    is_set = TRUE;
    /* A code must be black on white in every theme, or it cannot be scanned. */
    static const char style[] = ".code { background-color: white; border-radius: 8px; padding: 6px; }"
                                ".digits { font-size: 140%; font-feature-settings: \"tnum\"; }"
                                ".row-title { font-weight: bold; }"
                                ".page-title { font-size: 130%; font-weight: bold; }"
                                ".unread-dot { color: #3584e4; font-size: 130%; }";
    GtkCssProvider *provider = gtk_css_provider_new();
    gtk_css_provider_load_from_data(provider, style, -1, NULL);
    gtk_style_context_add_provider_for_screen(gdk_screen_get_default(), GTK_STYLE_PROVIDER(provider),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider);
}

void widget_name(GtkWidget *widget, const char *name, const char *description) {
    AtkObject *accessible = gtk_widget_get_accessible(widget);
    atk_object_set_name(accessible, name);
    if (description) atk_object_set_description(accessible, description);
}

GtkWidget *widget_column(int spacing) {
    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, spacing);
    g_object_set(column, "margin", 18, NULL);
    return column;
}

GtkWidget *widget_label(const char *text, const char *class) {
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    if (class) gtk_style_context_add_class(gtk_widget_get_style_context(label), class);
    return label;
}

GtkWidget *widget_note(const char *text) {
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_line_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 48);
    return label;
}

GtkWidget *widget_button(const char *icon, const char *mnemonic) {
    GtkWidget *button = gtk_button_new_with_mnemonic(mnemonic);
    gtk_button_set_image(GTK_BUTTON(button), gtk_image_new_from_icon_name(icon, GTK_ICON_SIZE_BUTTON));
    gtk_button_set_always_show_image(GTK_BUTTON(button), TRUE);
    return button;
}

GtkWidget *widget_placeholder(const char *text, const char *icon) {
    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    GtkWidget *image = gtk_image_new_from_icon_name(icon, GTK_ICON_SIZE_DIALOG);
    gtk_image_set_pixel_size(GTK_IMAGE(image), 64);
    gtk_container_add(GTK_CONTAINER(column), image);
    gtk_container_add(GTK_CONTAINER(column), gtk_label_new(text));
    g_object_set(column, "margin", 48, "valign", GTK_ALIGN_CENTER, NULL);
    gtk_style_context_add_class(gtk_widget_get_style_context(column), "dim-label");
    gtk_widget_show_all(column);
    return column;
}

void widget_empty(GtkWidget *container) {
    GList *children = gtk_container_get_children(GTK_CONTAINER(container));
    for (GList *each = children; each; each = each->next) gtk_widget_destroy(each->data);
    g_list_free(children);
}

void widget_line_between(GtkListBoxRow *row, GtkListBoxRow *before, gpointer data) {
    (void)data;
    if (before && !gtk_list_box_row_get_header(row))
        gtk_list_box_row_set_header(row, gtk_separator_new(GTK_ORIENTATION_HORIZONTAL));
    else if (!before)
        gtk_list_box_row_set_header(row, NULL);
}

static gboolean on_escape(GtkWidget *window, GdkEventKey *event, gpointer data) {
    (void)data;
    if (event->keyval != GDK_KEY_Escape) return GDK_EVENT_PROPAGATE;
    gtk_window_close(GTK_WINDOW(window));
    return GDK_EVENT_STOP;
}

void widget_close_on_escape(GtkWindow *window) {
    /* After the widgets in it: a search is cleared before its window closes. */
    g_signal_connect_after(window, "key-press-event", G_CALLBACK(on_escape), NULL);
}
