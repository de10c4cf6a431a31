/*
 * A hostile host: leaves every kind of callback in every way it can (longjmp, a C++ exception, pthread_exit), closes the
 * handle or ends the subscription in it, and forks in it. Afterwards the handle works, or is closed, and each destroy
 * has run once.
 */
#include "roles.h"

#include <setjmp.h>

enum kind { EVENT, COMPLETION, DESTROY, LOG, AUTHORIZE, PRESENT, WILL_PRESENT, KINDS };
enum way { JUMPS, THROWS, EXITS_THREAD, CLOSES, ENDS_ITSELF, FORKS, WAYS };

static const char *const kind_names[KINDS] = {"event", "completion", "destroy", "log", "authorize", "present",
                                              "will_present"};
static const char *const way_names[WAYS] = {"longjmp", "exception", "pthread_exit", "close", "end of itself", "fork"};

static struct {
    bw_device *device;
    bw_desktop *desktop; /* what it does is in the log */
    enum kind kind;
    enum way way;
    int armed; /* the next callback of that kind does it */
    int calls, destroys, afterwards;
    int status; /* of what it called inside */
    bw_subscription subscription;
    jmp_buf back;
} host;

static void count_destroy(void *user_data)
{
    (void)user_data;
    host.destroys++;
}

/* A child of a fork inside a callback: every call is refused, and its end touches nothing. */
static int child_in_callback(void)
{
    char *json = NULL;
    if (bw_device_dispatch(host.device) != BW_E_FORKED || bw_device_state(host.device, &json) != BW_E_FORKED)
        return 1;
    return bw_device_close(host.device) == BW_E_FORKED ? 0 : 2;
}

static void end_itself(void)
{
    switch (host.kind) {
    case EVENT: host.status = bw_device_unsubscribe(host.device, host.subscription); break;
    case LOG: host.status = bw_set_log(BW_LOG_DEBUG, NULL, NULL, NULL); break;
    case AUTHORIZE: host.status = bw_alerts_on_authorize(host.device, NULL, NULL, NULL); break;
    case PRESENT: host.status = bw_alerts_on_present(host.device, NULL, NULL, NULL); break;
    case WILL_PRESENT: host.status = bw_alerts_on_will_present(host.device, NULL, NULL, NULL); break;
    case COMPLETION:
    case DESTROY:
    case KINDS: host.status = BW_OK; break; /* they end by themselves */
    }
}

static void misbehave(enum kind kind)
{
    if (kind != host.kind || !host.armed)
        return;
    host.armed = 0;
    host.calls++;
    switch (host.way) {
    case JUMPS: longjmp(host.back, 1);
    case THROWS:
#ifdef __cplusplus
        throw 7;
#endif
    case WAYS: break;
    case EXITS_THREAD: pthread_exit(NULL);
    case CLOSES: host.status = bw_device_close(host.device); break;
    case ENDS_ITSELF: end_itself(); break;
    case FORKS: host.status = in_child(child_in_callback); break;
    }
}

static void on_event(void *user_data, const char *event, const char *event_json)
{
    (void)user_data, (void)event_json;
    if (strcmp(event, "host.afterwards") == 0)
        host.afterwards++;
    else
        misbehave(EVENT);
}

static void on_completion(void *user_data, bw_status status, const char *json)
{
    (void)user_data, (void)status, (void)json;
    misbehave(COMPLETION);
}

static void on_destroy(void *user_data)
{
    count_destroy(user_data);
    misbehave(DESTROY);
}

static void on_log(void *user_data, int32_t level, const char *message)
{
    (void)user_data, (void)level, (void)message;
    misbehave(LOG);
}

static void on_authorize(void *user_data, const char *request_json)
{
    (void)user_data, (void)request_json;
    misbehave(AUTHORIZE);
}

static int32_t on_present(void *user_data, const char *alert_json)
{
    (void)user_data, (void)alert_json;
    misbehave(PRESENT);
    return 0;
}

static int32_t on_will_present(void *user_data, const char *alert_json)
{
    (void)user_data, (void)alert_json;
    misbehave(WILL_PRESENT);
    return BW_PRESENT_ALL;
}

/* How many destroys belong to the host; all must have run when the device is closed. */
static int destroys_expected;

