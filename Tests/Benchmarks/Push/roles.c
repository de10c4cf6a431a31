/*
 * roles.c - the three processes of the push benchmark: relay, desktop and device, each a host over the public header.
 *
 * Each takes one command a line on its input, and answers with one line. It ends with its input.
 *
 *   desktop  offer                                      -> the QR code's text
 *            send COUNT SECONDS WINDOW RATE FIRST       -> SENT BEGIN_NS END_NS LATE
 *            keep ROWS                                  -> ok, with so many rows of history kept
 *   device   pair TEXT                                  -> ok
 *            expect FIRST COUNT                         -> ok
 *            report UPTO                                -> COUNT P50 P90 P99 MAX LAST_NS DESKTOP_SYNCS DEVICE_SYNCS
 *                                                          DESKTOP_PAGES DEVICE_PAGES
 *            unread COUNT                               -> the number of unread rows, once it is COUNT or more
 *            read                                       -> ok, with everything marked as read, on the desktop too
 *   both     search                                     -> ok, and a search for text runs on a thread meanwhile
 *            searched                                   -> MICROSECONDS, when it has ended
 */
#include "bench.h"

#include <bellwire.h>

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { BODY = 300, LINE = 8192, UNDER_WAY_LIMIT = 1024, PATIENCE_MS = 120000 };

/* ---- commands ------------------------------------------------------------------------------------------------- */

static void worked(bw_status status, const char *what)
{
    char *error;
    if (status >= 0)
        return;
    error = bw_last_error();
    broken("%s: %s %s", what, bw_status_name(status), error != NULL ? error : "");
}

/* Reads one command; 0 at the end of the input. */
static int next_command(char *line)
{
    size_t length = 0;
    for (;;) {
        ssize_t got = read(STDIN_FILENO, line + length, LINE - 1 - length);
        if (got <= 0)
            return 0;
        length += (size_t)got;
        if (line[length - 1] == '\n') {
            line[length - 1] = '\0';
            return 1;
        }
        if (length == LINE - 1)
            broken("a command is too long");
    }
}

#define ANSWER(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

/* Waits for the handle, at most until the deadline; 1 when it has something to dispatch. */
static int await(int handle, uint64_t deadline)
{
    struct pollfd end = {handle, POLLIN, 0};
    uint64_t now = now_ns();
    struct timespec left = {0, 0};
    if (deadline > now) {
        left.tv_sec = (time_t)((deadline - now) / 1000000000u);
        left.tv_nsec = (long)((deadline - now) % 1000000000u);
    }
    return ppoll(&end, 1, &left, NULL) > 0;
}

/* Waits for a command or the handle: 1 = a command has come. */
static int await_command(int handle)
{
    struct pollfd ends[2] = {{STDIN_FILENO, POLLIN, 0}, {handle, POLLIN, 0}};
    poll(ends, 2, -1);
    return ends[0].revents != 0;
}

/* ---- a search on another thread -------------------------------------------------------------------------------- */

static bw_status search_role(char **page);

static struct {
    pthread_t thread;
    double microseconds;
} searching;

static void *search(void *unused)
{
    uint64_t begin = now_ns();
    char *page = NULL;
    worked(search_role(&page), "searching");
    bw_free(page);
    searching.microseconds = (double)(now_ns() - begin) / 1000;
    return unused;
}

/* 1 when the command was about a search. */
static int search_command(const char *line)
{
    if (strcmp(line, "search") == 0) {
        if (pthread_create(&searching.thread, NULL, search, NULL) != 0)
            broken("no thread for the search");
        ANSWER("ok");
        return 1;
    }
    if (strcmp(line, "searched") == 0) {
        pthread_join(searching.thread, NULL);
        ANSWER("%.0f", searching.microseconds);
        return 1;
    }
    return 0;
}

/* ---- relay ---------------------------------------------------------------------------------------------------- */

