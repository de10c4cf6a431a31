/* The page of the pairing window that shows a code. */
#include "code_image.h"
#include "pair_pages.h"
#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>

enum { CODE_SIDE = 264 };

void pair_show_again(PairWindow *self, const char *note) {
    self->is_shown = FALSE;
    gtk_stack_set_visible_child_name(GTK_STACK(self->code_stack), "none");
    gtk_label_set_text(GTK_LABEL(self->code_note), note);
    if (self->code_digits) gtk_widget_hide(self->code_digits);
    gtk_widget_hide(self->code_lan);
    gtk_widget_show(self->code_again);
    g_object_set(self->code_spinner, "active", FALSE, NULL);
}

/* The relay that devices use: a code's only member that a person who types digits needs as well. */
static void keep_relay(PairWindow *self, const char *payload) {
    json_t *code = payload ? json_loads(payload, JSON_ALLOW_NUL, NULL) : NULL;
    const char *url = json_string_value(json_object_get(code, "relayUrl"));
    if (!url) url = json_string_value(json_object_get(code, "signalingUrl"));
    g_free(self->code_relay);
    self->code_relay = url ? text_line(url, 200) : NULL;
    json_decref(code);
}

/* A desktop's own relay serves this machine only, until its user says otherwise. */
static char *lan_note(PairWindow *self, char *note) {
    char *address = model_lan_offer(self->model);
    gtk_widget_set_visible(self->code_lan, address != NULL);
    if (!address) return note;
    char *label = g_strdup_printf(_("_Allow other machines, on %s"), address);
    char *whole = g_strdup_printf("%s %s", _("This code works only on this machine."), note);
    gtk_button_set_label(GTK_BUTTON(self->code_lan), label);
    g_free(label);
    g_free(note);
    g_free(address);
    return whole;
}

static void on_lan(GtkButton *button, PairWindow *self) {
    (void)button;
    char *failure = NULL;
    pair_clear(self);
    /* "reopened" asks for a code anew. */
    if (!model_use_lan(self->model, &failure)) pair_fail(self, failure);
    g_free(failure);
}

static void on_code(GObject *owner, json_t *offer, const char *failure) {
    PairWindow *self = TRAY_PAIR_WINDOW(owner);
    if (self->is_closed) return;
    const char *payload = json_string_value(json_object_get(offer, "payload"));
    char *problem = NULL;
    int factor = gtk_widget_get_scale_factor(GTK_WIDGET(self));
    GdkPixbuf *picture = payload ? code_image_draw(payload, CODE_SIDE * factor, &problem) : NULL;
    if (!picture) {
        const char *note = problem ? problem : failure ? failure : _("No code available.");
        /* Nothing is wrong: a new program knows no relay yet. */
        if (failure && model_lacks_relay(self->model))
            note = _("To show a code, Bellwire needs a relay that both machines can reach. Enter its address under Start.");
        pair_show_again(self, note);
        g_free(problem);
        return;
    }
    cairo_surface_t *surface = gdk_cairo_surface_create_from_pixbuf(picture, factor, NULL);
    gtk_image_set_from_surface(GTK_IMAGE(self->code), surface);
    cairo_surface_destroy(surface);
    g_object_unref(picture);
    char *until = text_until(json_integer_value(json_object_get(offer, "expiresAt")) / 1000);
    char *note = g_strdup_printf(model_is_desktop(self->model)
                                     ? _("Scan this code with your device. Valid until %s.")
                                     : _("Scan this code with your desktop. Valid until %s."),
                                 until);
    keep_relay(self, payload);
    note = lan_note(self, note);
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
    char *line = g_strdup_printf(_("Or type %s on the device"), digits);
    /* TRANSLATORS: the other machine asks for this address together with the digits. */
    char *relay = self->code_relay ? g_strdup_printf(_("Relay at %s"), self->code_relay) : NULL;
    char *text = relay ? g_strconcat(line, "\n", relay, NULL) : g_strdup(line);
    g_free(relay);
    g_free(line);
    gtk_label_set_text(GTK_LABEL(self->code_digits), text);
    gtk_widget_show(self->code_digits);
    g_free(text);
}

void pair_show_code(PairWindow *self) {
    if (self->is_shown) return;
    self->is_shown = TRUE;
    gtk_widget_hide(self->code_again);
    gtk_stack_set_visible_child_name(GTK_STACK(self->code_stack), "wait");
    g_object_set(self->code_spinner, "active", TRUE, NULL);
    gtk_label_set_text(GTK_LABEL(self->code_note), _("Connecting to the relay…"));
    model_show_code(self->model, G_OBJECT(self), on_code);
    if (self->code_digits) model_show_digits(self->model, G_OBJECT(self), on_digits);
}

static void on_again(GtkButton *button, PairWindow *self) {
    (void)button;
    pair_clear(self);
    pair_show_code(self);
}

GtkWidget *pair_show_page(PairWindow *self) {
    GtkWidget *page = widget_column(18);
    gtk_widget_set_valign(page, GTK_ALIGN_CENTER);
    self->code = gtk_image_new();
    widget_name(self->code, _("QR code for pairing"), NULL);
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
        gtk_label_set_justify(GTK_LABEL(self->code_digits), GTK_JUSTIFY_CENTER);
        gtk_label_set_line_wrap(GTK_LABEL(self->code_digits), TRUE);
        gtk_label_set_line_wrap_mode(GTK_LABEL(self->code_digits), PANGO_WRAP_CHAR);
        gtk_style_context_add_class(gtk_widget_get_style_context(self->code_digits), "digits");
        gtk_widget_set_no_show_all(self->code_digits, TRUE);
        gtk_container_add(GTK_CONTAINER(page), self->code_digits);
    }
    self->code_note = widget_note("");
    gtk_label_set_justify(GTK_LABEL(self->code_note), GTK_JUSTIFY_CENTER);
    gtk_label_set_xalign(GTK_LABEL(self->code_note), 0.5f);
    gtk_container_add(GTK_CONTAINER(page), self->code_note);
    self->code_lan = gtk_button_new_with_mnemonic("");
    gtk_widget_set_halign(self->code_lan, GTK_ALIGN_CENTER);
    gtk_widget_set_no_show_all(self->code_lan, TRUE);
    g_signal_connect(self->code_lan, "clicked", G_CALLBACK(on_lan), self);
    gtk_container_add(GTK_CONTAINER(page), self->code_lan);
    self->code_again = gtk_button_new_with_mnemonic(_("_New code"));
    gtk_widget_set_halign(self->code_again, GTK_ALIGN_CENTER);
    gtk_widget_set_no_show_all(self->code_again, TRUE);
    g_signal_connect(self->code_again, "clicked", G_CALLBACK(on_again), self);
    gtk_container_add(GTK_CONTAINER(page), self->code_again);
    return page;
}
