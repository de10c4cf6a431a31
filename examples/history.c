/*
 * history.c - prints a page of the desktop's past notifications, or of this device's stored ones if it is offline.
 *
 *   cc history.c $(pkg-config --cflags --libs bellwire) -o history
 *
 *   ./history                          the newest ones
 *   ./history --unread --search "tea"  unread ones with this word in title or body
 *   ./history --limit 10 --before ROW  the ten before a row; the last line of a page names it
 *   ./history --read                   also marks all as read, now or when the desktop is online
 *
 * It uses the desktop that print_pushes or pair_code has paired with. Ctrl-C stops it. Needs only the library. C99,
 * and C++ as well.
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

enum { CONNECT_MS = 5000, ANSWER_MS = 15000, EXIT_INTERRUPTED = 130 };

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
    fprintf(stderr, "history: %s\n", message ? message : bw_status_name(status));
    bw_free(message);
}

static void check(bw_status status) {
    if (status >= 0) return;
    char *error = bw_last_error();
    report(status, error);
    bw_free(error);
    leave(EXIT_FAILURE);
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

/* The result of a completion; free the text. */
struct answer {
    int is_there;
    bw_status status;
    char *json;
};

static void on_answer(void *user_data, bw_status status, const char *json) {
    struct answer *answer = (struct answer *)user_data;
    if (status == BW_E_CLOSED) return; /* closed by leave() */
    answer->is_there = 1;
    answer->status = status;
    answer->json = json ? strdup(json) : NULL;
}

/* Ends the program if the call failed. */
static void check_answer(struct answer *answer) {
    if (answer->status >= 0 && answer->json) return;
    report(answer->status, answer->json);
    free(answer->json);
    leave(EXIT_FAILURE);
}

/* Writes a text as a JSON string. */
static void write_quoted(FILE *stream, const char *text) {
    putc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') putc('\\', stream);
        if (*c < 0x20) {
            fprintf(stream, "\\u%04x", *c);
        } else {
            putc(*c, stream);
        }
    }
    putc('"', stream);
}

/* One text of a page. It comes from another machine: control characters, which could control the terminal, become
 * spaces. Pads to width bytes, then prints end. */
static void print_text(const char *page, const char *pointer, int width, const char *end) {
    char *text = NULL;
    bw_json_text(page, pointer, &text);
    for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c; c++) {
        int is_c1 = *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0; /* U+0080 to U+009F in UTF-8 */
        putchar(*c < 0x20 || *c == 0x7F || is_c1 ? ' ' : *c);
        if (is_c1) c++;
        width--;
    }
    printf("%*s%s", width > 0 ? width : 0, "", end);
    bw_free(text);
}

/* The pointer to a member of a row, such as "/notifications/3/title"; good until the next call. */
static const char *member(int row, const char *name) {
    static char pointer[64];
    snprintf(pointer, sizeof pointer, "/notifications/%d/%s", row, name);
    return pointer;
}

/* One line per row: a star if it is unread, time, priority, title, body. */
static void print_page(const char *page) {
    int64_t created = 0, read = 0, total = 0;
    int row;
    for (row = 0; bw_json_integer(page, member(row, "createdAt"), &created) == BW_OK; row++) {
        time_t seconds = (time_t)(created / 1000);
        struct tm *local = localtime(&seconds);
        char when[32];
        if (!local || strftime(when, sizeof when, "%Y-%m-%d %H:%M", local) == 0) strcpy(when, "?");
        bw_json_integer(page, member(row, "read"), &read);
        printf("%c %s  ", read ? ' ' : '*', when);
        print_text(page, member(row, "priority"), 6, "  ");
        print_text(page, member(row, "title"), 0, "  ");
        print_text(page, member(row, "body"), 0, "\n");
    }
    char *next = NULL;
    bw_json_integer(page, "/total", &total);
    printf("%d of %lld\n", row, (long long)total);
    if (bw_json_text(page, "/next", &next) == BW_OK) print_text(page, "/next", 0, " begins the next page: --before\n");
    bw_free(next);
}

static int usage(void) {
    fprintf(stderr, "usage: history [--unread] [--search WORDS] [--limit N] [--before ROW] [--read]\n");
    return 2;
}

int main(int argc, char **argv) {
    int unread = 0, mark_read = 0;
    long limit = 20;
    const char *words = NULL, *before = NULL;
    for (int index = 1; index < argc; index++) {
        const char *value = index + 1 < argc ? argv[index + 1] : NULL;
        if (strcmp(argv[index], "--unread") == 0) {
            unread = 1;
        } else if (strcmp(argv[index], "--read") == 0) {
            mark_read = 1;
        } else if (strcmp(argv[index], "--search") == 0 && value) {
            words = value;
            index++;
        } else if (strcmp(argv[index], "--before") == 0 && value) {
            before = value;
            index++;
        } else if (strcmp(argv[index], "--limit") == 0 && value) {
            char *end;
            limit = strtol(value, &end, 10);
            if (*end != '\0' || limit < 1 || limit > 500) return usage();
            index++;
        } else {
            return usage();
        }
    }

    /* The parameters, which the desktop's history and the inbox both accept. */
    char *question = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&question, &size);
    if (!stream) return EXIT_FAILURE;
    fprintf(stream, "{\"limit\":%ld,\"unreadOnly\":%s", limit, unread ? "true" : "false");
    if (words) {
        fprintf(stream, ",\"query\":");
        write_quoted(stream, words);
    }
    if (before) {
        fprintf(stream, ",\"before\":");
        write_quoted(stream, before);
    }
    putc('}', stream);
    if (fclose(stream) != 0) return EXIT_FAILURE;

    if (pipe(interrupt_pipe) != 0) return EXIT_FAILURE;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    /* The defaults: the key and the database are in $XDG_STATE_HOME/bellwire/device. */
    check(bw_device_open(NULL, &device));
    int online = 0;
    check(bw_device_subscribe(device, "connection.changed", on_connection, &online, NULL, NULL));
    check(bw_device_start(device));
    wait_until(&online, CONNECT_MS);

    struct answer answer;
    memset(&answer, 0, sizeof answer);
    if (online) {
        check(bw_notification_get_history_async(device, NULL, question, ANSWER_MS, on_answer, &answer, NULL));
        if (!wait_until(&answer.is_there, ANSWER_MS + 5000)) leave(EXIT_FAILURE);
        check_answer(&answer);
        print_page(answer.json);
    } else {
        char *page = NULL;
        fprintf(stderr, "history: offline; showing stored notifications\n");
        check(bw_inbox_load(device, question, &page));
        print_page(page);
        bw_free(page);
    }
    free(answer.json);
    free(question);

    if (mark_read) {
        memset(&answer, 0, sizeof answer);
        check(bw_inbox_mark_all_read_async(device, NULL, ANSWER_MS, on_answer, &answer, NULL));
        if (!wait_until(&answer.is_there, ANSWER_MS + 5000)) leave(EXIT_FAILURE);
        check_answer(&answer);
        printf(answer.status == BW_QUEUED ? "queued until the desktop is online\n" : "all marked as read\n");
        free(answer.json);
    }
    leave(EXIT_SUCCESS);
}
