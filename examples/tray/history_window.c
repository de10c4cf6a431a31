#include "history_window.h"

#include "row_details.h"
#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>
#include <string.h>

enum { PAGE = 50, MOST = 500, TITLE_LIMIT = 200, BODY_LIMIT = 4000, WHOLE_LIMIT = 70000, NAME_LIMIT = 40, LINES = 2 };

#define TYPE_HISTORY_WINDOW (history_window_get_type())
G_DECLARE_FINAL_TYPE(HistoryWindow, history_window, TRAY, HISTORY_WINDOW, GtkApplicationWindow)

struct _HistoryWindow {
    GtkApplicationWindow parent;
    Model *model;
    GtkWidget *header, *search, *unread_only, *list, *scrolled, *mark_all, *nothing;
    json_t *rows; /* what the list shows */
    json_t *peers; /* with their names */
    char *next;   /* the place of the next page; NULL = there is none */
    char *open_id; /* of the row that is unfolded */
    gboolean reveals; /* the selected row is to be scrolled to, once it has a place */
    Draft draft;   /* the answer to it */
};

G_DEFINE_TYPE(HistoryWindow, history_window, GTK_TYPE_APPLICATION_WINDOW)

static const char *text_in(json_t *row, const char *key) { return json_string_value(json_object_get(row, key)); }

/* Rows ----------------------------------------------------------------------------------------------------------- */

static json_t *row_of(GtkWidget *widget) {
    GtkWidget *row = gtk_widget_get_ancestor(widget, GTK_TYPE_LIST_BOX_ROW);
    return row ? g_object_get_data(G_OBJECT(row), "row") : NULL;
}

static void on_mark(GtkButton *button, HistoryWindow *self) {
    json_t *row = row_of(GTK_WIDGET(button));
    model_mark_read(self->model, text_in(row, "desktop"), text_in(row, "id"));
}

static void on_delete(GtkButton *button, HistoryWindow *self) {
    json_t *row = row_of(GTK_WIDGET(button));
    model_delete(self->model, text_in(row, "desktop"), text_in(row, "id"));
}

static GtkWidget *row_button(const char *icon, const char *name, GCallback clicked, HistoryWindow *self) {
    GtkWidget *button = gtk_button_new_from_icon_name(icon, GTK_ICON_SIZE_BUTTON);
    gtk_button_set_relief(GTK_BUTTON(button), GTK_RELIEF_NONE);
    gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(button, name);
    widget_name(button, name, NULL);
    g_signal_connect(button, "clicked", clicked, self);
    return button;
}

/* "Studio · 14:32": who sent it, where that is known, and when. */
static char *origin(HistoryWindow *self, json_t *row) {
    json_t *peer;
    gsize index;
    char *when = text_when(json_integer_value(json_object_get(row, "createdAt"))), *text = NULL;
    json_array_foreach(model_peers(self->model), index, peer) {
        if (text || g_strcmp0(text_in(peer, "id"), text_in(row, "desktop")) != 0) continue;
        char *name = text_line(text_in(peer, "name"), NAME_LIMIT);
        text = g_strdup_printf("%s  ·  %s", name, when);
        g_free(name);
    }
    if (!text) return when;
    g_free(when);
    return text;
}

/* Folded, a row has the beginning of its text; unfolded, all of it, and what can be done with it. */
static void unfold(HistoryWindow *self, GtkWidget *row, gboolean is_open) {
    GtkLabel *body = g_object_get_data(G_OBJECT(row), "body");
    json_t *of = g_object_get_data(G_OBJECT(row), "row");
    char *text = is_open ? text_block(text_in(of, "body"), WHOLE_LIMIT) : text_line(text_in(of, "body"), BODY_LIMIT);
    gtk_label_set_text(body, text);
    gtk_label_set_lines(body, is_open ? -1 : LINES);
    gtk_label_set_ellipsize(body, is_open ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END);
    g_free(text);
    GtkWidget *details = g_object_get_data(G_OBJECT(row), "details");
    if (details) gtk_widget_destroy(details);
    details = is_open ? row_details_new(self->model, of, &self->draft, G_OBJECT(self)) : NULL;
    if (details) gtk_container_add(GTK_CONTAINER(g_object_get_data(G_OBJECT(row), "texts")), details);
    g_object_set_data(G_OBJECT(row), "details", details);
}

