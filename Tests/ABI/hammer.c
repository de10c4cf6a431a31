/*
 * Seven threads on the same two handles, and across others, until both handles are closed under them. Every call ends with
 * a status that the header allows, every completion comes once, and every destroy runs once.
 *
 * Tests/ABI/sanitize.sh runs it with ThreadSanitizer, AddressSanitizer and helgrind.
 */
#include "roles.h"

enum { THREADS = 7 };

static bw_device *device;
static bw_desktop *desktop;
/* Rounds of each thread before the handles are closed; they go on until they hear so. */
static int rounds;
static int ready, closed, wrong;
static int begun, completions, taken, destroys, events;

static int get(int *value) { return __atomic_load_n(value, __ATOMIC_SEQ_CST); }
static void add(int *value) { __atomic_add_fetch(value, 1, __ATOMIC_SEQ_CST); }

static void count_destroy(void *user_data)
{
    (void)user_data;
    add(&destroys);
}

static void count_event(void *user_data, const char *event, const char *event_json)
{
    (void)user_data, (void)event;
    if (event_json[0] == '{')
        add(&events);
}

static void count_completion(void *user_data, bw_status status, const char *json)
{
    (void)user_data, (void)status, (void)json;
    add(&completions);
}

static void count_line(void *user_data, int32_t level, const char *message)
{
    (void)user_data, (void)level;
    if (message[0] != 0)
        add(&events);
}

/* Whether a call may end like that here; what ends it for good ends its thread. */
static int goes_on(bw_status status, const char *call)
{
    switch (status) {
    case BW_E_HANDLE:
    case BW_E_CLOSED: return 0;
    case BW_OK:
    case BW_QUEUED:
    case BW_E_BUSY:
    case BW_E_LIMIT:
    case BW_E_OFFLINE:
    case BW_E_TIMEOUT:
    case BW_E_NOT_FOUND: return 1;
    default:
        printf("      %s gave %s\n", call, bw_status_name(status));
        add(&wrong);
        return 0;
    }
}

#define GO(call) goes_on((call), #call)

/* The first rounds are counted, so that the handles are closed in the middle of everything. */
static void next(int *round)
{
    if (++*round == rounds)
        add(&ready);
}

static void *dispatch_device(void *context)
{
    int round = 0;
    (void)context;
    while (GO(bw_device_run(device, 5)) && GO(bw_device_dispatch(device)))
        next(&round);
    return NULL;
}

static void *dispatch_desktop(void *context)
{
    int round = 0;
    (void)context;
    while (GO(bw_desktop_run(desktop, 5)) && GO(bw_desktop_dispatch(desktop)))
        next(&round);
    return NULL;
}

static void *subscribe_and_end(void *context)
{
    int round = 0;
    (void)context;
    for (;; next(&round)) {
        bw_subscription one = 0;
        bw_subscription other = 0;
        add(&taken);
        if (!GO(bw_device_subscribe(device, round % 2 ? "*" : "host.hammer", count_event, NULL, count_destroy, &one)))
            return NULL;
        add(&taken);
        if (!GO(bw_desktop_subscribe(desktop, "host.hammer", count_event, NULL, count_destroy, &other)))
            return NULL;
        if (!GO(bw_device_unsubscribe(device, one)) || !GO(bw_desktop_unsubscribe(desktop, other)))
            return NULL;
    }
}

static void *post(void *context)
{
    int round = 0;
    (void)context;
    while (GO(bw_device_post(device, "host.hammer", "{}")) && GO(bw_desktop_post(desktop, "host.hammer", "{}")))
        next(&round);
    return NULL;
}

/* Counts what has begun: a call that is refused at once never completes. */
static int begins(bw_status status, const char *call)
{
    if (status == BW_OK)
        add(&begun);
    return goes_on(status, call);
}

#define BEGINS(call) begins((call), #call)

/* Whether this thread's last error is that too many commands came at once. */
static int was_limited(void)
{
    char *error = bw_last_error();
    int is = error != NULL && strstr(error, "-32010") != NULL;
    bw_free(error);
    return is;
}

static void *push_and_ask(void *context)
{
    int round = 0;
    (void)context;
    for (;; next(&round)) {
        char *json = NULL;
        bw_status status;
        add(&taken);
        if (!BEGINS(bw_desktop_notify_async(desktop, "{\"title\":\"t\",\"body\":\"b\"}", 60000, count_completion, NULL,
                                            count_destroy)))
            return NULL;
        add(&taken);
        if (!BEGINS(bw_notification_get_unread_count_async(device, NULL, NULL, 60000, count_completion, NULL,
                                                           count_destroy)))
            return NULL;
        status = bw_notification_get_unread_count(device, NULL, NULL, within(20000), &json);
        bw_free(json);
        if (status == BW_E_DENIED && was_limited())
            status = BW_OK;
        if (!GO(status))
            return NULL;
    }
}

