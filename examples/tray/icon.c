#include "icon.h"

#include <cairo.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const int sizes[] = {16, 22, 24, 32, 48, 64};

typedef struct {
    double red, green, blue;
} Colour;

static void set(cairo_t *cairo, Colour colour) {
    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
}

/* On a field of 24 by 24. */
static void bell_path(cairo_t *cairo) {
    cairo_new_path(cairo);
    cairo_arc(cairo, 12, 19.4, 2.9, 0, G_PI);
    cairo_close_path(cairo);
    cairo_new_sub_path(cairo);
    cairo_arc(cairo, 12, 3.4, 1.9, 0, 2 * G_PI);
    cairo_close_path(cairo);
    cairo_move_to(cairo, 3, 18.6);
    cairo_curve_to(cairo, 5.4, 16.2, 5.0, 13.2, 5.2, 10.4);
    cairo_curve_to(cairo, 5.5, 6.4, 8.4, 3.8, 12, 3.8);
    cairo_curve_to(cairo, 15.6, 3.8, 18.5, 6.4, 18.8, 10.4);
    cairo_curve_to(cairo, 19.0, 13.2, 18.6, 16.2, 21, 18.6);
    cairo_close_path(cairo);
}

/* Seen on dark and on light panels alike: a bright body in a dark line. */
static void draw_bell(cairo_t *cairo, int size, BellState state) {
    static const Colour body[] = {{0.98, 0.73, 0.20}, {0.68, 0.70, 0.73}, {0.98, 0.73, 0.20}};
    static const Colour line[] = {{0.45, 0.29, 0.02}, {0.28, 0.30, 0.33}, {0.45, 0.29, 0.02}};
    cairo_save(cairo);
    cairo_scale(cairo, size / 24.0, size / 24.0);
    bell_path(cairo);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(cairo, MAX(2.0, 2 * 24.0 / size));
    set(cairo, line[state]);
    cairo_stroke_preserve(cairo);
    set(cairo, body[state]);
    cairo_fill(cairo);
    if (state == BELL_QUIET) {
        cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
        for (int pass = 0; pass < 2; pass++) {
            cairo_set_line_width(cairo, pass == 0 ? 5 : 2.4);
            set(cairo, pass == 0 ? line[state] : (Colour){1, 1, 1});
            cairo_move_to(cairo, 4, 4);
            cairo_line_to(cairo, 20, 20);
            cairo_stroke(cairo);
        }
    }
    cairo_restore(cairo);
}

/* A badge as high as it can be while the bell is still seen; its digits stand on whole pixels. */
static void draw_count(cairo_t *cairo, int size, const char *digits) {
    double height = round(size * 0.64), margin = MAX(1, round(size / 14.0)), ring = MAX(1, size / 24.0);
    cairo_select_font_face(cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_FULL);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
    /* Digits are about three quarters of their font's size high. */
    cairo_set_font_size(cairo, round((height - 2 * margin) / 0.74));
    cairo_text_extents_t extents;
    cairo_text_extents(cairo, digits, &extents);
    double room = size - 2 * margin, squeeze = extents.width > room ? room / extents.width : 1;
    double width = MIN(size, MAX(height, round(extents.width * squeeze + 2 * margin + 1)));
    double left = size - width, top = size - height, radius = MIN(height, width) / 2;

    cairo_new_path(cairo);
    cairo_arc(cairo, left + radius, top + radius, radius, G_PI / 2, 3 * G_PI / 2);
    cairo_arc(cairo, size - radius, top + radius, radius, -G_PI / 2, G_PI / 2);
    cairo_close_path(cairo);
    /* Clears a rim around the badge, so that it is distinct from the bell on every panel. */
    cairo_save(cairo);
    cairo_set_operator(cairo, CAIRO_OPERATOR_CLEAR);
    cairo_set_line_width(cairo, 2 * ring);
    cairo_stroke_preserve(cairo);
    cairo_restore(cairo);
    set(cairo, (Colour){0.80, 0.11, 0.14});
    cairo_fill(cairo);

    set(cairo, (Colour){1, 1, 1});
    cairo_save(cairo);
    cairo_translate(cairo, left + round((width - extents.width * squeeze) / 2 - extents.x_bearing * squeeze),
                    top + round((height - extents.height) / 2 - extents.y_bearing));
    cairo_scale(cairo, squeeze, 1);
    cairo_move_to(cairo, 0, 0);
    cairo_show_text(cairo, digits);
    cairo_restore(cairo);
}

