/*
 * print_pushes.c - prints what a desktop pushes, one line for each notification.
 *
 *   cc print_pushes.c $(pkg-config --cflags --libs bellwire) -o print_pushes
 *
 *   ./print_pushes '{"type":"desktop-pairing",...}'   pairs by the text of a desktop's QR code, then listens
 *   ./print_pushes code.txt                           the same, with the text in a file; - is standard input
 *   ./print_pushes                                    listens to the desktops that it has paired with before
 *
 * Ctrl-C stops it. Needs only the library. C99, and C++ as well.
 */
#define _POSIX_C_SOURCE 200809L
#include <bellwire.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Makes Ctrl-C pollable: the signal handler only writes a byte into this pipe. */
static int interrupt_pipe[2];

static void on_interrupt(int number) {
    int saved = errno;
    char byte = (char)number;
    if (write(interrupt_pipe[1], &byte, 1) < 0) { /* the pipe is full, so it is readable already */ }
    errno = saved;
}

/* Ends the program if a call failed; bw_last_error() says what is wrong and what to do. */
static void check(bw_status status) {
    if (status >= 0) return;
    char *error = bw_last_error(), *message = NULL;
    if (error) bw_json_text(error, "/message", &message);
    fprintf(stderr, "print_pushes: %s\n", message ? message : bw_status_name(status));
    bw_free(message);
    bw_free(error);
    exit(EXIT_FAILURE);
}

/* The text of the QR code: the argument itself, or the content of the file that it names. */
static const char *read_code(const char *argument) {
    static char text[8192];
    if (argument[0] == '{') return argument;
    FILE *file = strcmp(argument, "-") == 0 ? stdin : fopen(argument, "r");
    if (!file) {
        fprintf(stderr, "print_pushes: %s: %s\n", argument, strerror(errno));
        exit(EXIT_FAILURE);
    }
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    if (file != stdin) fclose(file);
    return text;
}

/* One text of an event. It comes from another machine: control characters, which could control the terminal, become
 * spaces. Pads to width bytes, then prints end. */
static void print_text(const char *event_json, const char *pointer, int width, const char *end) {
    char *text = NULL;
    bw_json_text(event_json, pointer, &text);
    for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c; c++) {
        int is_c1 = *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0; /* U+0080 to U+009F in UTF-8 */
        putchar(*c < 0x20 || *c == 0x7F || is_c1 ? ' ' : *c);
        if (is_c1) c++;
        width--;
    }
    printf("%*s%s", width > 0 ? width : 0, "", end);
    bw_free(text);
}

/* Runs inside bw_device_dispatch(), on this thread. event_json is valid until it returns. */
static void on_push(void *user_data, const char *event, const char *event_json) {
    (void)user_data, (void)event;
    int64_t created = 0; /* milliseconds since 1970 */
    bw_json_integer(event_json, "/data/createdAt", &created);
    time_t seconds = (time_t)(created / 1000);
    struct tm *local = localtime(&seconds);
    char when[32];
    if (!local || strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", local) == 0) strcpy(when, "?");
    printf("%s  ", when);
    print_text(event_json, "/data/priority", 6, "  ");
    print_text(event_json, "/data/source", 6, "  ");
    print_text(event_json, "/data/title", 0, "  ");
    print_text(event_json, "/data/body", 0, "\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc > 2 || (argc == 2 && strcmp(argv[1], "--help") == 0)) {
        fprintf(stderr, "usage: print_pushes [text of a desktop's QR code | file that holds it | -]\n");
        return argc > 2 ? 2 : EXIT_SUCCESS;
    }

    /* The defaults: the key and the database are in $XDG_STATE_HOME/bellwire/device. */
    bw_device *device = NULL;
    check(bw_device_open(NULL, &device));

    char *json = NULL;
    if (argc == 2) {
        check(bw_pairing_scan(device, read_code(argv[1]), 30000, &json)); /* until here, Ctrl-C simply ends it */
    } else {
        check(bw_pairing_list(device, &json));
        if (strcmp(json, "[]") == 0) {
            fprintf(stderr, "print_pushes: not paired yet; pass the text of a desktop's QR code\n");
            return EXIT_FAILURE;
        }
    }
    bw_free(json);

    if (pipe(interrupt_pipe) != 0) return EXIT_FAILURE;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    /* Pushes that arrived earlier are stored; each is delivered once. */
    check(bw_device_subscribe(device, "notification.received", on_push, NULL, NULL, NULL));
    check(bw_device_start(device));
    fprintf(stderr, "print_pushes: paired, waiting for pushes\n");

    /* The library has one descriptor to poll, so it fits any loop; bw_device_run() is a ready-made one. */
    struct pollfd wait_for[2] = {{bw_device_fd(device), POLLIN, 0}, {interrupt_pipe[0], POLLIN, 0}};
    check(wait_for[0].fd);
    while (wait_for[1].revents == 0) {
        if (poll(wait_for, 2, -1) < 0 && errno != EINTR) break;
        check(bw_device_dispatch(device));
    }
    return bw_device_close(device) == BW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