static void *look(void *context)
{
    int round = 0;
    (void)context;
    for (;; next(&round)) {
        char *json = NULL;
        int good = GO(bw_device_state(device, &json));
        bw_free(json);
        json = NULL;
        if (!good || !GO(bw_desktop_state(desktop, &json)))
            return NULL;
        bw_free(json);
        json = NULL;
        if (!GO(bw_inbox_load(device, NULL, &json)))
            return NULL;
        bw_free(json);
        if (bw_device_unsubscribe(device, 123456789) == BW_E_NOT_FOUND) {
            char *error = bw_last_error();
            if (error == NULL || strstr(error, "123456789") == NULL)
                add(&wrong);
            bw_free(error);
        }
    }
}

/* Other handles come and go, and the log changes hands. Ends by itself. */
static void *open_others(void *context)
{
    int round = 0;
    (void)context;
    while (!get(&closed)) {
        bw_device *other = NULL;
        add(&taken);
        if (!GO(bw_set_log(round % 3, count_line, NULL, count_destroy)))
            break;
        if (!GO(bw_device_open("{\"state_dir\":\":memory:\",\"follow_system\":false}", &other)))
            break;
        add(&taken);
        if (!GO(bw_device_subscribe(other, "*", count_event, NULL, count_destroy, NULL))
            || !GO(bw_device_post(other, "host.hammer", "{}")) || !GO(bw_device_dispatch(other))
            || !GO(bw_device_close(other)))
            break;
        if (bw_device_dispatch(other) != BW_E_HANDLE)
            add(&wrong);
        next(&round);
    }
    return NULL;
}

static void *close_device(void *context)
{
    *(bw_status *)context = bw_device_close(device);
    return NULL;
}

static int all_ready(void)
{
    int64_t deadline = monotonic_ms() + within(40000);
    while (get(&ready) < THREADS && monotonic_ms() < deadline) {
        struct timespec pause = {0, 2000000};
        nanosleep(&pause, NULL);
    }
    return get(&ready) == THREADS;
}

static void seven_threads(void)
{
    void *(*const bodies[THREADS])(void *) = {dispatch_device, dispatch_desktop, subscribe_and_end, post,
                                              push_and_ask,    look,             open_others};
    pthread_t threads[THREADS];
    pthread_t closing;
    bw_status status = BW_E_CLOSED;
    int index;
    /* What is slower only makes fewer. */
    rounds = 40 / check_scale() + 4;
    desktop = open_desktop(":memory:");
    device = open_device(":memory:");
    if (pair(device, desktop)) {
        for (index = 0; index < THREADS; index++)
            CHECK_NUMBER(pthread_create(&threads[index], NULL, bodies[index], NULL), 0);
        CHECK(all_ready(), "all threads get on");
        CHECK_NUMBER(pthread_create(&closing, NULL, close_device, &status), 0);
        CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
        pthread_join(closing, NULL);
        CHECK_NUMBER(status, BW_OK);
        __atomic_store_n(&closed, 1, __ATOMIC_SEQ_CST);
        for (index = 0; index < THREADS; index++)
            pthread_join(threads[index], NULL);
    }
    CHECK_STATUS(bw_set_log(BW_LOG_INFO, NULL, NULL, NULL), BW_OK);
    CHECK_NUMBER(wrong, 0);
    CHECK_NUMBER(completions, begun);
    CHECK_NUMBER(destroys, taken);
    CHECK(events > 0 && begun > 0, "events and completions came");
}

/* ---- forks under load ---------------------------------------------------------------------------------------- */

static int child_under_load(void)
{
    char *json = NULL;
    int status;
    alarm((unsigned)within(20000) / 1000);
    /* The number tells which call it was. */
    status = bw_device_state(device, &json) != BW_E_FORKED                                               ? 1
        : bw_device_dispatch(device) != BW_E_FORKED                                                      ? 2
        : bw_desktop_notify(desktop, "{\"title\":\"t\",\"body\":\"b\"}", 1000, &json) != BW_E_FORKED     ? 3
        : bw_set_log(BW_LOG_INFO, NULL, NULL, NULL) != BW_E_FORKED                                       ? 4
        : bw_device_close(device) != BW_E_FORKED                                                         ? 5
                                                                                                         : 0;
    bw_free(bw_last_error());
    return status;
}

/* Locks of the library and of malloc are held by other threads at most of these forks. */
static void forks_under_load(void)
{
    void *(*const bodies[])(void *) = {dispatch_device, dispatch_desktop, post, push_and_ask, look};
    enum { LOAD = sizeof bodies / sizeof bodies[0] };
    pthread_t threads[LOAD];
    int index;
    int bad = 0;
    ready = completions = begun = destroys = taken = wrong = 0;
    rounds = 5;
    desktop = open_desktop(":memory:");
    device = open_device(":memory:");
    if (!pair(device, desktop))
        return;
    for (index = 0; index < LOAD; index++)
        CHECK_NUMBER(pthread_create(&threads[index], NULL, bodies[index], NULL), 0);
    for (index = 0; index < 100 / check_scale() && bad == 0; index++)
        bad = in_child(child_under_load);
    CHECK_NUMBER(bad, 0);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    for (index = 0; index < LOAD; index++)
        pthread_join(threads[index], NULL);
    CHECK_NUMBER(wrong, 0);
    CHECK_NUMBER(completions, begun);
    CHECK_NUMBER(destroys, taken);
}

int main(int argc, char **argv)
{
    RUN(seven_threads);
    RUN(forks_under_load);
    return check_end();
}
