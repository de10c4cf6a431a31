#include "quiet_window.h"

#include "text.h"
#include "widgets.h"

#include <glib/gi18n.h>

#define TYPE_QUIET_WINDOW (quiet_window_get_type())
G_DECLARE_FINAL_TYPE(QuietWindow, quiet_window, TRAY, QUIET_WINDOW, GtkApplicationWindow)

struct _QuietWindow {
    GtkApplicationWindow parent;
    Model *model;
    Quiet *quiet;
    QuietHours shown, saving; /* as they were read, and as they are to be */
    gboolean is_closed, is_filling;
    GtkWidget *is_on, *begin, *end, *while_quiet, *save, *outcome;
};

G_DEFINE_TYPE(QuietWindow, quiet_window, GTK_TYPE_APPLICATION_WINDOW)

static void say(QuietWindow *self, const char *text) { gtk_label_set_text(GTK_LABEL(self->outcome), text); }

/* What the fields say; else NULL, and why not. */
static const char *read_fields(QuietWindow *self, QuietHours *hours) {
    hours->is_on = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->is_on));
    if (!text_time_of_day(gtk_entry_get_text(GTK_ENTRY(self->begin)), hours->begin) ||
        !text_time_of_day(gtk_entry_get_text(GTK_ENTRY(self->end)), hours->end))
        return _("Times are hours and minutes, such as 22:00.");
    if (hours->is_on && g_str_equal(hours->begin, hours->end)) return _("From and To are the same: that is never quiet.");
    return NULL;
}

static gboolean is_changed(QuietWindow *self) {
    return gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->is_on)) != self->shown.is_on ||
           !g_str_equal(gtk_entry_get_text(GTK_ENTRY(self->begin)), self->shown.begin) ||
           !g_str_equal(gtk_entry_get_text(GTK_ENTRY(self->end)), self->shown.end);
}

static void on_edited(GtkWidget *widget, QuietWindow *self) {
    (void)widget;
    if (self->is_filling) return;
    QuietHours hours;
    const char *failure = read_fields(self, &hours);
    gboolean is_on = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(self->is_on));
    gtk_widget_set_sensitive(self->begin, is_on);
    gtk_widget_set_sensitive(self->end, is_on);
    gtk_widget_set_sensitive(self->save, !failure && is_changed(self));
    say(self, failure ? failure : "");
}

/* Somebody else may have changed them; what is being typed stays. */
static void look(QuietWindow *self) {
    gint64 until = quiet_until(self->quiet);
    char *when = text_until(until), *note = g_strdup_printf(_("It is quiet until %s. These hours hold after that."), when);
    gtk_label_set_text(GTK_LABEL(self->while_quiet), note);
    gtk_widget_set_visible(self->while_quiet, until != 0);
    g_free(note);
    g_free(when);
    QuietHours hours;
    if (!quiet_hours(self->quiet, &hours)) {
        say(self, _("The quiet hours cannot be read."));
        return;
    }
    if (is_changed(self)) return;
    self->shown = hours;
    self->is_filling = TRUE;
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(self->is_on), hours.is_on);
    gtk_entry_set_text(GTK_ENTRY(self->begin), hours.begin);
    gtk_entry_set_text(GTK_ENTRY(self->end), hours.end);
    self->is_filling = FALSE;
    gtk_widget_set_sensitive(self->begin, hours.is_on);
    gtk_widget_set_sensitive(self->end, hours.is_on);
    gtk_widget_set_sensitive(self->save, FALSE);
}

static void on_saved(GObject *owner, json_t *result, const char *failure) {
    (void)result;
    QuietWindow *self = TRAY_QUIET_WINDOW(owner);
    if (self->is_closed) return;
    if (failure) {
        gtk_widget_set_sensitive(self->save, TRUE);
        say(self, failure);
        return;
    }
    self->shown = self->saving;
    look(self);
    say(self, _("Saved."));
}

static void on_save(GtkWidget *widget, QuietWindow *self) {
    (void)widget;
    if (!gtk_widget_get_sensitive(self->save)) return;
    if (read_fields(self, &self->saving)) return;
    /* As they will be read again, so that nothing counts as changed then. */
    self->is_filling = TRUE;
    gtk_entry_set_text(GTK_ENTRY(self->begin), self->saving.begin);
    gtk_entry_set_text(GTK_ENTRY(self->end), self->saving.end);
    self->is_filling = FALSE;
    gtk_widget_set_sensitive(self->save, FALSE);
    say(self, _("Saving…"));
    quiet_set_hours(self->quiet, &self->saving, G_OBJECT(self), on_saved);
}

