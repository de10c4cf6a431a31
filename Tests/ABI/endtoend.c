/* Relay, desktop and device in one process, over loopback: pairing, pushes, history, and again after a restart. */
#include "roles.h"

#include <strings.h>

static void notify(bw_desktop *desktop, const char *title, const char *priority)
{
    char params[256];
    char *json = NULL;
    json_t *result;
    int64_t begin = monotonic_ms();
    int64_t reached;
    snprintf(params, sizeof params, "{\"title\":\"%s\",\"body\":\"body of %s\",\"priority\":\"%s\",\"data\":{\"n\":\"1\"}}",
             title, title, priority);
    CHECK_STATUS(bw_desktop_notify(desktop, params, within(10000), &json), BW_OK);
    result = parsed(json);
    CHECK(json_is_true(json_object_get(result, "success")), "the desktop keeps it");
    /* bellwire.h: delivered means that the device has acknowledged it, on a disk, within 2 s. A disk that is busy takes
       longer, and then the call has waited for those 2 s. */
    reached = json_integer_value(json_object_get(result, "deliveredCount"));
    CHECK(reached == 1 || (reached == 0 && monotonic_ms() - begin >= 2000), "it is delivered, or 2 s have passed");
    CHECK_NUMBER(json_integer_value(json_object_get(result, "failedCount")), 1 - reached);
    CHECK(json_is_string(json_object_get(result, "notificationId")), "it has an id");
    json_decref(result);
}

/* A member of the data of the event with that number. */
static const char *text_of(const struct record *record, size_t index, const char *member)
{
    const char *text
        = json_string_value(json_object_get(json_object_get(json_array_get(record->all, index), "data"), member));
    return text != NULL ? text : "";
}

static json_t *state_of(bw_device *device)
{
    char *json = NULL;
    CHECK_STATUS(bw_device_state(device, &json), BW_OK);
    return parsed(json);
}

static int64_t unread_of(bw_device *device)
{
    json_t *state = state_of(device);
    int64_t unread = json_integer_value(json_object_get(state, "unread"));
    json_decref(state);
    return unread;
}

/* Both sides show the same two words and six digits of a sealed pairing. */
static void same_sas(const json_t *one, const json_t *other)
{
    const json_t *sas = json_object_get(one, "sas");
    const char *digits = json_string_value(json_object_get(sas, "digits"));
    CHECK(json_is_true(json_object_get(one, "secure")) && json_is_true(json_object_get(other, "secure")),
          "the pairing is secure on both sides");
    CHECK(digits != NULL && strlen(digits) == 6 && json_array_size(json_object_get(sas, "words")) == 2,
          "there is something for people to compare");
    CHECK(json_equal((json_t *)sas, json_object_get(other, "sas")), "both sides show the same");
}

static void lists(bw_device *device, bw_desktop *desktop)
{
    char *json = NULL;
    json_t *desktops, *devices, *peer;
    CHECK_STATUS(bw_pairing_list(device, &json), BW_OK);
    desktops = parsed(json);
    CHECK_NUMBER(json_array_size(desktops), 1);
    peer = json_array_get(desktops, 0);
    CHECK_TEXT(json_string_value(json_object_get(peer, "name")), "test desktop");
    CHECK_TEXT(json_string_value(json_object_get(peer, "platform")), "linux");
    CHECK(json_integer_value(json_object_get(peer, "pairedAt")) > epoch_ms() - 600000, "it says since when it is paired");
    json = NULL;
    CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
    devices = parsed(json);
    CHECK_NUMBER(json_array_size(devices), 1);
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(devices, 0), "name")), "test device");
    same_sas(peer, json_array_get(devices, 0));
    json_decref(desktops);
    json_decref(devices);
}

