#include "quiet.h"

#include "alarm.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <stdlib.h>

enum { MINUTE = 60, HOUR = 60 * MINUTE, MORNING = 8, LONGEST = 24 * HOUR };

static const char *const keys[] = {"quietHoursEnabled", "quietHoursStart", "quietHoursEnd"};

struct Quiet {
    Model *model;
    char *file;
    void (*changed)(gpointer);
    gpointer user_data;
    gint64 until;
    json_t *before; /* the user's own quiet hours */
    json_t *during; /* those in their place */
    guint alarm;
};

static gint64 now(void) { return g_get_real_time() / G_USEC_PER_SEC; }

gint64 quiet_an_hour(void) { return (now() + HOUR + MINUTE - 1) / MINUTE * MINUTE; }

gint64 quiet_morning(void) {
    GDateTime *today = g_date_time_new_now_local();
    /* At eight itself the next one is a day away, which would begin and end at the same time of day: never quiet. */
    GDateTime *then = g_date_time_new_local(g_date_time_get_year(today), g_date_time_get_month(today),
                                            g_date_time_get_day_of_month(today), MORNING, 0, 0);
    if (g_date_time_compare(then, today) <= 0) {
        GDateTime *next = g_date_time_add_days(then, 1);
        g_date_time_unref(then);
        then = next;
    }
    gint64 seconds = g_date_time_to_unix(then);
    if (g_date_time_get_hour(today) == MORNING && g_date_time_get_minute(today) == 0) seconds -= MINUTE;
    g_date_time_unref(then);
    g_date_time_unref(today);
    return seconds;
}

static void arm(Quiet *self);

static void on_alarm(gpointer data) {
    Quiet *self = data;
    self->alarm = 0;
    /* The clock may have been changed; then it continues. */
    if (self->until <= now()) {
        quiet_end(self);
    } else {
        arm(self);
    }
}

static void arm(Quiet *self) {
    if (self->alarm) g_source_remove(self->alarm);
    self->alarm = self->until ? alarm_at(self->until, on_alarm, self) : 0;
}

static void forget(Quiet *self) {
    g_unlink(self->file);
    json_decref(self->before);
    json_decref(self->during);
    self->before = self->during = NULL;
    self->until = 0;
    arm(self);
}

static void load(Quiet *self) {
    json_t *kept = json_load_file(self->file, 0, NULL);
    gint64 until = json_integer_value(json_object_get(kept, "until"));
    json_t *before = json_object_get(kept, "before");
    if (until > 0 && json_is_object(before)) {
        /* A file from the future is not believed for longer than quiet can last. */
        self->until = MIN(until, now() + LONGEST);
        self->before = json_incref(before);
        json_t *during = json_object_get(kept, "during");
        self->during = json_is_object(during) ? json_incref(during) : NULL;
        on_alarm(self);
    }
    json_decref(kept);
}

Quiet *quiet_new(Model *model, const char *file, void (*changed)(gpointer), gpointer user_data) {
    Quiet *self = g_new0(Quiet, 1);
    self->model = g_object_ref(model);
    self->file = g_strdup(file);
    load(self);
    self->changed = changed;
    self->user_data = user_data;
    return self;
}

void quiet_free(Quiet *self) {
    if (self->alarm) g_source_remove(self->alarm);
    json_decref(self->before);
    json_decref(self->during);
    g_object_unref(self->model);
    g_free(self->file);
    g_free(self);
}

gint64 quiet_until(Quiet *self) { return self->until; }

/* Before the settings change: whatever happens then, the user's own are known. */
static gboolean keep(Quiet *self) {
    json_t *kept = json_pack("{s:I, s:O, s:O*}", "until", (json_int_t)self->until, "before", self->before, "during",
                             self->during);
    char *text = json_dumps(kept, 0);
    gboolean is_kept = g_file_set_contents(self->file, text, -1, NULL);
    free(text);
    json_decref(kept);
    return is_kept;
}

