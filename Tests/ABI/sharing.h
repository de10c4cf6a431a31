/*
 * sharing.h - what the tests of shared devices and desktops have in common: programs of their own, and handles that share.
 *
 * A program that includes it runs itself with --program DIR LOG APPLICATION; see be_a_program().
 */
#ifndef SHARING_H
#define SHARING_H

#include "roles.h"

#include <sys/socket.h>
#include <sys/un.h>

/* ---- a program of its own -------------------------------------------------------------------------------------- */

MAYBE_UNUSED static void write_down(void *user_data, const char *event, const char *event_json)
{
    json_t *value = json_loads(event_json, 0, NULL);
    json_t *data = json_object_get(value, "data");
    char line[128];
    int length = snprintf(line, sizeof line, "%.60s %d\n", json_string_value(json_object_get(data, "title")),
                          json_is_true(json_object_get(data, "redelivered")));
    (void)event;
    if (write(*(int *)user_data, line, (size_t)length) != length)
        abort();
    json_decref(value);
}

MAYBE_UNUSED static int be_a_program(char **argv)
{
    char options[512];
    bw_device *device = NULL;
    int log = open(argv[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.300s\",\"follow_system\":false,\"application_id\":\"%.100s\"}", argv[2],
             argv[4]);
    if (log < 0 || bw_device_open(options, &device) != BW_OK
        || bw_device_subscribe(device, "notification.received", write_down, &log, NULL, NULL) != BW_OK
        || bw_device_start(device) != BW_OK || bw_device_dispatch(device) != BW_OK || write(log, "ready 0\n", 8) != 8)
        return 3;
    return serve_until_input_ends(only_device(device));
}

static const char *self;

struct program {
    pid_t pid;
    int control;
    char log[96];
    char application[64];
};

MAYBE_UNUSED static int is_ready(const char *path)
{
    char word[16] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    /* What waited for the program comes first. */
    while (strcmp(word, "ready") != 0 && fscanf(file, "%15s", word) == 1)
        continue;
    fclose(file);
    return strcmp(word, "ready") == 0;
}

MAYBE_UNUSED static void start_program(struct program *program, const char *directory)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        abort();
    fcntl(pipes[1], F_SETFD, FD_CLOEXEC);
    program->control = pipes[1];
    program->pid = fork();
    if (program->pid < 0)
        abort();
    if (program->pid == 0) {
        dup2(pipes[0], STDIN_FILENO);
        close(pipes[0]);
        execl(self, self, "--program", directory, program->log, program->application, (char *)NULL);
        _exit(6);
    }
    close(pipes[0]);
}

/* Starts it anew, and returns once it has subscribed. */
MAYBE_UNUSED static void begin_program(struct program *program, const char *directory)
{
    int64_t deadline = monotonic_ms() + within(20000);
    unlink(program->log);
    start_program(program, directory);
    while (!is_ready(program->log) && monotonic_ms() < deadline)
        poll(NULL, 0, 1);
    CHECK(is_ready(program->log), "the program is ready");
}

/* Returns once none of its threads runs: the signal alone may reach it later than a call. */
MAYBE_UNUSED static void stop_program(const struct program *program)
{
    int status = 0;
    kill(program->pid, SIGSTOP);
    CHECK(waitpid(program->pid, &status, WUNTRACED) == program->pid && WIFSTOPPED(status), "the program is stopped");
}

MAYBE_UNUSED static int end_program(struct program *program, int by)
{
    int status = -1;
    if (by != 0)
        kill(program->pid, by);
    close(program->control);
    waitpid(program->pid, &status, 0);
    program->pid = 0;
    return status;
}

/* ---- handles --------------------------------------------------------------------------------------------------- */

/* An empty application: the program has its default name. */
MAYBE_UNUSED static bw_status open_with(const char *directory, const char *application, const char *more, bw_device **device)
{
    char options[1024];
    char name[160] = "";
    if (application[0] != 0)
        snprintf(name, sizeof name, ",\"application_id\":\"%.100s\"", application);
    snprintf(options, sizeof options, "{\"state_dir\":\"%.600s\",\"follow_system\":false%s%.200s}",
             directory, name, more);
    return bw_device_open(options, device);
}

MAYBE_UNUSED static bw_device *open_shared(const char *directory, const char *application)
{
    bw_device *device = NULL;
    CHECK_STATUS(open_with(directory, application, "", &device), BW_OK);
    return device;
}

/* Whether a state has this part: "holder" or "guest". */
MAYBE_UNUSED static int has_part(char *json, const char *part)
{
    json_t *state = parsed(json);
    const char *found = json_string_value(json_object_get(json_object_get(state, "sharing"), "part"));
    int is = found != NULL && strcmp(found, part) == 0;
    json_decref(state);
    return is;
}

MAYBE_UNUSED static int is_part(bw_device *device, const char *part)
{
    char *json = NULL;
    return bw_device_state(device, &json) == BW_OK && has_part(json, part);
}

MAYBE_UNUSED static void notify(bw_desktop *desktop, int number)
{
    char push[96];
    snprintf(push, sizeof push, "{\"title\":\"%d\",\"body\":\"b\"}", number);
    CHECK_STATUS(bw_desktop_notify_async(desktop, push, 60000, complete, calloc(1, sizeof(struct outcome)), free), BW_OK);
}

MAYBE_UNUSED static int is_title(const struct record *record, int index, int number)
{
    const char *title = json_string_value(
        json_object_get(json_object_get(json_array_get(record->all, (size_t)index), "data"), "title"));
    return title != NULL && atoi(title) == number;
}

/* ---- the holder's socket --------------------------------------------------------------------------------------- */

/* A connection to the holder's socket, or -1. */
MAYBE_UNUSED static int reach(const char *directory)
{
    struct sockaddr_un address;
    struct timeval limit = {10, 0};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%.80s/holder.sock", directory);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

MAYBE_UNUSED static int send_frame(int descriptor, const char *text)
{
    unsigned char head[4];
    uint32_t length = (uint32_t)strlen(text);
    head[0] = (unsigned char)(length >> 24);
    head[1] = (unsigned char)(length >> 16);
    head[2] = (unsigned char)(length >> 8);
    head[3] = (unsigned char)length;
    return send(descriptor, head, 4, MSG_NOSIGNAL) == 4
        && send(descriptor, text, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* ---- what a program was told ---------------------------------------------------------------------------------- */

struct told {
    int total, again_unsaid, again_said, missed;
    int next; /* the number of the next push that is new */
};

MAYBE_UNUSED static void read_log(const char *path, struct told *told)
{
    char title[64];
    int redelivered;
    FILE *file = fopen(path, "r");
    memset(told, 0, sizeof *told);
    while (file != NULL && fscanf(file, "%63s %d", title, &redelivered) == 2) {
        int number = atoi(title);
        if (strcmp(title, "ready") == 0)
            continue;
        told->total++;
        if (number == told->next) {
            told->next++;
        } else if (number < told->next) {
            told->again_said += redelivered;
            told->again_unsaid += !redelivered;
        } else {
            told->missed++;
            told->next = number + 1;
        }
    }
    if (file != NULL)
        fclose(file);
}

#endif