/* The methods of a paired device; the desktop has three notifications, of which it is to read one. */
static void methods(bw_device *device, bw_desktop *desktop, const char *first_id)
{
    char params[256];
    char *json = NULL;
    json_t *result;
    json_t *items;
    CHECK_STATUS(bw_notification_get_history(device, NULL, "{\"limit\":2}", within(10000), &json), BW_OK);
    result = parsed(json);
    items = json_object_get(result, "notifications");
    CHECK(json_is_true(json_object_get(result, "success")), "history is given");
    CHECK_NUMBER(json_array_size(items), 2);
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(items, 0), "title")), "third");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(items, 0), "priority")), "urgent");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(items, 0), "source")), "pc");
    CHECK(json_is_false(json_object_get(json_array_get(items, 0), "read")), "it is not read");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(items, 1), "title")), "second");
    CHECK_NUMBER(json_integer_value(json_object_get(result, "total")), 3);
    CHECK_NUMBER(json_integer_value(json_object_get(result, "unreadCount")), 3);
    CHECK_NUMBER(json_integer_value(json_object_get(result, "skipped")), 0);
    json_decref(result);

    json = NULL;
    snprintf(params, sizeof params, "{\"notificationId\":\"%.100s\"}", first_id);
    CHECK_STATUS(bw_notification_mark_as_read(device, NULL, params, within(10000), &json), BW_OK);
    result = parsed(json);
    CHECK(json_is_true(json_object_get(result, "success")), "it is marked as read");
    CHECK_NUMBER(json_integer_value(json_object_get(result, "markedCount")), 1);
    json_decref(result);

    json = NULL;
    CHECK_STATUS(bw_notification_get_unread_count(device, NULL, NULL, within(10000), &json), BW_OK);
    result = parsed(json);
    CHECK_NUMBER(json_integer_value(json_object_get(result, "count")), 2);
    json_decref(result);

    json = NULL;
    CHECK_STATUS(bw_notification_get_history(device, NULL, "{\"unreadOnly\":true}", within(10000), &json), BW_OK);
    result = parsed(json);
    CHECK_NUMBER(json_array_size(json_object_get(result, "notifications")), 2);
    json_decref(result);

    json = NULL;
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"from the device\",\"body\":\"hello\"}", within(10000),
                                      &json),
                 BW_OK);
    result = parsed(json);
    CHECK(json_is_true(json_object_get(result, "success")), "the desktop takes a notification of the device's");
    json_decref(result);

    json = NULL;
    CHECK_STATUS(bw_desktop_history(desktop, "{\"limit\":1}", &json), BW_OK);
    result = parsed(json);
    items = json_object_get(result, "notifications");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(items, 0), "title")), "from the device");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(items, 0), "source")), "mobile");
    json_decref(result);

    json = NULL;
    CHECK_STATUS(bw_device_invoke(device, NULL, "no.suchMethod", NULL, within(10000), &json), BW_E_UNSUPPORTED);
    CHECK(json == NULL, "no output was written");
}

/* What waits for a push with that title. */
struct awaited {
    struct record *record;
    const char *title;
};

static int has_title(void *context)
{
    struct awaited *awaited = (struct awaited *)context;
    return has_event(awaited->record, "notification.received", "title", awaited->title);
}

static void pair_push_and_ask(void)
{
    char device_dir[256];
    char desktop_dir[256];
    struct record record;
    struct outcome outcome;
    struct awaited awaited;
    bw_desktop *desktop = open_desktop(path_in(desktop_dir, sizeof desktop_dir, "desktop"));
    bw_device *device = open_device(path_in(device_dir, sizeof device_dir, "device"));
    json_t *state;
    char *json = NULL;
    char *code;
    size_t index;
    int64_t unread;
    static const char *const titles[] = {"first", "second", "third"};
    static const char *const priorities[] = {"low", "normal", "urgent"};

    record_begin(&record);
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_device_subscribe(device, "notification.received", record_event, &record, record_destroy, NULL),
                 BW_OK);

    code = offered_code(desktop);
    CHECK_STATUS(bw_pairing_scan(device, code, within(15000), &json), BW_OK);
    state = parsed(json);
    CHECK_TEXT(json_string_value(json_object_get(state, "name")), "test desktop");
    json_decref(state);
    json = NULL;
    lists(device, desktop);
    /* Scanning what was paired already gives that desktop again. */
    CHECK_STATUS(bw_pairing_scan(device, code, within(15000), NULL), BW_OK);
    lists(device, desktop);
    free(code);

    for (index = 0; index < 3; index++)
        notify(desktop, titles[index], priorities[index]);
    record.wanted = 3;
    CHECK(dispatch_until(only_device(device), recorded, &record, 10000), "three pushes come");
    CHECK_NUMBER(record.events, 3);
    for (index = 0; index < 3; index++) {
        json_t *event = json_array_get(record.all, index);
        CHECK_TEXT(text_of(&record, index, "title"), titles[index]);
        CHECK_TEXT(text_of(&record, index, "priority"), priorities[index]);
        CHECK_TEXT(text_of(&record, index, "source"), "pc");
        CHECK(json_is_string(json_object_get(event, "desktop")), "a push names its desktop");
        CHECK(json_integer_value(json_object_get(json_object_get(event, "data"), "createdAt")) > epoch_ms() - 600000
                  && json_integer_value(json_object_get(json_object_get(event, "data"), "receivedAt"))
                      > epoch_ms() - 600000,
              "it has its times, in milliseconds");
    }
    CHECK_TEXT(text_of(&record, 2, "body"), "body of third");
    CHECK_NUMBER(unread_of(device), 3);
    state = state_of(device);
    CHECK_TEXT(json_string_value(json_object_get(json_object_get(state, "latestPush"), "title")), "third");
    CHECK(json_is_true(json_object_get(json_array_get(json_object_get(state, "connection"), 0), "online")),
          "the state says that the desktop is online");
    json_decref(state);

    methods(device, desktop, text_of(&record, 0, "id"));
    awaited.record = &record;
    awaited.title = "from the device";
    CHECK(dispatch_until(only_device(device), has_title, &awaited, 10000), "a desktop pushes to its devices what one sent");

    CHECK_STATUS(bw_notification_get_unread_count_async(device, NULL, NULL, within(10000), complete, &outcome,
                                                        outcome_destroy),
                 BW_OK);
    CHECK_NUMBER(outcome.calls, 0);
    CHECK(dispatch_until(only_device(device), completed, &outcome, 10000), "a completion comes in dispatch");
    CHECK_NUMBER(outcome.status, BW_OK);
    CHECK_NUMBER(outcome.calls, 1);
    CHECK_NUMBER(outcome.destroyed, 1);

    /* The device goes and comes again: it is still paired, and receives. */
    unread = unread_of(device);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(record.destroyed, 1);
    device = open_device(device_dir);
    CHECK_NUMBER(unread_of(device), unread);
    CHECK_STATUS(bw_device_subscribe(device, "notification.received", record_event, &record, record_destroy, NULL),
                 BW_OK);
    lists(device, desktop);
    CHECK_STATUS(bw_device_start(device), BW_OK);
    CHECK_STATUS(bw_desktop_notify(desktop, "{\"title\":\"fourth\",\"body\":\"b\"}", within(10000), NULL), BW_OK);
    awaited.title = "fourth";
    CHECK(dispatch_until(only_device(device), has_title, &awaited, 15000), "a push comes after a restart");
    /* Each came once: the three, what the device itself asked the desktop to show, and this one. */
    CHECK_NUMBER(record.events, 5);
    CHECK_NUMBER(unread_of(device), unread + 1);

    /* Offline, a call says so. */
    CHECK_STATUS(bw_device_stop(device), BW_OK);
    CHECK_STATUS(bw_notification_get_unread_count(device, NULL, NULL, 1000, NULL), BW_E_OFFLINE);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_NUMBER(record.destroyed, 2);
    record_end(&record);
}

