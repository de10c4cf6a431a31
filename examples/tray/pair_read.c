/* The page of the pairing window that takes the other side's code: its text, or a picture of it. */
#include "code_image.h"
#include "pair_pages.h"
#include "widgets.h"

#include <glib/gi18n.h>

static void on_ended(GObject *owner, json_t *result, const char *failure) {
    PairWindow *self = TRAY_PAIR_WINDOW(owner);
    (void)result; /* an event reports the outcome, too, in either case */
    if (!self->is_closed && failure) pair_fail(self, failure);
}

static void scan(PairWindow *self, const char *text) {
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "read");
    pair_set_busy(self, TRUE);
    model_scan(self->model, text, G_OBJECT(self), on_ended);
}

static char *read_text(PairWindow *self) {
    GtkTextBuffer *buffer = gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->read_text));
    GtkTextIter begin, end;
    gtk_text_buffer_get_bounds(buffer, &begin, &end);
    return g_strstrip(gtk_text_buffer_get_text(buffer, &begin, &end, FALSE));
}

static void on_read(GtkButton *button, PairWindow *self) {
    (void)button;
    char *text = read_text(self);
    if (*text) scan(self, text);
    else pair_fail(self, _("Paste the text of the code first, or choose an image of it."));
    g_free(text);
}

static void on_image_read(GObject *owner, GAsyncResult *result, gpointer data) {
    (void)data;
    PairWindow *self = TRAY_PAIR_WINDOW(owner);
    GError *error = NULL;
    char *text = code_image_read_finish(result, &error);
    if (self->is_closed) {
        g_clear_error(&error);
    } else if (text) {
        gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->read_text)), text, -1);
        scan(self, text);
    } else {
        pair_fail(self, error->message);
        g_error_free(error);
    }
    g_free(text);
}

static void read_file(PairWindow *self, const char *path) {
    pair_set_busy(self, TRUE);
    code_image_read_file(path, G_OBJECT(self), on_image_read);
}

static void on_chosen(GtkNativeDialog *dialog, gint response, PairWindow *self) {
    char *path = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_filename(GTK_FILE_CHOOSER(dialog)) : NULL;
    if (path && !self->is_closed) read_file(self, path);
    g_free(path);
    g_object_unref(dialog);
    g_object_unref(self);
}

static void on_choose(GtkButton *button, PairWindow *self) {
    (void)button;
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new(_("Choose an image of a pairing code"), GTK_WINDOW(self),
                                                               GTK_FILE_CHOOSER_ACTION_OPEN, _("_Read"), _("_Cancel"));
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, _("Images (PNG, JPEG)"));
    gtk_file_filter_add_mime_type(filter, "image/png");
    gtk_file_filter_add_mime_type(filter, "image/jpeg");
    gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    /* One of the desktop's own, in another process, does not keep the window from being closed under it. */
    g_signal_connect(dialog, "response", G_CALLBACK(on_chosen), g_object_ref(self));
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void on_pasted_image(GtkClipboard *clipboard, GdkPixbuf *picture, gpointer data) {
    (void)clipboard;
    PairWindow *self = data;
    if (!self->is_closed && picture) {
        pair_set_busy(self, TRUE);
        code_image_read_picture(picture, G_OBJECT(self), on_image_read);
    } else if (!self->is_closed) {
        pair_fail(self, _("Cannot read the image on the clipboard."));
    }
    g_object_unref(self);
}

static void on_pasted_text(GtkClipboard *clipboard, const gchar *text, gpointer data) {
    (void)clipboard;
    PairWindow *self = data;
    if (!self->is_closed && text) {
        gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->read_text)), text, -1);
        pair_clear(self);
        gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "read");
        gtk_widget_grab_focus(self->read_button);
    } else if (!self->is_closed) {
        pair_fail(self, _("The clipboard contains neither an image nor text."));
    }
    g_object_unref(self);
}

static void on_targets(GtkClipboard *clipboard, GdkAtom *targets, gint count, gpointer data) {
    if (targets && gtk_targets_include_image(targets, count, FALSE)) {
        gtk_clipboard_request_image(clipboard, on_pasted_image, data);
    } else {
        gtk_clipboard_request_text(clipboard, on_pasted_text, data);
    }
}

