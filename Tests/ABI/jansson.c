/*
 * bellwire_jansson.h: whose each json_t is, what becomes of user data, and what JSON can hold that C strings cannot.
 * Every json_t of this program is counted by an allocator of its own, as a host may have one.
 */
#include "roles.h"

#include <bellwire_jansson.h>
#include <locale.h>

static int64_t allocated;

/* Marked, so that a block which another allocator gave is seen when it is freed here. */
static const uint64_t mark = 0x6a616e73736f6e21;

static void *allocate(size_t size)
{
    uint64_t *block = (uint64_t *)malloc(size + 16);
    if (block == NULL)
        return NULL;
    block[0] = mark;
    __atomic_add_fetch(&allocated, 1, __ATOMIC_SEQ_CST);
    return block + 2;
}

static void release(void *pointer)
{
    uint64_t *block = (uint64_t *)pointer;
    if (block == NULL)
        return;
    if (block[-2] != mark)
        abort();
    block[-2] = 0;
    __atomic_sub_fetch(&allocated, 1, __ATOMIC_SEQ_CST);
    free(block - 2);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static void options_and_errors(void)
{
    bw_device *device = NULL;
    json_t *error;
    json_t *options = json_pack("{s:s,s:s}", "state_dir", ":memory:", "name", "Gr\303\274\303\237e \"1\"");
    json_t *state = NULL;
    CHECK_STATUS(bwj_device_open(options, &device), BW_OK);
    CHECK_NUMBER(options->refcount, 1);
    CHECK_STATUS(bwj_device_state(device, &state), BW_OK);
    CHECK_TEXT(text_of(state, "name"), "Gr\303\274\303\237e \"1\"");
    CHECK_NUMBER(state->refcount, 1);
    json_decref(state);
    CHECK_STATUS(bwj_device_state(device, NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);

    state = options; /* what stood there before */
    CHECK_STATUS(bwj_device_state(device, &state), BW_E_HANDLE);
    CHECK(state == NULL, "a result is NULL after a failure");

    json_object_set_new(options, "nonsense", json_true());
    CHECK_STATUS(bwj_device_open(options, &device), BW_E_INVALID);
    error = bwj_last_error();
    CHECK_TEXT(text_of(error, "status"), "BW_E_INVALID");
    CHECK(strstr(text_of(error, "message"), "nonsense") != NULL, "the error names the unknown key");
    json_decref(error);
    json_decref(options);
}

static void what_cannot_be_written(void)
{
    bw_device *device = open_device(":memory:");
    json_t *object = json_object();
    json_t *inner = json_object();
    json_t *result = NULL;
    char *text;
    json_object_set(object, "inner", inner);
    json_object_set(inner, "outer", object);
    CHECK_STATUS(bwj_notification_send(device, NULL, object, 1000, &result), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "params_json");
    CHECK_STATUS(bwj_device_post(device, "host.x", object), BW_E_INVALID);
    json_object_clear(inner);
    json_decref(inner);
    json_decref(object);
    CHECK(result == NULL, "and there is no result");

    object = json_pack("{s:o}", "title", json_string_nocheck("\377\376"));
    CHECK_STATUS(bwj_notification_send(device, NULL, object, 1000, &result), BW_E_INVALID);
    json_decref(object);
    object = json_string("no object");
    CHECK_STATUS(bwj_notification_send(device, NULL, object, 1000, &result), BW_E_INVALID);
    text = bwj_text(object);
    CHECK_TEXT(text, "\"no object\"");
    bwj_free(text);
    bwj_free(NULL);
    CHECK(bwj_text(NULL) == NULL && bwj_parse(NULL) == NULL, "nothing stays nothing");
    json_decref(object);
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

static void what_a_text_may_hold(void)
{
    json_t *value = bwj_parse("{\"a\":\"1\\u00002\",\"b\":1.5,\"c\":1,\"c\":2}");
    CHECK_NUMBER(json_string_length(json_object_get(value, "a")), 3);
    CHECK_NUMBER(json_integer_value(json_object_get(value, "c")), 2);
    json_decref(value);
    value = bwj_parse("\"text\"");
    CHECK_TEXT(json_string_value(value), "text");
    json_decref(value);
    CHECK(bwj_parse("{") == NULL, "what is no JSON is NULL");
}

/* ---- calls and callbacks --------------------------------------------------------------------------------------- */

struct seen {
    int calls, destroyed;
    bw_status status;
    json_t *kept;
};

static void keep_event(void *user_data, const char *event, json_t *event_json)
{
    struct seen *seen = (struct seen *)user_data;
    CHECK_TEXT(event, text_of(event_json, "event"));
    seen->calls++;
    json_decref(seen->kept);
    seen->kept = json_incref(event_json);
}

static void keep_result(void *user_data, bw_status status, json_t *result)
{
    struct seen *seen = (struct seen *)user_data;
    seen->calls++;
    seen->status = status;
    json_decref(seen->kept);
    seen->kept = json_incref(result);
}

static void seen_destroy(void *user_data)
{
    ((struct seen *)user_data)->destroyed++;
}

static int was_seen(void *context)
{
    return ((struct seen *)context)->calls > 0;
}

static void begin(struct seen *seen)
{
    json_decref(seen->kept);
    memset(seen, 0, sizeof *seen);
}

/* All eleven against a desktop, and any other method; params stay the caller's. */
static void calls(bw_device *device)
{
    typedef bw_status (*method)(bw_device *, const char *, const json_t *, int32_t, json_t **);
    typedef bw_status (*method_async)(bw_device *, const char *, const json_t *, int32_t, bwj_completion, void *,
                                      bw_destroy);
    static const struct {
        method wait;
        method_async begin;
        const char *params, *member;
    } methods[] = {
        {bwj_notification_send, bwj_notification_send_async, "{\"title\":\"t\",\"body\":\"b\"}", "notificationId"},
        {bwj_notification_send_to_mobile, bwj_notification_send_to_mobile_async, "{\"title\":\"t\",\"body\":\"b\"}",
         "delivered"},
        {bwj_notification_broadcast, bwj_notification_broadcast_async, "{\"title\":\"t\",\"body\":\"b\"}",
         "deliveredCount"},
        {bwj_notification_get_history, bwj_notification_get_history_async, "{\"limit\":1}", "notifications"},
        {bwj_notification_mark_as_read, bwj_notification_mark_as_read_async, "{\"notificationId\":\"x\"}",
         "markedCount"},
        {bwj_notification_mark_all_as_read, bwj_notification_mark_all_as_read_async, NULL, "markedCount"},
        {bwj_notification_delete, bwj_notification_delete_async, "{\"notificationId\":\"x\"}", "deletedCount"},
        {bwj_notification_clear_all, bwj_notification_clear_all_async, NULL, "clearedCount"},
        {bwj_notification_get_unread_count, bwj_notification_get_unread_count_async, NULL, "count"},
        {bwj_notification_get_settings, bwj_notification_get_settings_async, NULL, "soundEnabled"},
        {bwj_notification_update_settings, bwj_notification_update_settings_async, "{\"soundEnabled\":false}",
         "success"},
    };
    struct seen seen;
    size_t index;
    json_t *result = NULL;
    memset(&seen, 0, sizeof seen);
    CHECK_NUMBER(sizeof methods / sizeof methods[0], 11);
    for (index = 0; index < sizeof methods / sizeof methods[0]; index++) {
        json_t *params = bwj_parse(methods[index].params);
        CHECK_STATUS(methods[index].wait(device, NULL, params, within(10000), &result), BW_OK);
        CHECK(json_object_get(result, methods[index].member) != NULL, methods[index].member);
        json_decref(result);

        begin(&seen);
        CHECK_STATUS(methods[index].begin(device, NULL, params, within(10000), keep_result, &seen, seen_destroy), BW_OK);
        if (params != NULL)
            CHECK_NUMBER(params->refcount, 1);
        json_decref(params); /* before the answer is there */
        CHECK(dispatch_until(only_device(device), was_seen, &seen, 10000), "its completion runs");
        CHECK_NUMBER(seen.status, BW_OK);
        CHECK(json_object_get(seen.kept, methods[index].member) != NULL, methods[index].member);
        CHECK_NUMBER(seen.destroyed, 1);
    }
    CHECK_STATUS(bwj_device_invoke(device, NULL, "no.such", NULL, within(10000), &result), BW_E_UNSUPPORTED);
    begin(&seen);
    CHECK_STATUS(bwj_device_invoke_async(device, NULL, "no.such", NULL, within(10000), keep_result, &seen, seen_destroy),
                 BW_OK);
    CHECK(dispatch_until(only_device(device), was_seen, &seen, 10000), "its completion runs");
    CHECK_NUMBER(seen.status, BW_E_UNSUPPORTED);
    CHECK_TEXT(text_of(seen.kept, "status"), "BW_E_UNSUPPORTED");
    begin(&seen);
}

static void calls_and_callbacks(void)
{
    struct seen seen;
    bw_subscription subscription = 0;
    json_t *options = json_pack("{s:s,s:s,s:{s:s}}", "state_dir", ":memory:", "name", "desk", "relay", "listen",
                                "127.0.0.1:0");
    json_t *offer = NULL;
    json_t *desktops = NULL;
    json_t *data = json_pack("{s:f,s:s}", "half", 0.5, "text", "t");
    json_t *received;
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = NULL;
    memset(&seen, 0, sizeof seen);
    CHECK_STATUS(bwj_desktop_open(options, &desktop), BW_OK);
    json_decref(options);
    CHECK_STATUS(bwj_desktop_offer(desktop, within(10000), &offer), BW_OK);
    CHECK_STATUS(bwj_pairing_scan(device, text_of(offer, "payload"), within(15000), &desktops), BW_OK);
    CHECK_TEXT(text_of(desktops, "name"), "desk");
    json_decref(desktops);
    json_decref(offer);
    CHECK_STATUS(bwj_pairing_list(device, &desktops), BW_OK);
    CHECK_NUMBER(json_array_size(desktops), 1);
    json_decref(desktops);

    calls(device);

    /* An event of the host's own, with a number that has a point wherever one lives. */
    CHECK_STATUS(bwj_device_subscribe(device, "host.x", keep_event, &seen, seen_destroy, &subscription), BW_OK);
    CHECK_STATUS(bwj_device_post(device, "host.x", data), BW_OK);
    CHECK(dispatch_until(only_device(device), was_seen, &seen, 10000), "the event comes");
    received = json_object_get(seen.kept, "data");
    CHECK(json_equal(received, data), "with the data that was posted");
    CHECK(json_real_value(json_object_get(received, "half")) == 0.5, "a fraction stays what it is");
    CHECK_NUMBER(seen.destroyed, 0);
    CHECK_STATUS(bw_device_unsubscribe(device, subscription), BW_OK);
    CHECK_NUMBER(seen.destroyed, 1);
    CHECK(json_equal(json_object_get(seen.kept, "data"), data), "what was kept lives on");
    begin(&seen);
    CHECK_STATUS(bwj_device_subscribe(device, "no such event", keep_event, &seen, seen_destroy, NULL), BW_E_INVALID);
    CHECK_STATUS(bwj_device_subscribe(device, "host.x", NULL, &seen, seen_destroy, NULL), BW_E_INVALID);
    CHECK_NUMBER(seen.destroyed, 2);
    begin(&seen);
    CHECK_STATUS(bwj_notification_send_async(device, NULL, data, 1000, keep_result, &seen, seen_destroy), BW_E_INVALID);
    CHECK_STATUS(bwj_notification_send_async(device, NULL, NULL, 1000, NULL, &seen, seen_destroy), BW_E_INVALID);
    CHECK_NUMBER(seen.destroyed, 2);
    CHECK_NUMBER(seen.calls, 0);
    begin(&seen);
    CHECK_STATUS(bwj_notification_get_settings_async(device, NULL, NULL, 60000, keep_result, &seen, seen_destroy), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(seen.calls, 1);
    CHECK_NUMBER(seen.destroyed, 1);
    begin(&seen);
    json_decref(data);

    {
        json_t *params = json_pack("{s:s,s:s}", "title", "t", "body", "b");
        json_t *result = NULL;
        CHECK_STATUS(bwj_desktop_notify(desktop, params, within(10000), &result), BW_OK);
        CHECK(json_object_get(result, "deliveredCount") != NULL, "a desktop's push has a result");
        json_decref(result);
        CHECK_STATUS(bwj_desktop_history(desktop, NULL, &result), BW_OK);
        CHECK(json_integer_value(json_object_get(result, "total")) > 0, "and stands in its history");
        json_decref(result);
        {
            json_t *options = json_pack("{s:s}", "service", "apns");
            json_t *payload = options;
            CHECK_STATUS(bwj_desktop_seal_push(desktop, "did:key:zNobody", "n-1", options, &payload), BW_E_NOT_FOUND);
            CHECK(payload == NULL, "no payload for a device that is not paired");
            json_decref(options);
        }
        CHECK_STATUS(bwj_desktop_invoke(desktop, "notification.markAllAsRead", NULL, within(10000), &result), BW_OK);
        json_decref(result);
        json_decref(params);
    }
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

int main(int argc, char **argv)
{
    int64_t before;
    json_set_alloc_funcs(allocate, release);
    /* run.sh makes a locale with a decimal comma: JSON has a point all the same. */
    check_test = "locale";
    CHECK(setlocale(LC_ALL, "de_DE.UTF-8") != NULL && strcmp(localeconv()->decimal_point, ",") == 0,
          "numbers have a decimal comma here");
    RUN(options_and_errors);
    before = __atomic_load_n(&allocated, __ATOMIC_SEQ_CST);
    RUN(options_and_errors);
    RUN(what_cannot_be_written);
    RUN(what_a_text_may_hold);
    RUN(calls_and_callbacks);
    check_test = "ownership";
    CHECK_NUMBER(__atomic_load_n(&allocated, __ATOMIC_SEQ_CST), before);
    return check_end();
}
