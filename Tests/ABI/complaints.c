/*
 * What people who embed a library complain about, one test or more for each complaint:
 *
 *   1. a callback on a wrong thread               here
 *   2. a deadlock or a crash when a callback calls here; callbacks.c: *_inside, dispatch_inside_is_busy
 *   3. a callback after unsubscribe               here; callbacks.c: unsubscribe_*
 *   4. user data freed twice, or never            here, for every function that takes some; layout.sh sees to that
 *   5. no descriptor, or one that changes         here; callbacks.c: fd_is_constant_and_readable
 *   6. SIGPIPE                                    here; process.c: no_sigpipe
 *   7. a close that hangs on a dead network       here; callbacks.c: close_ends_*
 *   8. unloading                                  load.c: unloaded_while_it_works
 *   9. fork                                       here; process.c: forks
 *  10. symbols that clash                         clash.sh; consumers.sh: test_two_swifts
 */
#include "roles.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

static const char *own_path;

/* How often something is done: less often where everything takes longer, as under valgrind. */
static int times(int count, int slowly)
{
    return check_scale() > 1 ? slowly : count;
}

static void pause_ms(long ms)
{
    struct timespec pause;
    pause.tv_sec = ms / 1000;
    pause.tv_nsec = (ms % 1000) * 1000000;
    nanosleep(&pause, NULL);
}

/* ---- 1: a callback on a wrong thread ------------------------------------------------------------------------- */

/* Where callbacks may run: on this thread, while it dispatches. */
static pthread_t dispatching_thread;
static int dispatching;
static int callbacks_seen;
static int callbacks_elsewhere;

static void seen(void)
{
    __atomic_add_fetch(&callbacks_seen, 1, __ATOMIC_SEQ_CST);
    if (!pthread_equal(pthread_self(), dispatching_thread) || !__atomic_load_n(&dispatching, __ATOMIC_SEQ_CST))
        __atomic_add_fetch(&callbacks_elsewhere, 1, __ATOMIC_SEQ_CST);
}

static void seen_event(void *user_data, const char *event, const char *event_json)
{
    (void)user_data, (void)event, (void)event_json;
    seen();
}

static void seen_completion(void *user_data, bw_status status, const char *json)
{
    (void)status, (void)json;
    seen();
    ++*(int *)user_data;
}

static void seen_log(void *user_data, int32_t level, const char *message)
{
    (void)user_data, (void)level, (void)message;
    seen();
}

struct caller {
    bw_device *device;
    bw_desktop *desktop;
    int ended;
};

