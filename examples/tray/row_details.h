/*
 * row_details.h - what an unfolded row of the history offers: its links, copying, and an answer to its sender.
 */
#ifndef TRAY_ROW_DETAILS_H
#define TRAY_ROW_DETAILS_H

#include "model.h"

#include <gtk/gtk.h>

/* The answer that is being written. It outlives the row's widgets, which are made anew with every change. */
typedef struct {
    gboolean is_open, is_sending;
    char *text, *outcome;
    GtkWidget *reply, *entry, *label; /* NULL while the row is folded or is rebuilt */
    gboolean has_focus;
    int cursor;
} Draft;

void draft_clear(Draft *draft);
void draft_free(Draft *draft);
/* Before the row's widgets go, and once the new ones are in their window. */
void draft_keep(Draft *draft);
void draft_restore(Draft *draft);

/* The draft is the row's. It is a part of owner, which is held while an answer is on its way. */
GtkWidget *row_details_new(Model *model, json_t *row, Draft *draft, GObject *owner);

/* Title and text, as they came. */
void row_copy(GtkWidget *widget, json_t *row);

#endif
