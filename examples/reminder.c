/*
 * reminder.c - reminds of a task ten minutes before its deadline; a tap on the alert opens that task.
 *
 *   cc reminder.c $(pkg-config --cflags --libs bellwire) -o reminder
 *
 *   ./reminder 42 17:30 "Send the report"              reminds of task 42 at 17:20
 *   ./reminder 42 "2027-01-31 09:00" "Send the report" the same on another day; a task has one reminder
 *   ./reminder                                         waits for reminders that were added before
 *   ./reminder --host                                  prints alerts here; type tap, later or dismiss to answer
 *
 * Ctrl-C stops it. The reminders stay stored; one that becomes due in the meantime fires at the next start. Needs only
 * the library. C99, and C++ as well.
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

enum { AHEAD_S = 10 * 60 };

static bw_device *device;

/* Makes Ctrl-C pollable: the signal handler only writes a byte into this pipe. */
static int interrupt_pipe[2];

static void on_interrupt(int number) {
    int saved = errno;
    char byte = (char)number;
    if (write(interrupt_pipe[1], &byte, 1) < 0) { /* the pipe is full, so it is readable already */ }
    errno = saved;
}

/* Prints why a call failed; bw_last_error() says what is wrong and what to do. */
static int failed(bw_status status) {
    if (status >= 0) return 0;
    char *error = bw_last_error(), *message = NULL;
    if (error) bw_json_text(error, "/message", &message);
    fprintf(stderr, "reminder: %s\n", message ? message : bw_status_name(status));
    bw_free(message);
    bw_free(error);
    return 1;
}

static void check(bw_status status) {
    if (failed(status)) exit(EXIT_FAILURE);
}

static void no_memory(void) {
    fprintf(stderr, "reminder: out of memory\n");
    exit(EXIT_FAILURE);
}

/* A text as a JSON string, after a prefix that needs no escapes. Free it. */
static char *quoted(const char *prefix, const char *text) {
    char *json = (char *)malloc(strlen(prefix) + strlen(text) * 6 + 3);
    if (!json) no_memory();
    char *end = json + sprintf(json, "\"%s", prefix);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') *end++ = '\\';
        if (*c < 0x20) {
            end += sprintf(end, "\\u%04x", *c);
        } else {
            *end++ = (char)*c;
        }
    }
    strcpy(end, "\"");
    return json;
}

/* A text from JSON; "" if there is none. Free it with bw_free(), which accepts NULL. */
static const char *text_of(const char *json, const char *pointer, char **text) {
    *text = NULL;
    bw_json_text(json, pointer, text);
    return *text ? *text : "";
}

/* The text may come from another machine: control characters become spaces. */
static void print_text(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        int is_c1 = *c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0; /* U+0080 to U+009F in UTF-8 */
        putchar(*c < 0x20 || *c == 0x7F || is_c1 ? ' ' : *c);
        if (is_c1) c++;
    }
}

/* "17:30" is today or, if that has passed, tomorrow; or "2027-01-31 09:00". Local time; -1 = neither. */
static time_t parse_deadline(const char *text) {
    time_t now = time(NULL);
    struct tm *local = localtime(&now), when;
    if (!local) return -1;
    when = *local;
    int year, month, day, hour, minute, end = 0;
    int is_date = sscanf(text, "%4d-%2d-%2d %2d:%2d%n", &year, &month, &day, &hour, &minute, &end) == 5;
    if (is_date) {
        when.tm_year = year - 1900;
        when.tm_mon = month - 1;
        when.tm_mday = day;
    } else if (sscanf(text, "%2d:%2d%n", &hour, &minute, &end) == 2) {
        if (hour * 60 + minute <= local->tm_hour * 60 + local->tm_min) when.tm_mday++;
    } else {
        return -1;
    }
    if (text[end] != '\0' || hour < 0 || hour > 23 || minute < 0 || minute > 59) return -1;
    when.tm_hour = hour;
    when.tm_min = minute;
    when.tm_sec = 0;
    when.tm_isdst = -1; /* mktime() finds out */
    time_t deadline = mktime(&when);
    /* mktime() turns 31 February into 3 March. */
    return is_date && (when.tm_mday != day || when.tm_mon != month - 1) ? -1 : deadline;
}

