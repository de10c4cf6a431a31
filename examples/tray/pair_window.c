#include "pair_window.h"

#include "code_image.h"
#include "text.h"
#include "widgets.h"

#include <string.h>

enum { CODE_SIDE = 264, NAME_LIMIT = 60, PAIR = 1, REFUSE, SAME, DIFFERS };

#define TYPE_PAIR_WINDOW (pair_window_get_type())
G_DECLARE_FINAL_TYPE(PairWindow, pair_window, TRAY, PAIR_WINDOW, GtkApplicationWindow)

struct _PairWindow {
    GtkApplicationWindow parent;
    Model *model;
    gboolean is_closed;
    GtkWidget *stack;
    /* Show */
    GtkWidget *code, *code_spinner, *code_stack, *code_note, *code_digits, *code_again;
    gboolean is_shown; /* a code is on the screen, or on its way */
    /* Read */
    GtkWidget *read_text, *read_button;
    /* Type */
    GtkWidget *type_entry, *type_button;
    /* Paired */
    GtkWidget *peers;
    /* What came of it */
    GtkWidget *bar, *bar_title, *bar_sas, *bar_text, *busy;
    char *flow, *peer; /* of the question, or of who was paired */
};

G_DEFINE_TYPE(PairWindow, pair_window, GTK_TYPE_APPLICATION_WINDOW)

/* What came of it ------------------------------------------------------------------------------------------------ */

static void clear_bar(PairWindow *self) {
    gtk_widget_hide(self->bar);
    GtkWidget *area = gtk_info_bar_get_action_area(GTK_INFO_BAR(self->bar));
    gtk_container_foreach(GTK_CONTAINER(area), (GtkCallback)(void (*)(void))gtk_widget_destroy, NULL);
}

static void fill_bar(PairWindow *self, GtkMessageType type, const char *title, const char *sas, const char *text) {
    clear_bar(self);
    gtk_info_bar_set_message_type(GTK_INFO_BAR(self->bar), type);
    gtk_info_bar_set_show_close_button(GTK_INFO_BAR(self->bar), type == GTK_MESSAGE_ERROR);
    gtk_label_set_text(GTK_LABEL(self->bar_title), title);
    gtk_label_set_text(GTK_LABEL(self->bar_text), text);
    gtk_label_set_text(GTK_LABEL(self->bar_sas), sas ? sas : "");
    gtk_widget_set_visible(self->bar_sas, sas != NULL);
    widget_name(self->bar, title, text);
    gtk_widget_show(self->bar);
}

static void set_busy(PairWindow *self, gboolean is_busy) {
    gtk_widget_set_visible(self->busy, is_busy);
    g_object_set(self->busy, "active", is_busy, NULL);
    gtk_widget_set_sensitive(self->read_button, !is_busy);
    if (self->type_button) gtk_widget_set_sensitive(self->type_button, !is_busy);
    if (is_busy) clear_bar(self);
}

static void fail(PairWindow *self, const char *failure) {
    set_busy(self, FALSE);
    fill_bar(self, GTK_MESSAGE_ERROR, "That did not work", NULL, failure);
}

/* "045 572 · avenue major" */
static char *sas_text(json_t *peer) {
    json_t *sas = json_object_get(peer, "sas"), *words = json_object_get(sas, "words");
    const char *digits = json_string_value(json_object_get(sas, "digits"));
    if (!digits || strlen(digits) != 6) return NULL;
    char *first = text_line(json_string_value(json_array_get(words, 0)), 20);
    char *second = text_line(json_string_value(json_array_get(words, 1)), 20);
    char *text = g_strdup_printf("%.3s %s  ·  %s %s", digits, digits + 3, first, second);
    g_free(second);
    g_free(first);
    return text;
}

static void remember(PairWindow *self, const char *flow, json_t *peer) {
    g_free(self->flow);
    g_free(self->peer);
    self->flow = g_strdup(flow);
    self->peer = g_strdup(json_string_value(json_object_get(peer, "id")));
}