static GtkWidget *row_new(HistoryWindow *self, json_t *row) {
    gboolean is_read = json_is_true(json_object_get(row, "read"));
    const char *priority = text_in(row, "priority");
    gboolean is_urgent = g_strcmp0(priority, "urgent") == 0 || g_strcmp0(priority, "high") == 0;
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10), *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
    g_object_set(line, "margin-top", 8, "margin-bottom", 8, "margin-start", 12, "margin-end", 6, NULL);
    GtkWidget *dot = gtk_label_new(is_read ? "" : "●");
    gtk_style_context_add_class(gtk_widget_get_style_context(dot), "unread-dot");
    gtk_widget_set_size_request(dot, 14, -1);
    gtk_widget_set_valign(dot, GTK_ALIGN_START);
    gtk_container_add(GTK_CONTAINER(line), dot);

    char *title = text_line(text_in(row, "title"), TITLE_LIMIT), *body = text_line(text_in(row, "body"), BODY_LIMIT);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10);
    if (is_urgent) {
        GtkWidget *sign = gtk_image_new_from_icon_name("dialog-warning-symbolic", GTK_ICON_SIZE_MENU);
        widget_name(sign, _("Urgent"), NULL);
        gtk_container_add(GTK_CONTAINER(head), sign);
    }
    gtk_box_pack_start(GTK_BOX(head), widget_label(title, is_read ? NULL : "row-title"), TRUE, TRUE, 0);
    char *from = origin(self, row);
    gtk_container_add(GTK_CONTAINER(head), widget_label(from, "dim-label"));
    gtk_container_add(GTK_CONTAINER(texts), head);
    GtkWidget *text = widget_label(body, "dim-label");
    gtk_label_set_line_wrap(GTK_LABEL(text), TRUE);
    gtk_label_set_line_wrap_mode(GTK_LABEL(text), PANGO_WRAP_WORD_CHAR);
    gtk_widget_set_no_show_all(text, !*body);
    gtk_container_add(GTK_CONTAINER(texts), text);
    gtk_box_pack_start(GTK_BOX(line), texts, TRUE, TRUE, 0);
    GtkWidget *mark = row_button("object-select-symbolic", _("Mark as read"), G_CALLBACK(on_mark), self);
    /* It keeps its place in the row. */
    gtk_widget_set_sensitive(mark, !is_read);
    gtk_widget_set_opacity(mark, is_read ? 0 : 1);
    gtk_container_add(GTK_CONTAINER(line), mark);
    gtk_container_add(GTK_CONTAINER(line), row_button("user-trash-symbolic", _("Delete"), G_CALLBACK(on_delete), self));

    GtkWidget *item = gtk_list_box_row_new();
    g_object_set_data_full(G_OBJECT(item), "row", json_incref(row), (GDestroyNotify)(void (*)(void))json_decref);
    g_object_set_data(G_OBJECT(item), "body", text);
    g_object_set_data(G_OBJECT(item), "texts", texts);
    gtk_container_add(GTK_CONTAINER(item), line);
    char *spoken = is_read ? g_strdup(title) : g_strdup_printf(_("Unread: %s"), title);
    widget_name(item, spoken, body);
    unfold(self, item, g_strcmp0(self->open_id, text_in(row, "id")) == 0);
    g_free(spoken);
    g_free(from);
    g_free(title);
    g_free(body);
    return item;
}

/* Pages ---------------------------------------------------------------------------------------------------------- */

/* Words as they are typed: of the last one, perhaps only the beginning is there. */
static char *query(HistoryWindow *self) {
    char *text = text_line(gtk_entry_get_text(GTK_ENTRY(self->search)), 200);
    gsize length = strlen(text);
    if (length > 0 && g_unichar_isalnum(g_utf8_get_char(g_utf8_find_prev_char(text, text + length)))) {
        char *whole = g_strconcat(text, "*", NULL);
        g_free(text);
        text = whole;
    }
    return text;
}

static json_t *load(HistoryWindow *self, int limit, const char *before) {
    json_t *params = json_pack("{s:i}", "limit", limit);
    char *words = query(self);
    if (*words) json_object_set_new(params, "query", json_string(words));
    g_free(words);
    if (before) json_object_set_new(params, "before", json_string(before));
    if (gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->unread_only)))
        json_object_set_new(params, "unreadOnly", json_true());
    return model_page(self->model, params);
}

static void show_counts(HistoryWindow *self, json_t *page) {
    int count = (int)json_array_size(self->rows);
    json_int_t total = json_integer_value(json_object_get(page, "total"));
    gint64 unread = model_unread(self->model);
    GString *text = g_string_new(NULL);
    if (total > count)
        g_string_append_printf(text, ngettext("%d of %d notification", "%d of %d notifications", (gulong)total), count,
                               (int)total);
    else
        g_string_append_printf(text, ngettext("%d notification", "%d notifications", (gulong)count), count);
    if (unread) g_string_append_printf(text, "  ·  ");
    if (unread) g_string_append_printf(text, ngettext("%d unread", "%d unread", (gulong)unread), (int)unread);
    gtk_header_bar_set_subtitle(GTK_HEADER_BAR(self->header), text->str);
    g_string_free(text, TRUE);
    gtk_widget_set_sensitive(self->mark_all, unread > 0);
}

