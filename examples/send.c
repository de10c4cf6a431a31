/*
 * send.c - shows notifications on the paired desktop.
 *
 *   cc send.c $(pkg-config --cflags --libs bellwire) -o send
 *
 *   ./send "Build done" "All tests passed"    one notification; the body may be left out
 *   make 2>&1 | ./send                        one for each line of the input: a title, or a title, a tab and a body
 *
 * It uses the desktop that print_pushes or pair_code has paired with. Ctrl-C stops it. Exit codes: 0 = the desktop
 * accepted all of them, 3 = it was offline, 1 = another failure. Needs only the library. C99, and C++ as well.
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

enum { CONNECT_MS = 5000, ANSWER_MS = 15000 };
enum { EXIT_OFFLINE = 3, EXIT_INTERRUPTED = 130 };

static bw_device *device;

/* Makes Ctrl-C pollable: the signal handler only writes a byte into this pipe. */
static int interrupt_pipe[2];

static void on_interrupt(int number) {
    int saved = errno;
    char byte = (char)number;
    if (write(interrupt_pipe[1], &byte, 1) < 0) { /* the pipe is full, so it is readable already */ }
    errno = saved;
}

/* Closes the device, which ends calls in progress, and exits. */
static void leave(int code) {
    bw_device_close(device);
    exit(code);
}

/* Prints why a call failed, from the JSON of bw_last_error() or of a completion. */
static void report(bw_status status, const char *error_json) {
    char *message = NULL;
    if (error_json) bw_json_text(error_json, "/message", &message);
    fprintf(stderr, "send: %s\n", message ? message : bw_status_name(status));
    bw_free(message);
}

static void check(bw_status status) {
    if (status >= 0) return;
    char *error = bw_last_error();
    report(status, error);
    bw_free(error);
    leave(status == BW_E_OFFLINE ? EXIT_OFFLINE : EXIT_FAILURE);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Dispatches until a callback sets *done. Returns 0 on timeout. */
static int wait_until(const int *done, int32_t timeout_ms) {
    struct pollfd wait_for[2] = {{bw_device_fd(device), POLLIN, 0}, {interrupt_pipe[0], POLLIN, 0}};
    int64_t deadline = now_ms() + timeout_ms;
    check(wait_for[0].fd);
    while (!*done) {
        int64_t left = deadline - now_ms();
        if (left <= 0) return 0;
        if (poll(wait_for, 2, (int)left) < 0 && errno != EINTR) leave(EXIT_FAILURE);
        if (wait_for[1].revents != 0) leave(EXIT_INTERRUPTED);
        check(bw_device_dispatch(device));
    }
    return 1;
}

static void on_connection(void *user_data, const char *event, const char *event_json) {
    int64_t online = 0;
    (void)event;
    bw_json_integer(event_json, "/data/online", &online);
    *(int *)user_data = (int)online;
}

/* The outcome of one notification. */
struct answer {
    int is_there;
    int exit_code;
};

static void on_answer(void *user_data, bw_status status, const char *json) {
    struct answer *answer = (struct answer *)user_data;
    int64_t silenced = 0, success = 1;
    answer->is_there = 1;
    answer->exit_code = EXIT_SUCCESS;
    if (status == BW_E_CLOSED) return; /* closed by leave() */
    if (status < 0) {
        report(status, json);
        answer->exit_code = status == BW_E_OFFLINE ? EXIT_OFFLINE : EXIT_FAILURE;
    } else if (status == BW_QUEUED) {
        printf("queued: it will be sent when the desktop is online\n");
    } else {
        bw_json_integer(json, "/silenced", &silenced);
        bw_json_integer(json, "/success", &success);
        if (silenced) {
            printf("stored, not shown: the desktop is in quiet hours\n");
        } else if (success) {
            printf("sent\n");
        } else {
            fprintf(stderr, "send: the desktop refused it\n");
            answer->exit_code = EXIT_FAILURE;
        }
    }
    fflush(stdout);
}

/* Writes a text as a JSON string and returns its end. Needs at most six bytes per byte, plus three. */
static char *write_quoted(char *end, const char *text) {
    *end++ = '"';
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') *end++ = '\\';
        if (*c < 0x20) {
            end += sprintf(end, "\\u%04x", *c);
        } else {
            *end++ = (char)*c;
        }
    }
    *end++ = '"';
    *end = '\0';
    return end;
}

/* Returns the exit code. */
static int send_one(const char *title, const char *body) {
    struct answer answer = {0, EXIT_SUCCESS};
    char *json = (char *)malloc((strlen(title) + strlen(body)) * 6 + 32);
    if (!json) {
        fprintf(stderr, "send: out of memory\n");
        return EXIT_FAILURE;
    }
    char *end = json + sprintf(json, "{\"title\":");
    end = write_quoted(end, title);
    end += sprintf(end, ",\"body\":");
    end = write_quoted(end, body);
    strcpy(end, "}");
    /* NULL = the only paired desktop. The completion runs in dispatch, also on a timeout. */
    bw_status status = bw_notification_send_async(device, NULL, json, ANSWER_MS, on_answer, &answer, NULL);
    free(json);
    check(status);
    if (!wait_until(&answer.is_there, ANSWER_MS + 5000)) leave(EXIT_FAILURE);
    return answer.exit_code;
}

static int send_lines(void) {
    int code = EXIT_SUCCESS;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, stdin)) > 0) {
        if (line[length - 1] == '\n') line[--length] = '\0';
        if (length == 0) continue;
        char *tab = strchr(line, '\t');
        if (tab) *tab = '\0';
        int result = send_one(line, tab ? tab + 1 : "");
        if (result != EXIT_SUCCESS) code = result;
    }
    free(line);
    return code;
}

int main(int argc, char **argv) {
    if (argc > 3 || (argc == 2 && strcmp(argv[1], "--help") == 0)) {
        fprintf(stderr, "usage: send [TITLE [BODY]]\n");
        return argc > 3 ? 2 : EXIT_SUCCESS;
    }
    if (pipe(interrupt_pipe) != 0) return EXIT_FAILURE;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    /* The defaults: the key and the database are in $XDG_STATE_HOME/bellwire/device. */
    check(bw_device_open(NULL, &device));

    /* Starting does not wait; an event reports the connection. */
    int online = 0;
    char *desktops = NULL;
    check(bw_pairing_list(device, &desktops));
    int is_paired = strcmp(desktops, "[]") != 0;
    bw_free(desktops);
    if (!is_paired) {
        fprintf(stderr, "send: not paired yet; pair with print_pushes or pair_code\n");
        leave(EXIT_FAILURE);
    }
    check(bw_device_subscribe(device, "connection.changed", on_connection, &online, NULL, NULL));
    check(bw_device_start(device));
    if (!wait_until(&online, CONNECT_MS)) {
        fprintf(stderr, "send: the desktop is offline; nothing was sent\n");
        leave(EXIT_OFFLINE);
    }
    leave(argc > 1 ? send_one(argv[1], argc > 2 ? argv[2] : "") : send_lines());
}