static void succeed(PairWindow *self, const char *flow, json_t *peer) {
    set_busy(self, FALSE);
    remember(self, flow, peer);
    char *name = text_line(json_string_value(json_object_get(peer, "name")), NAME_LIMIT);
    char *title = g_strdup_printf("Paired with %s", name), *sas = sas_text(peer);
    fill_bar(self, GTK_MESSAGE_INFO, title, sas,
             sas ? "Do the same stand on the other side?" : "It cannot prove who it is: nothing is sealed.");
    GtkInfoBar *bar = GTK_INFO_BAR(self->bar);
    if (sas) gtk_info_bar_add_button(bar, "They _differ", DIFFERS);
    gtk_info_bar_add_button(bar, sas ? "They _match" : "_Done", SAME);
    gtk_info_bar_set_default_response(bar, SAME);
    g_free(sas);
    g_free(title);
    g_free(name);
    self->is_shown = FALSE;
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "peers");
    /* Who has just paired wants to hear from it. */
    model_ask_for_alerts(self->model);
}

static void ask(PairWindow *self, const char *flow, json_t *peer) {
    set_busy(self, FALSE);
    remember(self, flow, peer);
    char *name = text_line(json_string_value(json_object_get(peer, "name")), NAME_LIMIT);
    char *title = g_strdup_printf("Pair with %s?", name), *sas = sas_text(peer);
    fill_bar(self, GTK_MESSAGE_QUESTION, title, sas,
             sas ? "Pair only if the same digits and words stand there."
             : json_is_true(json_object_get(peer, "secure"))
                 ? "It is the device whose code was read."
                 : "It cannot prove that it has seen the code. Pair only what you hold in your hand.");
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), "_Refuse", REFUSE);
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), "_Pair", PAIR);
    g_free(sas);
    g_free(title);
    g_free(name);
    gtk_window_present(GTK_WINDOW(self));
}

static void on_bar(GtkInfoBar *bar, gint response, PairWindow *self) {
    (void)bar;
    clear_bar(self);
    if (response == DIFFERS && self->peer) {
        model_unpair(self->model, self->peer);
        fill_bar(self, GTK_MESSAGE_WARNING, "Unpaired", NULL,
                 "Somebody in between may have answered. Pair again with a new code, and compare once more.");
    } else if (response == PAIR || response == REFUSE) {
        if (!model_confirm(self->model, self->flow, response == PAIR))
            fail(self, "It no longer asks. Begin again with a new code.");
        else if (response == PAIR)
            set_busy(self, TRUE);
    }
}

gboolean pair_window_is_question(json_t *data) {
    const char *state = json_string_value(json_object_get(data, "state"));
    return g_strcmp0(state, "confirming") == 0 ||
           (g_strcmp0(state, "acked") == 0 && json_is_true(json_object_get(data, "confirm")));
}

static void show_again(PairWindow *self, const char *note);

static void on_pairing(Model *model, json_t *data, PairWindow *self) {
    (void)model;
    const char *state = json_string_value(json_object_get(data, "state"));
    const char *flow = json_string_value(json_object_get(data, "flow"));
    const char *message = json_string_value(json_object_get(data, "message"));
    json_t *peer = json_object_get(data, "desktop");
    if (!peer) peer = json_object_get(data, "device");
    if (!state || !flow) return;
    gboolean is_shown = strcmp(flow, "show") == 0 || strcmp(flow, "offer") == 0;
    if (pair_window_is_question(data)) return; /* pair_window_ask() is called for it */
    if (!strcmp(state, "success") || !strcmp(state, "completed") || !strcmp(state, "paired")) {
        succeed(self, flow, peer);
    } else if (!strcmp(state, "expired")) {
        if (is_shown) show_again(self, "The code is too old.");
        else fail(self, "It took too long. Begin again with a new code.");
    } else if (!strcmp(state, "failed") && g_strcmp0(json_string_value(json_object_get(data, "reason")), "cancelled")) {
        char *text = text_line(message, 400);
        if (is_shown) show_again(self, text);
        else fail(self, text);
        g_free(text);
    }
}

