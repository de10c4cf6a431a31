#include "row_details.h"

#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>
#include <string.h>

enum { LABEL_LIMIT = 40, LINKS = 4, COPY_LIMIT = 70000, TITLE_LIMIT = 200, ANSWER_LIMIT = 8192 };

/* The widgets of one unfolded row. */
typedef struct {
    Model *model;
    json_t *row;
    Draft *draft;
    GObject *owner; /* which the row is in */
} Details;

static const char *text_in(json_t *row, const char *key) { return json_string_value(json_object_get(row, key)); }

/* The draft -------------------------------------------------------------------------------------------------------- */

static void say(Draft *draft, const char *outcome) {
    char *text = g_strdup(outcome);
    g_free(draft->outcome);
    draft->outcome = text;
    if (draft->label) gtk_label_set_text(GTK_LABEL(draft->label), text);
}

void draft_clear(Draft *draft) {
    g_free(draft->text);
    g_free(draft->outcome);
    draft->text = draft->outcome = NULL;
    draft->is_open = draft->is_sending = draft->has_focus = FALSE;
}

void draft_free(Draft *draft) {
    draft_clear(draft);
    g_clear_weak_pointer(&draft->reply);
    g_clear_weak_pointer(&draft->entry);
    g_clear_weak_pointer(&draft->label);
}

void draft_keep(Draft *draft) {
    draft->has_focus = draft->entry && gtk_widget_has_focus(draft->entry);
    if (draft->has_focus) draft->cursor = gtk_editable_get_position(GTK_EDITABLE(draft->entry));
}

void draft_restore(Draft *draft) {
    if (!draft->has_focus || !draft->entry || !draft->is_open) return;
    gtk_entry_grab_focus_without_selecting(GTK_ENTRY(draft->entry));
    gtk_editable_set_position(GTK_EDITABLE(draft->entry), draft->cursor);
}

static void on_drafted(GtkEntry *entry, Details *self) {
    g_free(self->draft->text);
    self->draft->text = g_strdup(gtk_entry_get_text(entry));
}

/* The row may have been folded, or made anew, while the answer was on its way. */
static void on_answered(GObject *owner, json_t *result, const char *failure) {
    Draft *draft = g_object_get_data(owner, "draft");
    if (!draft->is_sending) return;
    draft->is_sending = FALSE;
    if (draft->reply) gtk_widget_set_sensitive(draft->reply, TRUE);
    if (!failure && draft->entry) gtk_entry_set_text(GTK_ENTRY(draft->entry), "");
    if (failure) say(draft, failure);
    else if (json_is_true(json_object_get(result, "queued"))) say(draft, _("Queued until the desktop is back online."));
    else say(draft, _("Sent."));
}

static void on_send(GtkWidget *widget, Details *self) {
    (void)widget;
    const char *text = self->draft->text;
    if (!text || !*text || self->draft->is_sending) return;
    char *title = text_line(text_in(self->row, "title"), TITLE_LIMIT);
    /* TRANSLATORS: the title of an answer to the notification with that title. */
    char *whole = g_strdup_printf(_("Re: %s"), title);
    json_t *params = json_pack("{s:s, s:s, s:{s:s*}}", "title", whole, "body", text, "data", "inReplyTo",
                               text_in(self->row, "id"));
    g_free(whole);
    g_free(title);
    self->draft->is_sending = TRUE;
    gtk_widget_set_sensitive(self->draft->reply, FALSE);
    say(self->draft, _("Sending…"));
    model_send(self->model, text_in(self->row, "desktop"), params, self->owner, on_answered);
}

static void on_reply(GtkToggleButton *button, Details *self) {
    self->draft->is_open = gtk_toggle_button_get_active(button);
    gtk_widget_set_visible(self->draft->reply, self->draft->is_open);
    if (self->draft->is_open) gtk_widget_grab_focus(self->draft->entry);
}

static gboolean on_key(GtkWidget *entry, GdkEventKey *event, GtkWidget *toggle) {
    (void)entry;
    if (event->keyval != GDK_KEY_Escape) return GDK_EVENT_PROPAGATE;
    gtk_widget_grab_focus(toggle);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(toggle), FALSE);
    return GDK_EVENT_STOP;
}

/* Links ------------------------------------------------------------------------------------------------------------ */

/* Others wrote it: what could start any program is not opened, and can be copied all the same. */
static gboolean can_open(const char *url) {
    GUri *parsed = url ? g_uri_parse(url, G_URI_FLAGS_NONE, NULL) : NULL;
    if (!parsed) return FALSE;
    const char *scheme = g_uri_get_scheme(parsed), *host = g_uri_get_host(parsed);
    gboolean is_web = (g_str_equal(scheme, "https") || g_str_equal(scheme, "http")) && host && *host;
    g_uri_unref(parsed);
    return is_web;
}

static void on_link(GtkButton *button, Details *self) {
    GtkWidget *window = gtk_widget_get_toplevel(GTK_WIDGET(button));
    GError *error = NULL;
    if (gtk_show_uri_on_window(GTK_WINDOW(window), g_object_get_data(G_OBJECT(button), "url"), GDK_CURRENT_TIME,
                               &error))
        return;
    say(self->draft, error->message);
    g_error_free(error);
}

static void add_link(GtkWidget *buttons, const char *label, const char *url, Details *self) {
    if (!can_open(url)) return;
    char *line = text_line(label, LABEL_LIMIT), *shown = text_line(url, 200);
    GtkWidget *button = gtk_button_new_with_label(line);
    gtk_widget_set_tooltip_text(button, shown);
    widget_name(button, line, shown);
    g_object_set_data_full(G_OBJECT(button), "url", g_strdup(url), g_free);
    g_signal_connect(button, "clicked", G_CALLBACK(on_link), self);
    gtk_container_add(GTK_CONTAINER(buttons), button);
    g_free(shown);
    g_free(line);
}

