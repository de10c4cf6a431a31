/* Alerts that the program shows itself, reminders, and what a push service brings: each function, each named error; the
 * callbacks that the library asks, and what may be done inside them. */
#include "roles.h"

#include <sys/resource.h>

static bw_device *open_with(const char *state_dir, const char *alerts)
{
    char options[512];
    bw_device *device = NULL;
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.300s\",\"name\":\"test device\",\"alerts\":\"%s\",\"follow_system\":false}", state_dir,
             alerts);
    CHECK_STATUS(bw_device_open(options, &device), BW_OK);
    return device;
}

/* ---- callbacks that are asked -------------------------------------------------------------------------------- */

struct hook;
typedef void (*hook_action)(struct hook *hook, const char *id);

/* One of the three callbacks: how it was asked and ended, what it returns, and what it does. */
struct hook {
    bw_device *device;
    int calls;
    int withdrawn;
    int destroyed;
    int is_inside;
    int destroyed_inside;
    int32_t answer;
    hook_action action;
    bw_status status; /* of what the action called */
    char id[64];      /* of the last alert, and its desktop */
    char desktop[64];
    char last[2000];
    struct hook *next;
    int wanted;
};

static int32_t hook_called(void *user_data, const char *json)
{
    struct hook *hook = (struct hook *)user_data;
    json_t *value = json_loads(json, 0, NULL);
    json_t *alert = json_object_get(value, "alert");
    const char *id = json_string_value(json_object_get(alert, "id"));
    const char *desktop = json_string_value(json_object_get(value, "desktop"));
    if (value == NULL)
        CHECK(0, "a question is JSON");
    if (json_is_true(json_object_get(value, "withdraw"))) {
        hook->withdrawn++;
        json_decref(value);
        return hook->answer;
    }
    snprintf(hook->id, sizeof hook->id, "%.60s", id != NULL ? id : "");
    snprintf(hook->desktop, sizeof hook->desktop, "%.60s", desktop != NULL ? desktop : "");
    snprintf(hook->last, sizeof hook->last, "%.1900s", json);
    hook->calls++;
    hook->is_inside = 1;
    if (hook->action != NULL)
        hook->action(hook, hook->id);
    hook->is_inside = 0;
    json_decref(value);
    return hook->answer;
}

static void authorize_called(void *user_data, const char *json)
{
    (void)hook_called(user_data, json);
}

static void hook_destroyed(void *user_data)
{
    struct hook *hook = (struct hook *)user_data;
    hook->destroyed++;
    hook->destroyed_inside += hook->is_inside;
}

static struct hook hook_of(bw_device *device, hook_action action, int32_t answer)
{
    struct hook hook;
    memset(&hook, 0, sizeof hook);
    hook.device = device;
    hook.action = action;
    hook.answer = answer;
    hook.status = -100;
    return hook;
}

static int hook_was_called(void *context)
{
    struct hook *hook = (struct hook *)context;
    return hook->calls >= hook->wanted;
}

static int was_called(struct hook *hook, int times)
{
    hook->wanted = times;
    return dispatch_until(only_device(hook->device), hook_was_called, hook, 10000);
}

/* Opened, allowed, started, with a present callback. */
static bw_device *showing_device(struct hook *present, hook_action action)
{
    bw_device *device = open_with(":memory:", "host");
    *present = hook_of(device, action, 0);
    CHECK_STATUS(bw_alerts_on_present(device, hook_called, present, hook_destroyed), BW_OK);
    CHECK_STATUS(bw_alerts_authorize(device, "authorized", 0), BW_OK);
    CHECK_STATUS(bw_device_start(device), BW_OK);
    return device;
}

static const char now_reminder[] = "{\"id\":\"r-1\",\"title\":\"Now\",\"userInfo\":{\"taskID\":7}}";
static const char later_reminder[] = "{\"title\":\"Later\",\"trigger\":{\"type\":\"interval\",\"seconds\":3600}}";
static const char both_push[] = "{\"aps\":{\"content-available\":1,\"alert\":\"Both\"},\"notificationId\":\"s-2\"}";
static const char silent_push[] = "{\"aps\":{\"content-available\":1},\"notificationId\":\"s-1\"}";
static const char plain_push[] = "{\"aps\":{\"alert\":\"A push\"},\"notificationId\":\"p-1\"}";
static const char fcm_push[] = "{\"notification\":{\"title\":\"F\",\"body\":\"B\"},\"data\":{\"a\":\"b\"}}";

/* ---- handles and parameters ---------------------------------------------------------------------------------- */