/* Adds a task's reminder, or replaces it. A time in the past fires at once. */
static bw_status add_reminder(const char *task, const char *title, const char *body, int64_t at_ms) {
    static const char format[] =
        "{\"id\":%s,\"title\":%s,\"body\":%s,\"category\":\"TASK\",\"thread\":\"tasks\",\"sound\":\"default\","
        "\"userInfo\":{\"taskID\":%s},\"trigger\":{\"type\":\"moment\",\"at\":%lld}}";
    char *id_json = quoted("task-", task), *task_json = quoted("", task);
    char *title_json = quoted("", title), *body_json = quoted("", body);
    size_t size = sizeof format + strlen(id_json) + strlen(task_json) + strlen(title_json) + strlen(body_json) + 20;
    char *json = (char *)malloc(size);
    if (!json) no_memory();
    snprintf(json, size, format, id_json, title_json, body_json, task_json, (long long)at_ms);
    bw_status status = bw_reminder_add(device, json, NULL);
    free(json);
    free(body_json);
    free(title_json);
    free(task_json);
    free(id_json);
    return status;
}

/* The user tapped or dismissed an alert, or pressed its button, perhaps while this program was not running. */
static void on_response(void *user_data, const char *event, const char *event_json) {
    (void)user_data, (void)event;
    char *action, *task, *title;
    text_of(event_json, "/data/action", &action);
    text_of(event_json, "/data/title", &title);
    if (*text_of(event_json, "/data/userInfo/taskID", &task)) {
        if (action && strcmp(action, "LATER") == 0) {
            failed(add_reminder(task, title ? title : "", "Once more", ((int64_t)time(NULL) + AHEAD_S) * 1000));
            printf("later: task ");
        } else if (action && strcmp(action, "dismiss") == 0) {
            printf("dismissed: task ");
        } else {
            printf("open task "); /* a real program would show it here */
        }
        print_text(task);
        putchar('\n');
        fflush(stdout);
    }
    bw_free(title);
    bw_free(task);
    bw_free(action);
}

/* The task from the command line: id, deadline, title. NULL = none, or already added. */
static char **words;
static time_t deadline;

static void add_task(void) {
    if (!words) return;
    char body[64];
    struct tm *local = localtime(&deadline);
    if (!local || strftime(body, sizeof body, "Due at %H:%M", local) == 0) strcpy(body, "Due soon");
    char **task = words;
    words = NULL;
    check(add_reminder(task[0], task[2], body, ((int64_t)deadline - AHEAD_S) * 1000));
}

/* The user's answer, or a timeout. An earlier reminder would not have been shown, so it is added now. */
static void on_authorization(void *user_data, bw_status status, const char *json) {
    (void)user_data, (void)json;
    if (status == BW_E_CLOSED) return;
    failed(status);
    add_task();
    char *reminders = NULL, *next;
    check(bw_reminder_list(device, &reminders));
    fprintf(stderr, "reminder: waiting%s\n", *text_of(reminders, "/0/id", &next) ? "" : ", but no task is due");
    bw_free(next);
    bw_free(reminders);
}

/* With --host: shows alerts on the terminal. */
static void on_authorize(void *user_data, const char *request_json) {
    (void)user_data, (void)request_json;
    failed(bw_alerts_authorize(device, "authorized", 0));
}

/* With --host: the id of the last printed alert, which the next answer is for. */
static char *shown_id;