static void add_rows(HistoryWindow *self, json_t *page) {
    json_t *row;
    gsize index;
    json_array_foreach(json_object_get(page, "notifications"), index, row) {
        GtkWidget *item = row_new(self, row);
        gtk_container_add(GTK_CONTAINER(self->list), item);
        gtk_widget_show_all(item);
    }
    g_free(self->next);
    self->next = g_strdup(text_in(page, "next"));
    show_counts(self, page);
}

static char *selected_id(HistoryWindow *self) {
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(self->list));
    return row ? g_strdup(text_in(g_object_get_data(G_OBJECT(row), "row"), "id")) : NULL;
}

/* FALSE = the list does not show it. */
static gboolean select_id(HistoryWindow *self, const char *id, gboolean takes_focus) {
    gboolean is_found = FALSE;
    GList *items = id ? gtk_container_get_children(GTK_CONTAINER(self->list)) : NULL;
    for (GList *each = items; each; each = each->next) {
        if (g_strcmp0(text_in(g_object_get_data(each->data, "row"), "id"), id) != 0) continue;
        gtk_list_box_select_row(GTK_LIST_BOX(self->list), each->data);
        if (takes_focus) gtk_widget_grab_focus(each->data);
        is_found = TRUE;
        break;
    }
    g_list_free(items);
    return is_found;
}

/* Reloads as many rows as were shown, and restores the scroll position. */
static void reload(HistoryWindow *self) {
    int limit = CLAMP((int)json_array_size(self->rows), PAGE, MOST);
    json_t *page = load(self, limit, NULL);
    if (!page) {
        gtk_header_bar_set_subtitle(GTK_HEADER_BAR(self->header), model_problem(self->model));
        return;
    }
    json_t *rows = json_object_get(page, "notifications");
    gboolean is_searching = *gtk_entry_get_text(GTK_ENTRY(self->search)) != '\0' ||
                            gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->unread_only));
    gtk_label_set_text(GTK_LABEL(self->nothing), is_searching ? _("Nothing matches") : _("No notifications yet"));
    if (!self->rows || !json_equal(rows, self->rows) || !json_equal(self->peers, model_peers(self->model))) {
        GtkAdjustment *place = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->scrolled));
        double value = gtk_adjustment_get_value(place);
        GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(self));
        gboolean has_focus = focus && gtk_widget_is_ancestor(focus, self->list);
        char *selected = selected_id(self);
        draft_keep(&self->draft);
        widget_empty(self->list);
        json_decref(self->rows);
        self->rows = json_incref(rows);
        json_decref(self->peers);
        self->peers = json_deep_copy(model_peers(self->model));
        add_rows(self, page);
        select_id(self, selected, has_focus);
        draft_restore(&self->draft);
        gtk_adjustment_set_value(place, value);
        g_free(selected);
    } else {
        show_counts(self, page);
    }
    json_decref(page);
}

static void on_changed(Model *model, HistoryWindow *self) {
    (void)model;
    reload(self);
}

static void anew(HistoryWindow *self) {
    json_decref(self->rows);
    self->rows = NULL;
    reload(self);
    gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->scrolled)), 0);
}

static void on_search(GtkWidget *widget, HistoryWindow *self) {
    (void)widget;
    anew(self);
}

/* FALSE = there are no more. */
static gboolean load_next(HistoryWindow *self) {
    json_t *page = self->next ? load(self, PAGE, self->next) : NULL;
    if (!page) return FALSE;
    json_t *rows = json_array();
    json_array_extend(rows, self->rows);
    json_array_extend(rows, json_object_get(page, "notifications"));
    json_decref(self->rows);
    self->rows = rows;
    add_rows(self, page);
    json_decref(page);
    return TRUE;
}

static void on_edge(GtkScrolledWindow *scrolled, GtkPositionType position, HistoryWindow *self) {
    (void)scrolled;
    if (position == GTK_POS_BOTTOM) load_next(self);
}

/* What is done ---------------------------------------------------------------------------------------------------- */

static void open_row(HistoryWindow *self, const char *id) {
    draft_clear(&self->draft);
    g_free(self->open_id);
    self->open_id = g_strdup(id);
}

