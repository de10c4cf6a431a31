#include "pair_window.h"

#include "pair_pages.h"
#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>
#include <string.h>

/* The answers of the bar. */
enum { PAIR = 1, REFUSE, SAME, DIFFERS, ALERTS, NO_ALERTS, ACCEPT_MOVE, DECLINE_MOVE };

G_DEFINE_TYPE(PairWindow, pair_window, GTK_TYPE_APPLICATION_WINDOW)

/* What came of it ------------------------------------------------------------------------------------------------ */

void pair_clear(PairWindow *self) {
    self->asks_move = FALSE;
    gtk_widget_hide(self->bar);
    GtkWidget *area = gtk_info_bar_get_action_area(GTK_INFO_BAR(self->bar));
    gtk_container_foreach(GTK_CONTAINER(area), (GtkCallback)(void (*)(void))gtk_widget_destroy, NULL);
}

static void fill_bar(PairWindow *self, GtkMessageType type, const char *title, const char *sas, const char *text) {
    pair_clear(self);
    gtk_info_bar_set_message_type(GTK_INFO_BAR(self->bar), type);
    gtk_info_bar_set_show_close_button(GTK_INFO_BAR(self->bar), type == GTK_MESSAGE_ERROR);
    gtk_label_set_text(GTK_LABEL(self->bar_title), title);
    gtk_label_set_text(GTK_LABEL(self->bar_text), text);
    gtk_label_set_text(GTK_LABEL(self->bar_sas), sas ? sas : "");
    gtk_widget_set_visible(self->bar_sas, sas != NULL);
    widget_name(self->bar, title, text);
    gtk_widget_show(self->bar);
}

void pair_set_busy(PairWindow *self, gboolean is_busy) {
    gtk_widget_set_visible(self->busy, is_busy);
    g_object_set(self->busy, "active", is_busy, NULL);
    gtk_widget_set_sensitive(self->read_button, !is_busy);
    if (self->type_button) gtk_widget_set_sensitive(self->type_button, !is_busy);
    if (is_busy) pair_clear(self);
}

void pair_fail(PairWindow *self, const char *failure) {
    pair_set_busy(self, FALSE);
    fill_bar(self, GTK_MESSAGE_ERROR, _("Pairing failed"), NULL, failure);
}

/* "045 572 · avenue major" */
char *pair_sas_text(json_t *peer) {
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
    pair_set_busy(self, FALSE);
    remember(self, flow, peer);
    /* A code works once. */
    if (self->type_entry) gtk_entry_set_text(GTK_ENTRY(self->type_entry), "");
    gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(self->read_text)), "", -1);
    char *name = text_line(json_string_value(json_object_get(peer, "name")), PAIR_NAME_LIMIT);
    char *title = g_strdup_printf(_("Paired with %s"), name), *sas = pair_sas_text(peer);
    fill_bar(self, GTK_MESSAGE_INFO, title, sas,
             sas ? _("Does the other side show the same?") : _("Not encrypted: its identity is not proven."));
    GtkInfoBar *bar = GTK_INFO_BAR(self->bar);
    if (sas) gtk_info_bar_add_button(bar, _("They _differ"), DIFFERS);
    gtk_info_bar_add_button(bar, sas ? _("They _match") : _("_Done"), SAME);
    gtk_info_bar_set_default_response(bar, SAME);
    g_free(sas);
    g_free(title);
    g_free(name);
    self->is_shown = FALSE;
    gtk_stack_set_visible_child_name(GTK_STACK(self->stack), "peers");
}

/* Who has just paired wants to hear from it. */
static void ask_for_alerts(PairWindow *self) {
    if (!model_alerts_undecided(self->model)) return;
    fill_bar(self, GTK_MESSAGE_QUESTION, _("Show alerts?"), NULL,
             _("Notifications then appear on this screen as they arrive. You can change this in the menu."));
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), _("_Not now"), NO_ALERTS);
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), _("_Show alerts"), ALERTS);
    gtk_info_bar_set_default_response(GTK_INFO_BAR(self->bar), ALERTS);
}

static void ask(PairWindow *self, const char *flow, json_t *peer) {
    pair_set_busy(self, FALSE);
    remember(self, flow, peer);
    char *name = text_line(json_string_value(json_object_get(peer, "name")), PAIR_NAME_LIMIT);
    char *title = g_strdup_printf(_("Pair with %s?"), name), *sas = pair_sas_text(peer);
    fill_bar(self, GTK_MESSAGE_QUESTION, title, sas,
             sas ? _("Pair only if the device shows the same digits and words.")
             : json_is_true(json_object_get(peer, "secure"))
                 ? _("This is the device whose code was read.")
                 : _("It can't prove that it saw the code. Pair only if it is yours and asks right now."));
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), _("_Refuse"), REFUSE);
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), _("_Pair"), PAIR);
    g_free(sas);
    g_free(title);
    g_free(name);
    gtk_window_present(GTK_WINDOW(self));
}