static void host_begin(enum kind kind, enum way way)
{
    memset(&host, 0, sizeof host);
    host.kind = kind;
    host.way = way;
    destroys_expected = 0;
    if (kind == LOG) {
        CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, on_log, NULL, count_destroy), BW_OK);
        destroys_expected++;
    }
    CHECK_STATUS(bw_device_open("{\"state_dir\":\":memory:\",\"alerts\":\"host\",\"follow_system\":false,"
                                "\"relay_url\":\"ws://127.0.0.1:1\"}",
                                &host.device),
                 BW_OK);
    CHECK_STATUS(bw_device_subscribe(host.device, "host.test", on_event, NULL, count_destroy, &host.subscription), BW_OK);
    CHECK_STATUS(bw_device_subscribe(host.device, "host.afterwards", on_event, NULL, count_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_alerts_on_present(host.device, on_present, NULL, count_destroy), BW_OK);
    destroys_expected += 3;
    CHECK_STATUS(bw_device_start(host.device), BW_OK);
    if (kind == AUTHORIZE) {
        CHECK_STATUS(bw_alerts_on_authorize(host.device, on_authorize, NULL, count_destroy), BW_OK);
        destroys_expected++;
    } else {
        CHECK_STATUS(bw_alerts_authorize(host.device, "authorized", 0), BW_OK);
    }
    if (kind == WILL_PRESENT) {
        CHECK_STATUS(bw_alerts_on_will_present(host.device, on_will_present, NULL, count_destroy), BW_OK);
        CHECK_STATUS(bw_alerts_in_front(host.device, 1), BW_OK);
        destroys_expected++;
    }
}

/* Makes the library call that kind of callback soon. */
static void cause(void)
{
    host.armed = 1;
    switch (host.kind) {
    case EVENT: CHECK_STATUS(bw_device_post(host.device, "host.test", "{}"), BW_OK); break;
    case COMPLETION:
    case DESTROY:
        CHECK_STATUS(bw_pairing_scan_async(host.device, "no JSON", 1000, on_completion, NULL, on_destroy), BW_OK);
        destroys_expected++;
        break;
    case LOG:
        host.desktop = open_desktop(":memory:");
        CHECK_STATUS(bw_desktop_start(host.desktop), BW_OK);
        break;
    case AUTHORIZE:
        CHECK_STATUS(bw_alerts_request_async(host.device, NULL, 60000, on_completion, NULL, count_destroy), BW_OK);
        destroys_expected++;
        break;
    case PRESENT:
    case WILL_PRESENT: CHECK_STATUS(bw_reminder_add(host.device, "{\"title\":\"now\"}", NULL), BW_OK); break;
    case KINDS: break;
    }
}

/* Dispatches until the callback has run; lines of the log make no descriptor readable. */
static void dispatch_until_called(void)
{
    int64_t deadline = monotonic_ms() + within(20000);
    while (host.calls == 0 && monotonic_ms() < deadline) {
        struct pollfd fd;
        fd.fd = bw_device_fd(host.device);
        fd.events = POLLIN;
        poll(&fd, 1, 20);
        bw_device_dispatch(host.device);
    }
}

static void *dispatch_here(void *context)
{
    (void)context;
    if (host.way == THROWS) {
#ifdef __cplusplus
        try {
            dispatch_until_called();
        } catch (int) {
        }
#endif
    } else if (setjmp(host.back) == 0) {
        dispatch_until_called();
    }
    return NULL;
}

static int was_afterwards(void *context)
{
    (void)context;
    return host.afterwards > 0;
}

static void misbehaves(enum kind kind, enum way way)
{
    char what[96];
    snprintf(what, sizeof what, "%s in %s: the callback ran", way_names[way], kind_names[kind]);
    host_begin(kind, way);
    cause();
    if (way == EXITS_THREAD) {
        pthread_t thread;
        CHECK_NUMBER(pthread_create(&thread, NULL, dispatch_here, NULL), 0);
        pthread_join(thread, NULL);
    } else {
        dispatch_here(NULL);
    }
    check_record(host.calls == 1, __LINE__, what, NULL);
    CHECK_NUMBER(host.status, BW_OK);
    if (way == CLOSES) {
        CHECK_STATUS(bw_device_dispatch(host.device), BW_E_HANDLE);
    } else {
        CHECK_STATUS(bw_device_post(host.device, "host.afterwards", "{}"), BW_OK);
        CHECK(dispatch_until(only_device(host.device), was_afterwards, NULL, 10000), "the handle works afterwards");
        CHECK_STATUS(bw_device_close(host.device), BW_OK);
    }
    if (kind == LOG) {
        CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, NULL, NULL, NULL), BW_OK);
        CHECK_STATUS(bw_desktop_close(host.desktop), BW_OK);
    }
    CHECK_NUMBER(host.destroys, destroys_expected);
}

static void every_kind(enum way way)
{
    int kind;
    for (kind = EVENT; kind < KINDS; kind++)
        misbehaves((enum kind)kind, way);
}

static void longjmp_out_of_each(void) { every_kind(JUMPS); }
#ifdef __cplusplus
static void exception_out_of_each(void) { every_kind(THROWS); }
#endif
static void pthread_exit_in_each(void) { every_kind(EXITS_THREAD); }
static void close_in_each(void) { every_kind(CLOSES); }
static void end_itself_in_each(void) { every_kind(ENDS_ITSELF); }
static void fork_in_each(void) { every_kind(FORKS); }

int main(int argc, char **argv)
{
    RUN(longjmp_out_of_each);
#ifdef __cplusplus
    RUN(exception_out_of_each);
#endif
    RUN(pthread_exit_in_each);
    RUN(close_in_each);
    RUN(end_itself_in_each);
    RUN(fork_in_each);
    return check_end();
}