/* Show a code ---------------------------------------------------------------------------------------------------- */

static void show_again(PairWindow *self, const char *note) {
    self->is_shown = FALSE;
    gtk_stack_set_visible_child_name(GTK_STACK(self->code_stack), "none");
    gtk_label_set_text(GTK_LABEL(self->code_note), note);
    if (self->code_digits) gtk_widget_hide(self->code_digits);
    gtk_widget_show(self->code_again);
    g_object_set(self->code_spinner, "active", FALSE, NULL);
}

static void on_code(GObject *owner, json_t *offer, const char *failure) {
    PairWindow *self = TRAY_PAIR_WINDOW(owner);
    if (self->is_closed) return;
    const char *payload = json_string_value(json_object_get(offer, "payload"));
    char *problem = NULL;
    int factor = gtk_widget_get_scale_factor(GTK_WIDGET(self));
    GdkPixbuf *picture = payload ? code_image_draw(payload, CODE_SIDE * factor, &problem) : NULL;
    if (!picture) {
        show_again(self, problem ? problem : failure ? failure : "There is no code.");
        g_free(problem);
        return;
    }
    cairo_surface_t *surface = gdk_cairo_surface_create_from_pixbuf(picture, factor, NULL);
    gtk_image_set_from_surface(GTK_IMAGE(self->code), surface);
    cairo_surface_destroy(surface);
    g_object_unref(picture);
    char *until = text_until(json_integer_value(json_object_get(offer, "expiresAt")) / 1000);
    char *note = g_strdup_printf(model_is_desktop(self->model)
                                     ? "Scan it with the device that shall hear from this desktop. Valid until %s."
                                     : "Scan it with the desktop that shall send to this one. Valid until %s.",
                                 until);
    gtk_label_set_text(GTK_LABEL(self->code_note), note);
    g_free(note);
    g_free(until);
    g_object_set(self->code_spinner, "active", FALSE, NULL);
    gtk_stack_set_visible_child_name(GTK_STACK(self->code_stack), "code");
}

static void on_digits(GObject *owner, json_t *code, const char *failure) {
    PairWindow *self = TRAY_PAIR_WINDOW(owner);
    (void)failure; /* the QR code does without */
    const char *digits = json_string_value(json_object_get(code, "code"));
    if (self->is_closed || !digits || !self->is_shown) return;
    char *text = g_strdup_printf("Or type %s there", digits);
    gtk_label_set_text(GTK_LABEL(self->code_digits), text);
    gtk_widget_show(self->code_digits);
    g_free(text);
}

static void show_code(PairWindow *self) {
    if (self->is_shown) return;
    self->is_shown = TRUE;
    gtk_widget_hide(self->code_again);
    gtk_stack_set_visible_child_name(GTK_STACK(self->code_stack), "wait");
    g_object_set(self->code_spinner, "active", TRUE, NULL);
    gtk_label_set_text(GTK_LABEL(self->code_note), "Asking the relay…");
    model_show_code(self->model, G_OBJECT(self), on_code);
    if (self->code_digits) model_show_digits(self->model, G_OBJECT(self), on_digits);
}

static void on_again(GtkButton *button, PairWindow *self) {
    (void)button;
    clear_bar(self);
    show_code(self);
}

