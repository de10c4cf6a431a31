/* The library section, the QR code, and what every handle function does with a handle that is none. */
#include "roles.h"

static void versions(void)
{
    CHECK_TEXT(bw_version(), BW_VERSION);
    CHECK(bw_abi_version() >= BW_ABI_VERSION, "the library is at least as new as the header");
    CHECK(bw_version() == bw_version(), "the version is static");
}

static void status_names(void)
{
    /* The numbers as they were published: those of the header may not differ from them, in any later release. */
    static const struct {
        bw_status status;
        int32_t published;
        const char *name;
    } all[] = {
        {BW_OK, 0, "BW_OK"},
        {BW_QUEUED, 1, "BW_QUEUED"},
        {BW_E_INVALID, -1, "BW_E_INVALID"},
        {BW_E_HANDLE, -2, "BW_E_HANDLE"},
        {BW_E_BUSY, -3, "BW_E_BUSY"},
        {BW_E_OFFLINE, -4, "BW_E_OFFLINE"},
        {BW_E_TIMEOUT, -5, "BW_E_TIMEOUT"},
        {BW_E_REMOTE, -6, "BW_E_REMOTE"},
        {BW_E_PROTOCOL, -7, "BW_E_PROTOCOL"},
        {BW_E_DENIED, -8, "BW_E_DENIED"},
        {BW_E_UNSUPPORTED, -9, "BW_E_UNSUPPORTED"},
        {BW_E_STORE, -10, "BW_E_STORE"},
        {BW_E_CLOSED, -11, "BW_E_CLOSED"},
        {BW_E_FORKED, -12, "BW_E_FORKED"},
        {BW_E_NO_MEMORY, -13, "BW_E_NO_MEMORY"},
        {BW_E_IO, -14, "BW_E_IO"},
        {BW_E_NETWORK, -15, "BW_E_NETWORK"},
        {BW_E_PAIRING, -16, "BW_E_PAIRING"},
        {BW_E_NOT_FOUND, -17, "BW_E_NOT_FOUND"},
        {BW_E_LIMIT, -18, "BW_E_LIMIT"},
    };
    size_t index;
    for (index = 0; index < sizeof all / sizeof *all; index++) {
        CHECK_NUMBER(all[index].status, all[index].published);
        CHECK_TEXT(bw_status_name(all[index].published), all[index].name);
    }
    CHECK_TEXT(bw_status_name(2), "unknown");
    CHECK_TEXT(bw_status_name(-19), "unknown");
    CHECK_TEXT(bw_status_name(INT32_MIN), "unknown");
    CHECK_TEXT(bw_status_name(INT32_MAX), "unknown");
}

static void *last_error_of_another(void *unused)
{
    (void)unused;
    return bw_last_error();
}

/* Runs first: no call of this thread has failed yet. */
static void last_error(void)
{
    char *first = bw_last_error();
    char *second;
    bw_device *device = NULL;
    pthread_t thread;
    void *of_another = &thread;
    CHECK(first == NULL, "there is no last error before a call failed");
    bw_free(first);
    bw_free(NULL);

    CHECK_STATUS(bw_device_open("{\"no_such_option\":1}", &device), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "no_such_option");
    CHECK(device == NULL, "a call that fails leaves its output as it was");
    first = bw_last_error();
    second = bw_last_error();
    CHECK(first != NULL && second != NULL && first != second && strcmp(first, second) == 0,
          "each call gives a copy of the last error");
    bw_free(first);
    bw_free(second);

    CHECK_STATUS(bw_device_open("{\"state_dir\":\":memory:\"}", &device), BW_OK);
    CHECK_ERROR(BW_E_INVALID, "no_such_option");
    CHECK_STATUS(bw_device_close(device), BW_OK);

    CHECK(pthread_create(&thread, NULL, last_error_of_another, NULL) == 0, "a thread starts");
    pthread_join(thread, &of_another);
    CHECK(of_another == NULL, "the last error is the thread's own");

    CHECK_STATUS(bw_device_start(device), BW_E_HANDLE);
    CHECK_ERROR(BW_E_HANDLE, "");
}

