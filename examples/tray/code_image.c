#include "code_image.h"

#include "text.h"

#include <bellwire.h>
#include <glib/gi18n.h>
#include <jansson.h>

GdkPixbuf *code_image_draw(const char *text, int side, char **failure) {
    uint8_t *png = NULL;
    size_t size = 0;
    bw_status status = bw_qr_png(text, 1, &png, &size);
    if (status < 0) {
        *failure = text_failure(status);
        return NULL;
    }
    GdkPixbufLoader *loader = gdk_pixbuf_loader_new();
    gdk_pixbuf_loader_write(loader, png, size, NULL);
    gdk_pixbuf_loader_close(loader, NULL);
    bw_free(png);
    GdkPixbuf *small = gdk_pixbuf_loader_get_pixbuf(loader), *large = NULL;
    if (small) {
        int modules = gdk_pixbuf_get_width(small), pixels = MAX(1, side / modules) * modules;
        large = gdk_pixbuf_scale_simple(small, pixels, pixels, GDK_INTERP_NEAREST);
    } else {
        *failure = g_strdup(_("Cannot draw the code."));
    }
    g_object_unref(loader);
    return large;
}

/* What a call that reads gave: the first text that may be a pairing code, else the first. */
static void conclude(GTask *task, bw_status status, char *texts_json) {
    if (status < 0) {
        char *failure = text_failure(status);
        g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", failure);
        g_free(failure);
        return;
    }
    json_t *texts = json_loads(texts_json, JSON_ALLOW_NUL, NULL), *each;
    const char *found = json_string_value(json_array_get(texts, 0));
    gsize index;
    json_array_foreach(texts, index, each) {
        if (json_string_value(each) && json_string_value(each)[0] == '{') {
            found = json_string_value(each);
            break;
        }
    }
    bw_free(texts_json);
    g_task_return_pointer(task, g_strdup(found ? found : ""), g_free);
    json_decref(texts);
}

static void read_file(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
    (void)source, (void)cancellable;
    char *texts = NULL;
    bw_status status = bw_qr_read(data, &texts);
    conclude(task, status, texts);
}

void code_image_read_file(const char *path, GObject *owner, GAsyncReadyCallback done) {
    GTask *task = g_task_new(owner, NULL, done, NULL);
    g_task_set_task_data(task, g_strdup(path), g_free);
    g_task_run_in_thread(task, read_file);
    g_object_unref(task);
}

static void read_picture(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
    (void)source, (void)cancellable;
    GdkPixbuf *picture = data;
    int width = gdk_pixbuf_get_width(picture), height = gdk_pixbuf_get_height(picture);
    int channels = gdk_pixbuf_get_n_channels(picture), stride = gdk_pixbuf_get_rowstride(picture);
    gboolean has_alpha = gdk_pixbuf_get_has_alpha(picture);
    const guint8 *pixels = gdk_pixbuf_read_pixels(picture);
    guint8 *grey = g_malloc((gsize)width * (gsize)height);
    for (int row = 0; row < height; row++) {
        for (int column = 0; column < width; column++) {
            const guint8 *pixel = pixels + (gsize)row * (gsize)stride + (gsize)column * (gsize)channels;
            int light = (pixel[0] * 77 + pixel[1] * 151 + pixel[2] * 28) / 256;
            /* What is transparent lies on white. */
            if (has_alpha) light = (light * pixel[3] + 255 * (255 - pixel[3])) / 255;
            grey[(gsize)row * (gsize)width + (gsize)column] = (guint8)light;
        }
    }
    char *texts = NULL;
    bw_status status = bw_qr_read_pixels(grey, width, height, width, &texts);
    g_free(grey);
    conclude(task, status, texts);
}

void code_image_read_picture(GdkPixbuf *picture, GObject *owner, GAsyncReadyCallback done) {
    GTask *task = g_task_new(owner, NULL, done, NULL);
    g_task_set_task_data(task, g_object_ref(picture), g_object_unref);
    g_task_run_in_thread(task, read_picture);
    g_object_unref(task);
}

char *code_image_read_finish(GAsyncResult *result, GError **error) {
    return g_task_propagate_pointer(G_TASK(result), error);
}