static const char *of_move(PairWindow *self, const char *member) {
    return json_string_value(json_object_get(g_queue_peek_head(&self->moves), member));
}

/* Only while the bar has nothing else to say; on_bar() asks the next one. */
static void ask_move(PairWindow *self) {
    if (g_queue_is_empty(&self->moves) || gtk_widget_get_visible(self->bar)) return;
    char *name = text_line(of_move(self, "name"), PAIR_NAME_LIMIT), *key = text_line(of_move(self, "newId"), 128);
    char *title = g_strdup_printf(_("%s asks to move to a new key"), name);
    char *text = g_strdup_printf(_("New key: %s\nAccept only if its user has just started this and sees the same key there. "
                                   "Anyone who has a copy of its old key can ask."),
                                 key);
    fill_bar(self, GTK_MESSAGE_QUESTION, title, NULL, text);
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), _("_Decline"), DECLINE_MOVE);
    gtk_info_bar_add_button(GTK_INFO_BAR(self->bar), _("_Accept"), ACCEPT_MOVE);
    self->asks_move = TRUE;
    g_free(text);
    g_free(title);
    g_free(key);
    g_free(name);
}

static void answer_move(PairWindow *self, gboolean accepts) {
    json_t *question = g_queue_pop_head(&self->moves);
    const char *peer = json_string_value(json_object_get(question, "id"));
    if (!model_confirm_move(self->model, peer, json_string_value(json_object_get(question, "newId")), accepts))
        fill_bar(self, GTK_MESSAGE_ERROR, _("No longer asked"), NULL,
                 _("Another program has answered, or the other side has cancelled."));
    json_decref(question);
}

static void on_bar(GtkInfoBar *bar, gint response, PairWindow *self) {
    (void)bar;
    gboolean asked_move = self->asks_move;
    pair_clear(self);
    if (asked_move && (response == ACCEPT_MOVE || response == DECLINE_MOVE)) {
        answer_move(self, response == ACCEPT_MOVE);
    } else if (response == DIFFERS && self->peer) {
        model_unpair(self->model, self->peer);
        fill_bar(self, GTK_MESSAGE_WARNING, _("Unpaired"), NULL,
                 _("Someone may be intercepting the connection. Pair again with a new code, and compare again."));
    } else if (response == PAIR || response == REFUSE) {
        if (!model_confirm(self->model, self->flow, response == PAIR))
            pair_fail(self, _("The request has expired. Try again with a new code."));
        else if (response == PAIR)
            pair_set_busy(self, TRUE);
    } else if (response == SAME) {
        ask_for_alerts(self);
    } else if (response == ALERTS || response == NO_ALERTS) {
        model_allow_alerts(self->model, response == ALERTS);
    }
    ask_move(self);
}

gboolean pair_window_is_question(json_t *data) {
    const char *state = json_string_value(json_object_get(data, "state"));
    return g_strcmp0(state, "confirming") == 0 ||
           (g_strcmp0(state, "acked") == 0 && json_is_true(json_object_get(data, "confirm")));
}

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
    /* A shown code is also finished once its question was answered. */
    if (is_shown && g_strcmp0(flow, self->flow) == 0 && (!strcmp(state, "expired") || !strcmp(state, "failed")))
        pair_set_busy(self, FALSE);
    if (!strcmp(state, "success") || !strcmp(state, "completed") || !strcmp(state, "paired")) {
        succeed(self, flow, peer);
    } else if (!strcmp(state, "expired") && self->code_digits && !strcmp(flow, "code")) {
        gtk_widget_hide(self->code_digits); /* the QR code beside them says it */
    } else if (!strcmp(state, "expired")) {
        if (is_shown) pair_show_again(self, _("The code has expired."));
        else pair_fail(self, _("Pairing timed out. Try again with a new code."));
    } else if (!strcmp(state, "failed") && g_strcmp0(json_string_value(json_object_get(data, "reason")), "cancelled")) {
        char *text = text_line(message, 400);
        if (is_shown) pair_show_again(self, text);
        else pair_fail(self, text);
        g_free(text);
    }
}

/* The window ----------------------------------------------------------------------------------------------------- */

