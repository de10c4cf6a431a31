/*
 * history_window.h - all notifications, page by page, with a search.
 */
#ifndef TRAY_HISTORY_WINDOW_H
#define TRAY_HISTORY_WINDOW_H

#include "model.h"

#include <gtk/gtk.h>

/* The one history window of the application; a second call raises it. With an id that notification is unfolded and
 * marked as read, as after a tap on its alert. */
void history_window_present(GtkApplication *application, Model *model, const char *peer, const char *id);

/* An urgent notification has come: the window shows it, unread as it is, above others, and takes no key that is being
 * typed elsewhere. */
void history_window_raise(GtkApplication *application, Model *model, const char *id);

#endif
