/*
 * glib_loop.c - Bellwire in a program with GLib's main loop, such as a GTK program.
 *
 *   cc glib_loop.c $(pkg-config --cflags --libs bellwire glib-2.0) -o glib_loop
 *
 *   ./glib_loop '{"type":"desktop-pairing",...}'   pairs by the text of a desktop's QR code, then listens
 *   ./glib_loop                                    listens to the desktops that it has paired with before
 *
 * The library has one descriptor, which the loop watches: no thread, no timer, no lock. Ctrl-C stops it. C99, and C++
 * as well.
 */
#include <bellwire.h>
#include <glib-unix.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>

struct program {
    GMainLoop *loop;
    bw_device *device;
    int exit_code;
};

/* Prints why a call failed, from the JSON of bw_last_error() or of a completion. */
static void report(bw_status status, const char *error_json) {
    char *message = NULL;
    if (error_json) bw_json_text(error_json, "/message", &message);
    g_printerr("glib_loop: %s\n", message ? message : bw_status_name(status));
    bw_free(message);
}

static gboolean succeeds(bw_status status) {
    if (status >= 0) return TRUE;
    char *error = bw_last_error();
    report(status, error);
    bw_free(error);
    return FALSE;
}

static void end(struct program *program, int exit_code) {
    program->exit_code = exit_code;
    g_main_loop_quit(program->loop);
}

static gboolean on_signal(gpointer data) {
    end((struct program *)data, EXIT_SUCCESS);
    return G_SOURCE_CONTINUE;
}

/* There is something to dispatch: this runs the callbacks below. */
static gboolean on_readable(gint fd, GIOCondition condition, gpointer data) {
    struct program *program = (struct program *)data;
    (void)fd, (void)condition;
    if (succeeds(bw_device_dispatch(program->device))) return G_SOURCE_CONTINUE;
    end(program, EXIT_FAILURE);
    return G_SOURCE_CONTINUE;
}

/* One text of an event; free it with g_free(). It comes from another machine: control characters, which could control
 * the terminal, become spaces. Show it in a widget with gtk_label_set_text(), never as markup. */
static char *text_of(const char *event_json, const char *pointer) {
    char *text = NULL;
    bw_json_text(event_json, pointer, &text);
    GString *shown = g_string_new(NULL);
    for (const char *c = text ? text : ""; *c; c = g_utf8_next_char(c)) {
        gunichar character = g_utf8_get_char(c);
        g_string_append_unichar(shown, g_unichar_iscntrl(character) ? ' ' : character);
    }
    bw_free(text);
    return g_string_free(shown, FALSE);
}

/* Runs inside bw_device_dispatch(), on the thread of the main loop, so it may use widgets. */
static void on_push(void *user_data, const char *event, const char *event_json) {
    (void)user_data, (void)event;
    char *title = text_of(event_json, "/data/title"), *body = text_of(event_json, "/data/body");
    g_print("%s: %s\n", title, body);
    g_free(body);
    g_free(title);
}

static void on_unread(void *user_data, const char *event, const char *event_json) {
    gint64 unread = 0;
    int64_t number = 0;
    (void)user_data, (void)event;
    if (bw_json_integer(event_json, "/data/unread", &number) == BW_OK) unread = number;
    g_print("%" G_GINT64_FORMAT " unread\n", unread);
}

static void on_paired(void *user_data, bw_status status, const char *json) {
    struct program *program = (struct program *)user_data;
    if (status == BW_E_CLOSED) return;
    if (status < 0) {
        report(status, json);
        end(program, EXIT_FAILURE);
        return;
    }
    g_printerr("glib_loop: paired, waiting for pushes\n");
}

/* Everything that can fail before the main loop runs. */
static gboolean begin(struct program *program, const char *code) {
    char *desktops = NULL;
    gboolean is_paired;
    int fd;

    /* The defaults: the key and the database are in $XDG_STATE_HOME/bellwire/device. */
    if (!succeeds(bw_device_open(NULL, &program->device))) return FALSE;
    fd = bw_device_fd(program->device);
    if (!succeeds(fd)) return FALSE;
    g_unix_fd_add(fd, G_IO_IN, on_readable, program);

    /* Pushes that arrived earlier are stored; each is delivered once. */
    if (!succeeds(bw_device_subscribe(program->device, "notification.received", on_push, NULL, NULL, NULL))
        || !succeeds(bw_device_subscribe(program->device, "unread.changed", on_unread, NULL, NULL, NULL))
        || !succeeds(bw_device_start(program->device)))
        return FALSE;

    /* A main loop must not block, so this uses the _async form; its completion runs in dispatch. */
    if (code) return succeeds(bw_pairing_scan_async(program->device, code, 30000, on_paired, program, NULL));
    if (!succeeds(bw_pairing_list(program->device, &desktops))) return FALSE;
    is_paired = g_strcmp0(desktops, "[]") != 0;
    bw_free(desktops);
    g_printerr(is_paired ? "glib_loop: waiting for pushes\n"
                         : "glib_loop: not paired yet; pass the text of a desktop's QR code\n");
    return is_paired;
}

int main(int argc, char **argv) {
    struct program program = {NULL, NULL, EXIT_FAILURE};
    if (argc > 2) {
        g_printerr("usage: glib_loop [text of a desktop's QR code]\n");
        return 2;
    }
    program.loop = g_main_loop_new(NULL, FALSE);
    g_unix_signal_add(SIGINT, on_signal, &program);
    g_unix_signal_add(SIGTERM, on_signal, &program);
    if (begin(&program, argc == 2 ? argv[1] : NULL)) g_main_loop_run(program.loop);

    /* In this order: after closing, the descriptor may belong to something else. */
    while (g_source_remove_by_user_data(&program)) {}
    if (program.device && !succeeds(bw_device_close(program.device))) program.exit_code = EXIT_FAILURE;
    g_main_loop_unref(program.loop);
    return program.exit_code;
}