static char *time_of_day(gint64 seconds) {
    GDateTime *time = g_date_time_new_from_unix_local(seconds);
    char *text = g_date_time_format(time, "%H:%M");
    g_date_time_unref(time);
    return text;
}

static json_t *settings_of(gboolean is_on, const char *begin, const char *end) {
    return json_pack("{s:b, s:s, s:s}", keys[0], is_on, keys[1], begin, keys[2], end);
}

/* Those of the three that settings have. */
static json_t *part_of(json_t *settings) {
    json_t *part = json_object();
    for (gsize index = 0; index < G_N_ELEMENTS(keys); index++) {
        json_t *value = json_object_get(settings, keys[index]);
        if (value) json_object_set(part, keys[index], value);
    }
    return part;
}

gboolean quiet_begin(Quiet *self, gint64 until) {
    json_t *settings = model_settings(self->model);
    if (!settings) return FALSE;
    /* What an end that failed has left: the settings are still those of quiet, and the file alone knows the user's. */
    gboolean is_left = self->before != NULL;
    if (!is_left) self->before = part_of(settings);
    json_decref(settings);
    self->until = until;
    char *begin = time_of_day(now()), *end = time_of_day(until);
    json_t *during = self->during;
    self->during = settings_of(TRUE, begin, end);
    gboolean is_quiet = keep(self) && model_set_settings(self->model, json_copy(self->during), NULL, NULL);
    g_free(end);
    g_free(begin);
    if (!is_quiet && is_left) {
        /* Those of the quiet before are still in place. */
        json_decref(self->during);
        self->during = during;
        keep(self);
        self->until = 0;
    } else {
        json_decref(during);
    }
    if (is_quiet || is_left) arm(self);
    else forget(self);
    if (self->changed) self->changed(self->user_data);
    return is_quiet;
}

/* Whether somebody else has set quiet hours meanwhile: a device may set those of its desktop. They stay. */
static gboolean is_replaced(Quiet *self) {
    json_t *settings = self->during ? model_settings(self->model) : NULL;
    json_t *part = part_of(settings);
    gboolean is_replaced = settings && !json_equal(part, self->during);
    json_decref(part);
    json_decref(settings);
    return is_replaced;
}

void quiet_end(Quiet *self) {
    if (!self->until) return;
    /* When that fails the file stays, and the next start tries again. */
    if (is_replaced(self) || model_set_settings(self->model, json_copy(self->before), NULL, NULL)) {
        forget(self);
    } else {
        self->until = 0;
        arm(self);
    }
    if (self->changed) self->changed(self->user_data);
}

gboolean quiet_hours(Quiet *self, QuietHours *hours) {
    json_t *settings = self->before ? json_incref(self->before) : model_settings(self->model);
    const char *begin = json_string_value(json_object_get(settings, keys[1]));
    const char *end = json_string_value(json_object_get(settings, keys[2]));
    if (settings) {
        hours->is_on = json_is_true(json_object_get(settings, keys[0]));
        /* A desktop's settings may have none yet. */
        g_strlcpy(hours->begin, begin ? begin : "22:00", sizeof hours->begin);
        g_strlcpy(hours->end, end ? end : "08:00", sizeof hours->end);
    }
    gboolean is_read = settings != NULL;
    json_decref(settings);
    return is_read;
}

void quiet_set_hours(Quiet *self, const QuietHours *hours, GObject *owner, ModelDone done) {
    json_t *settings = settings_of(hours->is_on, hours->begin, hours->end);
    if (!self->before) {
        model_set_settings(self->model, settings, owner, done);
        return;
    }
    json_t *previous = self->before;
    gint64 until = self->until;
    self->before = settings;
    /* An end that failed is tried again with them. */
    if (!until) self->until = now();
    if (!keep(self)) {
        self->before = previous;
        self->until = until;
        json_decref(settings);
        char *failure = g_strdup_printf(_("Cannot write %s."), self->file);
        done(owner, NULL, failure);
        g_free(failure);
        return;
    }
    json_decref(previous);
    if (!until) quiet_end(self);
    done(owner, NULL, NULL);
    if (self->changed) self->changed(self->user_data);
}