int relay_role(void)
{
    bw_relay *relay = NULL;
    char *state = NULL, line[LINE];
    int64_t port = 0;
    worked(bw_relay_open("{\"listen\":\"127.0.0.1:0\"}", &relay), "opening the relay");
    worked(bw_relay_start(relay), "starting the relay");
    worked(bw_relay_state(relay, &state), "the relay's state");
    worked(bw_json_integer(state, "/port", &port), "the relay's port");
    bw_free(state);
    ANSWER("ws://127.0.0.1:%d", (int)port);
    while (!await_command(bw_relay_fd(relay)) || next_command(line))
        bw_relay_dispatch(relay);
    bw_relay_close(relay);
    return 0;
}

/* ---- desktop -------------------------------------------------------------------------------------------------- */

static struct {
    bw_desktop *handle;
    uint64_t answered, late, last;
    const struct counters *counters, *device_counters;
} desktop;

static void answered(void *unused, bw_status status, const char *json)
{
    (void)unused;
    if (status != BW_OK)
        broken("a push was answered with %s: %s", bw_status_name(status), json);
    desktop.answered++;
    desktop.last = now_ns();
    if (strstr(json, "\"failedCount\":0") == NULL)
        desktop.late++;
}

static void notify(uint64_t number)
{
    static char body[BODY + 1];
    char push[BODY + 512];
    if (body[0] == '\0')
        for (int i = 0; i < BODY; i++)
            body[i] = "All 4,711 checks have passed on every branch; "[i % 46];
    snprintf(push, sizeof push,
             "{\"title\":\"Build %" PRIu64 "\",\"body\":\"%s\",\"data\":{\"bench\":\"%" PRIu64 " %" PRIu64 " %" PRIu64
             " %" PRIu64 " %" PRIu64 " %" PRIu64 "\"}}",
             number, body, number, now_ns(), counter(&desktop.counters->syncs),
             counter(&desktop.device_counters->syncs), counter(&desktop.counters->log_pages),
             counter(&desktop.device_counters->log_pages));
    worked(bw_desktop_notify_async(desktop.handle, push, PATIENCE_MS, answered, NULL, NULL), "bw_desktop_notify_async");
}

/* Sends `count` pushes or for `seconds`, whichever is less: with `window` under way or, if `rate` is not 0, so many a
 * second. */
static void send_pushes(uint64_t count, double seconds, uint64_t window, double rate, uint64_t first)
{
    uint64_t begin = now_ns(), end = begin + (uint64_t)(seconds * 1e9), sent = 0, done = desktop.answered, now;
    uint64_t patience = end + PATIENCE_MS * UINT64_C(1000000);
    int handle = bw_desktop_fd(desktop.handle);
    desktop.late = 0;
    for (;;) {
        uint64_t wake = end;
        now = now_ns();
        if (now >= end || sent == count)
            break;
        while (sent < count && sent - (desktop.answered - done) < window) {
            if (rate > 0) {
                uint64_t due = begin + (uint64_t)((double)sent / rate * 1e9);
                if (due > now_ns()) {
                    wake = due < end ? due : end;
                    break;
                }
            }
            notify(first + sent++);
        }
        if (await(handle, wake))
            worked(bw_desktop_dispatch(desktop.handle), "dispatching the desktop");
    }
    while (desktop.answered - done < sent) {
        if (!await(handle, patience))
            broken("%" PRIu64 " pushes were not answered", sent - (desktop.answered - done));
        worked(bw_desktop_dispatch(desktop.handle), "dispatching the desktop");
    }
    ANSWER("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, sent, begin, desktop.last, desktop.late);
}

int desktop_role(const char *state_dir, const char *relay_url)
{
    static const struct counters none;
    char options[1024], settings[64], line[LINE], *offer = NULL, *text = NULL;
    uint64_t count, window, first;
    double seconds, rate;
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.400s\",\"name\":\"desk\",\"relay_url\":\"%.200s\",\"follow_system\":false}", state_dir,
             relay_url);
    desktop.counters = map_counters(getenv(DESKTOP_COUNTERS_VARIABLE), 0);
    desktop.device_counters = map_counters(getenv(DEVICE_COUNTERS_VARIABLE), 0);
    if (desktop.counters == NULL || desktop.device_counters == NULL)
        desktop.counters = desktop.device_counters = &none;
    worked(bw_desktop_open(options, &desktop.handle), "opening the desktop");
    worked(bw_desktop_start(desktop.handle), "starting the desktop");
    ANSWER("ready");
    for (;;) {
        if (!await_command(bw_desktop_fd(desktop.handle))) {
            worked(bw_desktop_dispatch(desktop.handle), "dispatching the desktop");
        } else if (!next_command(line)) {
            bw_desktop_close(desktop.handle);
            return 0;
        } else if (strcmp(line, "offer") == 0) {
            worked(bw_desktop_offer(desktop.handle, 10000, &offer), "offering");
            worked(bw_json_text(offer, "/payload", &text), "the offer's text");
            ANSWER("%s", text);
            bw_free(text);
            bw_free(offer);
        } else if (sscanf(line, "send %" SCNu64 " %lf %" SCNu64 " %lf %" SCNu64, &count, &seconds, &window, &rate,
                          &first) == 5) {
            send_pushes(count, seconds, window < UNDER_WAY_LIMIT ? window : UNDER_WAY_LIMIT, rate, first);
        } else if (sscanf(line, "keep %" SCNu64, &count) == 1) {
            snprintf(settings, sizeof settings, "{\"retentionRows\":%" PRIu64 "}", count);
            worked(bw_desktop_invoke(desktop.handle, "notification.updateSettings", settings, 10000, NULL),
                   "changing the settings");
            ANSWER("ok");
        } else if (!search_command(line)) {
            broken("the desktop does not know '%s'", line);
        }
    }
}