/* Calls that wait, made beside the thread that dispatches: they call nobody back. */
static void *call_from_elsewhere(void *context)
{
    struct caller *caller = (struct caller *)context;
    int round;
    for (round = 0; round < 20; round++) {
        char *json = NULL;
        bw_notification_get_unread_count(caller->device, NULL, NULL, within(5000), &json);
        bw_free(json);
        bw_desktop_notify(caller->desktop, "{\"title\":\"t\",\"body\":\"b\"}", within(5000), NULL);
        bw_device_post(caller->device, "host.elsewhere", NULL);
    }
    __atomic_store_n(&caller->ended, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void a_callback_on_a_wrong_thread(void)
{
    struct caller caller;
    pthread_t thread;
    int completions = 0;
    int round;
    int64_t deadline = monotonic_ms() + within(30000);
    memset(&caller, 0, sizeof caller);
    caller.device = open_device(":memory:");
    caller.desktop = open_desktop(":memory:");
    dispatching_thread = pthread_self();
    callbacks_seen = callbacks_elsewhere = 0;
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, seen_log, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(caller.device, "*", seen_event, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(caller.desktop, "*", seen_event, NULL, NULL, NULL), BW_OK);
    if (pair(caller.device, caller.desktop)) {
        pthread_create(&thread, NULL, call_from_elsewhere, &caller);
        for (round = 0; round < 20; round++)
            CHECK_STATUS(bw_notification_send_async(caller.device, NULL, "{\"title\":\"t\",\"body\":\"b\"}", 10000,
                                                    seen_completion, &completions, NULL),
                         BW_OK);
        CHECK_NUMBER(callbacks_seen, 0);
        while (monotonic_ms() < deadline && (completions < 20 || !__atomic_load_n(&caller.ended, __ATOMIC_SEQ_CST))) {
            struct pollfd fds[2];
            fds[0].fd = bw_device_fd(caller.device);
            fds[1].fd = bw_desktop_fd(caller.desktop);
            fds[0].events = fds[1].events = POLLIN;
            poll(fds, 2, 10);
            __atomic_store_n(&dispatching, 1, __ATOMIC_SEQ_CST);
            bw_device_dispatch(caller.device);
            bw_desktop_dispatch(caller.desktop);
            __atomic_store_n(&dispatching, 0, __ATOMIC_SEQ_CST);
        }
        pthread_join(thread, NULL);
        CHECK_NUMBER(completions, 20);
        CHECK(callbacks_seen > 60, "events, completions and lines of the log came");
    }
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_close(caller.device), BW_OK);
    CHECK_STATUS(bw_desktop_close(caller.desktop), BW_OK);
    CHECK_NUMBER(callbacks_elsewhere, 0);
}

/* ---- 2: a deadlock or a crash when a callback calls ----------------------------------------------------------- */

struct busy {
    bw_device *device;
    bw_desktop *desktop;
    bw_subscription own, other;
    int calls, logged, completed, destroyed;
};

static void nothing(void *user_data, const char *event, const char *event_json)
{
    (void)user_data, (void)event, (void)event_json;
}

/* What belongs to the other subscription; its destroy calls as well, and closes another handle. */
static void busy_destroy(void *user_data)
{
    struct busy *busy = (struct busy *)user_data;
    char *json = NULL;
    CHECK_STATUS(bw_device_state(busy->device, &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_device_post(busy->device, "host.destroyed", NULL), BW_OK);
    CHECK_STATUS(bw_desktop_stop(busy->desktop), BW_OK);
    busy->destroyed++;
}

static void busy_completion(void *user_data, bw_status status, const char *json)
{
    struct busy *busy = (struct busy *)user_data;
    char *result = NULL;
    (void)json;
    CHECK_NUMBER(status, BW_OK);
    /* A call that waits, while the completion of another runs: its answer needs nobody to dispatch. */
    CHECK_STATUS(bw_notification_get_settings(busy->device, NULL, NULL, within(10000), &result), BW_OK);
    bw_free(result);
    CHECK_STATUS(bw_device_dispatch(busy->device), BW_E_BUSY);
    busy->completed++;
}

static void busy_event(void *user_data, const char *event, const char *event_json)
{
    struct busy *busy = (struct busy *)user_data;
    char *json = NULL;
    (void)event;
    (void)event_json;
    if (busy->calls++ > 0)
        return;
    CHECK_STATUS(bw_notification_send(busy->device, NULL, "{\"title\":\"t\",\"body\":\"b\"}", within(10000), &json), BW_OK);
    bw_free(json);
    json = NULL;
    CHECK_STATUS(bw_inbox_refresh(busy->device, NULL, within(10000), &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_notification_get_history_async(busy->device, NULL, NULL, within(10000), busy_completion, busy, NULL),
                 BW_OK);
    CHECK_STATUS(bw_device_post(busy->device, "host.again", NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(busy->device, "*", nothing, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(busy->device), BW_E_BUSY);
    CHECK_STATUS(bw_desktop_dispatch(busy->desktop), BW_OK);
}

static int busy_completed(void *context)
{
    return ((struct busy *)context)->completed > 0;
}

static void a_callback_that_calls(void)
{
    struct busy busy;
    memset(&busy, 0, sizeof busy);
    busy.device = open_device(":memory:");
    busy.desktop = open_desktop(":memory:");
    if (pair(busy.device, busy.desktop)) {
        CHECK_STATUS(bw_device_subscribe(busy.device, "host.once", busy_event, &busy, NULL, &busy.own), BW_OK);
        CHECK_STATUS(bw_device_subscribe(busy.device, "host.never", nothing, &busy, busy_destroy, &busy.other), BW_OK);
        CHECK_STATUS(bw_device_post(busy.device, "host.once", NULL), BW_OK);
        CHECK(dispatch_until(only_device(busy.device), busy_completed, &busy, 30000),
              "callback and completion call, and both return");
        CHECK_STATUS(bw_device_unsubscribe(busy.device, busy.other), BW_OK);
        CHECK_NUMBER(busy.destroyed, 1);
    }
    CHECK_STATUS(bw_device_close(busy.device), BW_OK);
    CHECK_STATUS(bw_desktop_close(busy.desktop), BW_OK);
}

/* A callback that closes everything there is, its own handle in between. */
static void close_everything(void *user_data, const char *event, const char *event_json)
{
    struct busy *busy = (struct busy *)user_data;
    (void)event;
    (void)event_json;
    busy->calls++;
    CHECK_STATUS(bw_desktop_close(busy->desktop), BW_OK);
    CHECK_STATUS(bw_device_close(busy->device), BW_OK);
    CHECK_STATUS(bw_device_post(busy->device, "host.late", NULL), BW_E_HANDLE);
}

static void log_closes(void *user_data, int32_t level, const char *message)
{
    struct busy *busy = (struct busy *)user_data;
    (void)level, (void)message;
    if (busy->logged++ == 0) {
        CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, NULL, NULL, NULL), BW_OK);
        CHECK_STATUS(bw_device_close(busy->device), BW_OK);
    }
}

static int was_logged(void *context)
{
    return ((struct busy *)context)->logged > 0;
}

static int was_called(void *context)
{
    return ((struct busy *)context)->calls > 0;
}

static void a_callback_that_closes_everything(void)
{
    struct busy busy;
    memset(&busy, 0, sizeof busy);
    busy.device = open_device(":memory:");
    busy.desktop = open_desktop(":memory:");
    if (pair(busy.device, busy.desktop)) {
        CHECK_STATUS(bw_device_subscribe(busy.device, "host.end", close_everything, &busy, NULL, NULL), BW_OK);
        CHECK_STATUS(bw_device_post(busy.device, "host.end", NULL), BW_OK);
        CHECK(dispatch_until(only_device(busy.device), was_called, &busy, 10000), "the callback runs");
    }
    CHECK_STATUS(bw_device_close(busy.device), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_close(busy.desktop), BW_E_HANDLE);

    /* The log's callback as well: it ends itself, and closes the handle whose dispatch calls it. */
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, log_closes, &busy, NULL), BW_OK);
    busy.device = open_device(":memory:");
    busy.desktop = open_desktop(":memory:");
    pair(busy.device, busy.desktop);
    CHECK(dispatch_until(only_device(busy.device), was_logged, &busy, 10000), "a line of the log comes");
    CHECK_NUMBER(busy.logged, 1);
    CHECK_STATUS(bw_device_close(busy.device), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_close(busy.desktop), BW_OK);
}

/* ---- 3: a callback after unsubscribe -------------------------------------------------------------------------- */

/* Freed after unsubscribe: a callback that comes later is seen, by valgrind too. */
struct subscriber {
    int calls;
    int is_over;
    int late;
};

static void while_subscribed(void *user_data, const char *event, const char *event_json)
{
    struct subscriber *subscriber = (struct subscriber *)user_data;
    (void)event, (void)event_json;
    __atomic_add_fetch(&subscriber->calls, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&subscriber->is_over, __ATOMIC_SEQ_CST))
        __atomic_add_fetch(&subscriber->late, 1, __ATOMIC_SEQ_CST);
}