static void quiet_window_dispose(GObject *object) {
    QuietWindow *self = TRAY_QUIET_WINDOW(object);
    if (!self->is_closed) g_signal_handlers_disconnect_by_data(self->model, self);
    self->is_closed = TRUE;
    G_OBJECT_CLASS(quiet_window_parent_class)->dispose(object);
}

static void quiet_window_finalize(GObject *object) {
    g_object_unref(TRAY_QUIET_WINDOW(object)->model);
    G_OBJECT_CLASS(quiet_window_parent_class)->finalize(object);
}

static void quiet_window_class_init(QuietWindowClass *class) {
    G_OBJECT_CLASS(class)->dispose = quiet_window_dispose;
    G_OBJECT_CLASS(class)->finalize = quiet_window_finalize;
}

static void quiet_window_init(QuietWindow *self) { (void)self; }

static GtkWidget *add_time(QuietWindow *self, GtkWidget *row, const char *mnemonic) {
    GtkWidget *label = gtk_label_new_with_mnemonic(mnemonic), *entry = gtk_entry_new();
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), entry);
    widget_name(entry, gtk_label_get_text(GTK_LABEL(label)), NULL);
    gtk_entry_set_max_length(GTK_ENTRY(entry), 7);
    gtk_entry_set_width_chars(GTK_ENTRY(entry), 6);
    gtk_container_add(GTK_CONTAINER(row), label);
    gtk_container_add(GTK_CONTAINER(row), entry);
    g_signal_connect(entry, "changed", G_CALLBACK(on_edited), self);
    g_signal_connect(entry, "activate", G_CALLBACK(on_save), self);
    return entry;
}

static QuietWindow *quiet_window_new(GtkApplication *application, Model *model, Quiet *quiet) {
    QuietWindow *self = g_object_new(TYPE_QUIET_WINDOW, "application", application, "title", _("Quiet hours"),
                                     "icon-name", APPLICATION_ID, "resizable", FALSE, NULL);
    self->model = g_object_ref(model);
    self->quiet = quiet;
    GtkWidget *header = gtk_header_bar_new();
    gtk_header_bar_set_title(GTK_HEADER_BAR(header), _("Quiet hours"));
    gtk_header_bar_set_show_close_button(GTK_HEADER_BAR(header), TRUE);
    gtk_header_bar_set_decoration_layout(GTK_HEADER_BAR(header), ":close");
    gtk_window_set_titlebar(GTK_WINDOW(self), header);
    GtkWidget *column = widget_column(12);

    self->is_on = gtk_check_button_new_with_mnemonic(_("_Quiet every day"));
    gtk_container_add(GTK_CONTAINER(column), self->is_on);
    GtkWidget *times = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    self->begin = add_time(self, times, _("_From"));
    self->end = add_time(self, times, _("_To"));
    gtk_container_add(GTK_CONTAINER(column), times);
    gtk_container_add(GTK_CONTAINER(column),
                      widget_note(model_is_desktop(model)
                                      ? _("No device shows an alert in this time, unless it is urgent.")
                                      : _("No alert is shown in this time, unless it is urgent. One alert sums up the "
                                          "others when it is over.")));
    self->while_quiet = widget_note("");
    gtk_widget_set_no_show_all(self->while_quiet, TRUE);
    gtk_container_add(GTK_CONTAINER(column), self->while_quiet);
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    self->outcome = widget_label("", "dim-label");
    gtk_box_pack_start(GTK_BOX(row), self->outcome, TRUE, TRUE, 0);
    self->save = gtk_button_new_with_mnemonic(_("_Save"));
    gtk_style_context_add_class(gtk_widget_get_style_context(self->save), "suggested-action");
    gtk_container_add(GTK_CONTAINER(row), self->save);
    gtk_container_add(GTK_CONTAINER(column), row);
    gtk_container_add(GTK_CONTAINER(self), column);

    g_signal_connect(self->is_on, "toggled", G_CALLBACK(on_edited), self);
    g_signal_connect(self->save, "clicked", G_CALLBACK(on_save), self);
    g_signal_connect_swapped(model, "changed", G_CALLBACK(look), self);
    look(self);
    gtk_window_set_position(GTK_WINDOW(self), GTK_WIN_POS_CENTER);
    widget_close_on_escape(GTK_WINDOW(self));
    gtk_widget_show_all(GTK_WIDGET(self));
    return self;
}

void quiet_window_present(GtkApplication *application, Model *model, Quiet *quiet) {
    for (GList *each = gtk_application_get_windows(application); each; each = each->next) {
        if (TRAY_IS_QUIET_WINDOW(each->data)) {
            gtk_window_present(each->data);
            return;
        }
    }
    gtk_window_present(GTK_WINDOW(quiet_window_new(application, model, quiet)));
}