/* Calls every function with parameters that can be: how many did not give that status, or kept user data. */
static int wrong(bw_device *device, bw_status expected)
{
    static const char *const names[] = {
        "state",   "request",        "request_async", "authorize", "on_authorize",  "on_will_present", "on_present",
        "in_front", "respond",       "categories",    "settings",  "set_settings",  "settings_open",
        "delivered", "remove",       "badge",   "reminder_add",   "reminder_list", "reminder_remove", "reminder_position", "receive", "complete"};
    bw_status got[sizeof names / sizeof names[0]];
    struct hook hook = hook_of(device, NULL, 0);
    struct outcome outcome;
    char *json = NULL;
    size_t count = 0;
    size_t index;
    int bad = 0;
    memset(&outcome, 0, sizeof outcome);
    got[count++] = bw_alerts_state(device, &json);
    got[count++] = bw_alerts_request(device, NULL, 1000, &json);
    got[count++] = bw_alerts_request_async(device, NULL, 1000, complete, &outcome, outcome_destroy);
    got[count++] = bw_alerts_authorize(device, "authorized", 0);
    got[count++] = bw_alerts_on_authorize(device, authorize_called, &hook, hook_destroyed);
    got[count++] = bw_alerts_on_will_present(device, hook_called, &hook, hook_destroyed);
    got[count++] = bw_alerts_on_present(device, hook_called, &hook, hook_destroyed);
    got[count++] = bw_alerts_in_front(device, 1);
    got[count++] = bw_alerts_respond(device, NULL, "id", "default", NULL);
    got[count++] = bw_alerts_categories(device, "[]");
    got[count++] = bw_alerts_settings(device, &json);
    got[count++] = bw_alerts_set_settings(device, "{\"enabled\":true}", &json);
    got[count++] = bw_alerts_settings_open(device);
    got[count++] = bw_alerts_delivered(device, &json);
    got[count++] = bw_alerts_remove(device, NULL, "id", NULL);
    got[count++] = bw_alerts_badge(device, 1);
    got[count++] = bw_reminder_add(device, now_reminder, &json);
    got[count++] = bw_reminder_list(device, &json);
    got[count++] = bw_reminder_remove(device, "id", NULL);
    got[count++] = bw_reminder_position(device, 1.0, 2.0, 0.0);
    got[count++] = bw_device_receive(device, "apns", "{\"aps\":{\"badge\":1}}", &json);
    got[count++] = bw_device_complete(device, "id", "new_data");
    for (index = 0; index < count; index++) {
        if (got[index] == expected)
            continue;
        printf("      %s gave %s\n", names[index], bw_status_name(got[index]));
        bad++;
    }
    if (count != sizeof names / sizeof names[0] || json != NULL || hook.destroyed != 3 || outcome.destroyed != 1
        || outcome.calls != 0 || hook.calls != 0)
        bad++;
    return bad;
}