/* ---- device --------------------------------------------------------------------------------------------------- */

static struct {
    bw_device *handle;
    uint64_t next; /* the number of the next push: every other one is an error */
    uint64_t last;
    uint64_t *latencies;
    size_t count, capacity;
    uint64_t desktop_syncs, device_syncs; /* before the callbacks, since `expect` */
    uint64_t desktop_pages, device_pages;
    const struct counters *counters, *desktop_counters;
} device;

static void received(void *unused, const char *event, const char *json)
{
    uint64_t now = now_ns(), number, sent, desktop_syncs, device_syncs, desktop_pages, device_pages;
    const char *mark = strstr(json, "\"bench\":\"");
    (void)unused;
    (void)event;
    if (mark == NULL
        || sscanf(mark + 9, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &number, &sent,
                  &desktop_syncs, &device_syncs, &desktop_pages, &device_pages) != 6)
        broken("a push came without its mark: %s", json);
    if (number != device.next)
        broken("push %" PRIu64 " came where %" PRIu64 " was expected: lost, repeated or out of order", number,
               device.next);
    if (strstr(json, "\"redelivered\":true") != NULL)
        broken("push %" PRIu64 " came as redelivered", number);
    device.next++;
    device.last = now;
    if (device.count < device.capacity)
        device.latencies[device.count++] = now - sent;
    device.desktop_syncs += counter(&device.desktop_counters->syncs) - desktop_syncs;
    device.device_syncs += counter(&device.counters->syncs) - device_syncs;
    device.desktop_pages += counter(&device.desktop_counters->log_pages) - desktop_pages;
    device.device_pages += counter(&device.counters->log_pages) - device_pages;
}

/* Dispatches until the predicate holds, or fails. */
static void dispatch_until(int (*holds)(uint64_t), uint64_t argument, const char *what)
{
    uint64_t deadline = now_ns() + PATIENCE_MS * UINT64_C(1000000);
    while (!holds(argument)) {
        uint64_t soon = now_ns() + 20000000;
        if (now_ns() > deadline)
            broken("%s did not happen; the next push expected is %" PRIu64, what, device.next);
        if (await(bw_device_fd(device.handle), soon))
            worked(bw_device_dispatch(device.handle), "dispatching the device");
    }
}

static int has_received(uint64_t next) { return device.next >= next; }

