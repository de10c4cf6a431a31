/*
 * text.h - texts for people: what others wrote made harmless, and moments in words.
 */
#ifndef TRAY_TEXT_H
#define TRAY_TEXT_H

#include <bellwire.h>
#include <glib.h>

/* One line of at most limit characters. Others wrote the text: control characters, line ends and what steers the
 * direction of writing become a space or nothing, and heaps of combining marks are thinned out. NULL gives "".
 * Ours to free. */
char *text_line(const char *text, glong limit);
/* The same with its line ends; of several in a row, two are kept. */
char *text_block(const char *text, glong limit);

/* A moment, in milliseconds since 1970, as one would say it today: 14:32, Mon 14:32, 3 Nov, 3 Nov 2025. Ours to free. */
char *text_when(gint64 ms);

/* "14:32" of a moment, in seconds since 1970; "tomorrow, 08:00" where it is. Ours to free. */
char *text_until(gint64 seconds);

/* "07:30" of "7:30" or "07:30", with spaces around it or none; FALSE for what is no time of day. */
gboolean text_time_of_day(const char *text, char time[6]);

/* What went wrong, and what to do: the message of bw_last_error(), or of the JSON that a completion was given. Ours to
 * free. */
char *text_failure(bw_status status);
char *text_failure_of(bw_status status, const char *error_json);

#endif