static GtkWidget *show_page(PairWindow *self) {
    GtkWidget *page = widget_column(18);
    gtk_widget_set_valign(page, GTK_ALIGN_CENTER);
    self->code = gtk_image_new();
    widget_name(self->code, "QR code for pairing", NULL);
    gtk_style_context_add_class(gtk_widget_get_style_context(self->code), "code");
    self->code_spinner = gtk_spinner_new();
    self->code_stack = gtk_stack_new();
    gtk_widget_set_size_request(self->code_spinner, 32, 32);
    gtk_widget_set_halign(self->code_spinner, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(self->code_spinner, GTK_ALIGN_CENTER);
    gtk_stack_add_named(GTK_STACK(self->code_stack), self->code_spinner, "wait");
    gtk_stack_add_named(GTK_STACK(self->code_stack), self->code, "code");
    GtkWidget *none = gtk_image_new_from_icon_name("network-offline-symbolic", GTK_ICON_SIZE_DIALOG);
    gtk_image_set_pixel_size(GTK_IMAGE(none), 64);
    gtk_style_context_add_class(gtk_widget_get_style_context(none), "dim-label");
    gtk_stack_add_named(GTK_STACK(self->code_stack), none, "none");
    gtk_widget_set_size_request(self->code_stack, CODE_SIDE, CODE_SIDE);
    gtk_widget_set_halign(self->code_stack, GTK_ALIGN_CENTER);
    gtk_container_add(GTK_CONTAINER(page), self->code_stack);
    if (model_is_desktop(self->model)) {
        self->code_digits = gtk_label_new(NULL);
        gtk_label_set_selectable(GTK_LABEL(self->code_digits), TRUE);
        gtk_style_context_add_class(gtk_widget_get_style_context(self->code_digits), "digits");
        gtk_widget_set_no_show_all(self->code_digits, TRUE);
        gtk_container_add(GTK_CONTAINER(page), self->code_digits);
    }
    self->code_note = widget_note("");
    gtk_label_set_justify(GTK_LABEL(self->code_note), GTK_JUSTIFY_CENTER);
    gtk_label_set_xalign(GTK_LABEL(self->code_note), 0.5f);
    gtk_container_add(GTK_CONTAINER(page), self->code_note);
    self->code_again = gtk_button_new_with_mnemonic("_New code");
    gtk_widget_set_halign(self->code_again, GTK_ALIGN_CENTER);
    gtk_widget_set_no_show_all(self->code_again, TRUE);
    g_signal_connect(self->code_again, "clicked", G_CALLBACK(on_again), self);
    gtk_container_add(GTK_CONTAINER(page), self->code_again);
    return page;
}

/* Read a code ---------------------------------------------------------------------------------------------------- */

static void on_ended(GObject *owner, json_t *result, const char *failure) {
    PairWindow *self = TRAY_PAIR_WINDOW(owner);
    (void)result; /* what it came to is told as an event as well, whichever way it went */
    if (!self->is_closed && failure) fail(self, failure);
}

static void scan(PairWindow *self, const char *text) {
    set_busy(self, TRUE);
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
    else fail(self, "Paste the text of the code first, or choose an image of it.");
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
        fail(self, error->message);
        g_error_free(error);
    }
    g_free(text);
}

static void read_file(PairWindow *self, const char *path) {
    set_busy(self, TRUE);
    code_image_read_file(path, G_OBJECT(self), on_image_read);
}

static void on_chosen(GtkNativeDialog *dialog, gint response, PairWindow *self) {
    char *path = response == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_filename(GTK_FILE_CHOOSER(dialog)) : NULL;
    if (path) read_file(self, path);
    g_free(path);
    g_object_unref(dialog);
}

static void on_choose(GtkButton *button, PairWindow *self) {
    (void)button;
    GtkFileChooserNative *dialog = gtk_file_chooser_native_new("An image of a pairing code", GTK_WINDOW(self),
                                                               GTK_FILE_CHOOSER_ACTION_OPEN, "_Read", "_Cancel");
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, "Images (PNG, JPEG)");
    gtk_file_filter_add_mime_type(filter, "image/png");
    gtk_file_filter_add_mime_type(filter, "image/jpeg");
    gtk_file_chooser_add_filter(GTK_FILE_CHOOSER(dialog), filter);
    gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
    g_signal_connect(dialog, "response", G_CALLBACK(on_chosen), self);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void on_pasted_image(GtkClipboard *clipboard, GdkPixbuf *picture, gpointer data) {
    (void)clipboard;
    PairWindow *self = data;
    if (!self->is_closed && picture) {
        set_busy(self, TRUE);
        code_image_read_picture(picture, G_OBJECT(self), on_image_read);
    } else if (!self->is_closed) {
        fail(self, "The image on the clipboard cannot be read.");
    }
    g_object_unref(self);
}

