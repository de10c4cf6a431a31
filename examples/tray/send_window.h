/*
 * send_window.h - a notification of the desktop's own, to its devices.
 */
#ifndef TRAY_SEND_WINDOW_H
#define TRAY_SEND_WINDOW_H

#include "model.h"

#include <gtk/gtk.h>

void send_window_present(GtkApplication *application, Model *model);

#endif
