#include "text.h"

#include <glib/gi18n.h>
#include <jansson.h>
#include <string.h>

enum { MARKS_IN_A_ROW = 4 };

/* What a character becomes: itself, a space, or 0 for nothing. */
static gunichar harmless(gunichar character) {
    switch (g_unichar_type(character)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_SPACE_SEPARATOR: return ' ';
    case G_UNICODE_FORMAT:
        /* Persian and emoji are not written without these two; all else of the kind hides or turns text. */
        return character == 0x200C || character == 0x200D ? character : 0;
    case G_UNICODE_SURROGATE:
    case G_UNICODE_PRIVATE_USE: return 0xFFFD;
    default: return character;
    }
}

/* Runs of white space become one space, or one line end, or two. */
static char *cleaned(const char *text, glong limit, gboolean keeps_lines) {
    GString *line = g_string_new(NULL);
    char *valid = g_utf8_make_valid(text ? text : "", -1);
    glong count = 0;
    int marks = 0;
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar read = g_utf8_get_char(at), character = keeps_lines && read == '\n' ? '\n' : harmless(read);
        if (character == 0) continue;
        char last = line->len == 0 ? '\n' : line->str[line->len - 1];
        if (character == ' ' && (last == ' ' || (last == '\n' && !keeps_lines))) continue;
        if (character == '\n' && (line->len == 0 || g_str_has_suffix(line->str, "\n\n"))) continue;
        marks = g_unichar_ismark(character) ? marks + 1 : 0;
        if (marks > MARKS_IN_A_ROW) continue;
        if (count == limit) {
            /* The last one makes room. */
            g_string_truncate(line, (gsize)(g_utf8_find_prev_char(line->str, line->str + line->len) - line->str));
            g_string_append(line, "…");
            break;
        }
        g_string_append_unichar(line, character);
        count++;
    }
    g_free(valid);
    while (line->len > 0 && strchr(" \n", line->str[line->len - 1])) g_string_truncate(line, line->len - 1);
    return g_string_free(line, FALSE);
}

char *text_line(const char *text, glong limit) { return cleaned(text, limit, FALSE); }
char *text_block(const char *text, glong limit) { return cleaned(text, limit, TRUE); }

char *text_when(gint64 ms) {
    GDateTime *when = g_date_time_new_from_unix_local(ms / 1000);
    /* Outside the years 1 to 9999. */
    if (!when) return g_strdup("?");
    GDateTime *now = g_date_time_new_now_local();
    GDateTime *midnight = g_date_time_new_local(
        g_date_time_get_year(now), g_date_time_get_month(now), g_date_time_get_day_of_month(now), 0, 0, 0);
    GTimeSpan before = g_date_time_difference(midnight, when), after = g_date_time_difference(when, now);
    /* TRANSLATORS: formats of g_date_time_format(): a day of another year, today, this week, this year. */
    const char *format = after > G_TIME_SPAN_DAY        ? _("%-d %b %Y")
                         : before <= 0                  ? _("%H:%M")
                         : before < 6 * G_TIME_SPAN_DAY ? _("%a %H:%M")
                         : g_date_time_get_year(when) == g_date_time_get_year(now) ? _("%-d %b")
                                                                                   : _("%-d %b %Y");
    char *text = g_date_time_format(when, format);
    g_date_time_unref(midnight);
    g_date_time_unref(now);
    g_date_time_unref(when);
    return text ? text : g_strdup("?");
}

char *text_until(gint64 seconds) {
    GDateTime *until = g_date_time_new_from_unix_local(seconds);
    if (!until) return g_strdup("?");
    GDateTime *now = g_date_time_new_now_local();
    gboolean is_today = g_date_time_get_day_of_year(until) == g_date_time_get_day_of_year(now);
    char *text = g_date_time_format(until, is_today ? _("%H:%M") : _("tomorrow, %H:%M"));
    g_date_time_unref(now);
    g_date_time_unref(until);
    return text ? text : g_strdup("?");
}

gboolean text_time_of_day(const char *text, char time[6]) {
    char *trimmed = g_strstrip(g_strdup(text)), **parts = g_strsplit(trimmed, ":", 3);
    guint64 hour = 0, minute = 0;
    gboolean is_time = g_strv_length(parts) == 2 && strlen(parts[0]) <= 2 && strlen(parts[1]) == 2 &&
                       g_ascii_string_to_unsigned(parts[0], 10, 0, 23, &hour, NULL) &&
                       g_ascii_string_to_unsigned(parts[1], 10, 0, 59, &minute, NULL);
    if (is_time) g_snprintf(time, 6, "%02u:%02u", (guint)hour, (guint)minute);
    g_strfreev(parts);
    g_free(trimmed);
    return is_time;
}

char *text_failure_of(bw_status status, const char *error_json) {
    json_t *error = error_json ? json_loads(error_json, JSON_ALLOW_NUL, NULL) : NULL;
    const char *message = json_string_value(json_object_get(error, "message"));
    char *text = text_line(message ? message : bw_status_name(status), 400);
    json_decref(error);
    if (g_ascii_islower(text[0])) text[0] = g_ascii_toupper(text[0]);
    return text;
}

char *text_failure(bw_status status) {
    char *error = bw_last_error();
    char *text = text_failure_of(status, error);
    bw_free(error);
    return text;
}