struct log {
    int lines;
    int destroyed;
    pthread_t thread;
    int level;
    struct log *next;
};

static void log_line(void *user_data, int32_t level, const char *message)
{
    struct log *log = (struct log *)user_data;
    log->lines += message != NULL && *message != 0;
    log->level = level;
    log->thread = pthread_self();
}

static void log_destroy(void *user_data)
{
    ((struct log *)user_data)->destroyed++;
}

static int logged(void *context)
{
    return ((struct log *)context)->lines > 0;
}

/* Takes one line, and leaves the rest to the next callback. */
static void log_once(void *user_data, int32_t level, const char *message)
{
    struct log *log = (struct log *)user_data;
    log_line(log, level, message);
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, log_line, log->next, log_destroy), BW_OK);
}

/* Replaced inside its own callback: no line of the batch is lost. */
static void logs_replaced_inside(void)
{
    struct log first, second;
    bw_desktop *desktop;
    char *state, *route;
    int is_online = 0, tries;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    first.next = &second;
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, NULL, NULL, NULL), BW_OK);
    /* On its way there it logs some lines, which wait in the ring. */
    desktop = open_desktop(":memory:");
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    for (tries = 0; tries < 500 && !is_online; tries++) {
        CHECK_STATUS(bw_desktop_state(desktop, &state), BW_OK);
        CHECK_STATUS(bw_json_text(state, "/connection/0/state", &route), BW_OK);
        is_online = strcmp(route, "online") == 0;
        bw_free(route);
        bw_free(state);
        if (!is_online) usleep(20000);
    }
    CHECK(is_online, "the desktop is at its own relay");
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, log_once, &first, log_destroy), BW_OK);
    CHECK(dispatch_until(only_desktop(desktop), logged, &second, 10000), "the rest is handed to the next callback");
    CHECK_NUMBER(first.lines, 1);
    CHECK_NUMBER(first.destroyed, 1);
    CHECK_STATUS(bw_set_log(BW_LOG_ERROR, NULL, NULL, NULL), BW_OK);
    CHECK_NUMBER(second.destroyed, 1);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

static void logs(void)
{
    struct log first, second;
    bw_desktop *desktop;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    CHECK_STATUS(bw_set_log(BW_LOG_ERROR + 1, log_line, &first, log_destroy), BW_E_INVALID);
    CHECK_NUMBER(first.destroyed, 1);
    CHECK_STATUS(bw_set_log(-1, log_line, &first, log_destroy), BW_E_INVALID);
    CHECK_NUMBER(first.destroyed, 2);

    first.destroyed = 0;
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, log_line, &first, log_destroy), BW_OK);
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, log_line, &second, log_destroy), BW_OK);
    CHECK_NUMBER(first.destroyed, 1);
    CHECK_NUMBER(second.destroyed, 0);

    desktop = open_desktop(":memory:");
    CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
    CHECK(dispatch_until(only_desktop(desktop), logged, &second, 10000), "dispatch hands over lines of the log");
    CHECK(pthread_equal(second.thread, pthread_self()), "on the thread that dispatches");
    CHECK_NUMBER(first.lines, 0);
    CHECK_STATUS(bw_set_log(BW_LOG_ERROR, NULL, NULL, NULL), BW_OK);
    CHECK_NUMBER(second.destroyed, 1);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_NUMBER(second.destroyed, 1);
}

