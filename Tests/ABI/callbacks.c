/* Callbacks: where they run, what they may call, and what becomes of their user_data. */
#include "roles.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

/*
 * A desktop with a relay of its own is where these get events from, with no peer: starting it, offering and ending an
 * offer give pairing.changed and connection.changed.
 */
static bw_desktop *offering_desktop(const char *options)
{
    bw_desktop *desktop = NULL;
    CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    return desktop;
}

#define OPTIONS "{\"state_dir\":\":memory:\",\"relay\":{\"listen\":\"127.0.0.1:0\"}}"
#define THREADED "{\"state_dir\":\":memory:\",\"threaded\":true,\"relay\":{\"listen\":\"127.0.0.1:0\"}}"

static void make_event(bw_desktop *desktop)
{
    free(offered_code(desktop));
}

/* ---- subscriptions ------------------------------------------------------------------------------------------- */

static void every_subscription_gets_every_event(void)
{
    struct record all, pairing, other;
    bw_desktop *desktop = offering_desktop(OPTIONS);
    bw_subscription subscription = 0;
    bw_subscription second = 0;
    record_begin(&all);
    record_begin(&pairing);
    record_begin(&other);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "*", record_event, &all, record_destroy, &subscription), BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "pairing.changed", record_event, &pairing, record_destroy, &second),
                 BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "command", record_event, &other, record_destroy, NULL), BW_OK);
    CHECK(subscription != 0 && second != 0 && subscription != second, "each subscription has a number of its own");
    make_event(desktop);
    CHECK_NUMBER(all.events + pairing.events, 0);
    pairing.wanted = 1;
    CHECK(dispatch_until(only_desktop(desktop), recorded, &pairing, 5000), "the event of an offer comes");
    CHECK(has_event(&pairing, "pairing.changed", "state", "displaying"), "it says that the code is displayed");
    CHECK(has_event(&all, "pairing.changed", "state", "displaying"), "\"*\" gets it as well");
    CHECK_NUMBER(other.events, 0);
    CHECK(pthread_equal(pairing.thread, pthread_self()), "callbacks run on the thread that dispatches");

    CHECK_STATUS(bw_desktop_unsubscribe(desktop, second), BW_OK);
    CHECK_NUMBER(pairing.destroyed, 1);
    CHECK_STATUS(bw_desktop_unsubscribe(desktop, second), BW_E_NOT_FOUND);
    CHECK_NUMBER(pairing.destroyed, 1);
    pairing.events = 0;
    all.events = 0;
    CHECK_STATUS(bw_desktop_pairing_cancel(desktop, "offer"), BW_OK);
    all.wanted = 1;
    CHECK(dispatch_until(only_desktop(desktop), recorded, &all, 5000), "the event of its end comes");
    CHECK_NUMBER(pairing.events, 0);

    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_NUMBER(all.destroyed, 1);
    CHECK_NUMBER(other.destroyed, 1);
    CHECK_NUMBER(pairing.destroyed, 1);
    record_end(&all);
    record_end(&pairing);
    record_end(&other);
}

