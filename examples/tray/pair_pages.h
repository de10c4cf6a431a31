/*
 * pair_pages.h - what the pages of the pairing window share: pair_window.c has the window, and says what came of it.
 */
#ifndef TRAY_PAIR_PAGES_H
#define TRAY_PAIR_PAGES_H

#include "model.h"

#include <gtk/gtk.h>

enum { PAIR_NAME_LIMIT = 60 };

#define TYPE_PAIR_WINDOW (pair_window_get_type())
G_DECLARE_FINAL_TYPE(PairWindow, pair_window, TRAY, PAIR_WINDOW, GtkApplicationWindow)

struct _PairWindow {
    GtkApplicationWindow parent;
    Model *model;
    gboolean is_closed;
    GtkWidget *stack;
    /* Show */
    GtkWidget *code, *code_spinner, *code_stack, *code_note, *code_digits, *code_again, *code_lan;
    char *code_relay; /* that the code names */
    gboolean is_shown; /* a code is on the screen, or on its way */
    /* Start: a device's alone */
    GtkWidget *type_entry, *type_button, *relay;
    /* Read */
    GtkWidget *read_text, *read_button;
    /* Paired */
    GtkWidget *peers;
    /* What came of it */
    GtkWidget *bar, *bar_title, *bar_sas, *bar_text, *busy;
    char *flow, *peer;   /* of the question, or of who was paired */
    GQueue moves;        /* peers that ask to move to a new key; the bar asks about the first one */
    gboolean asks_move;  /* the bar does so now */
};

/* The pages. */
GtkWidget *pair_start_page(PairWindow *self);
GtkWidget *pair_show_page(PairWindow *self);
GtkWidget *pair_read_page(PairWindow *self);
GtkWidget *pair_peers_page(PairWindow *self);

/* Switches to the relay in the field if it differs. Shows a message and returns FALSE if that fails. */
gboolean pair_use_relay(PairWindow *self);
/* The image chooser and the clipboard, from either page. */
GtkWidget *pair_image_button(PairWindow *self);
GtkWidget *pair_paste_button(PairWindow *self);

/* Asks for a code unless one is on the screen; or says why there is none any more, with a button for a new one. */
void pair_show_code(PairWindow *self);
void pair_show_again(PairWindow *self, const char *note);
void pair_fill_peers(PairWindow *self);

/* Whether something is in progress; and why it failed. */
void pair_clear(PairWindow *self);
void pair_set_busy(PairWindow *self, gboolean is_busy);
void pair_fail(PairWindow *self, const char *failure);

/* "045 572  ·  avenue major", ours to free; NULL for a peer that cannot prove who it is. */
char *pair_sas_text(json_t *peer);

#endif