static void *dispatch_until_closed(void *context)
{
    bw_device *device = (bw_device *)context;
    while (bw_device_run(device, 1000) == BW_OK) {
    }
    return NULL;
}

static void a_callback_after_unsubscribe(void)
{
    pthread_t thread;
    int round;
    int late = 0;
    int rounds_with_calls = 0;
    bw_device *device = open_device(":memory:");
    pthread_create(&thread, NULL, dispatch_until_closed, device);
    for (round = 0; round < times(300, 30); round++) {
        struct subscriber *subscriber = (struct subscriber *)calloc(1, sizeof *subscriber);
        bw_subscription subscription = 0;
        int event;
        if (bw_device_subscribe(device, "host.flood", while_subscribed, subscriber, NULL, &subscription) != BW_OK)
            CHECK(0, "a subscription in the flood");
        for (event = 0; event < 20; event++)
            bw_device_post(device, "host.flood", NULL);
        while (round % 3 != 0 && __atomic_load_n(&subscriber->calls, __ATOMIC_SEQ_CST) < round % 10)
            sched_yield();
        if (bw_device_unsubscribe(device, subscription) != BW_OK)
            CHECK(0, "unsubscribing in the flood");
        __atomic_store_n(&subscriber->is_over, 1, __ATOMIC_SEQ_CST);
        sched_yield();
        rounds_with_calls += subscriber->calls > 0;
        late += subscriber->late;
        free(subscriber);
    }
    CHECK_NUMBER(late, 0);
    CHECK(rounds_with_calls > times(100, 10), "callbacks ran while they were subscribed");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    pthread_join(thread, NULL);
}

/* ---- 4: user data freed twice, or never ----------------------------------------------------------------------- */

enum {
#define METHOD(name, method) METHOD_##name,
    BW_NOTIFICATION_METHODS(METHOD)
#undef METHOD
    METHODS,
    OTHERS = 21,
    /* Each method with parameters that some take, with none, and with what few or none take. */
    REGISTRATIONS = OTHERS + 4 * METHODS
};

static int freed[REGISTRATIONS];
static int told[REGISTRATIONS];

struct owned {
    int number;
    char text[24];
};

/* Frees for good: a second time is a crash, or valgrind's to see; none at all is a leak. */
static void free_owned(void *user_data)
{
    struct owned *owned = (struct owned *)user_data;
    freed[owned->number]++;
    free(owned);
}

static void *own(int number)
{
    struct owned *owned = (struct owned *)calloc(1, sizeof *owned);
    owned->number = number;
    snprintf(owned->text, sizeof owned->text, "belongs to %d", number);
    return owned;
}

static void owned_event(void *user_data, const char *event, const char *event_json)
{
    (void)event, (void)event_json;
    told[((struct owned *)user_data)->number]++;
}

static void owned_completion(void *user_data, bw_status status, const char *json)
{
    (void)status, (void)json;
    told[((struct owned *)user_data)->number]++;
}

static void owned_log(void *user_data, int32_t level, const char *message)
{
    (void)user_data, (void)level, (void)message;
}