/* The link of the notification, and those that a publisher over HTTP named as actions: a list in a text. */
static void add_links(GtkWidget *buttons, Details *self) {
    json_t *data = json_object_get(self->row, "data"), *each;
    const char *link = text_in(self->row, "deepLink"), *actions = text_in(data, "actions");
    if (!link) link = text_in(data, "deepLink");
    json_t *list = actions ? json_loads(actions, JSON_ALLOW_NUL, NULL) : NULL;
    gboolean is_named = FALSE;
    gsize index;
    json_array_foreach(list, index, each) {
        const char *label = text_in(each, "label"), *url = text_in(each, "url");
        if (index >= LINKS || !label || !url) continue;
        add_link(buttons, label, url, self);
        is_named |= g_strcmp0(url, link) == 0;
    }
    if (link && !is_named) add_link(buttons, _("Open link"), link, self);
    json_decref(list);
}

/* All of it -------------------------------------------------------------------------------------------------------- */

void row_copy(GtkWidget *widget, json_t *row) {
    char *title = text_block(text_in(row, "title"), COPY_LIMIT), *body = text_block(text_in(row, "body"), COPY_LIMIT);
    const char *link = text_in(row, "deepLink");
    char *shown = text_line(link, 4096);
    char *whole = g_strjoin("\n", title, *body ? body : shown, *body && *shown ? shown : NULL, NULL);
    gtk_clipboard_set_text(gtk_widget_get_clipboard(widget, GDK_SELECTION_CLIPBOARD), g_strchomp(whole), -1);
    g_free(whole);
    g_free(shown);
    g_free(body);
    g_free(title);
}

static void on_copy(GtkWidget *button, Details *self) {
    row_copy(button, self->row);
    say(self->draft, _("Copied."));
}

static gboolean is_paired(Model *model, const char *peer) {
    json_t *each;
    gsize index;
    json_array_foreach(model_peers(model), index, each) {
        if (peer && g_strcmp0(text_in(each, "id"), peer) == 0) return TRUE;
    }
    return FALSE;
}

/* The draft knows a widget as long as it is there. */
static GtkWidget *known(GtkWidget *widget, GtkWidget **place) {
    g_set_weak_pointer(place, widget);
    return widget;
}

static void add_reply(GtkWidget *column, GtkWidget *buttons, Details *self) {
    Draft *draft = self->draft;
    GtkWidget *toggle = gtk_toggle_button_new_with_mnemonic(_("_Reply"));
    GtkWidget *reply = known(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8), &draft->reply);
    GtkWidget *entry = known(gtk_entry_new(), &draft->entry), *send = gtk_button_new_with_mnemonic(_("_Send"));
    gtk_entry_set_text(GTK_ENTRY(entry), draft->text ? draft->text : "");
    gtk_entry_set_max_length(GTK_ENTRY(entry), ANSWER_LIMIT);
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), _("Your answer"));
    widget_name(entry, _("Your answer"), NULL);
    gtk_style_context_add_class(gtk_widget_get_style_context(send), "suggested-action");
    gtk_box_pack_start(GTK_BOX(reply), entry, TRUE, TRUE, 0);
    gtk_container_add(GTK_CONTAINER(reply), send);
    gtk_widget_show_all(reply);
    gtk_widget_set_no_show_all(reply, TRUE);
    gtk_widget_set_visible(reply, draft->is_open);
    gtk_widget_set_sensitive(reply, !draft->is_sending);
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(toggle), draft->is_open);
    gtk_container_add(GTK_CONTAINER(buttons), toggle);
    gtk_container_add(GTK_CONTAINER(column), reply);
    g_signal_connect(entry, "changed", G_CALLBACK(on_drafted), self);
    g_signal_connect(entry, "activate", G_CALLBACK(on_send), self);
    g_signal_connect(entry, "key-press-event", G_CALLBACK(on_key), toggle);
    g_signal_connect(send, "clicked", G_CALLBACK(on_send), self);
    g_signal_connect(toggle, "toggled", G_CALLBACK(on_reply), self);
}

static void details_free(gpointer data) {
    Details *self = data;
    g_object_unref(self->model);
    json_decref(self->row);
    g_free(self);
}

GtkWidget *row_details_new(Model *model, json_t *row, Draft *draft, GObject *owner) {
    Details *self = g_new0(Details, 1);
    *self = (Details){g_object_ref(model), json_incref(row), draft, owner};
    g_object_set_data(owner, "draft", draft);
    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8), *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    g_object_set_data_full(G_OBJECT(column), "details", self, details_free);
    gtk_widget_set_margin_top(column, 6);
    add_links(buttons, self);
    GtkWidget *copy = gtk_button_new_with_mnemonic(_("_Copy"));
    g_signal_connect(copy, "clicked", G_CALLBACK(on_copy), self);
    gtk_container_add(GTK_CONTAINER(buttons), copy);
    gtk_container_add(GTK_CONTAINER(column), buttons);
    if (!model_is_desktop(model) && is_paired(model, text_in(row, "desktop"))) add_reply(column, buttons, self);
    GtkWidget *label = known(widget_label(draft->outcome ? draft->outcome : "", "dim-label"), &draft->label);
    gtk_box_pack_start(GTK_BOX(buttons), label, TRUE, TRUE, 0);
    gtk_widget_show_all(column);
    return column;
}