static void on_pasted_text(GtkClipboard *clipboard, const gchar *text, gpointer data) {
    (void)clipboard;
    PairWindow *self = data;
    if (!self->is_closed && text) {
        gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->read_text)), text, -1);
        clear_bar(self);
        gtk_widget_grab_focus(self->read_button);
    } else if (!self->is_closed) {
        fail(self, "There is neither an image nor a text on the clipboard.");
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
    /* By itself it takes text alone. */
    g_signal_stop_emission_by_name(view, "paste-clipboard");
    paste(self);
}

static void on_drop(GtkWidget *page, GdkDragContext *context, gint x, gint y, GtkSelectionData *data, guint info,
                    guint time, PairWindow *self) {
    (void)page, (void)x, (void)y, (void)info;
    char **uris = gtk_selection_data_get_uris(data);
    char *path = uris && uris[0] ? g_filename_from_uri(uris[0], NULL, NULL) : NULL;
    if (path) read_file(self, path);
    gtk_drag_finish(context, path != NULL, FALSE, time);
    g_free(path);
    g_strfreev(uris);
}

static GtkWidget *read_page(PairWindow *self) {
    GtkWidget *page = widget_column(12);
    GtkWidget *label = widget_note(model_is_desktop(self->model)
                                       ? "Paste the code that a device shows: its text, or a picture of it."
                                       : "Paste the code that a desktop shows: its text, or a picture of it.");
    gtk_container_add(GTK_CONTAINER(page), label);
    GtkWidget *scrolled = gtk_scrolled_window_new(NULL, NULL);
    gtk_scrolled_window_set_shadow_type(GTK_SCROLLED_WINDOW(scrolled), GTK_SHADOW_IN);
    self->read_text = gtk_text_view_new();
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(self->read_text), GTK_WRAP_CHAR);
    gtk_text_view_set_monospace(GTK_TEXT_VIEW(self->read_text), TRUE);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(self->read_text), FALSE);
    g_object_set(self->read_text, "left-margin", 8, "right-margin", 8, "top-margin", 8, "bottom-margin", 8, NULL);
    widget_name(self->read_text, "Text of the pairing code", NULL);
    g_signal_connect(self->read_text, "paste-clipboard", G_CALLBACK(on_paste_key), self);
    gtk_container_add(GTK_CONTAINER(scrolled), self->read_text);
    gtk_widget_set_vexpand(scrolled, TRUE);
    gtk_container_add(GTK_CONTAINER(page), scrolled);

    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    GtkWidget *paste_button = widget_button("edit-paste-symbolic", "Pa_ste");
    g_signal_connect(paste_button, "clicked", G_CALLBACK(on_paste), self);
    gtk_container_add(GTK_CONTAINER(row), paste_button);
    GtkWidget *choose = widget_button("image-x-generic-symbolic", "_Image…");
    g_signal_connect(choose, "clicked", G_CALLBACK(on_choose), self);
    gtk_container_add(GTK_CONTAINER(row), choose);
    self->read_button = gtk_button_new_with_mnemonic("_Pair");
    gtk_style_context_add_class(gtk_widget_get_style_context(self->read_button), "suggested-action");
    g_signal_connect(self->read_button, "clicked", G_CALLBACK(on_read), self);
    gtk_box_pack_end(GTK_BOX(row), self->read_button, FALSE, FALSE, 0);
    gtk_container_add(GTK_CONTAINER(page), row);

    gtk_drag_dest_set(page, GTK_DEST_DEFAULT_ALL, NULL, 0, GDK_ACTION_COPY);
    gtk_drag_dest_add_uri_targets(page);
    g_signal_connect(page, "drag-data-received", G_CALLBACK(on_drop), self);
    return page;
}