static void owned_authorize(void *user_data, const char *request_json)
{
    (void)user_data, (void)request_json;
}

static int32_t owned_present(void *user_data, const char *alert_json)
{
    (void)user_data, (void)alert_json;
    return 0;
}

struct handles {
    bw_device *device;
    bw_desktop *desktop;
    bw_relay *relay;
};

/* Every function of the header that takes user data, once or more: their number is given to the data. */
static bw_status give_user_data(struct handles to, int number)
{
    static const char push[] = "{\"title\":\"t\",\"body\":\"b\"}";
    static const char *const params[] = {push, NULL, "[]", "{}"};
    int turn = (number - OTHERS) / METHODS;
    bw_device *device = to.device;
    void *data = own(number);
    if (number >= OTHERS) {
        switch ((number - OTHERS) % METHODS) {
#define METHOD(name, method)                                                                                           \
    case METHOD_##name:                                                                                                \
        return bw_notification_##name##_async(device, NULL, params[turn], turn == 2 ? 0 : 1000, owned_completion,      \
                                              data, free_owned);
            BW_NOTIFICATION_METHODS(METHOD)
#undef METHOD
        }
    }
    switch (number) {
    case 0: return bw_set_log(device != NULL ? BW_LOG_ERROR : 99, owned_log, data, free_owned);
    case 1: return bw_device_subscribe(device, "*", owned_event, data, free_owned, NULL);
    case 2: return bw_desktop_subscribe(to.desktop, "*", owned_event, data, free_owned, NULL);
    case 3: return bw_relay_subscribe(to.relay, "*", owned_event, data, free_owned, NULL);
    case 4: return bw_pairing_scan_async(device, "no JSON", 1000, owned_completion, data, free_owned);
    case 5: return bw_pairing_show_async(device, 1000, owned_completion, data, free_owned);
    case 6: return bw_pairing_type_async(device, "123456-654321", 1000, owned_completion, data, free_owned);
    case 7: return bw_device_invoke_async(device, NULL, "a.b", NULL, 1000, owned_completion, data, free_owned);
    case 8: return bw_inbox_refresh_async(device, NULL, 1000, owned_completion, data, free_owned);
    case 9: return bw_inbox_mark_read_async(device, NULL, "id", 1000, owned_completion, data, free_owned);
    case 10: return bw_inbox_mark_all_read_async(device, NULL, 1000, owned_completion, data, free_owned);
    case 11: return bw_inbox_delete_async(device, NULL, "id", 1000, owned_completion, data, free_owned);
    case 12: return bw_inbox_clear_async(device, NULL, 1000, owned_completion, data, free_owned);
    case 13: return bw_alerts_request_async(device, NULL, 1000, owned_completion, data, free_owned);
    case 14: return bw_alerts_on_authorize(device, owned_authorize, data, free_owned);
    case 15: return bw_alerts_on_will_present(device, owned_present, data, free_owned);
    case 16: return bw_alerts_on_present(device, owned_present, data, free_owned);
    case 17: return bw_desktop_offer_async(to.desktop, 1000, owned_completion, data, free_owned);
    case 18: return bw_desktop_code_async(to.desktop, 1000, owned_completion, data, free_owned);
    case 19: return bw_desktop_notify_async(to.desktop, push, 1000, owned_completion, data, free_owned);
    default: return bw_desktop_invoke_async(to.desktop, "notification.getSettings", NULL, 1000, owned_completion, data,
                                            free_owned);
    }
}

static int is_call(int number)
{
    return (number >= 4 && number <= 13) || number >= 17;
}

/* Each was freed once; a call that was taken was completed once, another never. */
static void freed_once(const char *when, const bw_status *statuses)
{
    int number;
    for (number = 0; number < REGISTRATIONS; number++) {
        char what[128];
        char got[128];
        int expected = is_call(number) && statuses[number] == BW_OK;
        snprintf(what, sizeof what, "%s: the user data of number %d is freed once, its completion runs as often as it "
                 "was taken", when, number);
        snprintf(got, sizeof got, "freed %d times, completed %d times, status %s", freed[number], told[number],
                 bw_status_name(statuses[number]));
        check_record(freed[number] == 1 && (!is_call(number) || told[number] == expected), __LINE__, what, got);
    }
    memset(freed, 0, sizeof freed);
    memset(told, 0, sizeof told);
}

