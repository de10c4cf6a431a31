/*
 * code_image.h - pictures of QR codes: drawn from text, and read.
 */
#ifndef TRAY_CODE_IMAGE_H
#define TRAY_CODE_IMAGE_H

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <gio/gio.h>

/* The QR code of a text, as large as it gets within side pixels on whole pixels; NULL, and why in words. */
GdkPixbuf *code_image_draw(const char *text, int side, char **failure);

/* Reads the pairing code in an image file, or in a picture, on GLib's own worker: a large one takes a second. */
void code_image_read_file(const char *path, GObject *owner, GAsyncReadyCallback done);
void code_image_read_picture(GdkPixbuf *picture, GObject *owner, GAsyncReadyCallback done);
/* The text of the code, ours to free; NULL with an error in words. */
char *code_image_read_finish(GAsyncResult *result, GError **error);

#endif
