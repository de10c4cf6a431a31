/* Commands that wait for their desktop, and what a desktop lets its devices do. */
#include "roles.h"

/* The parameters of each of the methods that can wait. */
static const char *const waiting[] = {"{\"soundEnabled\":false}", NULL, "{\"notificationId\":\"n-1\"}",
                                      "{\"notificationId\":\"n-2\"}", NULL};

typedef bw_status (*method)(bw_device *, const char *, const char *, int32_t, char **);
typedef bw_status (*method_async)(bw_device *, const char *, const char *, int32_t, bw_completion, void *, bw_destroy);

static const method can_wait[] = {bw_notification_update_settings, bw_notification_mark_all_as_read,
                                  bw_notification_mark_as_read, bw_notification_delete, bw_notification_clear_all};
static const method_async can_wait_async[]
    = {bw_notification_update_settings_async, bw_notification_mark_all_as_read_async,
       bw_notification_mark_as_read_async, bw_notification_delete_async, bw_notification_clear_all_async};

static json_t *queue_of(bw_device *device)
{
    char *json = NULL;
    CHECK_STATUS(bw_queue_list(device, &json), BW_OK);
    return parsed(json);
}

static size_t queued(bw_device *device)
{
    json_t *queue = queue_of(device);
    size_t count = json_array_size(queue);
    json_decref(queue);
    return count;
}

/* The id of a paired device, or of its desktop. */
static void only_id(char *list, char *id, size_t size)
{
    json_t *value = parsed(list);
    const char *text = json_string_value(json_object_get(json_array_get(value, 0), "id"));
    snprintf(id, size, "%.200s", text != NULL ? text : "");
    json_decref(value);
}

/* What waits for the end of the desktop's connection. */
static int is_away(void *context)
{
    char *json = NULL;
    json_t *list;
    int away;
    if (bw_pairing_list((bw_device *)context, &json) != BW_OK)
        return 1;
    list = parsed(json);
    away = json_is_false(json_object_get(json_array_get(list, 0), "online"));
    json_decref(list);
    return away;
}

static int is_drained(void *context)
{
    return queued((bw_device *)context) == 0;
}