static void subscriptions_survive_stop_and_start(void)
{
    struct record record;
    bw_desktop *desktop = offering_desktop(OPTIONS);
    record_begin(&record);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "pairing.changed", record_event, &record, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_stop(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_stop(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    make_event(desktop);
    record.wanted = 1;
    CHECK(dispatch_until(only_desktop(desktop), recorded, &record, 5000), "events come after stop and start");
    CHECK_NUMBER(record.destroyed, 0);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_NUMBER(record.destroyed, 1);
    record_end(&record);
}

static void fd_is_constant_and_readable(void)
{
    struct record record, opened;
    struct pollfd poller;
    bw_desktop *desktop = offering_desktop(OPTIONS);
    int fd = bw_desktop_fd(desktop);
    record_begin(&record);
    record_begin(&opened);
    CHECK(fd >= 0, "there is a file descriptor");
    CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "which programs that are started do not get");
    CHECK_STATUS(bw_desktop_subscribe(desktop, "pairing.changed", record_event, &record, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "connection.changed", record_event, &opened, record_destroy, NULL),
                 BW_OK);
    /* Opening says once that there is no connection, from the library's thread: after that nothing happens. */
    opened.wanted = 1;
    CHECK(dispatch_until(only_desktop(desktop), recorded, &opened, 5000), "opening has said what it has to say");
    poller.fd = fd;
    poller.events = POLLIN;
    CHECK_NUMBER(poll(&poller, 1, 0), 0);
    make_event(desktop);
    CHECK_NUMBER(poll(&poller, 1, within(5000)), 1);
    CHECK_NUMBER(bw_desktop_fd(desktop), fd);
    record.wanted = 1;
    CHECK(dispatch_until(only_desktop(desktop), recorded, &record, 5000), "what made it readable is dispatched");
    CHECK_STATUS(bw_desktop_stop(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    CHECK_NUMBER(bw_desktop_fd(desktop), fd);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&record);
    record_end(&opened);
}

/* ---- inside a callback --------------------------------------------------------------------------------------- */

struct inside {
    bw_desktop *desktop;
    bw_subscription subscription;
    int calls;
    int destroyed;
    int destroyed_inside; /* destroy ran while the callback was running */
    int running;
    bw_status first, second, third;
};

static void inside_destroy(void *user_data)
{
    struct inside *inside = (struct inside *)user_data;
    inside->destroyed++;
    inside->destroyed_inside += inside->running;
}

static int was_called(void *context)
{
    return ((struct inside *)context)->calls > 0;
}

/* Subscribes a callback, makes an event and dispatches it. */
static void call_inside(struct inside *inside, bw_event_callback callback)
{
    memset(inside, 0, sizeof *inside);
    inside->desktop = offering_desktop(OPTIONS);
    CHECK_STATUS(bw_desktop_subscribe(inside->desktop, "pairing.changed", callback, inside, inside_destroy,
                                      &inside->subscription),
                 BW_OK);
    make_event(inside->desktop);
    CHECK(dispatch_until(only_desktop(inside->desktop), was_called, inside, 5000), "the callback runs");
}

static void call_functions(void *user_data, const char *event, const char *event_json)
{
    struct inside *inside = (struct inside *)user_data;
    char *json = NULL;
    char *error;
    (void)event;
    (void)event_json;
    if (inside->calls++ > 0)
        return;
    inside->first = bw_desktop_state(inside->desktop, &json);
    bw_free(json);
    json = NULL;
    inside->second = bw_desktop_notify(inside->desktop, "{\"title\":\"t\",\"body\":\"b\"}", within(5000), &json);
    bw_free(json);
    inside->third = bw_desktop_pairing_cancel(inside->desktop, "offer");
    error = bw_last_error();
    bw_free(error);
}

static void a_callback_may_call(void)
{
    struct inside inside;
    call_inside(&inside, call_functions);
    CHECK_NUMBER(inside.first, BW_OK);
    CHECK_NUMBER(inside.second, BW_OK);
    CHECK_NUMBER(inside.third, BW_OK);
    CHECK_STATUS(bw_desktop_close(inside.desktop), BW_OK);
    CHECK_NUMBER(inside.destroyed, 1);
}

static void call_dispatch(void *user_data, const char *event, const char *event_json)
{
    struct inside *inside = (struct inside *)user_data;
    (void)event;
    (void)event_json;
    inside->first = bw_desktop_dispatch(inside->desktop);
    inside->second = bw_desktop_run(inside->desktop, 1);
    inside->calls++;
}

static void dispatch_inside_is_busy(void)
{
    struct inside inside;
    call_inside(&inside, call_dispatch);
    CHECK_NUMBER(inside.first, BW_E_BUSY);
    CHECK_NUMBER(inside.second, BW_E_BUSY);
    CHECK_STATUS(bw_desktop_dispatch(inside.desktop), BW_OK);
    CHECK_STATUS(bw_desktop_close(inside.desktop), BW_OK);
}

/* Another handle's dispatch is not nested. */
static bw_device *other_device;

static void call_dispatch_of_another(void *user_data, const char *event, const char *event_json)
{
    struct inside *inside = (struct inside *)user_data;
    (void)event;
    (void)event_json;
    inside->first = bw_device_dispatch(other_device);
    inside->calls++;
}

static void dispatch_of_another_handle_inside(void)
{
    struct inside inside;
    other_device = open_device(":memory:");
    call_inside(&inside, call_dispatch_of_another);
    CHECK_NUMBER(inside.first, BW_OK);
    CHECK_STATUS(bw_desktop_close(inside.desktop), BW_OK);
    CHECK_STATUS(bw_device_close(other_device), BW_OK);
}

static void call_unsubscribe(void *user_data, const char *event, const char *event_json)
{
    struct inside *inside = (struct inside *)user_data;
    (void)event;
    (void)event_json;
    inside->running = 1;
    inside->calls++;
    inside->first = bw_desktop_unsubscribe(inside->desktop, inside->subscription);
    inside->second = bw_desktop_unsubscribe(inside->desktop, inside->subscription);
    inside->running = 0;
}

static void unsubscribe_inside(void)
{
    struct inside inside;
    call_inside(&inside, call_unsubscribe);
    CHECK_NUMBER(inside.first, BW_OK);
    CHECK_NUMBER(inside.second, BW_E_NOT_FOUND);
    CHECK_NUMBER(inside.destroyed, 1);
    CHECK_NUMBER(inside.destroyed_inside, 0);
    CHECK_STATUS(bw_desktop_pairing_cancel(inside.desktop, "offer"), BW_OK);
    make_event(inside.desktop);
    CHECK_STATUS(bw_desktop_run(inside.desktop, 200), BW_OK);
    CHECK_NUMBER(inside.calls, 1);
    CHECK_STATUS(bw_desktop_close(inside.desktop), BW_OK);
    CHECK_NUMBER(inside.destroyed, 1);
}

static void call_close(void *user_data, const char *event, const char *event_json)
{
    struct inside *inside = (struct inside *)user_data;
    (void)event;
    (void)event_json;
    inside->running = 1;
    inside->calls++;
    inside->first = bw_desktop_close(inside->desktop);
    inside->second = bw_desktop_close(inside->desktop);
    inside->running = 0;
}

static void close_inside(void)
{
    struct inside inside;
    call_inside(&inside, call_close);
    CHECK_NUMBER(inside.first, BW_OK);
    CHECK_NUMBER(inside.second, BW_E_HANDLE);
    CHECK_NUMBER(inside.calls, 1);
    CHECK_NUMBER(inside.destroyed, 1);
    CHECK_NUMBER(inside.destroyed_inside, 0);
    CHECK_STATUS(bw_desktop_dispatch(inside.desktop), BW_E_HANDLE);
}

/* A second subscription's callback does not run any more once the first one's has closed the handle. */
static void close_inside_silences_the_others(void)
{
    struct inside inside;
    struct record record;
    memset(&inside, 0, sizeof inside);
    record_begin(&record);
    inside.desktop = offering_desktop(OPTIONS);
    CHECK_STATUS(bw_desktop_subscribe(inside.desktop, "pairing.changed", call_close, &inside, inside_destroy, NULL),
                 BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(inside.desktop, "pairing.changed", record_event, &record, record_destroy, NULL),
                 BW_OK);
    make_event(inside.desktop);
    CHECK(dispatch_until(only_desktop(inside.desktop), was_called, &inside, 5000), "the callback runs");
    CHECK_NUMBER(record.events, 0);
    CHECK_NUMBER(record.destroyed, 1);
    CHECK_NUMBER(inside.destroyed, 1);
    record_end(&record);
}

/* ---- other threads ------------------------------------------------------------------------------------------- */

/* A callback that tells when it runs and stays until it is let go. */
struct gate {
    struct inside inside;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int entered;
    int released;
    int left;             /* the callback has returned */
    int left_when_done;   /* it had when the other thread's call returned */
    bw_status status;     /* of the other thread's call */
    bw_status dispatched; /* of the dispatch */
};

static void gate_begin(struct gate *gate, const char *options)
{
    memset(gate, 0, sizeof *gate);
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
    gate->inside.desktop = offering_desktop(options);
}

static void gate_end(struct gate *gate)
{
    pthread_mutex_destroy(&gate->mutex);
    pthread_cond_destroy(&gate->changed);
}

static void gate_set(struct gate *gate, int *flag)
{
    pthread_mutex_lock(&gate->mutex);
    *flag = 1;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static int gate_wait(struct gate *gate, int *flag, int32_t ms)
{
    struct timespec deadline;
    int64_t end = epoch_ms() + within(ms);
    int set;
    deadline.tv_sec = (time_t)(end / 1000);
    deadline.tv_nsec = (long)(end % 1000) * 1000000;
    pthread_mutex_lock(&gate->mutex);
    while (!*flag && pthread_cond_timedwait(&gate->changed, &gate->mutex, &deadline) == 0) {
    }
    set = *flag;
    pthread_mutex_unlock(&gate->mutex);
    return set;
}

static void wait_in_callback(void *user_data, const char *event, const char *event_json)
{
    struct gate *gate = (struct gate *)user_data;
    (void)event;
    (void)event_json;
    gate_set(gate, &gate->entered);
    gate_wait(gate, &gate->released, 10000);
    gate->inside.calls++;
    gate_set(gate, &gate->left);
}

static void gate_destroy(void *user_data)
{
    ((struct gate *)user_data)->inside.destroyed++;
}

static int gate_called(void *context)
{
    return ((struct gate *)context)->inside.calls > 0;
}

static void *dispatch_gate(void *context)
{
    struct gate *gate = (struct gate *)context;
    dispatch_until(only_desktop(gate->inside.desktop), gate_called, gate, 10000);
    return NULL;
}

static void *close_gate(void *context)
{
    struct gate *gate = (struct gate *)context;
    gate->status = bw_desktop_close(gate->inside.desktop);
    gate->left_when_done = gate->left;
    return NULL;
}

static void *unsubscribe_gate(void *context)
{
    struct gate *gate = (struct gate *)context;
    gate->status = bw_desktop_unsubscribe(gate->inside.desktop, gate->inside.subscription);
    gate->left_when_done = gate->left;
    return NULL;
}

/* With the callback running on one thread, calls from another, and lets the callback go a while later. */
static void while_a_callback_runs(struct gate *gate, void *(*body)(void *context))
{
    pthread_t dispatching, calling;
    struct timespec while_it_waits = {0, 100000000};
    CHECK_STATUS(bw_desktop_subscribe(gate->inside.desktop, "pairing.changed", wait_in_callback, gate, gate_destroy,
                                      &gate->inside.subscription),
                 BW_OK);
    make_event(gate->inside.desktop);
    pthread_create(&dispatching, NULL, dispatch_gate, gate);
    CHECK(gate_wait(gate, &gate->entered, 10000), "the callback runs on another thread");
    CHECK_STATUS(bw_desktop_dispatch(gate->inside.desktop), BW_E_BUSY);
    CHECK_STATUS(bw_desktop_run(gate->inside.desktop, 1), BW_E_BUSY);
    pthread_create(&calling, NULL, body, gate);
    /* Not a wait for something: time in which a call that does not wait would return too early. */
    nanosleep(&while_it_waits, NULL);
    CHECK_NUMBER(gate->inside.destroyed, 0);
    gate_set(gate, &gate->released);
    pthread_join(calling, NULL);
    CHECK_NUMBER(gate->status, BW_OK);
    CHECK(gate->left_when_done, "the call waited for the callback");
    CHECK_NUMBER(gate->inside.destroyed, 1);
    pthread_join(dispatching, NULL);
}

static void close_waits_for_the_callback(void)
{
    struct gate gate;
    gate_begin(&gate, OPTIONS);
    while_a_callback_runs(&gate, close_gate);
    CHECK_STATUS(bw_desktop_close(gate.inside.desktop), BW_E_HANDLE);
    CHECK_NUMBER(gate.inside.destroyed, 1);
    gate_end(&gate);
}

static void unsubscribe_waits_for_the_callback(void)
{
    struct gate gate;
    gate_begin(&gate, OPTIONS);
    while_a_callback_runs(&gate, unsubscribe_gate);
    CHECK_STATUS(bw_desktop_close(gate.inside.desktop), BW_OK);
    CHECK_NUMBER(gate.inside.destroyed, 1);
    gate_end(&gate);
}

static void threaded(void)
{
    struct gate gate;
    gate_begin(&gate, THREADED);
    CHECK_STATUS(bw_desktop_dispatch(gate.inside.desktop), BW_E_BUSY);
    CHECK_STATUS(bw_desktop_run(gate.inside.desktop, 1), BW_E_BUSY);
    CHECK_STATUS(bw_desktop_subscribe(gate.inside.desktop, "pairing.changed", wait_in_callback, &gate, gate_destroy,
                                      NULL),
                 BW_OK);
    gate.released = 1;
    make_event(gate.inside.desktop);
    CHECK(gate_wait(&gate, &gate.left, 10000), "the library's thread calls the callback");
    CHECK_STATUS(bw_desktop_close(gate.inside.desktop), BW_OK);
    CHECK_NUMBER(gate.inside.destroyed, 1);
    gate_end(&gate);
}

static void threaded_close_inside(void)
{
    struct gate gate;
    char *offer = NULL;
    bw_status offered;
    gate_begin(&gate, THREADED);
    CHECK_STATUS(bw_desktop_subscribe(gate.inside.desktop, "pairing.changed", call_close, &gate.inside, inside_destroy,
                                      NULL),
                 BW_OK);
    offered = bw_desktop_offer(gate.inside.desktop, within(10000), &offer);
    bw_free(offer);
    CHECK(offered == BW_OK || offered == BW_E_CLOSED, "the offer ends, or is ended by the closing");
    {
        int64_t deadline = monotonic_ms() + within(10000);
        while (bw_desktop_fd(gate.inside.desktop) != BW_E_HANDLE && monotonic_ms() < deadline)
            sched_yield();
        while (__atomic_load_n(&gate.inside.destroyed, __ATOMIC_SEQ_CST) == 0 && monotonic_ms() < deadline)
            sched_yield();
    }
    CHECK_NUMBER(gate.inside.first, BW_OK);
    CHECK_NUMBER(gate.inside.destroyed, 1);
    CHECK_NUMBER(gate.inside.destroyed_inside, 0);
    gate_end(&gate);
}

/* ---- run and quit -------------------------------------------------------------------------------------------- */

static void *quit_gate(void *context)
{
    struct gate *gate = (struct gate *)context;
    gate->status = bw_desktop_quit(gate->inside.desktop);
    return NULL;
}

static void *close_running(void *context)
{
    struct gate *gate = (struct gate *)context;
    struct timespec while_it_runs = {0, 50000000};
    nanosleep(&while_it_runs, NULL);
    gate->status = bw_desktop_close(gate->inside.desktop);
    return NULL;
}

static void run_ends(void)
{
    struct gate gate;
    pthread_t thread;
    int64_t begin = monotonic_ms();
    gate_begin(&gate, OPTIONS);
    CHECK_STATUS(bw_desktop_run(gate.inside.desktop, 100), BW_OK);
    CHECK(monotonic_ms() - begin >= 100, "run waits for its time");

    CHECK_STATUS(bw_desktop_quit(gate.inside.desktop), BW_OK);
    begin = monotonic_ms();
    CHECK_STATUS(bw_desktop_run(gate.inside.desktop, 30000), BW_OK);
    CHECK(monotonic_ms() - begin < within(10000), "quit ends the next run, when there is none");

    pthread_create(&thread, NULL, quit_gate, &gate);
    CHECK_STATUS(bw_desktop_run(gate.inside.desktop, -1), BW_OK);
    pthread_join(thread, NULL);
    CHECK_NUMBER(gate.status, BW_OK);

    pthread_create(&thread, NULL, close_running, &gate);
    CHECK_STATUS(bw_desktop_run(gate.inside.desktop, -1), BW_E_CLOSED);
    pthread_join(thread, NULL);
    CHECK_NUMBER(gate.status, BW_OK);
    gate_end(&gate);
}

/* ---- completions --------------------------------------------------------------------------------------------- */

/* A socket of loopback that listens, takes connections into its backlog and never answers: a scan of it waits. */
static int silent_listener(int *port)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 8) == 0
              && getsockname(fd, (struct sockaddr *)&address, &size) == 0,
          "a socket listens");
    *port = ntohs(address.sin_port);
    return fd;
}