static void user_data_freed_twice_or_never(void)
{
    struct handles none, open;
    bw_status statuses[REGISTRATIONS];
    int number;
    int taken = 0;
    memset(&none, 0, sizeof none);
    memset(freed, 0, sizeof freed);
    memset(told, 0, sizeof told);

    for (number = 0; number < REGISTRATIONS; number++)
        statuses[number] = give_user_data(none, number);
    freed_once("refused", statuses);

    open.device = open_device(":memory:");
    open.desktop = open_desktop(":memory:");
    open.relay = open_relay();
    for (number = 0; number < REGISTRATIONS; number++) {
        statuses[number] = give_user_data(open, number);
        taken += statuses[number] == BW_OK;
    }
    CHECK(taken >= 20, "most are taken by open handles");
    CHECK_STATUS(bw_device_close(open.device), BW_OK);
    CHECK_STATUS(bw_desktop_close(open.desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(open.relay), BW_OK);
    CHECK_STATUS(bw_set_log(BW_LOG_ERROR, NULL, NULL, NULL), BW_OK);
    freed_once("closed", statuses);

    for (number = 0; number < REGISTRATIONS; number++)
        statuses[number] = give_user_data(open, number);
    CHECK_STATUS(bw_set_log(BW_LOG_ERROR, NULL, NULL, NULL), BW_OK);
    freed_once("with handles that are closed", statuses);
}

/* The same with completions that were dispatched before the handle is closed. */
static int all_told(void *context)
{
    int number;
    const bw_status *statuses = (const bw_status *)context;
    for (number = 0; number < REGISTRATIONS; number++)
        if (is_call(number) && statuses[number] == BW_OK && told[number] == 0)
            return 0;
    return 1;
}

static void user_data_of_calls_that_were_dispatched(void)
{
    struct dispatched handles;
    struct handles open;
    bw_status statuses[REGISTRATIONS];
    int number;
    memset(freed, 0, sizeof freed);
    memset(told, 0, sizeof told);
    open.device = open_device(":memory:");
    open.desktop = open_desktop(":memory:");
    open.relay = open_relay();
    for (number = 0; number < REGISTRATIONS; number++)
        statuses[number] = give_user_data(open, number);
    handles.device = open.device;
    handles.desktop = open.desktop;
    handles.relay = open.relay;
    CHECK(dispatch_until(handles, all_told, statuses, 20000), "every call that was taken is completed");
    CHECK_STATUS(bw_relay_close(open.relay), BW_OK);
    CHECK_STATUS(bw_desktop_close(open.desktop), BW_OK);
    CHECK_STATUS(bw_device_close(open.device), BW_OK);
    CHECK_STATUS(bw_set_log(BW_LOG_ERROR, NULL, NULL, NULL), BW_OK);
    freed_once("dispatched", statuses);
}

/* ---- 5: no descriptor, or one that changes --------------------------------------------------------------------- */

/* The descriptors of the three, as at first? */
static void same_descriptors(struct handles open, const int *fds)
{
    CHECK_NUMBER(bw_device_fd(open.device), fds[0]);
    CHECK_NUMBER(bw_desktop_fd(open.desktop), fds[1]);
    CHECK_NUMBER(bw_relay_fd(open.relay), fds[2]);
}

static void descriptors_of_a_life(void)
{
    struct handles open;
    struct epoll_event event;
    int fds[3];
    int epoll;
    open.device = open_device(":memory:");
    open.desktop = open_desktop(":memory:");
    open.relay = open_relay();
    fds[0] = bw_device_fd(open.device);
    fds[1] = bw_desktop_fd(open.desktop);
    fds[2] = bw_relay_fd(open.relay);
    CHECK(fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0, "each role has a descriptor, before it is started");
    CHECK(fds[0] != fds[1] && fds[1] != fds[2] && fds[0] != fds[2], "and each one of its own");

    CHECK_STATUS(bw_relay_start(open.relay), BW_OK);
    pair(open.device, open.desktop);
    same_descriptors(open, fds);
    CHECK_STATUS(bw_notification_send(open.device, NULL, "{\"title\":\"t\",\"body\":\"b\"}", within(5000), NULL), BW_OK);
    CHECK_STATUS(bw_device_suspend(open.device), BW_OK);
    CHECK_STATUS(bw_device_resume(open.device), BW_OK);
    CHECK_STATUS(bw_device_stop(open.device), BW_OK);
    CHECK_STATUS(bw_desktop_stop(open.desktop), BW_OK);
    CHECK_STATUS(bw_relay_stop(open.relay), BW_OK);
    CHECK_STATUS(bw_device_start(open.device), BW_OK);
    CHECK_STATUS(bw_pairing_clear(open.device), BW_OK);
    same_descriptors(open, fds);

    /* Readable as long as there is something, also for a loop that did not take it the first time; then no more. */
    epoll = epoll_create1(EPOLL_CLOEXEC);
    memset(&event, 0, sizeof event);
    event.events = EPOLLIN;
    CHECK_NUMBER(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event), 0);
    CHECK_STATUS(bw_device_stop(open.device), BW_OK);
    CHECK_STATUS(bw_device_subscribe(open.device, "host.once", nothing, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_post(open.device, "host.once", NULL), BW_OK);
    CHECK_NUMBER(epoll_wait(epoll, &event, 1, within(5000)), 1);
    CHECK_NUMBER(epoll_wait(epoll, &event, 1, 0), 1);
    CHECK_STATUS(bw_device_dispatch(open.device), BW_OK);
    CHECK_NUMBER(epoll_wait(epoll, &event, 1, 0), 0);
    close(epoll);

    CHECK_STATUS(bw_device_close(open.device), BW_OK);
    CHECK_STATUS(bw_desktop_close(open.desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(open.relay), BW_OK);
    CHECK_NUMBER(bw_device_fd(open.device), BW_E_HANDLE);
}

static void a_descriptor_that_changes(void)
{
    int before;
    descriptors_of_a_life(); /* the first time opens what stays with the process */
    before = fd_count();
    descriptors_of_a_life();
    descriptors_of_a_life();
    CHECK(fd_count_falls_to(before), "all descriptors are given back");
}

/* ---- a network on loopback that is dead ------------------------------------------------------------------------ */

static int listening(int backlog, int *port)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, backlog) == 0
              && getsockname(fd, (struct sockaddr *)&address, &size) == 0,
          "a socket listens");
    *port = ntohs(address.sin_port);
    return fd;
}