/* Type a code ---------------------------------------------------------------------------------------------------- */

static void on_type(GtkWidget *widget, PairWindow *self) {
    (void)widget;
    GString *digits = g_string_new(NULL);
    gboolean is_code = TRUE;
    for (const char *at = gtk_entry_get_text(GTK_ENTRY(self->type_entry)); *at; at++) {
        if (g_ascii_isdigit(*at)) g_string_append_c(digits, *at);
        else if (*at != ' ' && *at != '-') is_code = FALSE;
    }
    if (!is_code || (digits->len != 12 && digits->len != 6)) {
        fail(self, "The code has twelve digits, such as 123456-789012.");
    } else {
        set_busy(self, TRUE);
        model_type(self->model, digits->str, G_OBJECT(self), on_ended);
    }
    g_string_free(digits, TRUE);
}

static GtkWidget *type_page(PairWindow *self) {
    GtkWidget *page = widget_column(12);
    gtk_widget_set_valign(page, GTK_ALIGN_CENTER);
    gtk_container_add(GTK_CONTAINER(page), widget_note("Type the digits that the desktop shows."));
    self->type_entry = gtk_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->type_entry), "123456-789012");
    gtk_entry_set_max_length(GTK_ENTRY(self->type_entry), 32);
    gtk_entry_set_alignment(GTK_ENTRY(self->type_entry), 0.5f);
    gtk_entry_set_input_purpose(GTK_ENTRY(self->type_entry), GTK_INPUT_PURPOSE_DIGITS);
    gtk_style_context_add_class(gtk_widget_get_style_context(self->type_entry), "digits");
    widget_name(self->type_entry, "Digits of the pairing code", NULL);
    g_signal_connect(self->type_entry, "activate", G_CALLBACK(on_type), self);
    gtk_container_add(GTK_CONTAINER(page), self->type_entry);
    self->type_button = gtk_button_new_with_mnemonic("_Pair");
    gtk_style_context_add_class(gtk_widget_get_style_context(self->type_button), "suggested-action");
    gtk_widget_set_halign(self->type_button, GTK_ALIGN_CENTER);
    g_signal_connect(self->type_button, "clicked", G_CALLBACK(on_type), self);
    gtk_container_add(GTK_CONTAINER(page), self->type_button);
    return page;
}

/* Who is paired -------------------------------------------------------------------------------------------------- */

static void on_unpair(GtkButton *button, PairWindow *self) {
    GtkStyleContext *style = gtk_widget_get_style_context(GTK_WIDGET(button));
    if (gtk_style_context_has_class(style, "destructive-action")) {
        model_unpair(self->model, g_object_get_data(G_OBJECT(button), "peer"));
    } else {
        gtk_style_context_add_class(style, "destructive-action");
        gtk_button_set_label(button, "Really _unpair");
    }
}

static GtkWidget *peer_row(PairWindow *self, json_t *peer) {
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12), *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    g_object_set(row, "margin", 12, NULL);
    char *name = text_line(json_string_value(json_object_get(peer, "name")), NAME_LIMIT);
    GtkWidget *title = widget_label(name, "row-title");
    gtk_container_add(GTK_CONTAINER(column), title);

    json_t *online = json_object_get(peer, "online");
    char *seen = text_when(json_integer_value(json_object_get(peer, "lastSeenAt")));
    char *state = json_is_true(online) ? g_strdup("Online") : g_strdup_printf("Last seen %s", seen);
    char *sas = sas_text(peer);
    char *line = g_strdup_printf("%s  ·  %s", state, sas ? sas : "not sealed");
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

