/*
 * jansson_host.c - uses jansson: prints each push as a line of JSON, and marks it as read on the desktop.
 *
 *   cc jansson_host.c $(pkg-config --cflags --libs bellwire jansson) -o jansson_host
 *
 *   ./jansson_host '{"type":"desktop-pairing",...}'   pairs by the text of a desktop's QR code, then listens
 *   ./jansson_host                                    listens to the desktops that it has paired with before
 *
 *   ./jansson_host | jq -r .title
 *
 * Ctrl-C stops it. Needs the library and jansson. C99, and C++ as well.
 */
#define _POSIX_C_SOURCE 200809L
#include <bellwire_jansson.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAIR_MS = 30000, ANSWER_MS = 15000 };

/* Makes Ctrl-C pollable: the signal handler only writes a byte into this pipe. */
static int interrupt_pipe[2];

static void on_interrupt(int number) {
    int saved = errno;
    char byte = (char)number;
    if (write(interrupt_pipe[1], &byte, 1) < 0) { /* the pipe is full, so it is readable already */ }
    errno = saved;
}

/* Prints why a call failed, from the JSON of bwj_last_error() or of a completion. */
static void report(bw_status status, const json_t *error) {
    const char *message = json_string_value(json_object_get(error, "message"));
    fprintf(stderr, "jansson_host: %s\n", message ? message : bw_status_name(status));
}

static int succeeds(bw_status status) {
    if (status >= 0) return 1;
    json_t *error = bwj_last_error();
    report(status, error);
    json_decref(error);
    return 0;
}

/* Prints the desktop's answer, or that the command was queued until the desktop is online. */
static void on_marked(void *user_data, bw_status status, json_t *result) {
    (void)user_data;
    if (status < 0 && status != BW_E_CLOSED) report(status, result);
    if (status == BW_QUEUED) fprintf(stderr, "jansson_host: queued until the desktop is online\n");
}

/* Runs inside bw_device_dispatch(). event_json is valid until it returns; json_incref() would keep it. */
static void on_push(void *user_data, const char *event, json_t *event_json) {
    bw_device *device = (bw_device *)user_data;
    json_t *data = json_object_get(event_json, "data");
    const char *desktop = json_string_value(json_object_get(event_json, "desktop"));
    (void)event;
    /* Escaped text from other machines cannot control the terminal. */
    json_dumpf(data, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    putchar('\n');
    fflush(stdout);

    json_t *params = json_pack("{s:O?}", "notificationId", json_object_get(data, "id"));
    if (params) succeeds(bwj_notification_mark_as_read_async(device, desktop, params, ANSWER_MS, on_marked, NULL, NULL));
    json_decref(params); /* it was borrowed */
}

/* Pairs, or checks that it is paired. */
static int is_paired(bw_device *device, const char *code) {
    json_t *json = NULL;
    int good;
    if (code) {
        good = succeeds(bwj_pairing_scan(device, code, PAIR_MS, &json)); /* until here, Ctrl-C simply ends it */
    } else {
        good = succeeds(bwj_pairing_list(device, &json));
        if (good && json_array_size(json) == 0) {
            fprintf(stderr, "jansson_host: not paired yet; pass the text of a desktop's QR code\n");
            good = 0;
        }
    }
    json_decref(json);
    return good;
}

/* Waits and dispatches until Ctrl-C. */
static int listens(bw_device *device) {
    struct pollfd wait_for[2] = {{bw_device_fd(device), POLLIN, 0}, {interrupt_pipe[0], POLLIN, 0}};
    if (!succeeds(wait_for[0].fd)) return 0;
    while (wait_for[1].revents == 0) {
        if (poll(wait_for, 2, -1) < 0 && errno != EINTR) return 0;
        if (!succeeds(bw_device_dispatch(device))) return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    if (argc > 2) {
        fprintf(stderr, "usage: jansson_host [text of a desktop's QR code]\n");
        return 2;
    }
    if (pipe(interrupt_pipe) != 0) return EXIT_FAILURE;
    bw_device *device = NULL;
    json_t *options = json_pack("{s:s, s:s}", "name", "jansson_host", "platform", "linux");
    int good = succeeds(bwj_device_open(options, &device));
    json_decref(options);
    if (!good) return EXIT_FAILURE;

    good = is_paired(device, argc == 2 ? argv[1] : NULL);
    if (good) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_interrupt;
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);

        /* Pushes that arrived earlier are stored; each is delivered once. */
        good = succeeds(bwj_device_subscribe(device, "notification.received", on_push, device, NULL, NULL))
            && succeeds(bw_device_start(device));
        if (good) fprintf(stderr, "jansson_host: paired, waiting for pushes\n");
        good = good && listens(device);
    }
    return bw_device_close(device) == BW_OK && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
