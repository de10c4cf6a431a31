/*
 * pair_window.h - pairing: show a code, read one, type one; and who is paired.
 */
#ifndef TRAY_PAIR_WINDOW_H
#define TRAY_PAIR_WINDOW_H

#include "model.h"

#include <gtk/gtk.h>

/* The one pairing window of the application; a second call raises it. */
void pair_window_present(GtkApplication *application, Model *model);

/* Whether data of the model's "pairing" asks the desktop's user about a device; and the question, in that window. */
gboolean pair_window_is_question(json_t *data);
void pair_window_ask(GtkApplication *application, Model *model, json_t *data);

/* Asks about a peer that wants to move to a new key, in that window. */
void pair_window_ask_move(GtkApplication *application, Model *model, json_t *question);

#endif
