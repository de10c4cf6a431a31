/*
 * quiet_window.h - the user's quiet hours, shown and changed.
 */
#ifndef TRAY_QUIET_WINDOW_H
#define TRAY_QUIET_WINDOW_H

#include "model.h"
#include "quiet.h"

#include <gtk/gtk.h>

/* quiet must stay as long as the window: both end with the program. */
void quiet_window_present(GtkApplication *application, Model *model, Quiet *quiet);

#endif
