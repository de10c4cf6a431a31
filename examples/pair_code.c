/*
 * pair_code.c - pairs with a desktop by the digits that it shows, and lets the user compare both sides.
 *
 *   cc pair_code.c $(pkg-config --cflags --libs bellwire) -o pair_code
 *
 *   ./pair_code                       asks for the twelve digits
 *   ./pair_code ws://desk.local:9001  the same with the relay that the desktop shows below them; needed the first
 *                                     time, if the relay cannot be found on the local network
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
#include <unistd.h>

enum { PAIR_MS = 60000, EXIT_INTERRUPTED = 130 };

static bw_device *device;

/* Makes Ctrl-C pollable: the signal handler only writes a byte into this pipe. */
static int interrupt_pipe[2];

static void on_interrupt(int number) {
    int saved = errno;
    char byte = (char)number;
    if (write(interrupt_pipe[1], &byte, 1) < 0) { /* the pipe is full, so it is readable already */ }
    errno = saved;
}

/* Closes the device, which ends a pairing in progress, and exits. */
static void leave(int code) {
    bw_device_close(device);
    exit(code);
}

/* Prints why a call failed, from the JSON of bw_last_error() or of a completion. */
static void report(bw_status status, const char *error_json) {
    char *message = NULL;
    if (error_json) bw_json_text(error_json, "/message", &message);
    fprintf(stderr, "pair_code: %s\n", message ? message : bw_status_name(status));
    bw_free(message);
}

static void check(bw_status status) {
    if (status >= 0) return;
    char *error = bw_last_error();
    report(status, error);
    bw_free(error);
    leave(EXIT_FAILURE);
}

/* Waits for a line of input, or Ctrl-C. Returns it without the line break; NULL at the end of the input. */
static const char *read_line(const char *question, char *line, int size) {
    struct pollfd wait_for[2] = {{STDIN_FILENO, POLLIN, 0}, {interrupt_pipe[0], POLLIN, 0}};
    fprintf(stderr, "%s", question);
    while (poll(wait_for, 2, -1) < 0)
        if (errno != EINTR) leave(EXIT_FAILURE);
    if (wait_for[1].revents != 0) leave(EXIT_INTERRUPTED);
    if (!fgets(line, size, stdin)) return NULL;
    line[strcspn(line, "\n")] = '\0';
    return line;
}

/* Prints the steps as they happen. */
static void on_pairing(void *user_data, const char *event, const char *event_json) {
    char *state = NULL;
    (void)user_data, (void)event;
    bw_json_text(event_json, "/data/state", &state);
    if (state && strcmp(state, "waiting") == 0) fprintf(stderr, "The desktop is online; waiting for its answer.\n");
    bw_free(state);
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

/* A text of the answer, for a terminal. The desktop chose its name, so control characters become spaces. */
static void print_text(const char *json, const char *pointer) {
    char *text = NULL;
    bw_json_text(json, pointer, &text);
    for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c; c++) {
        int is_c1 = *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0; /* U+0080 to U+009F in UTF-8 */
        putchar(*c < 0x20 || *c == 0x7F || is_c1 ? ' ' : *c);
        if (is_c1) c++;
    }
    bw_free(text);
}

int main(int argc, char **argv) {
    if (argc > 2 || (argc == 2 && strncmp(argv[1], "ws", 2) != 0)) {
        fprintf(stderr, "usage: pair_code [RELAY_URL]\n");
        return 2;
    }
    if (pipe(interrupt_pipe) != 0) return EXIT_FAILURE;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    setvbuf(stdin, NULL, _IONBF, 0); /* otherwise poll() would not see lines that are already buffered */

    char options[512] = "{}";
    if (argc == 2) {
        if (strlen(argv[1]) > 400 || strpbrk(argv[1], "\"\\")) {
            fprintf(stderr, "pair_code: invalid relay URL\n");
            return 2;
        }
        snprintf(options, sizeof options, "{\"relay_url\":\"%s\"}", argv[1]);
    }
    check(bw_device_open(options, &device));
    check(bw_device_subscribe(device, "pairing.changed", on_pairing, NULL, NULL, NULL));

    /* Not an argument: everyone on the machine can read those, and they stay in the shell's history. */
    char line[128];
    const char *code = read_line("Digits shown by the desktop: ", line, (int)sizeof line);
    if (!code) leave(EXIT_FAILURE);

    struct answer answer;
    memset(&answer, 0, sizeof answer);
    check(bw_pairing_type_async(device, code, PAIR_MS, on_answer, &answer, NULL));
    struct pollfd wait_for[2] = {{bw_device_fd(device), POLLIN, 0}, {interrupt_pipe[0], POLLIN, 0}};
    check(wait_for[0].fd);
    while (!answer.is_there) {
        if (poll(wait_for, 2, -1) < 0 && errno != EINTR) leave(EXIT_FAILURE);
        if (wait_for[1].revents != 0) leave(EXIT_INTERRUPTED);
        check(bw_device_dispatch(device));
    }
    check_answer(&answer);
    const char *desktop = answer.json;

    /* The twelve digits already authenticate both sides; the short code lets users check it themselves. */
    char *digits = NULL, *id = NULL;
    printf("Paired with ");
    print_text(desktop, "/name");
    if (bw_json_text(desktop, "/sas/digits", &digits) == BW_OK) {
        printf("; both sides show %s, ", digits);
        print_text(desktop, "/sas/words/0");
        putchar(' ');
        print_text(desktop, "/sas/words/1");
        printf(".\n");
        fflush(stdout);
        const char *same = read_line("Does the desktop show the same? [Y/n] ", line, (int)sizeof line);
        if (same && (*same == 'n' || *same == 'N')) {
            check(bw_json_text(desktop, "/id", &id));
            check(bw_pairing_unpair(device, id));
            printf("Unpaired.\n");
        }
    } else {
        printf(", NOT encrypted: its identity is not proven, and the relay can read its messages.\n");
    }
    bw_free(id);
    bw_free(digits);
    free(answer.json);
    leave(EXIT_SUCCESS);
}