static int64_t unread(void)
{
    int64_t count = 0, loading = 1;
    char *state = NULL;
    worked(bw_inbox_state(device.handle, &state), "the inbox's state");
    worked(bw_json_integer(state, "/unread", &count), "the unread count");
    worked(bw_json_integer(state, "/loading", &loading), "whether the inbox is loading");
    bw_free(state);
    return loading ? -1 : count;
}

static int has_unread(uint64_t count) { return unread() >= (int64_t)count; }

static void report(uint64_t next)
{
    uint64_t *sorted = device.latencies;
    size_t count;
    dispatch_until(has_received, next, "the arrival of every push");
    count = device.count;
    qsort(sorted, count, sizeof *sorted, by_size);
    ANSWER("%zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64, count,
           percentile(sorted, count, 50), percentile(sorted, count, 90), percentile(sorted, count, 99),
           percentile(sorted, count, 100), device.last, device.desktop_syncs, device.device_syncs, device.desktop_pages,
           device.device_pages);
}

/* A process has one of the two roles. */
static bw_status search_role(char **page)
{
    static const char *const query = "{\"query\":\"nowhere\"}";
    return desktop.handle != NULL ? bw_desktop_history(desktop.handle, query, page)
                                  : bw_inbox_load(device.handle, query, page);
}

static void device_command(char *line)
{
    uint64_t number, count;
    if (strncmp(line, "pair ", 5) == 0) {
        worked(bw_pairing_scan(device.handle, line + 5, 15000, NULL), "pairing");
        ANSWER("ok");
    } else if (sscanf(line, "expect %" SCNu64 " %" SCNu64, &number, &count) == 2) {
        if (device.next != number)
            broken("push %" PRIu64 " is expected, not %" PRIu64, device.next, number);
        device.count = 0;
        device.desktop_syncs = device.device_syncs = 0;
        device.desktop_pages = device.device_pages = 0;
        if (count > device.capacity) {
            free(device.latencies);
            device.latencies = malloc(count * sizeof *device.latencies);
            if (device.latencies == NULL)
                broken("out of memory");
            memset(device.latencies, 0, count * sizeof *device.latencies);
            device.capacity = count;
        }
        ANSWER("ok");
    } else if (sscanf(line, "report %" SCNu64, &number) == 1) {
        report(number);
    } else if (sscanf(line, "unread %" SCNu64, &number) == 1) {
        dispatch_until(has_unread, number, "filling the inbox");
        ANSWER("%" PRId64, unread());
    } else if (strcmp(line, "read") == 0) {
        worked(bw_inbox_mark_all_read(device.handle, NULL, PATIENCE_MS, NULL), "marking all as read");
        ANSWER("ok");
    } else if (!search_command(line)) {
        broken("the device does not know '%s'", line);
    }
}

int device_role(const char *state_dir, const char *relay_url)
{
    static const struct counters none;
    char options[1024], line[LINE];
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.400s\",\"name\":\"phone\",\"relay_url\":\"%.200s\",\"follow_system\":false,"
             "\"shared\":%s}",
             state_dir, relay_url, getenv(UNSHARED_VARIABLE) != NULL ? "false" : "true");
    device.counters = map_counters(getenv(DEVICE_COUNTERS_VARIABLE), 0);
    device.desktop_counters = map_counters(getenv(DESKTOP_COUNTERS_VARIABLE), 0);
    if (device.counters == NULL || device.desktop_counters == NULL)
        device.counters = device.desktop_counters = &none;
    worked(bw_device_open(options, &device.handle), "opening the device");
    worked(bw_device_subscribe(device.handle, "notification.received", received, NULL, NULL, NULL), "subscribing");
    worked(bw_device_start(device.handle), "starting the device");
    ANSWER("ready");
    for (;;) {
        if (!await_command(bw_device_fd(device.handle))) {
            worked(bw_device_dispatch(device.handle), "dispatching the device");
        } else if (!next_command(line)) {
            bw_device_close(device.handle);
            return 0;
        } else {
            device_command(line);
        }
    }
}