static void handles(void)
{
    bw_device *device = open_with(":memory:", "host");
    bw_desktop *desktop = open_desktop(":memory:");
    CHECK_NUMBER(wrong(NULL, BW_E_HANDLE), 0);
    CHECK_NUMBER(wrong((bw_device *)desktop, BW_E_HANDLE), 0);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(wrong(device, BW_E_HANDLE), 0);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

static int child_of_a_fork(void)
{
    /* The parent's handle does not matter: the process is looked at first. */
    return wrong(NULL, BW_E_FORKED);
}

static void forks(void)
{
    struct hook present;
    bw_device *device = showing_device(&present, NULL);
    CHECK_NUMBER(in_child(child_of_a_fork), 0);
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    CHECK(was_called(&present, 1), "the parent goes on");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(present.destroyed, 1);
}

/* A call that must be refused, and what the last error must name. */
#define REFUSED(call, part) \
    do { \
        CHECK_STATUS(call, BW_E_INVALID); \
        CHECK_ERROR(BW_E_INVALID, part); \
    } while (0)

static void parameters(void)
{
    char text[80];
    char *json = NULL;
    struct outcome outcome;
    bw_device *device = open_with(":memory:", "host");
    memset(&outcome, 0, sizeof outcome);
    REFUSED(bw_alerts_state(device, NULL), "state_json");
    REFUSED(bw_alerts_request(device, "[]", 1000, &json), "params_json");
    REFUSED(bw_alerts_request(device, "{", 1000, &json), "params_json");
    REFUSED(bw_alerts_request(device, "\xff", 1000, &json), "params_json");
    REFUSED(bw_alerts_request(device, "{\"provisional\":1}", 1000, &json), "provisional");
    REFUSED(bw_alerts_request(device, "{\"bogus\":1}", 1000, &json), "bogus");
    REFUSED(bw_alerts_request(device, NULL, 0, &json), "timeout_ms");
    REFUSED(bw_alerts_request(device, NULL, 600001, &json), "timeout_ms");
    REFUSED(bw_alerts_request_async(device, "[]", 1000, complete, &outcome, outcome_destroy), "params_json");
    REFUSED(bw_alerts_request_async(device, NULL, -1, complete, &outcome, outcome_destroy), "timeout_ms");
    REFUSED(bw_alerts_request_async(device, NULL, 1000, NULL, &outcome, outcome_destroy), "completion");
    CHECK_NUMBER(outcome.destroyed, 3);
    REFUSED(bw_alerts_authorize(device, NULL, 0), "status");
    REFUSED(bw_alerts_authorize(device, "\xff", 0), "status");
    REFUSED(bw_alerts_authorize(device, "maybe", 0), "status");
    REFUSED(bw_alerts_authorize(device, "ephemeral", 0), "until_ms");
    REFUSED(bw_alerts_authorize(device, "ephemeral", -1), "until_ms");
    REFUSED(bw_alerts_authorize(device, "authorized", 1), "until_ms");
    REFUSED(bw_alerts_respond(device, "\xff", "id", "default", NULL), "desktop");
    REFUSED(bw_alerts_respond(device, NULL, NULL, "default", NULL), "id");
    REFUSED(bw_alerts_respond(device, NULL, "id", NULL, NULL), "action");
    REFUSED(bw_alerts_respond(device, NULL, "id", "default", "\xff"), "text");
    REFUSED(bw_alerts_categories(device, NULL), "categories_json");
    REFUSED(bw_alerts_categories(device, "["), "categories_json");
    REFUSED(bw_alerts_categories(device, "{}"), "array");
    REFUSED(bw_alerts_categories(device, "[{\"id\":\"A\",\"actions\":[]},{\"id\":\"A\",\"actions\":[]}]"), "is a duplicate");
    REFUSED(bw_alerts_categories(device, "[{\"id\":\"A\",\"actions\":[{\"id\":\"a\"}]}]"), "title");
    REFUSED(bw_alerts_categories(
                device, "[{\"id\":\"A\",\"actions\":[{\"id\":\"a\",\"title\":\"t\",\"kind\":\"x\"}]}]"),
            "kind");
    REFUSED(bw_alerts_settings(device, NULL), "settings_json");
    REFUSED(bw_alerts_set_settings(device, NULL, &json), "settings_json");
    REFUSED(bw_alerts_set_settings(device, "[]", &json), "settings_json");
    REFUSED(bw_alerts_set_settings(device, "{}", &json), "at least one");
    REFUSED(bw_alerts_set_settings(device, "{\"bogus\":true}", &json), "bogus");
    REFUSED(bw_alerts_set_settings(device, "{\"quietHoursStart\":\"25:00\"}", &json), "quietHoursStart");
    REFUSED(bw_alerts_delivered(device, NULL), "alerts_json");
    REFUSED(bw_alerts_remove(device, NULL, "id", "thread"), "thread");
    REFUSED(bw_alerts_remove(device, NULL, "\xff", NULL), "id");
    REFUSED(bw_alerts_badge(device, -1), "badge");
    REFUSED(bw_reminder_add(device, NULL, &json), "reminder_json");
    REFUSED(bw_reminder_add(device, "[]", &json), "reminder_json");
    REFUSED(bw_reminder_add(device, "{\"title\":", &json), "reminder_json");
    REFUSED(bw_reminder_add(device, "{\"body\":\"b\"}", &json), "title");
    REFUSED(bw_reminder_add(
                device, "{\"title\":\"t\",\"trigger\":{\"type\":\"calendar\",\"month\":2,\"day\":30}}", &json),
            "trigger");
    REFUSED(bw_reminder_list(device, NULL), "reminders_json");
    REFUSED(bw_reminder_remove(device, "id", "thread"), "thread");
    REFUSED(bw_reminder_position(device, 90.5, 0, 0), "latitude");
    REFUSED(bw_reminder_position(device, 0, -181, 0), "longitude");
    REFUSED(bw_reminder_position(device, 0, 0, -1), "accuracy_m");
    REFUSED(bw_reminder_position(device, strtod("nan", NULL), 0, 0), "latitude");
    REFUSED(bw_reminder_position(device, 0, strtod("inf", NULL), 0), "longitude");
    REFUSED(bw_device_receive(device, NULL, "{}", &json), "service");
    REFUSED(bw_device_receive(device, "", "{\"aps\":{\"badge\":1}}", &json), "service");
    memset(text, 's', sizeof text);
    text[65] = 0;
    REFUSED(bw_device_receive(device, text, "{\"aps\":{\"badge\":1}}", &json), "service");
    REFUSED(bw_device_receive(device, "fcm", NULL, &json), "payload_json");
    REFUSED(bw_device_receive(device, "fcm", "[]", &json), "payload_json");
    REFUSED(bw_device_receive(device, "fcm", "{\"data\":", &json), "payload_json");
    CHECK_STATUS(bw_device_receive(device, "fcm", "{}", &json), BW_E_PROTOCOL);
    CHECK_STATUS(bw_device_receive(device, "apns", "{\"aps\":{}}", &json), BW_E_PROTOCOL);
    REFUSED(bw_device_complete(device, NULL, "new_data"), "id");
    REFUSED(bw_device_complete(device, "id", NULL), "result");
    REFUSED(bw_device_complete(device, "id", "done"), "result");
    CHECK(json == NULL, "no output was written");

    CHECK_STATUS(bw_alerts_respond(device, NULL, "id", "default", NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_alerts_remove(device, NULL, "id", NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_alerts_remove(device, NULL, NULL, "thread"), BW_OK);
    CHECK_STATUS(bw_alerts_remove(device, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_reminder_remove(device, "id", NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_reminder_remove(device, NULL, "thread"), BW_OK);
    CHECK_STATUS(bw_device_complete(device, "id", "failed"), BW_E_NOT_FOUND);

    /* One that nobody has shown yet cannot be answered. */
    CHECK_STATUS(bw_alerts_authorize(device, "authorized", 0), BW_OK);
    CHECK_STATUS(bw_device_start(device), BW_OK);
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    CHECK_STATUS(bw_alerts_respond(device, NULL, "r-1", "default", NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* With "alerts":"none" what shows something is refused, and what is stored works. */
static void nobody_shows(void)
{
    struct hook hook;
    struct outcome outcome;
    char *json = NULL;
    json_t *value;
    bw_device *device = open_with(":memory:", "none");
    hook = hook_of(device, NULL, 0);
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_device_start(device), BW_OK);
    CHECK_STATUS(bw_alerts_request(device, NULL, 1000, NULL), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_alerts_request_async(device, NULL, 1000, complete, &outcome, outcome_destroy), BW_OK);
    CHECK(dispatch_until(only_device(device), completed, &outcome, 10000), "the completion comes");
    CHECK_STATUS(outcome.status, BW_E_UNSUPPORTED);
    CHECK_NUMBER(outcome.destroyed, 1);
    CHECK_STATUS(bw_alerts_on_present(device, hook_called, &hook, hook_destroyed), BW_E_UNSUPPORTED);
    CHECK_NUMBER(hook.destroyed, 1);
    CHECK_STATUS(bw_alerts_respond(device, NULL, "id", "default", NULL), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_alerts_badge(device, 3), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_reminder_position(device, 1, 2, 0), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_alerts_authorize(device, "authorized", 0), BW_OK);
    CHECK_STATUS(bw_alerts_in_front(device, 1), BW_OK);
    CHECK_STATUS(bw_alerts_categories(device, "[]"), BW_OK);
    CHECK_STATUS(bw_alerts_set_settings(device, "{\"enabled\":false}", NULL), BW_OK);
    CHECK_STATUS(bw_alerts_state(device, &json), BW_OK);
    value = parsed(json);
    CHECK_TEXT(json_string_value(json_object_get(json_object_get(value, "presenter"), "kind")), "none");
    json_decref(value);
    CHECK_STATUS(bw_alerts_delivered(device, &json), BW_OK);
    CHECK_TEXT(json, "[]");
    bw_free(json);
    CHECK_STATUS(bw_reminder_list(device, &json), BW_OK);
    CHECK_TEXT(json, "[]");
    bw_free(json);
    CHECK_STATUS(bw_device_receive(device, "apns", "{\"aps\":{\"alert\":\"still a push\"}}", NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* ---- authorization ------------------------------------------------------------------------------------------- */

static void allow(struct hook *hook, const char *id)
{
    (void)id;
    hook->status = bw_alerts_authorize(hook->device, "authorized", 0);
}

static void deny(struct hook *hook, const char *id)
{
    (void)id;
    hook->status = bw_alerts_authorize(hook->device, "denied", 0);
}

static void authorization(void)
{
    struct hook asked;
    struct outcome outcome;
    char *json = NULL;
    json_t *value;
    bw_device *device = open_with(":memory:", "host");
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_alerts_request(device, NULL, 1000, &json), BW_E_OFFLINE);
    CHECK_STATUS(bw_device_start(device), BW_OK);
    CHECK_STATUS(bw_alerts_request(device, NULL, 1000, &json), BW_E_UNSUPPORTED);
    CHECK_ERROR(BW_E_UNSUPPORTED, "bw_alerts_on_authorize");
    asked = hook_of(device, NULL, 0);
    CHECK_STATUS(bw_alerts_on_authorize(device, authorize_called, &asked, hook_destroyed), BW_OK);
    CHECK_STATUS(bw_alerts_request(device, NULL, 50, &json), BW_E_TIMEOUT);
    CHECK(json == NULL, "no output was written");
    CHECK(was_called(&asked, 1), "the callback is asked");
    CHECK_TEXT(asked.last, "{\"name\":\"test device\"}");
    CHECK_STATUS(bw_alerts_authorize(device, "notDetermined", 0), BW_OK);

    /* The answer is given inside the callback. */
    asked.action = deny;
    CHECK_STATUS(bw_alerts_request_async(device, NULL, within(10000), complete, &outcome, outcome_destroy), BW_OK);
    CHECK(dispatch_until(only_device(device), completed, &outcome, 10000), "the completion comes");
    CHECK_STATUS(asked.status, BW_OK);
    CHECK_STATUS(outcome.status, BW_E_DENIED);
    CHECK_NUMBER(outcome.destroyed, 1);
    CHECK_STATUS(bw_alerts_request(device, NULL, 1000, &json), BW_E_DENIED);
    CHECK_ERROR(BW_E_DENIED, "settings");
    CHECK_NUMBER(asked.calls, 2);

    CHECK_STATUS(bw_alerts_authorize(device, "provisional", 0), BW_OK);
    CHECK_STATUS(bw_alerts_request(device, "{\"provisional\":true}", 1000, NULL), BW_OK);
    asked.action = allow;
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_alerts_request_async(device, "{}", within(10000), complete, &outcome, outcome_destroy), BW_OK);
    CHECK(dispatch_until(only_device(device), completed, &outcome, 10000), "a provisional one can be raised");
    CHECK_STATUS(outcome.status, BW_OK);
    CHECK_STATUS(bw_alerts_request(device, NULL, 1000, &json), BW_OK);
    value = parsed(json);
    CHECK_TEXT(json_string_value(json_object_get(value, "status")), "authorized");
    CHECK_TEXT(json_string_value(json_object_get(value, "advice")), "register");
    json_decref(value);
    CHECK_STATUS(bw_alerts_authorize(device, "ephemeral", epoch_ms() + 3600000), BW_OK);
    CHECK_STATUS(bw_alerts_request(device, NULL, 1000, &json), BW_OK);
    value = parsed(json);
    CHECK(json_integer_value(json_object_get(value, "until")) > epoch_ms(), "an ephemeral one says when it ends");
    json_decref(value);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(asked.destroyed, 1);
}

static void *request_on_thread(void *context)
{
    static bw_status status;
    status = bw_alerts_request((bw_device *)context, NULL, within(30000), NULL);
    return &status;
}

/* Those who wait for the person hear of the close. */
static void closed_while_asking(void)
{
    struct hook asked;
    struct outcome outcome;
    pthread_t thread;
    void *status = NULL;
    bw_device *device = open_with(":memory:", "host");
    memset(&outcome, 0, sizeof outcome);
    asked = hook_of(device, NULL, 0);
    CHECK_STATUS(bw_device_start(device), BW_OK);
    CHECK_STATUS(bw_alerts_on_authorize(device, authorize_called, &asked, hook_destroyed), BW_OK);
    CHECK_NUMBER(pthread_create(&thread, NULL, request_on_thread, device), 0);
    CHECK(was_called(&asked, 1), "the callback is asked");
    CHECK_STATUS(bw_alerts_request_async(device, NULL, within(30000), complete, &outcome, outcome_destroy), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    pthread_join(thread, &status);
    CHECK_STATUS(*(bw_status *)status, BW_E_CLOSED);
    CHECK_NUMBER(outcome.calls, 1);
    CHECK_STATUS(outcome.status, BW_E_CLOSED);
    CHECK_NUMBER(outcome.destroyed, 1);
    CHECK_NUMBER(asked.destroyed, 1);
    CHECK_NUMBER(asked.calls, 1);
}

/* ---- showing ------------------------------------------------------------------------------------------------- */

static void respond_inside(struct hook *hook, const char *id)
{
    const char *desktop = hook->desktop[0] != 0 ? hook->desktop : NULL;
    char *json = NULL;
    hook->status = bw_alerts_respond(hook->device, desktop, id, "default", NULL);
    /* Others may be called as well; dispatch may not. */
    CHECK_STATUS(bw_alerts_state(hook->device, &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_device_dispatch(hook->device), BW_E_BUSY);
}

static json_t *list_of(bw_status (*function)(bw_device *, char **), bw_device *device)
{
    char *json = NULL;
    CHECK_STATUS(function(device, &json), BW_OK);
    return parsed(json);
}

static size_t length_of(bw_status (*function)(bw_device *, char **), bw_device *device)
{
    json_t *list = list_of(function, device);
    size_t count = json_is_array(list) ? json_array_size(list) : 9999;
    json_decref(list);
    return count;
}

static void showing(void)
{
    struct hook present;
    struct record presented, responses;
    json_t *list;
    bw_device *device = showing_device(&present, NULL);
    record_begin(&presented);
    record_begin(&responses);
    CHECK_STATUS(bw_device_subscribe(device, "notification.presented", record_event, &presented, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(device, "notification.response", record_event, &responses, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_alerts_categories(device, "[{\"id\":\"CHAT\",\"actions\":[{\"id\":\"REPLY_ACTION\",\"title\":"
                                              "\"Reply\",\"kind\":\"reply\"},{\"id\":\"MUTE\",\"title\":\"Mute\"}]}]"),
                 BW_OK);
    CHECK_STATUS(
        bw_reminder_add(device, "{\"id\":\"r-2\",\"title\":\"Chat\",\"category\":\"CHAT\",\"thread\":\"t\"}", NULL),
        BW_OK);
    CHECK(was_called(&present, 1), "an alert is shown");
    CHECK(strstr(present.last, "\"REPLY_ACTION\"") != NULL && strstr(present.last, "\"presentation\":15") != NULL,
          "with its actions, and all of it");
    presented.wanted = 1;
    CHECK(dispatch_until(only_device(device), recorded, &presented, 10000), "it is told that it was");
    CHECK(has_event(&presented, "notification.presented", "id", "r-2"), "by its id");
    list = list_of(bw_alerts_delivered, device);
    CHECK_NUMBER(json_array_size(list), 1);
    CHECK(json_integer_value(json_object_get(json_array_get(list, 0), "shownAt")) > 0, "the list says since when");
    json_decref(list);
    REFUSED(bw_alerts_respond(device, NULL, "r-2", "BOGUS", NULL), "action");
    REFUSED(bw_alerts_respond(device, NULL, "r-2", "MUTE", "text"), "text");
    CHECK_STATUS(bw_alerts_respond(device, "elsewhere", "r-2", "default", NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_alerts_respond(device, NULL, "r-2", "REPLY_ACTION", "Gr\xc3\xbc\xc3\x9f Gott"), BW_OK);
    responses.wanted = 1;
    CHECK(dispatch_until(only_device(device), recorded, &responses, 10000), "the response comes");
    CHECK(has_event(&responses, "notification.response", "text", "Gr\xc3\xbc\xc3\x9f Gott"), "with its text");
    CHECK_STATUS(bw_alerts_respond(device, NULL, "r-2", "default", NULL), BW_E_NOT_FOUND);
    CHECK_NUMBER(length_of(bw_alerts_delivered, device), 0);

    /* Taken away by thread, by id, and all. */
    CHECK_STATUS(bw_reminder_add(device, "{\"id\":\"r-3\",\"title\":\"T\",\"thread\":\"t\"}", NULL), BW_OK);
    CHECK_STATUS(bw_reminder_add(device, "{\"id\":\"r-4\",\"title\":\"T\"}", NULL), BW_OK);
    CHECK_STATUS(bw_reminder_add(device, "{\"id\":\"r-5\",\"title\":\"T\"}", NULL), BW_OK);
    presented.wanted = 4;
    CHECK(dispatch_until(only_device(device), recorded, &presented, 10000), "three more");
    present.withdrawn = 0;
    CHECK_STATUS(bw_alerts_remove(device, NULL, NULL, "t"), BW_OK);
    CHECK_NUMBER(length_of(bw_alerts_delivered, device), 2);
    CHECK_STATUS(bw_alerts_remove(device, NULL, "r-4", NULL), BW_OK);
    CHECK_STATUS(bw_alerts_remove(device, NULL, "r-4", NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_alerts_remove(device, NULL, NULL, NULL), BW_OK);
    CHECK_NUMBER(length_of(bw_alerts_delivered, device), 0);
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    CHECK_NUMBER(present.withdrawn, 3);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&presented);
    record_end(&responses);
}

/* The user answers before the callback that shows the alert has returned. */
static void answered_inside(void)
{
    struct hook present;
    struct record presented, responses;
    bw_device *device = showing_device(&present, respond_inside);
    record_begin(&presented);
    record_begin(&responses);
    CHECK_STATUS(bw_device_subscribe(device, "notification.presented", record_event, &presented, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(device, "notification.response", record_event, &responses, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_receive(device, "apns", plain_push, NULL), BW_OK);
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    CHECK(was_called(&present, 2), "both are shown");
    CHECK_STATUS(present.status, BW_OK);
    responses.wanted = presented.wanted = 2;
    CHECK(dispatch_until(only_device(device), recorded, &responses, 10000), "both responses come");
    CHECK(dispatch_until(only_device(device), recorded, &presented, 10000), "and what became of the alerts");
    CHECK(has_event(&responses, "notification.response", "id", "p-1"), "the push's");
    CHECK(json_is_true(json_object_get(json_object_get(json_array_get(presented.all, 0), "data"), "presented")),
          "which were shown");
    CHECK(has_event(&responses, "notification.response", "id", "r-1"), "and the reminder's");
    CHECK_STATUS(bw_alerts_respond(device, NULL, "r-1", "default", NULL), BW_E_NOT_FOUND);
    CHECK_NUMBER(length_of(bw_alerts_delivered, device), 0);
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    CHECK_NUMBER(responses.events, 2);
    CHECK_NUMBER(presented.events, 2);
    CHECK_NUMBER(present.calls, 2);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&presented);
    record_end(&responses);
}

static void in_front(void)
{
    struct hook present, asked;
    struct record presented;
    bw_device *device = showing_device(&present, NULL);
    asked = hook_of(device, NULL, BW_PRESENT_NOTHING);
    record_begin(&presented);
    CHECK_STATUS(bw_device_subscribe(device, "notification.presented", record_event, &presented, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_alerts_on_will_present(device, hook_called, &asked, hook_destroyed), BW_OK);
    CHECK_STATUS(bw_alerts_in_front(device, 1), BW_OK);
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    presented.wanted = 1;
    CHECK(dispatch_until(only_device(device), recorded, &presented, 10000), "it is told what became of it");
    CHECK(has_event(&presented, "notification.presented", "reason", "will_present"), "the host wanted nothing of it");
    CHECK_NUMBER(asked.calls, 1);
    CHECK_NUMBER(present.calls, 0);
    asked.answer = BW_PRESENT_BANNER | BW_PRESENT_LIST;
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    CHECK(was_called(&present, 1), "a banner is shown");
    CHECK(strstr(present.last, "\"presentation\":9") != NULL, "with what the host wanted");
    CHECK_STATUS(bw_alerts_in_front(device, 0), BW_OK);
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    CHECK(was_called(&present, 2), "in the background");
    CHECK_NUMBER(asked.calls, 2);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(asked.destroyed + present.destroyed, 2);
    record_end(&presented);
}

static void settings_and_badge(void)
{
    struct hook present;
    struct record badges;
    char *json = NULL;
    json_t *value;
    bw_device *device = showing_device(&present, NULL);
    record_begin(&badges);
    CHECK_STATUS(bw_device_subscribe(device, "badge.changed", record_event, &badges, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_alerts_settings(device, &json), BW_OK);
    value = parsed(json);
    CHECK(json_is_true(json_object_get(value, "enabled")), "at first alerts are on");
    CHECK_TEXT(json_string_value(json_object_get(value, "quietHoursStart")), "22:00");
    json_decref(value);
    json = NULL;
    CHECK_STATUS(bw_alerts_set_settings(device, "{\"soundEnabled\":false,\"sources\":{\"pc\":false}}", &json), BW_OK);
    value = parsed(json);
    CHECK(json_is_false(json_object_get(json_object_get(value, "sources"), "pc")), "the result has all of them");
    CHECK(json_is_true(json_object_get(value, "showPreview")), "also those that did not change");
    json_decref(value);
    CHECK_STATUS(bw_alerts_set_settings(device, "{\"sources\":{\"pc\":null}}", NULL), BW_OK);
    CHECK_STATUS(bw_alerts_badge(device, 7), BW_OK);
    badges.wanted = 1;
    CHECK(dispatch_until(only_device(device), recorded, &badges, 10000), "the badge is told");
    CHECK_STATUS(bw_alerts_state(device, &json), BW_OK);
    value = parsed(json);
    CHECK_NUMBER(json_integer_value(json_object_get(value, "badge")), 7);
    CHECK(json_is_false(json_object_get(value, "inFront")), "the state says whether it is in front");
    json_decref(value);
    CHECK_STATUS(bw_alerts_badge(device, 0), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&badges);
}

/* ---- reminders ----------------------------------------------------------------------------------------------- */

static void reminders(void)
{
    char text[160];
    char *json = NULL;
    json_t *value;
    int number;
    bw_device *device = open_with(":memory:", "host");
    CHECK_STATUS(bw_reminder_add(device, later_reminder, &json), BW_OK);
    value = parsed(json);
    CHECK(json_string_length(json_object_get(value, "id")) > 8, "it is given an id");
    CHECK(json_integer_value(json_object_get(value, "nextAt")) > epoch_ms(), "and says when it comes");
    CHECK_STATUS(bw_reminder_remove(device, json_string_value(json_object_get(value, "id")), NULL), BW_OK);
    json_decref(value);
    for (number = 0; number < 500; number++) {
        snprintf(text, sizeof text,
                 "{\"id\":\"%d\",\"title\":\"T\",\"thread\":\"%s\","
                 "\"trigger\":{\"type\":\"interval\",\"seconds\":%d}}",
                 number, number < 3 ? "few" : "many", 4000 - number);
        if (bw_reminder_add(device, text, NULL) != BW_OK)
            break;
    }
    CHECK_NUMBER(number, 500);
    CHECK_STATUS(bw_reminder_add(device, later_reminder, NULL), BW_E_LIMIT);
    CHECK_STATUS(bw_reminder_add(device, text, NULL), BW_OK);
    value = list_of(bw_reminder_list, device);
    CHECK_NUMBER(json_array_size(value), 500);
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(value, 0), "id")), "499");
    json_decref(value);
    CHECK_STATUS(bw_reminder_remove(device, "0", NULL), BW_OK);
    CHECK_STATUS(bw_reminder_remove(device, "0", NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_reminder_remove(device, NULL, "many"), BW_OK);
    CHECK_NUMBER(length_of(bw_reminder_list, device), 2);
    CHECK_STATUS(bw_reminder_remove(device, NULL, NULL), BW_OK);
    CHECK_NUMBER(length_of(bw_reminder_list, device), 0);
    CHECK_STATUS(bw_reminder_position(device, 48.2, 16.37, 0), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* ---- push services ------------------------------------------------------------------------------------------- */

static void receiving(void)
{
    struct hook present;
    struct record silent;
    char *json = NULL;
    char id[64];
    char payload[128];
    json_t *value;
    int number;
    bw_device *device = showing_device(&present, NULL);
    record_begin(&silent);
    CHECK_STATUS(bw_device_subscribe(device, "notification.silent", record_event, &silent, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_receive(device, "fcm", fcm_push, &json), BW_OK);
    value = parsed(json);
    CHECK_TEXT(json_string_value(json_object_get(value, "kind")), "push");
    snprintf(id, sizeof id, "%.60s", json_string_value(json_object_get(value, "id")));
    json_decref(value);
    CHECK(was_called(&present, 1), "it is shown");
    CHECK_TEXT(present.id, id);
    CHECK_TEXT(present.desktop, "push:fcm");
    snprintf(payload, sizeof payload, "{\"data\":{\"notificationId\":\"%s\",\"title\":\"F\"}}", id);
    CHECK_STATUS(bw_device_receive(device, "fcm", payload, &json), BW_OK);
    value = parsed(json);
    CHECK(json_is_true(json_object_get(value, "duplicate")), "what came before is a duplicate");
    json_decref(value);
    CHECK_STATUS(bw_device_receive(device, "apns", silent_push, NULL), BW_OK);
    CHECK_STATUS(bw_device_receive(device, "apns", both_push, NULL), BW_OK);
    silent.wanted = 2;
    CHECK(dispatch_until(only_device(device), recorded, &silent, 10000), "silent ones come as work");
    CHECK(has_event(&silent, "notification.silent", "id", "s-1"), "one without an alert");
    CHECK(has_event(&silent, "notification.silent", "id", "s-2"), "and one with");
    CHECK(was_called(&present, 2), "which is shown");
    CHECK_TEXT(present.id, "s-2");
    CHECK_STATUS(bw_device_complete(device, "s-1", "no_data"), BW_OK);
    CHECK_STATUS(bw_device_complete(device, "s-1", "no_data"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_device_complete(device, "s-2", "failed"), BW_OK);
    for (number = 0; number < 256; number++)
        if (bw_device_receive(device, "apns", "{\"aps\":{\"content-available\":1}}", NULL) != BW_OK)
            break;
    CHECK_NUMBER(number, 256);
    CHECK_STATUS(bw_device_receive(device, "apns", "{\"aps\":{\"content-available\":1}}", NULL), BW_E_LIMIT);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    record_end(&silent);
}

/* ---- the store ----------------------------------------------------------------------------------------------- */

/* With a disk that is full, what must be kept is refused; with room again it goes on. */
static void full_disk(void)
{
    char path[128];
    char *json = NULL;
    char *none_given = NULL;
    bw_status got[6];
    size_t index;
    struct rlimit before, none;
    bw_device *device = open_with(path_in(path, sizeof path, "full"), "host");
    CHECK_STATUS(bw_device_start(device), BW_OK);
    CHECK_NUMBER(length_of(bw_alerts_delivered, device), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    none = before;
    none.rlim_cur = 1;
    /* Nothing may be printed meanwhile. */
    setrlimit(RLIMIT_FSIZE, &none);
    got[0] = bw_alerts_authorize(device, "authorized", 0);
    got[1] = bw_alerts_set_settings(device, "{\"enabled\":false}", &none_given);
    got[2] = bw_alerts_categories(device, "[{\"id\":\"A\",\"actions\":[]}]");
    got[3] = bw_reminder_add(device, later_reminder, &none_given);
    got[4] = bw_device_receive(device, "apns", plain_push, &none_given);
    got[5] = bw_device_receive(device, "apns", silent_push, &none_given);
    setrlimit(RLIMIT_FSIZE, &before);
    for (index = 0; index < sizeof got / sizeof got[0]; index++)
        CHECK_STATUS(got[index], BW_E_STORE);
    CHECK(none_given == NULL, "no output was written");
    CHECK_NUMBER(length_of(bw_reminder_list, device), 0);
    CHECK_STATUS(bw_alerts_settings(device, &json), BW_OK);
    CHECK(strstr(json, "\"enabled\":true") != NULL, "the settings are what they were");
    bw_free(json);
    CHECK_STATUS(bw_device_receive(device, "apns", plain_push, &json), BW_OK);
    CHECK(strstr(json, "\"duplicate\":false") != NULL, "what was not kept may come again");
    bw_free(json);
    CHECK_STATUS(bw_device_complete(device, "s-1", "no_data"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_alerts_set_settings(device, "{\"enabled\":false}", NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* ---- user data ----------------------------------------------------------------------------------------------- */

static void replace_present(struct hook *hook, const char *id)
{
    (void)id;
    hook->status = bw_alerts_on_present(hook->device, hook_called, hook->next, hook_destroyed);
}

static void replaced(void)
{
    struct hook hooks[3];
    int index;
    bw_device *device = open_with(":memory:", "host");
    for (index = 0; index < 3; index++)
        hooks[index] = hook_of(device, NULL, 0);
    CHECK_STATUS(bw_alerts_on_authorize(device, authorize_called, &hooks[0], hook_destroyed), BW_OK);
    CHECK_STATUS(bw_alerts_on_authorize(device, authorize_called, &hooks[1], hook_destroyed), BW_OK);
    CHECK_NUMBER(hooks[0].destroyed, 1);
    CHECK_STATUS(bw_alerts_on_authorize(device, NULL, &hooks[2], hook_destroyed), BW_OK);
    CHECK_NUMBER(hooks[1].destroyed, 1);
    CHECK_NUMBER(hooks[2].destroyed, 1);
    CHECK_STATUS(bw_alerts_on_will_present(device, hook_called, &hooks[0], hook_destroyed), BW_OK);
    CHECK_STATUS(bw_alerts_on_will_present(device, hook_called, &hooks[0], hook_destroyed), BW_OK);
    CHECK_NUMBER(hooks[0].destroyed, 2);
    CHECK_STATUS(bw_alerts_on_present(device, hook_called, &hooks[1], NULL), BW_OK);
    CHECK_STATUS(bw_alerts_on_present(device, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(hooks[0].destroyed, 3);
    CHECK_NUMBER(hooks[1].destroyed, 1);

    /* Inside the callback: its own user data goes when it has returned. */
    device = showing_device(&hooks[0], replace_present);
    hooks[1] = hook_of(device, NULL, 0);
    hooks[0].next = &hooks[1];
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    CHECK(was_called(&hooks[0], 1), "the first one is called");
    CHECK_STATUS(hooks[0].status, BW_OK);
    CHECK_NUMBER(hooks[0].destroyed, 1);
    CHECK_NUMBER(hooks[0].destroyed_inside, 0);
    CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
    CHECK(was_called(&hooks[1], 1), "then the second");
    CHECK_NUMBER(hooks[0].calls, 1);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(hooks[1].destroyed, 1);
}

static void close_inside(struct hook *hook, const char *id)
{
    (void)id;
    hook->status = bw_device_close(hook->device);
}

/* Closed inside each of the three: all user data goes once, its own after it has returned. */
static void closed_inside(void)
{
    struct hook hooks[3];
    struct outcome outcome;
    int which, index;
    for (which = 0; which < 3; which++) {
        bw_device *device = showing_device(&hooks[2], which == 2 ? close_inside : NULL);
        printf("      in the callback %d\n", which);
        hooks[0] = hook_of(device, which == 0 ? close_inside : NULL, 0);
        hooks[1] = hook_of(device, which == 1 ? close_inside : NULL, BW_PRESENT_ALL);
        memset(&outcome, 0, sizeof outcome);
        CHECK_STATUS(bw_alerts_on_authorize(device, authorize_called, &hooks[0], hook_destroyed), BW_OK);
        CHECK_STATUS(bw_alerts_on_will_present(device, hook_called, &hooks[1], hook_destroyed), BW_OK);
        if (which == 0) {
            CHECK_STATUS(bw_alerts_authorize(device, "notDetermined", 0), BW_OK);
            CHECK_STATUS(bw_alerts_request_async(device, NULL, 600000, complete, &outcome, outcome_destroy), BW_OK);
        } else {
            CHECK_STATUS(bw_alerts_in_front(device, which == 1), BW_OK);
            CHECK_STATUS(bw_reminder_add(device, now_reminder, NULL), BW_OK);
        }
        CHECK(was_called(&hooks[which], 1), "it is called");
        CHECK_STATUS(hooks[which].status, BW_OK);
        CHECK_STATUS(bw_device_dispatch(device), BW_E_HANDLE);
        for (index = 0; index < 3; index++) {
            CHECK_NUMBER(hooks[index].destroyed, 1);
            CHECK_NUMBER(hooks[index].destroyed_inside, 0);
            CHECK_NUMBER(hooks[index].calls, index == which || (which == 2 && index == 1 && hooks[1].calls));
        }
        if (which == 0) {
            CHECK_NUMBER(outcome.calls, 1);
            CHECK_STATUS(outcome.status, BW_E_CLOSED);
            CHECK_NUMBER(outcome.destroyed, 1);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(handles);
    RUN(parameters);
    RUN(nobody_shows);
    RUN(authorization);
    RUN(closed_while_asking);
    RUN(showing);
    RUN(answered_inside);
    RUN(in_front);
    RUN(settings_and_badge);
    RUN(reminders);
    RUN(receiving);
    RUN(full_disk);
    RUN(replaced);
    RUN(closed_inside);
    RUN(forks);
    return check_end();
}