static void on_activated(GtkListBox *list, GtkListBoxRow *item, HistoryWindow *self) {
    (void)list;
    json_t *row = g_object_get_data(G_OBJECT(item), "row");
    gboolean was_open = g_strcmp0(self->open_id, text_in(row, "id")) == 0;
    open_row(self, was_open ? NULL : text_in(row, "id"));
    GList *items = gtk_container_get_children(GTK_CONTAINER(self->list));
    for (GList *each = items; each; each = each->next) unfold(self, each->data, each->data == item && !was_open);
    g_list_free(items);
    if (!was_open && !json_is_true(json_object_get(row, "read")))
        model_mark_read(self->model, text_in(row, "desktop"), text_in(row, "id"));
}

static void on_mark_all(GtkButton *button, HistoryWindow *self) {
    (void)button;
    model_mark_all_read(self->model);
}

/* Delete, and Ctrl+C, which copies the selected one. */
static gboolean on_key(GtkWidget *list, GdkEventKey *event, HistoryWindow *self) {
    GtkListBoxRow *item = gtk_list_box_get_selected_row(GTK_LIST_BOX(list));
    json_t *row = item ? g_object_get_data(G_OBJECT(item), "row") : NULL;
    gboolean is_control = (event->state & gtk_accelerator_get_default_mod_mask()) == GDK_CONTROL_MASK;
    if (row && event->keyval == GDK_KEY_Delete)
        model_delete(self->model, text_in(row, "desktop"), text_in(row, "id"));
    else if (row && is_control && event->keyval == GDK_KEY_c)
        row_copy(list, row);
    else
        return GDK_EVENT_PROPAGATE;
    return GDK_EVENT_STOP;
}

/* Ctrl+F from anywhere. */
static gboolean on_window_key(GtkWidget *window, GdkEventKey *event, HistoryWindow *self) {
    (void)window;
    if ((event->state & GDK_CONTROL_MASK) && event->keyval == GDK_KEY_f) {
        gtk_widget_grab_focus(self->search);
        return GDK_EVENT_STOP;
    }
    return GDK_EVENT_PROPAGATE;
}

/* The window ------------------------------------------------------------------------------------------------------ */

static void history_window_dispose(GObject *object) {
    HistoryWindow *self = TRAY_HISTORY_WINDOW(object);
    g_signal_handlers_disconnect_by_data(self->model, self);
    G_OBJECT_CLASS(history_window_parent_class)->dispose(object);
}

static void history_window_finalize(GObject *object) {
    HistoryWindow *self = TRAY_HISTORY_WINDOW(object);
    g_object_unref(self->model);
    json_decref(self->rows);
    json_decref(self->peers);
    g_free(self->next);
    g_free(self->open_id);
    draft_free(&self->draft);
    G_OBJECT_CLASS(history_window_parent_class)->finalize(object);
}

static void history_window_class_init(HistoryWindowClass *class) {
    G_OBJECT_CLASS(class)->dispose = history_window_dispose;
    G_OBJECT_CLASS(class)->finalize = history_window_finalize;
}

static void history_window_init(HistoryWindow *self) { (void)self; }

/* It has been seen. */
static void on_active(GtkWindow *window, GParamSpec *property, gpointer data) {
    (void)property, (void)data;
    if (gtk_window_is_active(window)) gtk_window_set_urgency_hint(window, FALSE);
}

static void on_placed(GtkWidget *list, GtkAllocation *allocation, HistoryWindow *self) {
    (void)allocation;
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(list));
    if (!self->reveals || !row) return;
    self->reveals = FALSE;
    GtkAllocation place;
    gtk_widget_get_allocation(GTK_WIDGET(row), &place);
    gtk_adjustment_clamp_page(gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(self->scrolled)), place.y,
                              place.y + place.height);
}