static void json(void)
{
    static const char *event = "{\"data\":{\"title\":\"T\\u00e9a\",\"a/b~c\":[10,{\"x\":true}],\"nul\":\"a\\u0000b\",\"none\":null,"
                               "\"big\":9007199254740993,\"real\":2.9,\"far\":1e300},\"0\":\"zero\"}";
    static const char *broken[] = {"data", "/data/~2", "/data/~", "x/data"};
    static const char *absent[] = {"/date", "/data/title/0", "/data/a~1b~0c/2", "/data/a~1b~0c/-1", "/data/a~1b~0c/00",
                                   "/data/a~1b~0c/99999999999999999999", "/", "/data/"};
    char *text = NULL;
    int64_t number = 7;
    size_t index;
    CHECK_STATUS(bw_json_text(event, "/data/title", &text), BW_OK);
    CHECK_TEXT(text, "T\303\251a");
    bw_free(text);
    CHECK_STATUS(bw_json_text(event, "/data/nul", &text), BW_OK);
    CHECK_TEXT(text, "a\357\277\275b");
    bw_free(text);
    CHECK_STATUS(bw_json_text(event, "/data/a~1b~0c", &text), BW_OK);
    CHECK_TEXT(text, "[10,{\"x\":true}]");
    bw_free(text);
    CHECK_STATUS(bw_json_text(event, "/data/none", &text), BW_OK);
    CHECK_TEXT(text, "null");
    bw_free(text);
    CHECK_STATUS(bw_json_text("\"whole\"", "", &text), BW_OK);
    CHECK_TEXT(text, "whole");
    bw_free(text);
    CHECK_STATUS(bw_json_text(event, "/0", &text), BW_OK);
    CHECK_TEXT(text, "zero");
    bw_free(text);
    text = NULL;

    CHECK_STATUS(bw_json_integer(event, "/data/big", &number), BW_OK);
    CHECK(number == INT64_C(9007199254740993), "an integer keeps all its bits");
    CHECK_STATUS(bw_json_integer(event, "/data/real", &number), BW_OK);
    CHECK_NUMBER(number, 2);
    CHECK_STATUS(bw_json_integer(event, "/data/a~1b~0c/1/x", &number), BW_OK);
    CHECK_NUMBER(number, 1);
    CHECK_STATUS(bw_json_integer(event, "/data/a~1b~0c/0", &number), BW_OK);
    CHECK_NUMBER(number, 10);
    CHECK_STATUS(bw_json_integer(event, "/data/far", &number), BW_E_INVALID);
    CHECK_STATUS(bw_json_integer(event, "/data/title", &number), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "bw_json_text");

    for (index = 0; index < sizeof absent / sizeof *absent; index++) {
        CHECK_STATUS(bw_json_text(event, absent[index], &text), BW_E_NOT_FOUND);
        CHECK_STATUS(bw_json_integer(event, absent[index], &number), BW_E_NOT_FOUND);
    }
    for (index = 0; index < sizeof broken / sizeof *broken; index++) {
        CHECK_STATUS(bw_json_text(event, broken[index], &text), BW_E_INVALID);
        CHECK_ERROR(BW_E_INVALID, "pointer");
    }
    CHECK_STATUS(bw_json_text("{", "/a", &text), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "json");
    CHECK_STATUS(bw_json_text(NULL, "/a", &text), BW_E_INVALID);
    CHECK_STATUS(bw_json_text(event, NULL, &text), BW_E_INVALID);
    CHECK_STATUS(bw_json_text(event, "/data", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_json_integer(event, "/data/big", NULL), BW_E_INVALID);
    CHECK(text == NULL && number == 10, "a call that fails leaves its output as it was");
}

static void qr_terminal(void)
{
    char *drawing = NULL;
    char *plain = NULL;
    char text[2050];
    CHECK_STATUS(bw_qr_terminal("{\"type\":\"desktop-pairing\"}", 0, &drawing), BW_OK);
    CHECK(drawing != NULL && strchr(drawing, '\033') != NULL, "a drawing has colours of its own");
    CHECK_STATUS(bw_qr_terminal("{\"type\":\"desktop-pairing\"}", 1, &plain), BW_OK);
    CHECK(plain != NULL && strchr(plain, '\033') == NULL, "a plain one has none");
    CHECK(plain != NULL && strchr(plain, '\n') != NULL, "it has lines");
    bw_free(drawing);
    bw_free(plain);

    memset(text, 'x', sizeof text);
    text[2049] = 0;
    drawing = NULL;
    CHECK_STATUS(bw_qr_terminal(text, 0, &drawing), BW_E_INVALID);
    CHECK_STATUS(bw_qr_terminal("", 0, &drawing), BW_E_INVALID);
    CHECK_STATUS(bw_qr_terminal(NULL, 0, &drawing), BW_E_INVALID);
    CHECK(drawing == NULL, "a call that fails leaves its output as it was");
    CHECK_STATUS(bw_qr_terminal("x", 0, NULL), BW_E_INVALID);
    text[2048] = 0;
    CHECK_STATUS(bw_qr_terminal(text, 0, &drawing), BW_OK);
    bw_free(drawing);
}

static void qr_images(void)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    const uint8_t grey[4] = {255, 255, 255, 255};
    char *text = NULL;
    uint8_t *png = NULL;
    size_t size = 0;
    CHECK_STATUS(bw_qr_svg("x", &text), BW_OK);
    CHECK(text != NULL && strstr(text, "<svg") != NULL, "it is SVG");
    bw_free(text);
    text = NULL;
    CHECK_STATUS(bw_qr_png("x", 4, &png, &size), BW_OK);
    CHECK(png != NULL && size > 8 && memcmp(png, signature, 8) == 0, "it is PNG");
    bw_free(png);
    png = NULL;
    CHECK_STATUS(bw_qr_svg(NULL, &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_svg("", &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_svg("x", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_qr_png("x", 0, &png, &size), BW_E_INVALID);
    CHECK_STATUS(bw_qr_png("x", 33, &png, &size), BW_E_INVALID);
    CHECK_STATUS(bw_qr_png("x", INT32_MIN, &png, &size), BW_E_INVALID);
    CHECK_STATUS(bw_qr_png(NULL, 1, &png, &size), BW_E_INVALID);
    CHECK_STATUS(bw_qr_png("x", 1, NULL, &size), BW_E_INVALID);
    CHECK_STATUS(bw_qr_png("x", 1, &png, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read(NULL, &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read("/dev/null", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read("/dev/null", &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read("/nonexistent", &text), BW_E_IO);
    CHECK_STATUS(bw_qr_read_pixels(NULL, 2, 2, 2, &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read_pixels(grey, 2, 2, 2, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read_pixels(grey, 0, 2, 2, &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read_pixels(grey, 2, -2, 2, &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read_pixels(grey, 2, 2, 1, &text), BW_E_INVALID);
    CHECK_STATUS(bw_qr_read_pixels(grey, INT32_MAX, INT32_MAX, INT32_MAX, &text), BW_E_LIMIT);
    CHECK_STATUS(bw_qr_read_pixels(grey, 2, 2, 2, &text), BW_E_NOT_FOUND);
    CHECK(text == NULL && png == NULL && size > 0, "a call that fails leaves its output as it was");
}

/* ---- handles ------------------------------------------------------------------------------------------------- */

static void no_event(void *user_data, const char *event, const char *event_json)
{
    (void)user_data;
    (void)event;
    (void)event_json;
    CHECK(0, "no callback of a handle that is none");
}

static int taken;
static int given_back;

static void *user_data(void)
{
    taken++;
    return &taken;
}

static void give_back(void *pointer)
{
    given_back += pointer == &taken;
}

static void complete_never(void *pointer, bw_status status, const char *json)
{
    (void)pointer;
    (void)status;
    (void)json;
    CHECK(0, "no completion of a call that failed at once");
}

#define QR "{\"type\":\"desktop-pairing\"}"
#define PARAMS "{\"title\":\"t\",\"body\":\"b\"}"
#define NONE BW_E_HANDLE

static void device_functions(bw_device *device)
{
    static char untouched;
    char *out = &untouched;
    bw_subscription subscription = 77;
    CHECK_STATUS(bw_device_start(device), NONE);
    CHECK_STATUS(bw_device_stop(device), NONE);
    CHECK_STATUS(bw_device_fd(device), NONE);
    CHECK_STATUS(bw_device_dispatch(device), NONE);
    CHECK_STATUS(bw_device_run(device, 1), NONE);
    CHECK_STATUS(bw_device_quit(device), NONE);
    CHECK_STATUS(bw_device_state(device, &out), NONE);
    CHECK_STATUS(bw_pairing_scan(device, QR, 1000, &out), NONE);
    CHECK_STATUS(bw_pairing_scan_async(device, QR, 1000, complete_never, user_data(), give_back), NONE);
    CHECK_STATUS(bw_pairing_show(device, 1000, &out), NONE);
    CHECK_STATUS(bw_pairing_show_async(device, 1000, complete_never, user_data(), give_back), NONE);
    CHECK_STATUS(bw_pairing_cancel(device, "scan"), NONE);
    CHECK_STATUS(bw_pairing_confirm(device, "show", 1), NONE);
    CHECK_STATUS(bw_pairing_list(device, &out), NONE);
    CHECK_STATUS(bw_notification_send(device, NULL, PARAMS, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_send_async(device, NULL, PARAMS, 1000, complete_never, user_data(), give_back), NONE);
    CHECK_STATUS(bw_notification_send_to_mobile(device, NULL, PARAMS, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_send_to_mobile_async(device, NULL, PARAMS, 1000, complete_never, user_data(),
                                                      give_back),
                 NONE);
    CHECK_STATUS(bw_notification_broadcast(device, NULL, PARAMS, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_broadcast_async(device, NULL, PARAMS, 1000, complete_never, user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_get_history(device, NULL, NULL, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_get_history_async(device, NULL, NULL, 1000, complete_never, user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_mark_as_read(device, NULL, "{\"notificationId\":\"n\"}", 1000, &out), NONE);
    CHECK_STATUS(bw_notification_mark_as_read_async(device, NULL, "{\"notificationId\":\"n\"}", 1000, complete_never,
                                                    user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_mark_all_as_read(device, NULL, NULL, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_mark_all_as_read_async(device, NULL, NULL, 1000, complete_never,
                                                        user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_delete(device, NULL, "{\"notificationId\":\"n\"}", 1000, &out), NONE);
    CHECK_STATUS(bw_notification_delete_async(device, NULL, "{\"notificationId\":\"n\"}", 1000, complete_never,
                                              user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_clear_all(device, NULL, NULL, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_clear_all_async(device, NULL, NULL, 1000, complete_never, user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_get_settings(device, NULL, NULL, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_get_settings_async(device, NULL, NULL, 1000, complete_never, user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_update_settings(device, NULL, "{\"enabled\":true}", 1000, &out), NONE);
    CHECK_STATUS(bw_notification_update_settings_async(device, NULL, "{\"enabled\":true}", 1000, complete_never,
                                                       user_data(), give_back),
                 NONE);
    CHECK_STATUS(bw_notification_get_unread_count(device, NULL, NULL, 1000, &out), NONE);
    CHECK_STATUS(bw_notification_get_unread_count_async(device, NULL, NULL, 1000, complete_never, user_data(),
                                                        give_back),
                 NONE);
    CHECK_STATUS(bw_device_invoke(device, NULL, "a.b", NULL, 1000, &out), NONE);
    CHECK_STATUS(bw_device_invoke_async(device, NULL, "a.b", NULL, 1000, complete_never, user_data(), give_back), NONE);
    CHECK_STATUS(bw_device_subscribe(device, "*", no_event, user_data(), give_back, &subscription), NONE);
    CHECK_STATUS(bw_device_unsubscribe(device, 1), NONE);
    CHECK_STATUS(bw_device_close(device), NONE);
    CHECK(out == &untouched && subscription == 77, "no output was written");
}

static void desktop_functions(bw_desktop *desktop)
{
    static char untouched;
    char *out = &untouched;
    bw_subscription subscription = 77;
    CHECK_STATUS(bw_desktop_start(desktop), NONE);
    CHECK_STATUS(bw_desktop_stop(desktop), NONE);
    CHECK_STATUS(bw_desktop_fd(desktop), NONE);
    CHECK_STATUS(bw_desktop_dispatch(desktop), NONE);
    CHECK_STATUS(bw_desktop_run(desktop, 1), NONE);
    CHECK_STATUS(bw_desktop_quit(desktop), NONE);
    CHECK_STATUS(bw_desktop_state(desktop, &out), NONE);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "*", no_event, user_data(), give_back, &subscription), NONE);
    CHECK_STATUS(bw_desktop_unsubscribe(desktop, 1), NONE);
    CHECK_STATUS(bw_desktop_offer(desktop, 1000, &out), NONE);
    CHECK_STATUS(bw_desktop_offer_async(desktop, 1000, complete_never, user_data(), give_back), NONE);
    CHECK_STATUS(bw_desktop_code(desktop, 1000, &out), NONE);
    CHECK_STATUS(bw_desktop_code_async(desktop, 1000, complete_never, user_data(), give_back), NONE);
    CHECK_STATUS(bw_desktop_pairing_cancel(desktop, "offer"), NONE);
    CHECK_STATUS(bw_desktop_confirm(desktop, NULL, 1), NONE);
    CHECK_STATUS(bw_desktop_devices(desktop, &out), NONE);
    CHECK_STATUS(bw_desktop_seal_push(desktop, "d", "n", NULL, &out), NONE);
    CHECK_STATUS(bw_desktop_notify(desktop, PARAMS, 1000, &out), NONE);
    CHECK_STATUS(bw_desktop_history(desktop, NULL, &out), NONE);
    CHECK_STATUS(bw_desktop_invoke(desktop, "notification.clearAll", NULL, 1000, &out), NONE);
    CHECK_STATUS(bw_desktop_invoke_async(desktop, "notification.clearAll", NULL, 1000, complete_never, user_data(),
                                         give_back),
                 NONE);
    CHECK_STATUS(bw_desktop_close(desktop), NONE);
    CHECK(out == &untouched && subscription == 77, "no output was written");
}

static void relay_functions(bw_relay *relay)
{
    static char untouched;
    char *out = &untouched;
    bw_subscription subscription = 77;
    CHECK_STATUS(bw_relay_start(relay), NONE);
    CHECK_STATUS(bw_relay_stop(relay), NONE);
    CHECK_STATUS(bw_relay_fd(relay), NONE);
    CHECK_STATUS(bw_relay_dispatch(relay), NONE);
    CHECK_STATUS(bw_relay_run(relay, 1), NONE);
    CHECK_STATUS(bw_relay_quit(relay), NONE);
    CHECK_STATUS(bw_relay_subscribe(relay, "*", no_event, user_data(), give_back, &subscription), NONE);
    CHECK_STATUS(bw_relay_unsubscribe(relay, 1), NONE);
    CHECK_STATUS(bw_relay_state(relay, &out), NONE);
    CHECK_STATUS(bw_relay_close(relay), NONE);
    CHECK(out == &untouched && subscription == 77, "no output was written");
}

static void null_handles(void)
{
    device_functions(NULL);
    desktop_functions(NULL);
    relay_functions(NULL);
    CHECK_NUMBER(given_back, taken);
}

static void closed_handles(void)
{
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    bw_relay *relay = open_relay();
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    device_functions(device);
    desktop_functions(desktop);
    relay_functions(relay);
    CHECK_NUMBER(given_back, taken);
}

static void handles_of_another_kind(void)
{
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    bw_relay *relay = open_relay();
    device_functions((bw_device *)desktop);
    device_functions((bw_device *)relay);
    desktop_functions((bw_desktop *)device);
    relay_functions((bw_relay *)device);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    CHECK_NUMBER(given_back, taken);
}

static void handles_from_nowhere(void)
{
    int here = 0;
    device_functions((bw_device *)&here);
    desktop_functions((bw_desktop *)(uintptr_t)UINTPTR_MAX);
    relay_functions((bw_relay *)(uintptr_t)1);
    CHECK_NUMBER(given_back, taken);
}

/* A new handle never has the value of one that was closed. */
static void closed_handles_stay_closed(void)
{
    bw_device *first = open_device(":memory:");
    bw_device *second;
    CHECK_STATUS(bw_device_close(first), BW_OK);
    second = open_device(":memory:");
    CHECK(first != second, "a new handle is another than the closed one");
    CHECK_STATUS(bw_device_stop(first), BW_E_HANDLE);
    CHECK_STATUS(bw_device_close(second), BW_OK);
}

/* ---- parameters ---------------------------------------------------------------------------------------------- */

static void outputs_that_are_null(void)
{
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    bw_relay *relay = open_relay();
    CHECK_STATUS(bw_device_open("{\"state_dir\":\":memory:\"}", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_open("{\"state_dir\":\":memory:\"}", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_relay_open("{}", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_device_state(device, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_state(desktop, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_relay_state(relay, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_pairing_list(device, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_devices(desktop, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_history(desktop, NULL, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_invoke(desktop, NULL, NULL, 1000, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_invoke(desktop, "notification.clearAll", NULL, 0, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_invoke(desktop, "notification.sing", NULL, 1000, NULL), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_desktop_invoke(desktop, "notification.clearAll", NULL, 1000, NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
}

/* Each is refused before anything is looked up or sent, and the detail names the field. */
/* What a sender makes up is kept, and stands in answers to others, who read no more than so deep. */
static void deep_parameters(void)
{
    enum { limit = 64 };
    char params[8 * (limit + 1)];
    bw_device *device = open_device(":memory:");
    int levels, index;
    for (levels = limit; levels <= limit + 1; levels++) {
        strcpy(params, "");
        for (index = 0; index < levels; index++) strcat(params, "{\"k\":");
        strcat(params, "1");
        for (index = 0; index < levels; index++) strcat(params, "}");
        CHECK_STATUS(bw_device_invoke(device, NULL, "a.b", params, 1000, NULL),
                     levels == limit ? BW_E_NOT_FOUND : BW_E_INVALID);
    }
    CHECK_ERROR(BW_E_INVALID, "64 levels deep");
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

static void parameters_of_methods(void)
{
    static const struct {
        bw_status (*call)(bw_device *, const char *, const char *, int32_t, char **);
        const char *params;
        const char *field;
    } refused[] = {
        {bw_notification_get_history, "{\"query\":7}", "query"},
        {bw_notification_get_history, "{\"priority\":\"loud\"}", "priority"},
        {bw_notification_get_history, "{\"source\":\"moon\"}", "source"},
        {bw_notification_get_history, "{\"since\":-1}", "since"},
        {bw_notification_get_history, "{\"until\":\"now\"}", "until"},
        {bw_notification_get_history, "{\"sort\":\"title\"}", "sort"},
        {bw_notification_get_history, "{\"before\":\"\"}", "before"},
        {bw_notification_get_history, "{\"before\":\"n\",\"offset\":1}", "offset"},
        {bw_notification_mark_all_as_read, "{\"id\":1}", "id"},
        {bw_notification_delete, "{}", "notificationId"},
        {bw_notification_delete, "{\"notificationId\":\"\"}", "notificationId"},
        {bw_notification_clear_all, "{\"all\":true}", "all"},
        {bw_notification_get_settings, "{\"x\":1}", "x"},
        {bw_notification_update_settings, "{}", "no settings given"},
        {bw_notification_update_settings, "{\"quietHoursStart\":\"24:00\"}", "quietHoursStart"},
        {bw_notification_update_settings, "{\"enabled\":1}", "enabled"},
        {bw_notification_update_settings, "{\"retentionRows\":-1}", "retentionRows"},
        {bw_notification_update_settings, "{\"volume\":3}", "volume"},
    };
    bw_device *device = open_device(":memory:");
    char *result = NULL;
    int before = given_back;
    size_t index;
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"\",\"body\":\"b\"}", 1000, &result), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "title");
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"body\":\"b\"}", 1000, &result), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "title");
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"t\",\"body\":5}", 1000, &result), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "body");
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"t\",\"body\":\"b\",\"priority\":\"loud\"}", 1000,
                                      &result),
                 BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "priority");
    CHECK_STATUS(bw_notification_send(device, NULL, "[]", 1000, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_send(device, NULL, "{", 1000, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_send(device, NULL, NULL, 1000, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_send(device, NULL, PARAMS, 0, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_send(device, NULL, PARAMS, -1, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_send(device, NULL, PARAMS, 600001, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_get_history(device, NULL, "{\"limit\":0}", 1000, &result), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "limit");
    CHECK_STATUS(bw_notification_get_history(device, NULL, "{\"limit\":501}", 1000, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_get_history(device, NULL, "{\"offset\":-1}", 1000, &result), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "offset");
    CHECK_STATUS(bw_notification_mark_as_read(device, NULL, "{}", 1000, &result), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "notificationId");
    for (index = 0; index < sizeof refused / sizeof *refused; index++) {
        CHECK_STATUS(refused[index].call(device, NULL, refused[index].params, 1000, &result), BW_E_INVALID);
        CHECK_ERROR(BW_E_INVALID, refused[index].field);
    }
    CHECK_STATUS(bw_notification_update_settings(device, NULL, NULL, 1000, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_clear_all(device, NULL, NULL, 1000, &result), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_notification_update_settings(device, NULL, "{\"enabled\":true,\"revision\":0}", 1000, &result),
                 BW_E_NOT_FOUND);
    CHECK_STATUS(bw_device_invoke(device, NULL, NULL, NULL, 1000, &result), BW_E_INVALID);
    CHECK_STATUS(bw_device_invoke(device, NULL, "", NULL, 1000, &result), BW_E_INVALID);
    CHECK_STATUS(bw_notification_send_async(device, NULL, "{}", 1000, complete_never, user_data(), give_back),
                 BW_E_INVALID);
    CHECK_STATUS(bw_notification_send_async(device, NULL, PARAMS, 1000, NULL, user_data(), give_back), BW_E_INVALID);
    CHECK_NUMBER(given_back - before, 2);

    CHECK_STATUS(bw_notification_send(device, NULL, PARAMS, 1000, &result), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_notification_send(device, "did:key:nobody", PARAMS, 1000, &result), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_notification_send(device, NULL, PARAMS, 1000, NULL), BW_E_NOT_FOUND);
    CHECK(result == NULL, "no output was written");
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

static void subscriptions_that_cannot_be(void)
{
    bw_device *device = open_device(":memory:");
    bw_subscription subscription = 77;
    int before = given_back;
    CHECK_STATUS(bw_device_subscribe(device, "no.such.event", no_event, user_data(), give_back, &subscription),
                 BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "event");
    CHECK_STATUS(bw_device_subscribe(device, NULL, no_event, user_data(), give_back, &subscription), BW_E_INVALID);
    CHECK_STATUS(bw_device_subscribe(device, "*", NULL, user_data(), give_back, &subscription), BW_E_INVALID);
    CHECK_NUMBER(given_back - before, 3);
    CHECK_NUMBER(subscription, 77);
    CHECK_STATUS(bw_device_unsubscribe(device, 0), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_device_unsubscribe(device, UINT64_MAX), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_device_subscribe(device, "problem", no_event, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

int main(int argc, char **argv)
{
    RUN(last_error);
    RUN(versions);
    RUN(status_names);
    RUN(logs);
    RUN(logs_replaced_inside);
    RUN(json);
    RUN(qr_terminal);
    RUN(qr_images);
    RUN(null_handles);
    RUN(closed_handles);
    RUN(handles_of_another_kind);
    RUN(handles_from_nowhere);
    RUN(closed_handles_stay_closed);
    RUN(outputs_that_are_null);
    RUN(parameters_of_methods);
    RUN(deep_parameters);
    RUN(subscriptions_that_cannot_be);
    return check_end();
}
