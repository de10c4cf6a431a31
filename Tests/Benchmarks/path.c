/*
 * path.c - what a push, a command and a pairing pass through: relay, desktop and device in one process, to be run by
 * callgrind. Each part is run once before it is measured, so that what happens only the first time doesn't count.
 *
 *   path WORK          WORK: an empty directory, for the state of desktop and device
 *
 * Dumps one profile for each part: push, unshared-push (the device is not shared), command, pairing.
 */
#include <bellwire.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

enum { PATIENCE_MS = 60000, QUIET_MS = 1500 };

static bw_relay *relay;
static bw_desktop *desktop;
static bw_device *device;
static char relay_url[64], id[256];
static int received;

static void worked(bw_status status, const char *what)
{
    char *error;
    if (status >= 0)
        return;
    error = bw_last_error();
    fprintf(stderr, "path: %s: %s %s\n", what, bw_status_name(status), error != NULL ? error : "");
    exit(2);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Dispatches all three until there has been nothing to do for that long. */
static void settle(int quiet_ms)
{
    int64_t end = now_ms() + quiet_ms;
    while (now_ms() < end) {
        struct pollfd ends[] = {
            {bw_relay_fd(relay), POLLIN, 0}, {bw_desktop_fd(desktop), POLLIN, 0}, {bw_device_fd(device), POLLIN, 0}};
        if (poll(ends, 3, (int)(end - now_ms())) <= 0)
            return;
        if (ends[0].revents)
            worked(bw_relay_dispatch(relay), "dispatching the relay");
        if (ends[1].revents)
            worked(bw_desktop_dispatch(desktop), "dispatching the desktop");
        if (ends[2].revents)
            worked(bw_device_dispatch(device), "dispatching the device");
        end = now_ms() + quiet_ms;
    }
}

static void on_push(void *unused, const char *event, const char *json)
{
    char *text = NULL;
    (void)unused;
    (void)event;
    worked(bw_json_text(json, "/data/id", &text), "the id of a push");
    snprintf(id, sizeof id, "%s", text);
    bw_free(text);
    received++;
}

static void answered(void *unused, bw_status status, const char *json)
{
    (void)unused;
    (void)json;
    worked(status, "a push");
}

static void push(void)
{
    int before = received;
    int64_t deadline = now_ms() + PATIENCE_MS;
    worked(bw_desktop_notify_async(desktop, "{\"title\":\"A title\",\"body\":\"A body\"}", PATIENCE_MS, answered, NULL,
                                   NULL),
           "bw_desktop_notify_async");
    while (received == before && now_ms() < deadline)
        settle(20);
    if (received != before + 1)
        worked(BW_E_TIMEOUT, "a push");
    settle(QUIET_MS);
}

static void command(void)
{
    char ids[300], *result = NULL;
    snprintf(ids, sizeof ids, "{\"notificationId\":\"%s\"}", id);
    worked(bw_notification_mark_as_read(device, NULL, ids, PATIENCE_MS, &result), "bw_notification_mark_as_read");
    bw_free(result);
    settle(QUIET_MS);
}

static void open_device(const char *work, const char *more)
{
    char options[1024];
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.400s/device\",\"name\":\"device\",\"relay_url\":\"%s\",\"follow_system\":false%s}", work,
             relay_url, more);
    worked(bw_device_open(options, &device), "opening the device");
    worked(bw_device_subscribe(device, "notification.received", on_push, NULL, NULL, NULL), "subscribing");
    worked(bw_device_start(device), "starting the device");
}

static void pair(void)
{
    char *offer = NULL, *text = NULL, *paired = NULL;
    worked(bw_desktop_offer(desktop, PATIENCE_MS, &offer), "offering");
    worked(bw_json_text(offer, "/payload", &text), "the offer's text");
    worked(bw_pairing_scan(device, text, PATIENCE_MS, &paired), "pairing");
    bw_free(paired);
    bw_free(text);
    bw_free(offer);
    settle(QUIET_MS);
}

/* Runs a part twice, and dumps what the second time alone has passed through. */
static void measured(void (*part)(void), const char *name)
{
    for (int time = 0; time < 2; time++) {
        if (part == command)
            push();
        CALLGRIND_ZERO_STATS;
        part();
    }
    CALLGRIND_DUMP_STATS_AT(name);
}

int main(int argc, char **argv)
{
    char options[1024], *state = NULL;
    int64_t port = 0;
    if (argc != 2)
        return 2;
    worked(bw_relay_open("{\"listen\":\"127.0.0.1:0\"}", &relay), "opening the relay");
    worked(bw_relay_start(relay), "starting the relay");
    worked(bw_relay_state(relay, &state), "the relay's state");
    worked(bw_json_integer(state, "/port", &port), "the relay's port");
    bw_free(state);
    snprintf(relay_url, sizeof relay_url, "ws://127.0.0.1:%d", (int)port);
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.400s/desktop\",\"name\":\"desktop\",\"relay_url\":\"%s\",\"follow_system\":false}",
             argv[1], relay_url);
    worked(bw_desktop_open(options, &desktop), "opening the desktop");
    worked(bw_desktop_start(desktop), "starting the desktop");
    open_device(argv[1], "");

    settle(QUIET_MS);
    CALLGRIND_ZERO_STATS;
    pair();
    CALLGRIND_DUMP_STATS_AT("pairing");
    measured(push, "push");
    measured(command, "command");
    bw_device_close(device);
    open_device(argv[1], ",\"shared\":false");
    settle(QUIET_MS);
    measured(push, "unshared-push");

    bw_device_close(device);
    bw_desktop_close(desktop);
    bw_relay_close(relay);
    puts("done");
    return 0;
}