static void fill_peers(Model *model, PairWindow *self) {
    widget_empty(self->peers);
    json_t *peer;
    gsize index;
    json_array_foreach(model_peers(model), index, peer) {
        GtkWidget *row = gtk_list_box_row_new();
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
        gtk_list_box_row_set_selectable(GTK_LIST_BOX_ROW(row), FALSE);
        gtk_container_add(GTK_CONTAINER(row), peer_row(self, peer));
        gtk_container_add(GTK_CONTAINER(self->peers), row);
    }
    gtk_widget_show_all(self->peers);
}

static GtkWidget *peers_page(PairWindow *self) {
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

/* The window ----------------------------------------------------------------------------------------------------- */

/* A code is asked for when it is looked at, not before. */
static void on_page(GObject *stack, GParamSpec *property, PairWindow *self) {
    (void)property;
    const char *page = gtk_stack_get_visible_child_name(GTK_STACK(stack));
    if (g_strcmp0(page, "show") == 0) show_code(self);
    if (g_strcmp0(page, "read") == 0) gtk_widget_grab_focus(self->read_text);
    if (g_strcmp0(page, "type") == 0) gtk_widget_grab_focus(self->type_entry);
}

/* Alt+1 to Alt+4, as tabs have them elsewhere. */
static gboolean on_key(GtkWidget *window, GdkEventKey *event, PairWindow *self) {
    (void)window;
    GList *pages = gtk_container_get_children(GTK_CONTAINER(self->stack));
    GtkWidget *page = NULL;
    if ((event->state & gtk_accelerator_get_default_mod_mask()) == GDK_MOD1_MASK && event->keyval >= GDK_KEY_1)
        page = g_list_nth_data(pages, event->keyval - GDK_KEY_1);
    g_list_free(pages);
    if (!page) return GDK_EVENT_PROPAGATE;
    gtk_stack_set_visible_child(GTK_STACK(self->stack), page);
    return GDK_EVENT_STOP;
}

static void pair_window_dispose(GObject *object) {
    PairWindow *self = TRAY_PAIR_WINDOW(object);
    if (!self->is_closed) {
        self->is_closed = TRUE;
        g_signal_handlers_disconnect_by_data(self->model, self);
        model_cancel_pairing(self->model);
    }
    G_OBJECT_CLASS(pair_window_parent_class)->dispose(object);
}

static void pair_window_finalize(GObject *object) {
    PairWindow *self = TRAY_PAIR_WINDOW(object);
    g_object_unref(self->model);
    g_free(self->flow);
    g_free(self->peer);
    G_OBJECT_CLASS(pair_window_parent_class)->finalize(object);
}

static void pair_window_class_init(PairWindowClass *class) {
    G_OBJECT_CLASS(class)->dispose = pair_window_dispose;
    G_OBJECT_CLASS(class)->finalize = pair_window_finalize;
}

static void pair_window_init(PairWindow *self) { (void)self; }

static void add_bar(PairWindow *self, GtkWidget *column) {
    self->bar = gtk_info_bar_new();
    gtk_widget_set_no_show_all(self->bar, TRUE);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    self->bar_title = widget_label("", "row-title");
    self->bar_text = widget_label("", NULL);
    gtk_label_set_line_wrap(GTK_LABEL(self->bar_title), TRUE);
    gtk_label_set_line_wrap(GTK_LABEL(self->bar_text), TRUE);
    gtk_label_set_ellipsize(GTK_LABEL(self->bar_text), PANGO_ELLIPSIZE_NONE);
    gtk_label_set_max_width_chars(GTK_LABEL(self->bar_text), 40);
    gtk_label_set_selectable(GTK_LABEL(self->bar_text), TRUE);
    gtk_widget_set_can_focus(self->bar_text, FALSE);
    self->bar_sas = widget_label("", "digits");
    gtk_label_set_ellipsize(GTK_LABEL(self->bar_sas), PANGO_ELLIPSIZE_NONE);
    gtk_label_set_selectable(GTK_LABEL(self->bar_sas), TRUE);
    gtk_widget_set_can_focus(self->bar_sas, FALSE);
    gtk_container_add(GTK_CONTAINER(texts), self->bar_title);
    gtk_container_add(GTK_CONTAINER(texts), self->bar_sas);
    gtk_container_add(GTK_CONTAINER(texts), self->bar_text);
    gtk_widget_show_all(texts);
    gtk_container_add(GTK_CONTAINER(gtk_info_bar_get_content_area(GTK_INFO_BAR(self->bar))), texts);
    g_signal_connect(self->bar, "response", G_CALLBACK(on_bar), self);
    gtk_container_add(GTK_CONTAINER(column), self->bar);
}

static PairWindow *pair_window_new(GtkApplication *application, Model *model) {
    PairWindow *self = g_object_new(TYPE_PAIR_WINDOW, "application", application, "icon-name",
                                    APPLICATION_ID, "default-width", 500, "default-height", 500, NULL);
    gboolean is_desktop = model_is_desktop(model);
    self->model = g_object_ref(model);
    widget_style();
    self->stack = gtk_stack_new();
    gtk_stack_set_transition_type(GTK_STACK(self->stack), GTK_STACK_TRANSITION_TYPE_CROSSFADE);
    GtkStack *stack = GTK_STACK(self->stack);
    gtk_stack_add_titled(stack, show_page(self), "show", "Show");
    gtk_stack_add_titled(stack, read_page(self), "read", "Read");
    if (!is_desktop) gtk_stack_add_titled(stack, type_page(self), "type", "Type");
    gtk_stack_add_titled(stack, peers_page(self), "peers", is_desktop ? "Devices" : "Desktops");

    GtkWidget *header = gtk_header_bar_new(), *switcher = gtk_stack_switcher_new();
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(switcher), stack);
    gtk_header_bar_set_title(GTK_HEADER_BAR(header), "Pair"); /* becomes the window's */
    gtk_header_bar_set_custom_title(GTK_HEADER_BAR(header), switcher);
    gtk_header_bar_set_show_close_button(GTK_HEADER_BAR(header), TRUE);
    gtk_header_bar_set_decoration_layout(GTK_HEADER_BAR(header), ":close");
    self->busy = gtk_spinner_new();
    gtk_widget_set_no_show_all(self->busy, TRUE);
    widget_name(self->busy, "Pairing", NULL);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), self->busy);
    gtk_window_set_titlebar(GTK_WINDOW(self), header);

    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_pack_start(GTK_BOX(column), self->stack, TRUE, TRUE, 0);
    add_bar(self, column);
    gtk_container_add(GTK_CONTAINER(self), column);
    fill_peers(model, self);
    gtk_window_set_position(GTK_WINDOW(self), GTK_WIN_POS_CENTER);
    widget_close_on_escape(GTK_WINDOW(self));
    gtk_widget_show_all(GTK_WIDGET(self));
    gtk_stack_set_visible_child_name(stack, json_array_size(model_peers(model)) > 0 ? "peers" : "show");
    on_page(G_OBJECT(stack), NULL, self);
    g_signal_connect(self, "key-press-event", G_CALLBACK(on_key), self);
    g_signal_connect(stack, "notify::visible-child", G_CALLBACK(on_page), self);
    g_signal_connect(model, "changed", G_CALLBACK(fill_peers), self);
    g_signal_connect(model, "pairing", G_CALLBACK(on_pairing), self);
    return self;
}

static PairWindow *the_window(GtkApplication *application, Model *model) {
    for (GList *each = gtk_application_get_windows(application); each; each = each->next)
        if (TRAY_IS_PAIR_WINDOW(each->data)) return each->data;
    return pair_window_new(application, model);
}

void pair_window_present(GtkApplication *application, Model *model) {
    gtk_window_present(GTK_WINDOW(the_window(application, model)));
}

void pair_window_ask(GtkApplication *application, Model *model, json_t *data) {
    ask(the_window(application, model), json_string_value(json_object_get(data, "flow")),
        json_object_get(data, "device"));
}