static bw_desktop *desktop_of(const char *scheme, const char *host, int port)
{
    char options[256];
    bw_desktop *desktop = NULL;
    snprintf(options, sizeof options, "{\"state_dir\":\":memory:\",\"relay_url\":\"%s://%s:%d\"}", scheme, host, port);
    CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    return desktop;
}

static void any_end(void *user_data, bw_status status, const char *json)
{
    (void)user_data, (void)status, (void)json;
}

/* A relay in a process of its own, which can be frozen. */
static int run_relay(int port_to)
{
    bw_relay *relay = open_relay();
    int port;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (bw_relay_start(relay) != BW_OK)
        return 1;
    port = relay_port(relay);
    if (write(port_to, &port, sizeof port) != (ssize_t)sizeof port)
        return 1;
    close(port_to);
    return bw_relay_run(relay, -1) == BW_OK ? 0 : 1;
}

static pid_t relay_process(int *port)
{
    int pipe_fds[2];
    pid_t child;
    *port = 0;
    if (pipe(pipe_fds) != 0)
        abort();
    fflush(stdout);
    child = fork();
    if (child == 0) {
        char number[16];
        close(pipe_fds[0]);
        snprintf(number, sizeof number, "%d", pipe_fds[1]);
        execl(own_path, own_path, "--relay", number, (char *)NULL);
        _exit(127);
    }
    close(pipe_fds[1]);
    CHECK(child > 0 && read(pipe_fds[0], port, sizeof *port) == (ssize_t)sizeof *port, "a relay runs in another process");
    close(pipe_fds[0]);
    return child;
}

