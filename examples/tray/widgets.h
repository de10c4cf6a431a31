/*
 * widgets.h - what the windows have in common. Texts are plain: nothing here is markup.
 */
#ifndef TRAY_WIDGETS_H
#define TRAY_WIDGETS_H

#include <gtk/gtk.h>

/* The program's own look, on top of the user's theme, light or dark. */
void widget_style(void);

/* What a screen reader says; description may be NULL. */
void widget_name(GtkWidget *widget, const char *name, const char *description);

GtkWidget *widget_column(int spacing);
/* A line that ends in "…" where there is no room; class is of the style, or NULL. */
GtkWidget *widget_label(const char *text, const char *class);
/* Several lines. */
GtkWidget *widget_note(const char *text);
GtkWidget *widget_button(const char *icon, const char *mnemonic);
GtkWidget *widget_placeholder(const char *text, const char *icon);

void widget_empty(GtkWidget *container);
void widget_line_between(GtkListBoxRow *row, GtkListBoxRow *before, gpointer data);
void widget_close_on_escape(GtkWindow *window);

#endif