/* A code is asked for when it is looked at, not before. */
static void on_page(GObject *stack, GParamSpec *property, PairWindow *self) {
    (void)property;
    const char *page = gtk_stack_get_visible_child_name(GTK_STACK(stack));
    if (g_strcmp0(page, "show") == 0 && pair_use_relay(self)) pair_show_code(self);
    if (g_strcmp0(page, "read") == 0) gtk_widget_grab_focus(self->read_text);
    if (g_strcmp0(page, "start") == 0) gtk_widget_grab_focus(self->type_entry);
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

/* What was in progress has gone. */
static void on_reopened(Model *model, PairWindow *self) {
    (void)model;
    pair_set_busy(self, FALSE);
    self->is_shown = FALSE;
    on_page(G_OBJECT(self->stack), NULL, self);
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
    g_free(self->code_relay);
    json_t *question;
    while ((question = g_queue_pop_head(&self->moves))) json_decref(question);
    G_OBJECT_CLASS(pair_window_parent_class)->finalize(object);
}

static void pair_window_class_init(PairWindowClass *class) {
    G_OBJECT_CLASS(class)->dispose = pair_window_dispose;
    G_OBJECT_CLASS(class)->finalize = pair_window_finalize;
}

static void pair_window_init(PairWindow *self) { g_queue_init(&self->moves); }

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
    if (!is_desktop) gtk_stack_add_titled(stack, pair_start_page(self), "start", _("Start"));
    gtk_stack_add_titled(stack, pair_show_page(self), "show", _("Show"));
    gtk_stack_add_titled(stack, pair_read_page(self), "read", _("Read"));
    gtk_stack_add_titled(stack, pair_peers_page(self), "peers", is_desktop ? _("Devices") : _("Desktops"));

    GtkWidget *header = gtk_header_bar_new(), *switcher = gtk_stack_switcher_new();
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(switcher), stack);
    gtk_header_bar_set_title(GTK_HEADER_BAR(header), _("Pair")); /* becomes the window's */
    gtk_header_bar_set_custom_title(GTK_HEADER_BAR(header), switcher);
    gtk_header_bar_set_show_close_button(GTK_HEADER_BAR(header), TRUE);
    gtk_header_bar_set_decoration_layout(GTK_HEADER_BAR(header), ":close");
    self->busy = gtk_spinner_new();
    gtk_widget_set_no_show_all(self->busy, TRUE);
    widget_name(self->busy, _("Pairing"), NULL);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(header), self->busy);
    gtk_window_set_titlebar(GTK_WINDOW(self), header);

    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_pack_start(GTK_BOX(column), self->stack, TRUE, TRUE, 0);
    add_bar(self, column);
    gtk_container_add(GTK_CONTAINER(self), column);
    pair_fill_peers(self);
    gtk_window_set_position(GTK_WINDOW(self), GTK_WIN_POS_CENTER);
    widget_close_on_escape(GTK_WINDOW(self));
    gtk_widget_show_all(GTK_WIDGET(self));
    gtk_stack_set_visible_child_name(stack, json_array_size(model_peers(model)) > 0 ? "peers"
                                                                               : is_desktop ? "show" : "start");
    on_page(G_OBJECT(stack), NULL, self);
    g_signal_connect(self, "key-press-event", G_CALLBACK(on_key), self);
    g_signal_connect(stack, "notify::visible-child", G_CALLBACK(on_page), self);
    g_signal_connect_swapped(model, "changed", G_CALLBACK(pair_fill_peers), self);
    g_signal_connect(model, "pairing", G_CALLBACK(on_pairing), self);
    g_signal_connect(model, "reopened", G_CALLBACK(on_reopened), self);
    return self;
}

static PairWindow *the_window(GtkApplication *application, Model *model) {
    for (GList *each = gtk_application_get_windows(application); each; each = each->next)
        if (TRAY_IS_PAIR_WINDOW(each->data)) return each->data;
    return pair_window_new(application, model);
}

void pair_window_present(GtkApplication *application, Model *model) {
    PairWindow *self = the_window(application, model);
    /* Questions of a window that was closed without an answer. */
    if (g_queue_is_empty(&self->moves)) model_repeat_moves(model);
    gtk_window_present(GTK_WINDOW(self));
}

void pair_window_ask_move(GtkApplication *application, Model *model, json_t *question) {
    PairWindow *self = the_window(application, model);
    const char *id = json_string_value(json_object_get(question, "id"));
    /* A peer may ask for another key than before: the last one counts. */
    for (GList *each = self->moves.head, *next; each; each = next) {
        next = each->next;
        if (g_strcmp0(json_string_value(json_object_get(each->data, "id")), id) != 0) continue;
        gboolean is_shown = each == self->moves.head && self->asks_move;
        json_decref(each->data);
        g_queue_delete_link(&self->moves, each);
        if (is_shown) pair_clear(self);
    }
    g_queue_push_tail(&self->moves, json_incref(question));
    ask_move(self);
    gtk_window_present(GTK_WINDOW(self));
}

void pair_window_ask(GtkApplication *application, Model *model, json_t *data) {
    ask(the_window(application, model), json_string_value(json_object_get(data, "flow")),
        json_object_get(data, json_object_get(data, "desktop") ? "desktop" : "device"));
}