static int32_t on_present(void *user_data, const char *alert_json) {
    (void)user_data;
    char *withdraw, *id, *title, *body;
    int is_withdrawn = strcmp(text_of(alert_json, "/withdraw", &withdraw), "true") == 0;
    text_of(alert_json, "/alert/id", &id);
    if (is_withdrawn) {
        if (id && shown_id && strcmp(id, shown_id) == 0) {
            bw_free(shown_id);
            shown_id = NULL;
        }
        bw_free(id);
    } else {
        print_text(text_of(alert_json, "/alert/title", &title));
        printf(": ");
        print_text(text_of(alert_json, "/alert/body", &body));
        printf("  [tap, later, dismiss]\n");
        fflush(stdout);
        bw_free(body);
        bw_free(title);
        bw_free(shown_id);
        shown_id = id;
    }
    bw_free(withdraw);
    return 0;
}

/* With --host: handles a typed line. Returns 0 at the end of the input. */
static int read_answer(void) {
    char line[64];
    if (!fgets(line, sizeof line, stdin)) return 0;
    line[strcspn(line, "\n")] = '\0';
    const char *action = strcmp(line, "tap") == 0 ? "default" : strcmp(line, "later") == 0 ? "LATER" : line;
    if (!shown_id) {
        fprintf(stderr, "reminder: no alert to answer\n");
    } else if (!failed(bw_alerts_respond(device, NULL, shown_id, action, NULL))) {
        bw_free(shown_id);
        shown_id = NULL;
    }
    return 1;
}

static int usage(void) {
    fprintf(stderr, "usage: reminder [--host] [TASK DEADLINE TITLE]\n"
                    "       DEADLINE is HH:MM or \"YYYY-MM-DD HH:MM\"\n");
    return 2;
}

int main(int argc, char **argv) {
    int is_host = argc > 1 && strcmp(argv[1], "--host") == 0;
    int count = argc - 1 - is_host;
    if (count != 0 && count != 3) return usage();
    if (count == 3) {
        words = argv + 1 + is_host;
        deadline = parse_deadline(words[1]);
        if (deadline < 0) return usage();
    }

    /* With "system" the desktop environment shows the alerts; with "host" this program does. */
    check(bw_device_open(is_host ? "{\"alerts\":\"host\"}" : "{\"alerts\":\"system\"}", &device));
    check(bw_alerts_categories(
        device, "[{\"id\":\"TASK\",\"actions\":[{\"id\":\"LATER\",\"title\":\"In ten minutes\"}]}]"));
    if (is_host) {
        check(bw_alerts_on_authorize(device, on_authorize, NULL, NULL));
        check(bw_alerts_on_present(device, on_present, NULL, NULL));
    }
    /* Responses given while this program was not running are stored and arrive now. */
    check(bw_device_subscribe(device, "notification.response", on_response, NULL, NULL, NULL));

    if (pipe(interrupt_pipe) != 0) return EXIT_FAILURE;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    check(bw_device_start(device));
    /* Ask when the user wants a reminder. Once answered, the library does not ask again. */
    check(bw_alerts_request_async(device, NULL, 600000, on_authorization, NULL, NULL));

    /* The library has one descriptor to poll; poll() ignores the input if its descriptor is -1. */
    struct pollfd wait_for[3] = {
        {bw_device_fd(device), POLLIN, 0}, {interrupt_pipe[0], POLLIN, 0}, {is_host ? STDIN_FILENO : -1, POLLIN, 0}};
    check(wait_for[0].fd);
    setvbuf(stdin, NULL, _IONBF, 0); /* otherwise poll() would not see lines that are already buffered */
    while (wait_for[1].revents == 0) {
        if (poll(wait_for, 3, -1) < 0 && errno != EINTR) break;
        check(bw_device_dispatch(device));
        if (wait_for[2].revents != 0 && !read_answer()) wait_for[2].fd = -1;
    }
    add_task(); /* no answer yet: it fires after the next start */
    bw_free(shown_id);
    return bw_device_close(device) == BW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