static void silent_code(char *code, size_t size, int port)
{
    snprintf(code, size,
             "{\"type\":\"desktop-pairing\",\"code\":\"012345\",\"pcPeerId\":\"pc\",\"deviceInfo\":{\"name\":\"n\","
             "\"platform\":\"linux\",\"version\":\"1\"},\"timestamp\":%" PRId64
             ",\"signalingUrl\":\"ws://127.0.0.1:%d\"}",
             epoch_ms(), port);
}

struct closing {
    bw_device *device;
    bw_desktop *desktop;
    bw_status status;
    pthread_t thread;
};

static void *close_device(void *context)
{
    struct closing *closing = (struct closing *)context;
    struct timespec while_it_waits = {0, 100000000};
    nanosleep(&while_it_waits, NULL);
    closing->thread = pthread_self();
    closing->status =
        closing->desktop != NULL ? bw_desktop_close(closing->desktop) : bw_device_close(closing->device);
    return NULL;
}

/* Whether the scan has got so far that something waits for the relay's answer. */
static int is_sending(void *context)
{
    return has_event((struct record *)context, "pairing.changed", "state", "sending");
}

static void close_completes_open_calls(void)
{
    char code[512];
    int port;
    int listener = silent_listener(&port);
    struct outcome outcome;
    struct record record;
    bw_device *device = open_device(":memory:");
    memset(&outcome, 0, sizeof outcome);
    record_begin(&record);
    silent_code(code, sizeof code, port);
    CHECK_STATUS(bw_device_subscribe(device, "pairing.changed", record_event, &record, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_pairing_scan_async(device, code, 60000, complete, &outcome, outcome_destroy), BW_OK);
    CHECK(dispatch_until(only_device(device), is_sending, &record, 5000), "the scan is under way");
    CHECK_NUMBER(outcome.calls, 0);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(outcome.calls, 1);
    CHECK_NUMBER(outcome.status, BW_E_CLOSED);
    CHECK_NUMBER(outcome.destroyed, 1);
    CHECK(pthread_equal(outcome.thread, pthread_self()), "on the thread that closes");
    CHECK(!has_event(&record, "pairing.changed", "state", "failed"), "no callback runs in close");
    CHECK_NUMBER(record.destroyed, 1);
    record_end(&record);
    close(listener);
}

/* The same for a desktop: an offer that waits for a relay, and a notification on its way to a device. */
static void close_ends_a_desktops_calls(void)
{
    struct outcome outcome;
    struct closing closing;
    pthread_t thread;
    char options[256];
    char *json = NULL;
    int port;
    int listener = silent_listener(&port);
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    memset(&outcome, 0, sizeof outcome);
    memset(&closing, 0, sizeof closing);
    if (pair(device, desktop)) {
        CHECK_STATUS(bw_desktop_notify_async(desktop, "{\"title\":\"t\",\"body\":\"b\"}", 60000, complete, &outcome,
                                             outcome_destroy),
                     BW_OK);
        /* Nearly always it is on its way still; a device that was faster has said that it has it. */
        CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
        CHECK_NUMBER(outcome.calls, 1);
        CHECK(outcome.status == BW_E_CLOSED || outcome.status == BW_OK, "closed, or done before");
        CHECK_NUMBER(outcome.destroyed, 1);
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);

    snprintf(options, sizeof options, "{\"state_dir\":\":memory:\",\"relay_url\":\"ws://127.0.0.1:%d\"}", port);
    CHECK_STATUS(bw_desktop_open(options, &closing.desktop), BW_OK);
    pthread_create(&thread, NULL, close_device, &closing);
    CHECK_STATUS(bw_desktop_offer(closing.desktop, 60000, &json), BW_E_CLOSED);
    CHECK(json == NULL, "no output was written");
    pthread_join(thread, NULL);
    CHECK_NUMBER(closing.status, BW_OK);
    close(listener);
}

static void close_ends_calls_that_wait(void)
{
    char code[512];
    int port;
    int listener = silent_listener(&port);
    struct closing closing;
    pthread_t thread;
    char *json = NULL;
    int64_t begin = monotonic_ms();
    memset(&closing, 0, sizeof closing);
    closing.device = open_device(":memory:");
    silent_code(code, sizeof code, port);
    pthread_create(&thread, NULL, close_device, &closing);
    CHECK_STATUS(bw_pairing_scan(closing.device, code, 60000, &json), BW_E_CLOSED);
    CHECK(monotonic_ms() - begin < within(10000), "the call ends at once");
    CHECK(json == NULL, "no output was written");
    pthread_join(thread, NULL);
    CHECK_NUMBER(closing.status, BW_OK);
    close(listener);
}

struct own_close {
    struct outcome outcome;
    bw_device *device;
    bw_status status;
    int running;
    int destroyed_inside;
};

static void complete_and_close(void *user_data, bw_status status, const char *json)
{
    struct own_close *own = (struct own_close *)user_data;
    own->running = 1;
    complete(&own->outcome, status, json);
    own->status = bw_device_close(own->device);
    own->running = 0;
}

static void own_close_destroy(void *user_data)
{
    struct own_close *own = (struct own_close *)user_data;
    own->outcome.destroyed++;
    own->destroyed_inside += own->running;
}

/* A completion may close its handle. */
static void close_inside_a_completion(void)
{
    struct own_close own;
    memset(&own, 0, sizeof own);
    own.device = open_device(":memory:");
    CHECK_STATUS(bw_pairing_scan_async(own.device, "no JSON", 1000, complete_and_close, &own, own_close_destroy),
                 BW_OK);
    CHECK_NUMBER(own.outcome.calls, 0);
    CHECK(dispatch_until(only_device(own.device), completed, &own.outcome, 5000), "the completion runs in dispatch");
    CHECK_NUMBER(own.outcome.status, BW_E_PAIRING);
    CHECK_TEXT(own.outcome.reason, "not_json");
    CHECK_NUMBER(own.status, BW_OK);
    CHECK_NUMBER(own.outcome.calls, 1);
    CHECK_NUMBER(own.outcome.destroyed, 1);
    CHECK_NUMBER(own.destroyed_inside, 0);
    CHECK_STATUS(bw_device_dispatch(own.device), BW_E_HANDLE);
}

int main(int argc, char **argv)
{
    RUN(every_subscription_gets_every_event);
    RUN(subscriptions_survive_stop_and_start);
    RUN(fd_is_constant_and_readable);
    RUN(a_callback_may_call);
    RUN(dispatch_inside_is_busy);
    RUN(dispatch_of_another_handle_inside);
    RUN(unsubscribe_inside);
    RUN(close_inside);
    RUN(close_inside_silences_the_others);
    RUN(close_waits_for_the_callback);
    RUN(unsubscribe_waits_for_the_callback);
    RUN(threaded);
    RUN(threaded_close_inside);
    RUN(run_ends);
    RUN(close_completes_open_calls);
    RUN(close_ends_calls_that_wait);
    RUN(close_ends_a_desktops_calls);
    RUN(close_inside_a_completion);
    return check_end();
}