static cairo_status_t append(void *closure, const unsigned char *data, unsigned int length) {
    g_byte_array_append(closure, data, length);
    return CAIRO_STATUS_SUCCESS;
}

static gboolean write_size(const char *directory, const char *name, int size, BellState state, const char *digits) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, size, size);
    cairo_t *cairo = cairo_create(surface);
    draw_bell(cairo, size, state);
    if (digits) draw_count(cairo, size, digits);
    cairo_destroy(cairo);
    GByteArray *png = g_byte_array_new();
    gboolean is_written = cairo_surface_write_to_png_stream(surface, append, png) == CAIRO_STATUS_SUCCESS;
    cairo_surface_destroy(surface);

    char *folder = g_strdup_printf("%s/hicolor/%dx%d/apps", directory, size, size);
    char *path = g_strdup_printf("%s/%s.png", folder, name);
    is_written = is_written && g_mkdir_with_parents(folder, 0700) == 0 &&
                 g_file_set_contents(path, (const char *)png->data, (gssize)png->len, NULL);
    g_free(path);
    g_free(folder);
    g_byte_array_unref(png);
    return is_written;
}

/* Takes away the icons of all names but two; NULL = no name at all. */
static void keep(const char *directory, const char *name, const char *other) {
    for (gsize index = 0; index < G_N_ELEMENTS(sizes); index++) {
        char *folder = g_strdup_printf("%s/hicolor/%dx%d/apps", directory, sizes[index], sizes[index]);
        GDir *files = g_dir_open(folder, 0, NULL);
        const char *file;
        while (files && (file = g_dir_read_name(files))) {
            gsize length = strcspn(file, ".");
            if (name && strncmp(file, name, length) == 0 && name[length] == '\0') continue;
            if (other && strncmp(file, other, length) == 0 && other[length] == '\0') continue;
            char *path = g_build_filename(folder, file, NULL);
            g_unlink(path);
            g_free(path);
        }
        if (files) g_dir_close(files);
        g_free(folder);
    }
}

char *icon_write(const char *directory, BellState state, gint64 unread) {
    /* A panel may still be reading the one before. */
    static char last[64];
    static const char *states[] = {"on", "away", "quiet"};
    char digits[8] = "";
    if (unread > 99) {
        strcpy(digits, "99+");
    } else if (unread > 0) {
        g_snprintf(digits, sizeof digits, "%d", (int)unread);
    }
    /* Each look has a name of its own: panels keep what they have read. */
    char *name = g_strdup_printf("bellwire-tray-%s-%s", states[state], *digits ? digits : "0");
    if (strcmp(name, last) == 0) return name;
    for (gsize index = 0; index < G_N_ELEMENTS(sizes); index++) {
        if (!write_size(directory, name, sizes[index], state, *digits ? digits : NULL)) {
            g_free(name);
            return NULL;
        }
    }
    keep(directory, name, last);
    g_strlcpy(last, name, sizeof last);
    return name;
}

void icon_clear(const char *directory) {
    keep(directory, NULL, NULL);
    for (gsize index = 0; index < G_N_ELEMENTS(sizes); index++) {
        char *folder = g_strdup_printf("%s/hicolor/%dx%d/apps", directory, sizes[index], sizes[index]);
        g_rmdir(folder);
        *strrchr(folder, '/') = '\0';
        g_rmdir(folder);
        g_free(folder);
    }
    char *theme = g_build_filename(directory, "hicolor", NULL);
    g_rmdir(theme);
    g_free(theme);
    g_rmdir(directory);
}