static void parameters(void)
{
    char *json = NULL;
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    CHECK_STATUS(bw_queue_list(NULL, &json), BW_E_HANDLE);
    CHECK_STATUS(bw_queue_list(device, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_queue_remove(device, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_queue_remove(device, "nothing"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_queue_remove(NULL, "nothing"), BW_E_HANDLE);
    CHECK_STATUS(bw_queue_retry(device, "nothing"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_queue_retry(device, NULL), BW_OK);
    CHECK_STATUS(bw_queue_clear(device, 0), BW_OK);
    CHECK_STATUS(bw_queue_clear(device, epoch_ms()), BW_OK);
    CHECK_STATUS(bw_queue_clear(device, -1), BW_E_INVALID);
    CHECK_NUMBER(queued(device), 0);
    CHECK_STATUS(bw_notification_clear_all(device, NULL, NULL, 1000, &json), BW_E_NOT_FOUND);
    CHECK(json == NULL, "no output was written");

    CHECK_STATUS(bw_desktop_permissions(desktop, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_permissions(NULL, &json), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_allow(desktop, NULL, "notification", "safe"), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_allow(desktop, "nobody", NULL, "safe"), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_allow(desktop, "nobody", "notification", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_allow(desktop, "nobody", "notification", "everything"), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_allow(desktop, "nobody", "notification", "safe"), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_desktop_skill_enable(desktop, NULL, 0), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_skill_enable(desktop, "nothing", 0), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_queue_list(device, &json), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_skill_enable(desktop, "notification", 0), BW_E_HANDLE);
}

/* Five methods wait for a desktop that is away, and are carried out when it is back; the others fail at once. */
static void waits(void)
{
    struct record record;
    struct outcome outcome;
    char *json = NULL;
    json_t *value;
    size_t index;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    record_begin(&record);
    CHECK_STATUS(bw_device_subscribe(device, "queue.ended", record_event, &record, record_destroy, NULL), BW_OK);
    if (pair(device, desktop)) {
        CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"one\",\"body\":\"\"}", within(10000), NULL),
                     BW_OK);
        CHECK_STATUS(bw_device_stop(device), BW_OK);
        for (index = 0; index < sizeof can_wait / sizeof can_wait[0]; index++) {
            const char *id;
            json = NULL;
            CHECK_STATUS(can_wait[index](device, NULL, waiting[index], 1000, &json), BW_QUEUED);
            value = parsed(json);
            id = json_string_value(json_object_get(value, "id"));
            CHECK(json_is_true(json_object_get(value, "queued")) && id != NULL, "its result names it");
            json_decref(value);
            memset(&outcome, 0, sizeof outcome);
            CHECK_STATUS(can_wait_async[index](device, NULL, waiting[index], 1000, complete, &outcome, outcome_destroy),
                         BW_OK);
            CHECK(dispatch_until(only_device(device), completed, &outcome, 10000), "a completion comes");
            CHECK_NUMBER(outcome.status, BW_QUEUED);
            CHECK_NUMBER(outcome.destroyed, 1);
        }
        /* What is checked before anything is sent is checked before anything is kept. */
        CHECK_STATUS(bw_notification_delete(device, NULL, "{\"notificationId\":\"\"}", 1000, NULL), BW_E_INVALID);
        CHECK_STATUS(bw_notification_update_settings(device, NULL, "{}", 1000, NULL), BW_E_INVALID);
        CHECK_STATUS(bw_notification_get_history(device, NULL, NULL, 1000, NULL), BW_E_OFFLINE);
        CHECK_STATUS(bw_notification_get_unread_count(device, NULL, NULL, 1000, NULL), BW_E_OFFLINE);
        CHECK_STATUS(bw_notification_get_settings(device, NULL, NULL, 1000, NULL), BW_E_OFFLINE);
        CHECK_STATUS(bw_notification_send(device, NULL, "{\"title\":\"t\",\"body\":\"\"}", 1000, NULL), BW_E_OFFLINE);
        CHECK_STATUS(bw_notification_send_to_mobile(device, NULL, "{\"title\":\"t\",\"body\":\"\"}", 1000, NULL),
                     BW_E_OFFLINE);
        CHECK_STATUS(bw_notification_broadcast(device, NULL, "{\"title\":\"t\",\"body\":\"\"}", 1000, NULL),
                     BW_E_OFFLINE);
        /* A clearAll has made the marks and the delete needless, and itself once more. */
        value = queue_of(device);
        CHECK_NUMBER(json_array_size(value), 2);
        CHECK_TEXT(json_string_value(json_object_get(json_array_get(value, 0), "method")),
                   "notification.updateSettings");
        CHECK_TEXT(json_string_value(json_object_get(json_array_get(value, 1), "method")), "notification.clearAll");
        CHECK_TEXT(json_string_value(json_object_get(json_array_get(value, 1), "state")), "pending");
        json_decref(value);
        json = NULL;
        CHECK_STATUS(bw_device_state(device, &json), BW_OK);
        value = parsed(json);
        CHECK_NUMBER(json_integer_value(json_object_get(json_object_get(value, "queue"), "pending")), 2);
        json_decref(value);

        CHECK_STATUS(bw_device_start(device), BW_OK);
        CHECK(dispatch_until(only_device(device), is_drained, device, 15000), "the queue is drained");
        record.wanted = 10;
        CHECK(dispatch_until(only_device(device), recorded, &record, 10000), "each end is told");
        CHECK(has_event(&record, "queue.ended", "outcome", "done"), "what was carried out");
        CHECK(has_event(&record, "queue.ended", "outcome", "superseded"), "and what was needless");
        json = NULL;
        CHECK_STATUS(bw_notification_get_history(device, NULL, NULL, within(10000), &json), BW_OK);
        value = parsed(json);
        CHECK_NUMBER(json_integer_value(json_object_get(value, "total")), 0);
        json_decref(value);
        json = NULL;
        CHECK_STATUS(bw_notification_get_settings(device, NULL, NULL, within(10000), &json), BW_OK);
        value = parsed(json);
        CHECK(json_is_false(json_object_get(value, "soundEnabled")), "the setting is in force");
        json_decref(value);
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_NUMBER(record.destroyed, 1);
    record_end(&record);
}

/* A desktop that is away, and a device that stays. */
static void desktop_away(void)
{
    char id[256];
    char *json = NULL;
    json_t *value;
    bw_relay *relay = open_relay();
    bw_desktop *desktop = NULL;
    bw_device *device = open_device(":memory:");
    char options[256];
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    snprintf(options, sizeof options,
             "{\"state_dir\":\":memory:\",\"follow_system\":false,\"relay_url\":\"ws://127.0.0.1:%d\"}",
             relay_port(relay));
    CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    if (pair(device, desktop)) {
        CHECK_STATUS(bw_desktop_stop(desktop), BW_OK);
        CHECK(dispatch_until(only_device(device), is_away, device, 10000), "the device hears that it is gone");
        CHECK_STATUS(bw_notification_mark_all_as_read(device, NULL, NULL, 1000, &json), BW_QUEUED);
        value = parsed(json);
        snprintf(id, sizeof id, "%.200s", json_string_value(json_object_get(value, "id")));
        json_decref(value);
        CHECK_STATUS(bw_queue_remove(device, id), BW_OK);
        CHECK_NUMBER(queued(device), 0);
        CHECK_STATUS(bw_notification_mark_all_as_read(device, NULL, NULL, 1000, NULL), BW_QUEUED);
        CHECK_STATUS(bw_notification_get_unread_count(device, NULL, NULL, 1000, NULL), BW_E_OFFLINE);
        CHECK_STATUS(bw_desktop_start(desktop), BW_OK);
        CHECK(dispatch_until(only_device(device), is_drained, device, 15000), "the queue is drained");
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
}

/* What the desktop's user does not allow gives BW_E_DENIED, of each method, and stays in the queue as failed. */
static void permissions(void)
{
    static const struct {
        method call;
        const char *params;
        int reads;
    } methods[] = {
        {bw_notification_send, "{\"title\":\"t\",\"body\":\"\"}", 0},
        {bw_notification_send_to_mobile, "{\"title\":\"t\",\"body\":\"\"}", 0},
        {bw_notification_broadcast, "{\"title\":\"t\",\"body\":\"\"}", 0},
        {bw_notification_get_history, NULL, 1},
        {bw_notification_mark_as_read, "{\"notificationId\":\"n\"}", 0},
        {bw_notification_mark_all_as_read, NULL, 0},
        {bw_notification_delete, "{\"notificationId\":\"n\"}", 0},
        {bw_notification_clear_all, NULL, 0},
        {bw_notification_get_unread_count, NULL, 1},
        {bw_notification_get_settings, NULL, 1},
        {bw_notification_update_settings, "{\"enabled\":true}", 0},
    };
    char id[256];
    char *json = NULL;
    json_t *value;
    size_t index;
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    if (pair(device, desktop)) {
        CHECK_STATUS(bw_desktop_devices(desktop, &json), BW_OK);
        only_id(json, id, sizeof id);
        for (index = 0; index < sizeof methods / sizeof methods[0]; index++)
            CHECK_STATUS(methods[index].call(device, NULL, methods[index].params, within(10000), NULL), BW_OK);
        CHECK_STATUS(bw_desktop_allow(desktop, id, "notification", "safe"), BW_OK);
        for (index = 0; index < sizeof methods / sizeof methods[0]; index++)
            CHECK_STATUS(methods[index].call(device, NULL, methods[index].params, within(10000), NULL),
                         methods[index].reads ? BW_OK : BW_E_DENIED);
        CHECK_STATUS(bw_desktop_allow(desktop, id, "notification", "nothing"), BW_OK);
        for (index = 0; index < sizeof methods / sizeof methods[0]; index++)
            CHECK_STATUS(methods[index].call(device, NULL, methods[index].params, within(10000), NULL), BW_E_DENIED);
        json = NULL;
        CHECK_STATUS(bw_desktop_permissions(desktop, &json), BW_OK);
        value = parsed(json);
        {
            json_t *row = json_array_get(json_object_get(value, "devices"), 0);
            CHECK_TEXT(json_string_value(json_object_get(json_object_get(row, "allowed"), "notification")), "nothing");
        }
        CHECK_TEXT(json_string_value(json_object_get(json_array_get(json_object_get(value, "skills"), 0), "risk")),
                   "mutating");
        json_decref(value);

        /* A queued one that is refused stays, until it is retried. */
        CHECK_STATUS(bw_device_stop(device), BW_OK);
        CHECK_STATUS(bw_notification_clear_all(device, NULL, NULL, 1000, NULL), BW_QUEUED);
        CHECK_STATUS(bw_device_start(device), BW_OK);
        {
            const char *state = "";
            int64_t deadline = monotonic_ms() + within(15000);
            do {
                value = queue_of(device);
                state = json_string_value(json_object_get(json_array_get(value, 0), "state"));
                if (state == NULL || strcmp(state, "failed") == 0 || monotonic_ms() > deadline)
                    break;
                json_decref(value);
                poll(NULL, 0, 10);
            } while (1);
            CHECK_TEXT(state, "failed");
            CHECK_TEXT(json_string_value(json_object_get(json_object_get(json_array_get(value, 0), "error"), "code")),
                       "denied");
            json_decref(value);
        }
        CHECK_STATUS(bw_queue_clear(device, 1), BW_OK);
        CHECK_NUMBER(queued(device), 1);
        CHECK_STATUS(bw_desktop_allow(desktop, id, "notification", "mutating"), BW_OK);
        CHECK_STATUS(bw_queue_retry(device, NULL), BW_OK);
        CHECK(dispatch_until(only_device(device), is_drained, device, 15000), "what is retried is carried out");

        CHECK_STATUS(bw_desktop_skill_enable(desktop, "notification", 0), BW_OK);
        CHECK_STATUS(bw_notification_get_history(device, NULL, NULL, within(10000), NULL), BW_E_DENIED);
        CHECK_STATUS(bw_desktop_skill_enable(desktop, "notification", 1), BW_OK);
        CHECK_STATUS(bw_notification_get_history(device, NULL, NULL, within(10000), NULL), BW_OK);
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

int main(int argc, char **argv)
{
    RUN(parameters);
    RUN(waits);
    RUN(desktop_away);
    RUN(permissions);
    return check_end();
}