static void end_process(pid_t child)
{
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* ---- 6: SIGPIPE ------------------------------------------------------------------------------------------------ */

/* A device and a desktop that write to a relay which is gone, SIGPIPE being what it is in every program: deadly. */
static int child_that_writes_to_the_dead(void)
{
    static char push[40100];
    struct handles open;
    pid_t relay;
    int port;
    int round;
    char options[128];
    alarm((unsigned)within(50000) / 1000);
    memset(&open, 0, sizeof open);
    snprintf(push, sizeof push, "{\"title\":\"t\",\"body\":\"%040000d\"}", 0);
    for (round = 0; round < times(3, 1); round++) {
        int sent;
        relay = relay_process(&port);
        snprintf(options, sizeof options, "{\"state_dir\":\":memory:\",\"relay_url\":\"ws://127.0.0.1:%d\"}", port);
        if (bw_desktop_open(options, &open.desktop) != BW_OK)
            return 2;
        open.device = open_device(":memory:");
        if (!pair(open.device, open.desktop))
            return 3;
        /* Both have much on its way when the other end of their connections vanishes. */
        kill(relay, SIGSTOP);
        for (sent = 0; sent < times(40, 10); sent++)
            if (bw_notification_send_async(open.device, NULL, push, 30000, any_end, NULL, NULL) != BW_OK
                || bw_desktop_notify_async(open.desktop, push, 30000, any_end, NULL, NULL) != BW_OK)
                return 5;
        end_process(relay);
        for (sent = 0; sent < 5; sent++)
            bw_notification_send(open.device, NULL, push, 20, NULL);
        if (bw_device_close(open.device) != BW_OK || bw_desktop_close(open.desktop) != BW_OK)
            return 4;
    }
    return 0;
}

static void sigpipe(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigaction(SIGPIPE, NULL, &action);
    CHECK(action.sa_handler == SIG_DFL, "SIGPIPE is as it was");
    CHECK_NUMBER(in_child(child_that_writes_to_the_dead), 0);
}

/* ---- 7: a close that hangs on a dead network -------------------------------------------------------------------- */

enum { CLOSE_MS = 1000 };

struct waiting_call {
    bw_device *device;
    bw_status status;
};

static void *call_that_waits(void *context)
{
    struct waiting_call *call = (struct waiting_call *)context;
    call->status = bw_notification_get_settings(call->device, NULL, NULL, 60000, NULL);
    return NULL;
}

static void closes_in_time(const char *what, bw_device *device, bw_desktop *desktop)
{
    char text[128];
    int64_t begin = monotonic_ms();
    int64_t took;
    if (device != NULL)
        CHECK_STATUS(bw_device_close(device), BW_OK);
    if (desktop != NULL)
        CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    took = monotonic_ms() - begin;
    snprintf(text, sizeof text, "%s: closing takes less than %d ms, it took %d", what, within(CLOSE_MS), (int)took);
    CHECK(took < within(CLOSE_MS), text);
}

/* Bytes that the kernel holds for the connections of a local port, not yet read by the process behind it. */
static long unread_bytes(int port)
{
    FILE *table = fopen("/proc/net/tcp", "r");
    char line[256];
    long total = 0;
    if (table == NULL)
        return -1;
    while (fgets(line, sizeof line, table) != NULL) {
        unsigned local;
        unsigned long unread;
        if (sscanf(line, " %*d: %*x:%x %*x:%*x %*x %*x:%lx", &local, &unread) == 2 && (int)local == port)
            total += (long)unread;
    }
    fclose(table);
    return total;
}

/* A call and many pushes are under way when the relay stops reading; closing both handles still ends at once. */
static void close_while_the_relay_is_frozen(void)
{
    enum { CALL_BYTES = 100 }; /* more than a ping, less than a call */
    static char push[60100];
    struct waiting_call call;
    pthread_t thread;
    bw_desktop *desktop;
    int port;
    int round;
    pid_t relay = relay_process(&port);
    snprintf(push, sizeof push, "{\"title\":\"t\",\"body\":\"%060000d\"}", 0);
    memset(&call, 0, sizeof call);
    call.device = open_device(":memory:");
    desktop = desktop_of("ws", "127.0.0.1", port);
    if (pair(call.device, desktop)) {
        int taken = 0;
        long unread;
        int64_t deadline = monotonic_ms() + within(10000);
        kill(relay, SIGSTOP);
        unread = unread_bytes(port);
        /* The call comes first: once the buffers are full, a new call fails with BW_E_OFFLINE. */
        pthread_create(&thread, NULL, call_that_waits, &call);
        while (unread_bytes(port) < unread + CALL_BYTES && monotonic_ms() < deadline)
            pause_ms(1);
        CHECK(unread_bytes(port) >= unread + CALL_BYTES, "the call has reached the frozen relay");
        /* More than the buffers of a connection hold. */
        for (round = 0; round < times(100, 10); round++) {
            taken += bw_notification_send_async(call.device, NULL, push, 60000, any_end, NULL, NULL) == BW_OK;
            taken += bw_desktop_notify_async(desktop, push, 60000, any_end, NULL, NULL) == BW_OK;
        }
        CHECK_NUMBER(taken, 2 * times(100, 10));
        pause_ms(100); /* not a wait for something: time in which the buffers get full */
        closes_in_time("a frozen relay", call.device, desktop);
        pthread_join(thread, NULL);
        CHECK(call.status == BW_E_CLOSED || call.status == BW_E_HANDLE, "the call that waited has ended");
    } else {
        bw_device_close(call.device);
        bw_desktop_close(desktop);
    }
    end_process(relay);
}

/* Connects to what takes the connection and never says a word; in plain text and with TLS. */
static void close_while_nobody_speaks(void)
{
    static const char *const schemes[] = {"ws", "wss"};
    size_t index;
    for (index = 0; index < 2; index++) {
        int port;
        int listener = listening(8, &port);
        bw_desktop *desktop = desktop_of(schemes[index], "127.0.0.1", port);
        int connection = accept(listener, NULL, NULL);
        CHECK(connection >= 0, "the desktop has connected");
        closes_in_time(schemes[index], NULL, desktop);
        close(connection);
        close(listener);
    }
}

/* An address whose packets are dropped: the backlog is full, so that the kernel answers no further connection. */
static void close_while_packets_are_dropped(void)
{
    enum { FILLING = 8 };
    int fillers[FILLING];
    int index;
    int port;
    int listener = listening(0, &port);
    struct sockaddr_in address;
    struct pollfd last;
    bw_desktop *desktop;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    for (index = 0; index < FILLING; index++) {
        fillers[index] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connect(fillers[index], (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS)
            CHECK(0, "a connection that fills the backlog");
    }
    last.fd = fillers[FILLING - 1];
    last.events = POLLOUT;
    CHECK_NUMBER(poll(&last, 1, 200), 0); /* it is full: the last one is not answered */
    desktop = desktop_of("ws", "127.0.0.1", port);
    pause_ms(50);
    closes_in_time("packets that are dropped", NULL, desktop);
    for (index = 0; index < FILLING; index++)
        close(fillers[index]);
    close(listener);
}

/* A name server that does not answer. The program's own getaddrinfo() takes the place of the C library's, for libuv as
 * well: it is exported (programs.sh links with -rdynamic). */
static int lookups;
static int lookups_may_end;

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    int64_t deadline = monotonic_ms() + 20000;
    (void)node, (void)service, (void)hints, (void)result;
    __atomic_add_fetch(&lookups, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&lookups_may_end, __ATOMIC_SEQ_CST) && monotonic_ms() < deadline)
        pause_ms(5);
    return EAI_AGAIN;
}