/* The "reason" of the last call that failed. */
static void failed_because(const char *reason)
{
    json_t *error = parsed(bw_last_error());
    CHECK_TEXT(json_string_value(json_object_get(json_object_get(error, "detail"), "reason")), reason);
    json_decref(error);
}

/* The flows of a desktop, as far as one side alone can tell. */
static void flows(void)
{
    char code[512];
    char *json = NULL;
    json_t *value;
    bw_desktop *desktop = open_desktop(":memory:");
    CHECK_STATUS(bw_desktop_code(desktop, within(10000), &json), BW_OK);
    value = parsed(json);
    {
        const char *digits = json_string_value(json_object_get(value, "code"));
        CHECK(digits != NULL && strlen(digits) == 13 && digits[6] == '-', "a code has twelve digits");
    }
    CHECK(json_integer_value(json_object_get(value, "expiresAt")) > epoch_ms(), "it says how long it is good");
    json_decref(value);
    CHECK_STATUS(bw_desktop_code(desktop, within(10000), NULL), BW_E_INVALID);

    json = NULL;
    CHECK_STATUS(bw_desktop_scan(desktop, "no JSON", &json), BW_E_PAIRING);
    CHECK(json == NULL, "no output was written");
    failed_because("not_json");
    snprintf(code, sizeof code,
             "{\"type\":\"device-pairing\",\"code\":\"012345\",\"did\":\"did:key:zPhone\",\"deviceInfo\":{\"deviceId\":"
             "\"p-1\",\"name\":\"phone\",\"platform\":\"ios\"},\"timestamp\":%" PRId64 "}",
             epoch_ms());
    CHECK_STATUS(bw_desktop_confirm(desktop, "scan", 1), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_scan(desktop, code, &json), BW_OK);
    value = parsed(json);
    CHECK_TEXT(json_string_value(json_object_get(value, "id")), "did:key:zPhone");
    CHECK_TEXT(json_string_value(json_object_get(value, "name")), "phone");
    CHECK(json_is_false(json_object_get(value, "secure")), "a phone without a secret is not secure");
    json_decref(value);
    CHECK_STATUS(bw_desktop_confirm(desktop, "nonsense", 1), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_confirm(desktop, "code", 1), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_confirm(desktop, NULL, 0), BW_OK);
    CHECK_STATUS(bw_desktop_confirm(desktop, NULL, 0), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_scan(desktop, code, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_pairing_cancel(desktop, "nonsense"), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_pairing_cancel(desktop, "scan"), BW_OK);
    CHECK_STATUS(bw_desktop_pairing_cancel(desktop, "scan"), BW_OK);
    CHECK_STATUS(bw_desktop_pairing_cancel(desktop, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_confirm(desktop, "scan", 1), BW_E_NOT_FOUND);

    CHECK_STATUS(bw_desktop_rename(desktop, "nobody", "name"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_rename(desktop, "nobody", ""), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_rename(desktop, "nobody", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_unpair(desktop, "nobody"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_revoke(desktop, "nobody"), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_revoke(desktop, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_readmit(desktop, "nobody"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_revoked(desktop, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_rekey(desktop, NULL), BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_desktop_rekey_cancel(desktop), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_rekey_confirm(desktop, "nobody", "did:key:zNew", 1), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_rekey_confirm(desktop, "nobody", NULL, 1), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_clear(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_clear(desktop), BW_E_HANDLE);
}

/* A device whose key the desktop revokes may do nothing any more; the list says so until it is readmitted. */
static void revoking(void)
{
    char *json = NULL;
    json_t *keys;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    if (pair(device, desktop)) {
        char id[256];
        CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
        keys = parsed(json);
        snprintf(id, sizeof id, "%.200s", json_string_value(json_object_get(json_array_get(keys, 0), "id")));
        json_decref(keys);
        CHECK_STATUS(bw_desktop_revoke(desktop, id), BW_OK);
        CHECK_STATUS(bw_desktop_revoke(desktop, id), BW_OK);
        json = NULL;
        CHECK_STATUS(bw_desktop_revoked(desktop, &json), BW_OK);
        keys = parsed(json);
        CHECK_NUMBER(json_array_size(keys), 1);
        CHECK_TEXT(json_string_value(json_object_get(json_array_get(keys, 0), "id")), id);
        json_decref(keys);
        CHECK(bw_notification_get_unread_count(device, NULL, NULL, 1000, NULL) < 0, "the device is not answered");
        CHECK_STATUS(bw_desktop_readmit(desktop, id), BW_OK);
        CHECK_STATUS(bw_desktop_readmit(desktop, id), BW_E_NOT_FOUND);

        CHECK_STATUS(bw_device_revoke(device, id), BW_E_INVALID);
        CHECK_STATUS(bw_device_readmit(device, id), BW_E_NOT_FOUND);
        CHECK_STATUS(bw_device_rekey(device, NULL), BW_E_UNSUPPORTED);
        CHECK_STATUS(bw_device_rekey_cancel(device), BW_E_NOT_FOUND);
        CHECK_STATUS(bw_device_rekey_confirm(device, id, id, 0), BW_E_NOT_FOUND);
        for (int role = 0; role < 2; role++) {
            json = NULL;
            CHECK_STATUS(role ? bw_device_rekey_status(device, &json) : bw_desktop_rekey_status(desktop, &json), BW_OK);
            keys = parsed(json);
            CHECK_TEXT(json_string_value(json_object_get(keys, "state")), "none");
            json_decref(keys);
        }
        json = NULL;
        CHECK_STATUS(bw_device_revoked(device, &json), BW_OK);
        keys = parsed(json);
        CHECK_NUMBER(json_array_size(keys), 0);
        json_decref(keys);
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

/* A device that the desktop unpairs may do nothing any more. */
static void unpairing(void)
{
    char *json = NULL;
    json_t *devices;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    if (pair(device, desktop)) {
        char id[256];
        CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
        devices = parsed(json);
        snprintf(id, sizeof id, "%.200s", json_string_value(json_object_get(json_array_get(devices, 0), "id")));
        json_decref(devices);
        CHECK_STATUS(bw_desktop_rename(desktop, id, "kitchen"), BW_OK);
        json = NULL;
        CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
        devices = parsed(json);
        CHECK_TEXT(json_string_value(json_object_get(json_array_get(devices, 0), "name")), "kitchen");
        json_decref(devices);
        CHECK_STATUS(bw_desktop_unpair(desktop, id), BW_OK);
        CHECK_STATUS(bw_desktop_unpair(desktop, id), BW_E_NOT_FOUND);
        json = NULL;
        CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
        devices = parsed(json);
        CHECK_NUMBER(json_array_size(devices), 0);
        json_decref(devices);
        CHECK(bw_notification_get_unread_count(device, NULL, NULL, 1000, NULL) < 0, "the device is not answered");
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

/* What shows a code, without waiting for its relay. */
static void codes_without_waiting(void)
{
    struct outcome outcome[3];
    char options[160];
    int index;
    bw_device *device = NULL;
    bw_relay *relay = open_relay();
    bw_desktop *desktop = open_desktop(":memory:");
    memset(outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    snprintf(options, sizeof options, "{\"state_dir\":\":memory:\",\"relay_url\":\"ws://127.0.0.1:%d\"}",
             relay_port(relay));
    CHECK_STATUS(bw_device_open(options, &device), BW_OK);
    CHECK_STATUS(bw_desktop_offer_async(desktop, within(10000), complete, &outcome[0], outcome_destroy), BW_OK);
    CHECK_STATUS(bw_desktop_code_async(desktop, within(10000), complete, &outcome[1], outcome_destroy), BW_OK);
    CHECK_STATUS(bw_pairing_show_async(device, within(10000), complete, &outcome[2], outcome_destroy), BW_OK);
    for (index = 0; index < 3; index++) {
        struct dispatched handles = index < 2 ? only_desktop(desktop) : only_device(device);
        CHECK(dispatch_until(handles, completed, &outcome[index], 20000), "the code is there");
        CHECK_NUMBER(outcome[index].status, BW_OK);
        CHECK_NUMBER(strlen(outcome[index].code), index == 1 ? 13 : 6);
        CHECK_NUMBER(outcome[index].destroyed, 1);
    }
    memset(outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_desktop_offer_async(desktop, 0, complete, &outcome[0], outcome_destroy), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_code_async(desktop, 1000, NULL, &outcome[1], outcome_destroy), BW_E_INVALID);
    CHECK_STATUS(bw_pairing_show_async(device, 600001, complete, &outcome[2], outcome_destroy), BW_E_INVALID);
    for (index = 0; index < 3; index++) {
        CHECK_NUMBER(outcome[index].calls, 0);
        CHECK_NUMBER(outcome[index].destroyed, 1);
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
}

/* A desktop that asks its user: the scan waits for the answer. */
static void confirmation(void)
{
    struct record record;
    struct outcome outcome;
    struct dispatched both;
    bw_desktop *desktop = NULL;
    bw_device *device = open_device(":memory:");
    char *code;
    record_begin(&record);
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_desktop_open("{\"state_dir\":\":memory:\",\"confirm\":true,\"relay\":{\"listen\":\"127.0.0.1:0\"}}",
                                 &desktop),
                 BW_OK);
    CHECK_STATUS(bw_desktop_confirm(desktop, NULL, 1), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "pairing.changed", record_event, &record, record_destroy, NULL), BW_OK);
    code = offered_code(desktop);
    CHECK_STATUS(bw_desktop_dispatch(desktop), BW_OK);
    CHECK_STATUS(bw_pairing_scan_async(device, code, within(20000), complete, &outcome, outcome_destroy), BW_OK);
    {
        int64_t deadline = monotonic_ms() + within(10000);
        while (!has_event(&record, "pairing.changed", "state", "acked") && monotonic_ms() < deadline) {
            record.wanted = record.events + 1;
            dispatch_until(only_desktop(desktop), recorded, &record, 1000);
        }
    }
    CHECK(has_event(&record, "pairing.changed", "state", "acked"), "the desktop's user is asked");
    CHECK_STATUS(bw_desktop_confirm(desktop, NULL, 1), BW_OK);
    both = only_device(device);
    both.desktop = desktop;
    CHECK(dispatch_until(both, completed, &outcome, 20000), "the scan ends");
    CHECK_NUMBER(outcome.status, BW_OK);
    {
        char *json = NULL;
        json_t *list;
        CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
        list = parsed(json);
        CHECK_NUMBER(json_array_size(list), 1);
        json_decref(list);
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&record);
    free(code);
}

/* ---- what is told, and what is not --------------------------------------------------------------------------- */

/* The states of a flow that pairing.changed has told, in order, as "displaying acked paired". */
static const char *states_of(const struct record *record, const char *flow, char *states, size_t size)
{
    size_t index;
    states[0] = 0;
    for (index = 0; index < json_array_size(record->all); index++) {
        const char *state = text_of(record, index, "state");
        if (strcmp(text_of(record, index, "flow"), flow) == 0)
            snprintf(states + strlen(states), size - strlen(states), "%s%s", states[0] != 0 ? " " : "", state);
    }
    return states;
}

/* Waits until a flow has a state on one side. */
static void await_state(struct dispatched both, struct record *record, const char *flow, const char *state)
{
    char states[400];
    int64_t deadline = monotonic_ms() + within(15000);
    while (strstr(states_of(record, flow, states, sizeof states), state) == NULL && monotonic_ms() < deadline) {
        record->wanted = record->events + 1;
        dispatch_until(both, recorded, record, 1000);
    }
    CHECK(strstr(states, state) != NULL, state);
}

/* Each step of each flow sends pairing.changed, on both sides, in order. */
static void each_step_is_told(void)
{
    struct record device_told, desktop_told;
    struct dispatched both;
    char states[400], code[32];
    char *json = NULL;
    char *text;
    json_t *shown;
    char options[160];
    bw_device *device = NULL;
    bw_relay *relay = open_relay();
    bw_desktop *desktop = NULL;
    record_begin(&device_told);
    record_begin(&desktop_told);
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    snprintf(options, sizeof options, "{\"state_dir\":\":memory:\",\"relay_url\":\"ws://127.0.0.1:%d\"}",
             relay_port(relay));
    CHECK_STATUS(bw_device_open(options, &device), BW_OK);
    CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    CHECK_STATUS(bw_device_subscribe(device, "pairing.changed", record_event, &device_told, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "pairing.changed", record_event, &desktop_told, record_destroy, NULL),
                 BW_OK);
    both = only_device(device);
    both.desktop = desktop;

    text = offered_code(desktop);
    CHECK_STATUS(bw_pairing_scan(device, text, within(15000), NULL), BW_OK);
    free(text);
    await_state(both, &desktop_told, "offer", "paired");
    await_state(both, &device_told, "scan", "success");
    CHECK_TEXT(states_of(&desktop_told, "offer", states, sizeof states), "displaying acked paired");
    CHECK_TEXT(states_of(&device_told, "scan", states, sizeof states), "sending success");

    CHECK_STATUS(bw_pairing_show(device, within(15000), &json), BW_OK);
    shown = parsed(json);
    json = NULL;
    CHECK_STATUS(bw_desktop_scan(desktop, json_string_value(json_object_get(shown, "payload")), NULL), BW_OK);
    json_decref(shown);
    await_state(both, &desktop_told, "scan", "confirming");
    CHECK_STATUS(bw_desktop_confirm(desktop, "scan", 1), BW_OK);
    await_state(both, &desktop_told, "scan", "paired");
    await_state(both, &device_told, "show", "completed");
    CHECK_TEXT(states_of(&desktop_told, "scan", states, sizeof states), "scanned confirming sending paired");
    CHECK_TEXT(states_of(&device_told, "show", states, sizeof states), "connecting displaying completed");

    CHECK_STATUS(bw_desktop_code(desktop, within(15000), &json), BW_OK);
    shown = parsed(json);
    snprintf(code, sizeof code, "%.20s", json_string_value(json_object_get(shown, "code")));
    json_decref(shown);
    CHECK_STATUS(bw_pairing_type(device, code, within(15000), NULL), BW_OK);
    await_state(both, &desktop_told, "code", "paired");
    await_state(both, &device_told, "code", "success");
    CHECK_TEXT(states_of(&desktop_told, "code", states, sizeof states), "connecting displaying acked paired");
    CHECK_TEXT(states_of(&device_told, "code", states, sizeof states), "submitting waiting success");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    record_end(&device_told);
    record_end(&desktop_told);
}

/* All lines of the log so far. */
static char *log_text;
static size_t log_size;

static void keep_line(void *user_data, int32_t level, const char *message)
{
    size_t length = strlen(message);
    char *longer = (char *)realloc(log_text, log_size + length + 2);
    (void)user_data;
    (void)level;
    if (longer == NULL)
        abort();
    log_text = longer;
    memcpy(log_text + log_size, message, length);
    memcpy(log_text + log_size + length, "\n", 2);
    log_size += length + 1;
}

static int log_names_a_relay(void *context)
{
    (void)context;
    return log_text != NULL && strstr(log_text, "ws://127.0.0.1") != NULL;
}

/* The log has not this text, in any case of letters. */
static void log_has_not(const char *what, const char *secret)
{
    size_t length = strlen(secret);
    const char *place;
    CHECK(length >= 6, what);
    for (place = log_text; place != NULL && *place != 0; place++) {
        if (strncasecmp(place, secret, length) == 0) {
            CHECK(0, what);
            return;
        }
    }
}

/* A key file's seed, in hex. */
static void key_of(const char *directory, char *hex, size_t size)
{
    char path[400];
    unsigned char bytes[32];
    size_t index;
    FILE *file;
    snprintf(path, sizeof path, "%.300s/identity.key", directory);
    file = fopen(path, "rb");
    hex[0] = 0;
    if (!CHECK(file != NULL && fread(bytes, 1, sizeof bytes, file) == sizeof bytes, "the key file is read"))
        return;
    fclose(file);
    for (index = 0; index < sizeof bytes && index * 2 + 3 < size; index++)
        snprintf(hex + index * 2, 3, "%02x", bytes[index]);
}

/* A log at the lowest level, of all three roles, while everything secret passes through them: each pairing flow, pushes
 * that are good, malformed, refused and sealed, commands with parameters that are wrong, tokens, and failures. */
static void the_log_keeps_secrets(void)
{
    static const uint8_t token[] = {0x5e, 0xc2, 0xe7, 0x70, 0x4e, 0x11};
    char directory[2][300], key[2][80], code[32], options[500], device_id[256], push[80];
    char *json = NULL;
    char *secrets[3] = {NULL, NULL, NULL};
    char *text;
    int index;
    json_t *value;
    struct record record;
    struct dispatched both;
    bw_device *device = NULL;
    bw_desktop *desktop = NULL;
    bw_relay *relay = open_relay();
    record_begin(&record);
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, keep_line, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    for (index = 0; index < 2; index++) {
        path_in(directory[index], sizeof directory[index], index == 0 ? "log-device" : "log-desktop");
        snprintf(options, sizeof options, "{\"state_dir\":\"%.300s\",\"relay_url\":\"ws://127.0.0.1:%d\"}",
                 directory[index], relay_port(relay));
        CHECK_STATUS(index == 0 ? bw_device_open(options, &device) : bw_desktop_open(options, &desktop), BW_OK);
        key_of(directory[index], key[index], sizeof key[index]);
    }
    CHECK_STATUS(bw_device_subscribe(device, "*", record_event, &record, record_destroy, NULL), BW_OK);
    both = only_device(device);
    both.desktop = desktop;

    /* The codes: the two secrets of QR codes, and typed digits. */
    text = offered_code(desktop);
    value = json_loads(text, 0, NULL);
    secrets[0] = strdup(json_string_value(json_object_get(json_object_get(value, "bw"), "secret")));
    json_decref(value);
    CHECK_STATUS(bw_pairing_scan(device, "Kennwort-in-a-code", 1000, NULL), BW_E_PAIRING);
    CHECK_STATUS(bw_pairing_scan(device, text, within(15000), NULL), BW_OK);
    free(text);
    CHECK_STATUS(bw_pairing_show(device, within(15000), &json), BW_OK);
    value = parsed(json);
    text = strdup(json_string_value(json_object_get(value, "payload")));
    json_decref(value);
    value = json_loads(text, 0, NULL);
    secrets[1] = strdup(json_string_value(json_object_get(json_object_get(value, "bw"), "secret")));
    json_decref(value);
    CHECK_STATUS(bw_desktop_scan(desktop, text, NULL), BW_OK);
    free(text);
    CHECK_STATUS(bw_desktop_confirm(desktop, "scan", 1), BW_OK);
    await_state(both, &record, "show", "completed");
    json = NULL;
    CHECK_STATUS(bw_desktop_code(desktop, within(15000), &json), BW_OK);
    value = parsed(json);
    snprintf(code, sizeof code, "%.20s", json_string_value(json_object_get(value, "code")));
    json_decref(value);
    secrets[2] = strdup(code + 7);
    code[12] = code[12] == '0' ? '1' : '0';
    CHECK_STATUS(bw_pairing_type(device, code, within(15000), NULL), BW_E_PAIRING);
    snprintf(code + 7, sizeof code - 7, "%.6s", secrets[2]);
    CHECK_STATUS(bw_pairing_type(device, code, within(15000), NULL), BW_OK);

    /* Texts: pushed, sent, refused, malformed, and of a push service. */
    json = NULL;
    CHECK_STATUS(bw_desktop_notify(desktop, "{\"title\":\"Kennwort-1\",\"body\":\"Kennwort-2\",\"data\":{\"a\":"
                                            "\"Kennwort-3\"}}", within(15000), &json), BW_OK);
    value = parsed(json);
    snprintf(push, sizeof push, "%.70s", json_string_value(json_object_get(value, "notificationId")));
    json_decref(value);
    CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"Kennwort-4\",\"body\":\"Kennwort-5\"}",
                                      within(15000), NULL), BW_OK);
    CHECK_STATUS(bw_device_invoke(device, NULL, "Kennwort.seven", "{\"a\":\"Kennwort-8\"}", within(15000), NULL),
                 BW_E_UNSUPPORTED);
    CHECK_STATUS(bw_notification_get_history(device, NULL, "{\"query\":\"Kennwort-9\"}", within(15000), NULL), BW_OK);
    CHECK_STATUS(bw_device_receive(device, "fcm", "{\"notification\":{\"title\":\"Kennwort-10\"},\"data\":{}}", NULL),
                 BW_OK);
    CHECK_STATUS(bw_device_receive(device, "fcm", "{\"data\":\"Kennwort-11\"}", NULL), BW_E_PROTOCOL);
    /* What does not open is handled as any other payload. */
    CHECK_STATUS(bw_device_receive(device, "fcm", "{\"data\":{\"bellwire\":\"Kennwort-12\"}}", NULL), BW_OK);
    CHECK_STATUS(bw_device_post(device, "host.a", "{\"a\":\"Kennwort-13\"}"), BW_OK);
    CHECK_STATUS(bw_desktop_invoke(desktop, "notification.send", "{\"title\":\"Kennwort-14\",\"priority\":"
                                            "\"Kennwort-15\"}", 1000, NULL), BW_E_INVALID);

    /* Tokens, and a desktop that pushes to a device that has gone. */
    CHECK_STATUS(bw_device_token(device, "fcm", token, sizeof token), BW_OK);
    json = NULL;
    CHECK_STATUS(bw_device_state(device, &json), BW_OK);
    value = parsed(json);
    snprintf(device_id, sizeof device_id, "%.200s", json_string_value(json_object_get(value, "id")));
    json_decref(value);
    CHECK(bw_desktop_seal_push(desktop, device_id, push, NULL, NULL) < 0, "an output that is missing is refused");
    CHECK_STATUS(bw_device_stop(device), BW_OK);
    CHECK_STATUS(bw_notification_mark_as_read(device, NULL, "{\"notificationId\":\"Kennwort-16\"}", 1000, NULL),
                 BW_QUEUED);
    bw_desktop_notify(desktop, "{\"title\":\"Kennwort-17\"}", within(3000), NULL);
    CHECK_STATUS(bw_relay_stop(relay), BW_OK);
    CHECK_STATUS(bw_device_start(device), BW_OK);
    CHECK(dispatch_until(both, log_names_a_relay, NULL, 15000), "the log says that the relay has gone");
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    CHECK_STATUS(bw_desktop_dispatch(desktop), BW_OK);
    CHECK_STATUS(bw_relay_dispatch(relay), BW_OK);

    CHECK(log_size > 0, "there is a log");
    log_has_not("no text is logged", "Kennwort");
    log_has_not("no token is logged", "5ec2e7704e11");
    log_has_not("no secret of a desktop's QR code is logged", secrets[0]);
    log_has_not("no secret of a device's QR code is logged", secrets[1]);
    log_has_not("no typed digits are logged", secrets[2]);
    log_has_not("no key of a device is logged", key[0]);
    log_has_not("no key of a desktop is logged", key[1]);
    CHECK_STATUS(bw_set_log(BW_LOG_DEBUG, NULL, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
    record_end(&record);
    for (index = 0; index < 3; index++) free(secrets[index]);
    free(log_text);
}

static int all_completed(void *context)
{
    struct outcome *outcome = (struct outcome *)context;
    return outcome->calls == 600;
}

/* Pushes wait for a subscription, and none is lost however many there are. */
static void pushes_wait(void)
{
    enum { rounds = 2, round_size = 600 };
    struct record record;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    int round, index;
    int in_order = 1;
    record_begin(&record);
    if (pair(device, desktop)) {
        for (round = 0; round < rounds; round++) {
            struct outcome outcome;
            int sent = 0;
            memset(&outcome, 0, sizeof outcome);
            for (index = 0; index < round_size; index++) {
                char params[64];
                snprintf(params, sizeof params, "{\"title\":\"%d\",\"body\":\"\"}", round * round_size + index);
                sent += bw_notification_send_to_mobile_async(device, NULL, params, within(60000), complete, &outcome,
                                                             outcome_destroy)
                    == BW_OK;
            }
            CHECK_NUMBER(sent, round_size);
            CHECK(dispatch_until(only_device(device), all_completed, &outcome, 60000), "the desktop pushes them");
            CHECK_NUMBER(outcome.status, BW_OK);
            CHECK_NUMBER(outcome.destroyed, round_size);
        }
        CHECK_STATUS(bw_device_subscribe(device, "notification.received", record_event, &record, record_destroy, NULL),
                     BW_OK);
        record.wanted = rounds * round_size;
        CHECK(dispatch_until(only_device(device), recorded, &record, 60000), "more pushes than the queue holds come");
        CHECK_NUMBER(record.events, rounds * round_size);
        for (index = 0; index < record.events; index++)
            in_order = in_order && atoi(text_of(&record, (size_t)index, "title")) == index;
        CHECK(in_order, "in their order");
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&record);
}

int main(int argc, char **argv)
{
    RUN(pair_push_and_ask);
    RUN(flows);
    RUN(codes_without_waiting);
    RUN(unpairing);
    RUN(revoking);
    RUN(confirmation);
    RUN(each_step_is_told);
    RUN(the_log_keeps_secrets);
    RUN(pushes_wait);
    return check_end();
}