static HistoryWindow *history_window_new(GtkApplication *application, Model *model) {
    HistoryWindow *self = g_object_new(TYPE_HISTORY_WINDOW, "application", application, "title", _("History"), "icon-name",
                                       APPLICATION_ID, "default-width", 620, "default-height", 560, NULL);
    self->model = g_object_ref(model);
    widget_style();
    self->header = gtk_header_bar_new();
    gtk_header_bar_set_title(GTK_HEADER_BAR(self->header), _("History"));
    gtk_header_bar_set_show_close_button(GTK_HEADER_BAR(self->header), TRUE);
    self->unread_only = gtk_toggle_button_new_with_mnemonic(_("_Unread"));
    widget_name(self->unread_only, _("Unread only"), NULL);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(self->header), self->unread_only);
    self->mark_all = gtk_button_new_with_mnemonic(_("Mark _all as read"));
    gtk_header_bar_pack_end(GTK_HEADER_BAR(self->header), self->mark_all);
    gtk_window_set_titlebar(GTK_WINDOW(self), self->header);

    self->search = gtk_search_entry_new();
    gtk_entry_set_placeholder_text(GTK_ENTRY(self->search), _("Search titles and texts"));
    gtk_entry_set_max_length(GTK_ENTRY(self->search), 200);
    g_object_set(self->search, "margin", 8, NULL);
    widget_name(self->search, _("Search"), NULL);

    self->list = gtk_list_box_new();
    gtk_list_box_set_header_func(GTK_LIST_BOX(self->list), widget_line_between, NULL, NULL);
    GtkWidget *placeholder = widget_placeholder("", "mail-read-symbolic");
    GList *parts = gtk_container_get_children(GTK_CONTAINER(placeholder));
    self->nothing = g_list_last(parts)->data;
    g_list_free(parts);
    gtk_list_box_set_placeholder(GTK_LIST_BOX(self->list), placeholder);
    widget_name(self->list, _("Notifications"), NULL);
    self->scrolled = gtk_scrolled_window_new(NULL, NULL);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
    gtk_container_add(GTK_CONTAINER(self->scrolled), self->list);

    GtkWidget *column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_container_add(GTK_CONTAINER(column), self->search);
    gtk_container_add(GTK_CONTAINER(column), gtk_separator_new(GTK_ORIENTATION_HORIZONTAL));
    gtk_box_pack_start(GTK_BOX(column), self->scrolled, TRUE, TRUE, 0);
    gtk_container_add(GTK_CONTAINER(self), column);
    gtk_window_set_position(GTK_WINDOW(self), GTK_WIN_POS_CENTER);
    widget_close_on_escape(GTK_WINDOW(self));
    reload(self);
    gtk_widget_show_all(column);
    gtk_widget_show_all(self->header);
    gtk_widget_grab_focus(self->search);
    g_signal_connect(self, "notify::is-active", G_CALLBACK(on_active), NULL);

    g_signal_connect(self->search, "search-changed", G_CALLBACK(on_search), self);
    g_signal_connect(self->unread_only, "toggled", G_CALLBACK(on_search), self);
    g_signal_connect(self->mark_all, "clicked", G_CALLBACK(on_mark_all), self);
    g_signal_connect(self->list, "row-activated", G_CALLBACK(on_activated), self);
    g_signal_connect(self->list, "key-press-event", G_CALLBACK(on_key), self);
    g_signal_connect_after(self->list, "size-allocate", G_CALLBACK(on_placed), self);
    g_signal_connect(self, "key-press-event", G_CALLBACK(on_window_key), self);
    g_signal_connect(self->scrolled, "edge-reached", G_CALLBACK(on_edge), self);
    g_signal_connect(model, "changed", G_CALLBACK(on_changed), self);
    return self;
}

static HistoryWindow *the_window(GtkApplication *application, Model *model) {
    for (GList *each = gtk_application_get_windows(application); each; each = each->next)
        if (TRAY_IS_HISTORY_WINDOW(each->data)) return each->data;
    return history_window_new(application, model);
}

static void show_row(HistoryWindow *self, const char *id) {
    open_row(self, id);
    gtk_entry_set_text(GTK_ENTRY(self->search), "");
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->unread_only), FALSE);
    anew(self);
    /* Newer ones may have come since its alert. */
    while (!select_id(self, id, TRUE) && json_array_size(self->rows) < MOST && load_next(self)) continue;
    self->reveals = TRUE;
}

void history_window_present(GtkApplication *application, Model *model, const char *peer, const char *id) {
    HistoryWindow *self = the_window(application, model);
    if (id) {
        show_row(self, id);
        model_mark_read(model, peer, id);
    }
    gtk_widget_show(GTK_WIDGET(self));
    gtk_window_present(GTK_WINDOW(self));
}

void history_window_raise(GtkApplication *application, Model *model, const char *id) {
    HistoryWindow *self = the_window(application, model);
    /* Does not interrupt a reply that the user is typing. */
    if (!self->draft.is_open) show_row(self, id);
    /* Keys that are typed elsewhere stay there. */
    gtk_window_set_focus_on_map(GTK_WINDOW(self), FALSE);
    gtk_widget_show(GTK_WIDGET(self));
    gtk_window_deiconify(GTK_WINDOW(self));
    GdkWindow *window = gtk_widget_get_window(GTK_WIDGET(self));
    if (window) gdk_window_raise(window);
    gtk_window_set_urgency_hint(GTK_WINDOW(self), !gtk_window_is_active(GTK_WINDOW(self)));
}