static void close_while_the_name_server_is_silent(void)
{
    int64_t deadline = monotonic_ms() + within(10000);
    bw_desktop *desktop = desktop_of("ws", "relay.invalid", 9001);
    while (__atomic_load_n(&lookups, __ATOMIC_SEQ_CST) == 0 && monotonic_ms() < deadline)
        pause_ms(1);
    CHECK(lookups > 0, "the name is being looked up");
    closes_in_time("a silent name server", NULL, desktop);
    __atomic_store_n(&lookups_may_end, 1, __ATOMIC_SEQ_CST);
    /* What was looked up comes back to a handle that is gone. */
    desktop = desktop_of("ws", "another.invalid", 9001);
    pause_ms(50);
    closes_in_time("a name that does not exist", NULL, desktop);
}

/* ---- 9: fork ---------------------------------------------------------------------------------------------------- */

static bw_device *busy_device;
static bw_desktop *busy_desktop;
static int calls_may_end;

static void *calls_without_end(void *context)
{
    (void)context;
    while (!__atomic_load_n(&calls_may_end, __ATOMIC_SEQ_CST)) {
        char *json = NULL;
        bw_subscription subscription = 0;
        bw_device_state(busy_device, &json);
        bw_free(json);
        bw_notification_get_unread_count(busy_device, NULL, NULL, 5000, NULL);
        bw_device_subscribe(busy_device, "host.x", nothing, NULL, NULL, &subscription);
        bw_device_post(busy_device, "host.x", NULL);
        bw_device_unsubscribe(busy_device, subscription);
        bw_device_dispatch(busy_device);
    }
    return NULL;
}

/* Whatever lock another thread held when it forked: nothing here waits for it. */
static int child_of_a_busy_process(void)
{
    bw_device *device = NULL;
    char *json = NULL;
    alarm((unsigned)within(10000) / 1000);
    if (bw_device_state(busy_device, &json) != BW_E_FORKED || json != NULL)
        return 1;
    if (bw_device_open("{\"state_dir\":\":memory:\"}", &device) != BW_E_FORKED || device != NULL)
        return 2;
    if (bw_device_post(busy_device, "host.x", NULL) != BW_E_FORKED || bw_desktop_close(busy_desktop) != BW_E_FORKED)
        return 3;
    if (bw_device_close(busy_device) != BW_E_FORKED)
        return 4;
    return strcmp(bw_status_name(BW_E_FORKED), "BW_E_FORKED") == 0 ? 0 : 5;
}

static void fork_while_threads_are_in_the_library(void)
{
    pthread_t threads[2];
    int round;
    busy_device = open_device(":memory:");
    busy_desktop = open_desktop(":memory:");
    if (pair(busy_device, busy_desktop)) {
        pthread_create(&threads[0], NULL, calls_without_end, NULL);
        pthread_create(&threads[1], NULL, calls_without_end, NULL);
        for (round = 0; round < times(60, 5); round++) {
            int ended = in_child(child_of_a_busy_process);
            if (ended != 0)
                CHECK_NUMBER(ended, 0);
        }
        __atomic_store_n(&calls_may_end, 1, __ATOMIC_SEQ_CST);
        pthread_join(threads[0], NULL);
        pthread_join(threads[1], NULL);
        CHECK_STATUS(bw_notification_send(busy_device, NULL, "{\"title\":\"t\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    }
    CHECK_STATUS(bw_device_close(busy_device), BW_OK);
    CHECK_STATUS(bw_desktop_close(busy_desktop), BW_OK);
}

int main(int argc, char **argv)
{
    own_path = argv[0];
    if (argc == 3 && strcmp(argv[1], "--relay") == 0)
        return run_relay(atoi(argv[2]));
    RUN(sigpipe); /* its child opens the library, so nothing has opened it before */
    RUN(a_callback_on_a_wrong_thread);
    RUN(a_callback_that_calls);
    RUN(a_callback_that_closes_everything);
    RUN(a_callback_after_unsubscribe);
    RUN(user_data_freed_twice_or_never);
    RUN(user_data_of_calls_that_were_dispatched);
    RUN(a_descriptor_that_changes);
    RUN(close_while_the_relay_is_frozen);
    RUN(close_while_nobody_speaks);
    RUN(close_while_packets_are_dropped);
    RUN(close_while_the_name_server_is_silent);
    RUN(fork_while_threads_are_in_the_library);
    return check_end();
}