static void paste(PairWindow *self) {
    GtkClipboard *clipboard = gtk_widget_get_clipboard(GTK_WIDGET(self), GDK_SELECTION_CLIPBOARD);
    gtk_clipboard_request_targets(clipboard, on_targets, g_object_ref(self));
}

static void on_paste(GtkButton *button, PairWindow *self) {
    (void)button;
    paste(self);
}

static void on_paste_key(GtkTextView *view, PairWindow *self) {
    /* By default it accepts only text. */
    g_signal_stop_emission_by_name(view, "paste-clipboard");
    paste(self);
}

static void on_drop(GtkWidget *page, GdkDragContext *context, gint x, gint y, GtkSelectionData *data, guint info,
                    guint time, PairWindow *self) {
    /* GTK_DEST_DEFAULT_ALL ends the drag. */
    (void)page, (void)context, (void)x, (void)y, (void)info, (void)time;
    char **uris = gtk_selection_data_get_uris(data);
    char *path = uris && uris[0] ? g_filename_from_uri(uris[0], NULL, NULL) : NULL;
    if (path) read_file(self, path);
    g_free(path);
    g_strfreev(uris);
}

GtkWidget *pair_paste_button(PairWindow *self) {
    GtkWidget *button = widget_button("edit-paste-symbolic", _("Pa_ste"));
    g_signal_connect(button, "clicked", G_CALLBACK(on_paste), self);
    return button;
}

GtkWidget *pair_image_button(PairWindow *self) {
    GtkWidget *button = widget_button("image-x-generic-symbolic", _("_Image…"));
    g_signal_connect(button, "clicked", G_CALLBACK(on_choose), self);
    return button;
}

GtkWidget *pair_read_page(PairWindow *self) {
    GtkWidget *page = widget_column(12);
    GtkWidget *label = widget_note(model_is_desktop(self->model)
                                       ? _("Paste the code of a device, as text or as a picture.")
                                       : _("Paste the code of a desktop, as text or as a picture."));
    gtk_container_add(GTK_CONTAINER(page), label);
    GtkWidget *scrolled = gtk_scrolled_window_new(NULL, NULL);
    gtk_scrolled_window_set_shadow_type(GTK_SCROLLED_WINDOW(scrolled), GTK_SHADOW_IN);
    self->read_text = gtk_text_view_new();
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(self->read_text), GTK_WRAP_CHAR);
    gtk_text_view_set_monospace(GTK_TEXT_VIEW(self->read_text), TRUE);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(self->read_text), FALSE);
    g_object_set(self->read_text, "left-margin", 8, "right-margin", 8, "top-margin", 8, "bottom-margin", 8, NULL);
    widget_name(self->read_text, _("Text of the pairing code"), NULL);
    g_signal_connect(self->read_text, "paste-clipboard", G_CALLBACK(on_paste_key), self);
    gtk_container_add(GTK_CONTAINER(scrolled), self->read_text);
    gtk_widget_set_vexpand(scrolled, TRUE);
    gtk_container_add(GTK_CONTAINER(page), scrolled);

    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    gtk_container_add(GTK_CONTAINER(row), pair_paste_button(self));
    gtk_container_add(GTK_CONTAINER(row), pair_image_button(self));
    self->read_button = gtk_button_new_with_mnemonic(_("_Pair"));
    gtk_style_context_add_class(gtk_widget_get_style_context(self->read_button), "suggested-action");
    g_signal_connect(self->read_button, "clicked", G_CALLBACK(on_read), self);
    gtk_box_pack_end(GTK_BOX(row), self->read_button, FALSE, FALSE, 0);
    gtk_container_add(GTK_CONTAINER(page), row);

    gtk_drag_dest_set(page, GTK_DEST_DEFAULT_ALL, NULL, 0, GDK_ACTION_COPY);
    gtk_drag_dest_add_uri_targets(page);
    g_signal_connect(page, "drag-data-received", G_CALLBACK(on_drop), self);
    return page;
}
