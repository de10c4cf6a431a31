/* Push tokens, from a device to its desktop; pushes that a desktop seals for a service; and the topics of a host's own. */
#include "roles.h"

static const uint8_t token[] = {0x00, 0x0a, 0xff, 0x7f};

static json_t *tokens_of(bw_desktop *desktop)
{
    char *json = NULL;
    CHECK_STATUS(bw_desktop_tokens(desktop, &json), BW_OK);
    return parsed(json);
}

struct expected {
    bw_desktop *desktop;
    size_t count;
    const char *service;
    const char *token;
};

/* Whether the desktop has so many tokens, and this one among them (NULL: any). */
static int has_tokens(void *context)
{
    struct expected *expected = (struct expected *)context;
    char *json = NULL;
    json_t *list;
    size_t index;
    int found = expected->service == NULL;
    if (bw_desktop_tokens(expected->desktop, &json) != BW_OK)
        return 0;
    list = parsed(json);
    for (index = 0; index < json_array_size(list); index++) {
        json_t *row = json_array_get(list, index);
        const char *service = json_string_value(json_object_get(row, "service"));
        const char *text = json_string_value(json_object_get(row, "token"));
        found = found
            || (service != NULL && text != NULL && strcmp(service, expected->service) == 0
                && strcmp(text, expected->token) == 0);
    }
    found = found && json_array_size(list) == expected->count;
    json_decref(list);
    return found;
}

/* The store is asked again and again, for what no event tells the host. */
static int comes_true(int (*done)(void *context), void *context)
{
    int64_t deadline = monotonic_ms() + within(15000);
    while (!done(context)) {
        struct timespec pause = {0, 20000000};
        if (monotonic_ms() > deadline)
            return 0;
        nanosleep(&pause, NULL);
    }
    return 1;
}

static int comes_to_have(bw_desktop *desktop, size_t count, const char *service, const char *text)
{
    struct expected expected;
    expected.desktop = desktop;
    expected.count = count;
    expected.service = service;
    expected.token = text;
    return comes_true(has_tokens, &expected);
}

static void token_parameters(void)
{
    static uint8_t most[4097];
    char *json = NULL;
    char service[80];
    int number;
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    CHECK_STATUS(bw_device_token(NULL, "fcm", token, sizeof token), BW_E_HANDLE);
    CHECK_STATUS(bw_device_token((bw_device *)desktop, "fcm", token, sizeof token), BW_E_HANDLE);
    CHECK_STATUS(bw_device_token(device, NULL, token, sizeof token), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "", token, sizeof token), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "f c m", token, sizeof token), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "\xff\xfe", token, sizeof token), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "fcm", NULL, 4), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "fcm", token, 0), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "length");
    CHECK_STATUS(bw_device_token(device, "fcm", token, (size_t)-1), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "fcm", most, sizeof most), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "fcm", most, sizeof most - 1), BW_OK);
    memset(service, 's', sizeof service);
    service[65] = 0;
    CHECK_STATUS(bw_device_token(device, service, token, sizeof token), BW_E_INVALID);
    service[64] = 0;
    CHECK_STATUS(bw_device_token(device, service, token, sizeof token), BW_OK);
    for (number = 3; number <= 16; number++) {
        snprintf(service, sizeof service, "service-%d", number);
        CHECK_STATUS(bw_device_token(device, service, token, sizeof token), BW_OK);
    }
    CHECK_STATUS(bw_device_token(device, "one.more", token, sizeof token), BW_E_LIMIT);
    CHECK_STATUS(bw_device_token(device, "fcm", token, sizeof token), BW_OK);
    CHECK_STATUS(bw_device_clear_token(device, "never_given"), BW_OK);
    CHECK_STATUS(bw_device_clear_token(device, "not a service"), BW_E_INVALID);
    CHECK_STATUS(bw_device_clear_token(device, "fcm"), BW_OK);
    CHECK_STATUS(bw_device_token(device, "one.more", token, sizeof token), BW_OK);
    CHECK_STATUS(bw_device_clear_token(device, NULL), BW_OK);
    CHECK_STATUS(bw_device_clear_token(NULL, NULL), BW_E_HANDLE);

    CHECK_STATUS(bw_desktop_tokens(desktop, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_tokens(NULL, &json), BW_E_HANDLE);
    CHECK(json == NULL, "no output was written");
    json_decref(tokens_of(desktop));
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_device_token(device, "fcm", token, sizeof token), BW_E_HANDLE);
    CHECK_STATUS(bw_device_clear_token(device, "fcm"), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_tokens(desktop, &json), BW_E_HANDLE);
}

/* What the device gives, the desktop has, as hex; what is taken back it has no more. */
static void tokens_travel(void)
{
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    CHECK_STATUS(bw_device_token(device, "fcm", token, sizeof token), BW_OK);
    if (pair(device, desktop)) {
        json_t *list;
        CHECK(comes_to_have(desktop, 1, "fcm", "000aff7f"), "a token given before the pairing reaches the desktop");
        CHECK_STATUS(bw_device_token(device, "fcm", token, 1), BW_OK);
        CHECK(comes_to_have(desktop, 1, "fcm", "00"), "a newer one takes its place");
        CHECK_STATUS(bw_device_token(device, "apns", token + 1, 2), BW_OK);
        CHECK(comes_to_have(desktop, 2, "apns", "0aff"), "one of another service stands beside it");
        list = tokens_of(desktop);
        {
            json_t *row = json_array_get(list, 0);
            CHECK(json_string_length(json_object_get(row, "device")) > 8, "the list names the device");
            CHECK(json_string_length(json_object_get(row, "deviceId")) > 3, "and what it calls itself");
            CHECK(json_integer_value(json_object_get(row, "receivedAt")) > 0, "and since when");
        }
        json_decref(list);
        CHECK_STATUS(bw_device_clear_token(device, "fcm"), BW_OK);
        CHECK(comes_to_have(desktop, 1, "apns", "0aff"), "one that was taken back is gone");
        CHECK_STATUS(bw_pairing_clear(device), BW_OK);
        CHECK(comes_to_have(desktop, 0, NULL, NULL), "and with the pairing all of them");
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

static void seal_parameters(void)
{
    static const char *const options[] = {"[]", "{", "{\"x\":1}", "{\"service\":\"\"}", "{\"service\":5}",
                                          "{\"alert\":\"\"}", "\xff"};
    char alert[160];
    char *json = NULL;
    size_t index;
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    CHECK_STATUS(bw_desktop_seal_push(NULL, "d", "n", NULL, &json), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_seal_push((bw_desktop *)device, "d", "n", NULL, &json), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_seal_push(desktop, NULL, "n", NULL, &json), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "device");
    CHECK_STATUS(bw_desktop_seal_push(desktop, "d", NULL, NULL, &json), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "id");
    CHECK_STATUS(bw_desktop_seal_push(desktop, "d", "", NULL, &json), BW_E_INVALID);
    CHECK_STATUS(bw_desktop_seal_push(desktop, "d", "n", NULL, NULL), BW_E_INVALID);
    for (index = 0; index < sizeof options / sizeof options[0]; index++)
        CHECK_STATUS(bw_desktop_seal_push(desktop, "d", "n", options[index], &json), BW_E_INVALID);
    snprintf(alert, sizeof alert, "{\"alert\":\"%0101d\"}", 0);
    CHECK_STATUS(bw_desktop_seal_push(desktop, "d", "n", alert, &json), BW_E_INVALID);
    snprintf(alert, sizeof alert, "{\"alert\":\"%0100d\"}", 0);
    CHECK_STATUS(bw_desktop_seal_push(desktop, "d", "n", alert, &json), BW_E_NOT_FOUND);
    CHECK(json == NULL, "no output was written");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_desktop_seal_push(desktop, "d", "n", NULL, &json), BW_E_HANDLE);
}

static char *pushed(bw_desktop *desktop, const char *params)
{
    char *json = NULL, *id = NULL;
    json_t *result;
    CHECK_STATUS(bw_desktop_notify(desktop, params, within(10000), &json), BW_OK);
    result = parsed(json);
    if (json_string_value(json_object_get(result, "notificationId")) != NULL)
        id = strdup(json_string_value(json_object_get(result, "notificationId")));
    json_decref(result);
    return id != NULL ? id : strdup("");
}

/* Receives a payload; the result, or an empty object. */
static json_t *received(bw_device *device, const char *service, const char *payload)
{
    char *json = NULL;
    json_t *result;
    CHECK_STATUS(bw_device_receive(device, service, payload, &json), BW_OK);
    result = parsed(json);
    return result != NULL ? result : json_object();
}

/* Whether the desktop answers: then it has all that the device has sent before. */
static int is_answered(void *device)
{
    char *count = NULL;
    bw_status status = bw_notification_get_unread_count((bw_device *)device, NULL, NULL, within(10000), &count);
    bw_free(count);
    return status == BW_OK;
}

/* A push that a device does not have yet, and its payload for APNs; NULL = the device has published no prekeys in time. */
static char *sealed_push(bw_device *device, bw_desktop *desktop, const char *id_of_device, char **payload)
{
    int attempt;
    for (attempt = 0; attempt < 10; attempt++) {
        char *state = NULL, *id;
        bw_status status;
        CHECK(comes_true(is_answered, device), "a session begins");
        /* What was stored before this is sent. */
        CHECK_STATUS(bw_device_state(device, &state), BW_OK);
        bw_free(state);
        CHECK(comes_true(is_answered, device), "the desktop has the prekeys");
        CHECK_STATUS(bw_device_stop(device), BW_OK);
        id = pushed(desktop, "{\"title\":\"Tea\",\"body\":\"is ready\",\"data\":{\"n\":1.5}}");
        status = bw_desktop_seal_push(desktop, id_of_device, id, "{\"service\":\"apns\",\"alert\":\"News\"}", payload);
        if (status == BW_OK)
            return id;
        CHECK(status == BW_E_UNSUPPORTED || status == BW_E_NOT_FOUND, "nothing to be sealed, or no prekeys yet");
        free(id);
        CHECK_STATUS(bw_device_start(device), BW_OK);
    }
    return NULL;
}

struct confirmed {
    bw_device *device;
    const char *id;
};

/* Whether the inbox has that push alone, and it is no hint. */
static int is_confirmed(void *context)
{
    struct confirmed *confirmed = (struct confirmed *)context;
    char *json = NULL;
    json_t *page, *row;
    int is_so;
    if (bw_inbox_load(confirmed->device, "{\"query\":\"Tea\"}", &json) != BW_OK)
        return 0;
    page = parsed(json);
    row = json_array_get(json_object_get(page, "notifications"), 0);
    is_so = row != NULL && json_object_get(row, "hint") == NULL
        && strcmp(json_string_value(json_object_get(row, "id")), confirmed->id) == 0;
    json_decref(page);
    return is_so;
}

/* A push travels sealed through a service, is shown once and confirmed; nobody else opens it. */
static void sealed_pushes(void)
{
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:"), *other = open_device(":memory:");
    struct record record;
    char *payload = NULL, *id = NULL, *state = NULL, *large, *params;
    json_t *value;
    struct confirmed confirmed;
    record_begin(&record);
    CHECK_STATUS(bw_device_token(device, "apns", token, sizeof token), BW_OK);
    CHECK_STATUS(bw_device_state(device, &state), BW_OK);
    value = parsed(state);
    if (pair(device, desktop))
        id = sealed_push(device, desktop, json_string_value(json_object_get(value, "id")), &payload);
    CHECK(id != NULL, "a push is sealed");
    if (id != NULL) {
        json_t *shown = json_loads(payload, 0, NULL);
        json_t *result;
        CHECK(strlen(payload) <= 4096, "a payload fits into what services carry");
        CHECK(strstr(payload, "Tea") == NULL, "and does not say what it says");
        CHECK_TEXT(json_string_value(json_object_get(json_object_get(json_object_get(shown, "aps"), "alert"), "title")),
                   "News");
        json_decref(shown);
        CHECK_STATUS(bw_device_subscribe(device, "*", record_event, &record, NULL, NULL), BW_OK);
        CHECK_STATUS(bw_device_dispatch(device), BW_OK);
        json_array_clear(record.all);

        result = received(other, "apns", payload);
        CHECK(strcmp(json_string_value(json_object_get(result, "id")), id) != 0, "another device does not open it");
        json_decref(result);
        result = received(device, "apns", payload);
        CHECK_TEXT(json_string_value(json_object_get(result, "kind")), "push");
        CHECK_TEXT(json_string_value(json_object_get(result, "id")), id);
        CHECK(json_is_false(json_object_get(result, "duplicate")), "it comes for the first time");
        json_decref(result);
        result = received(device, "apns", payload);
        CHECK(json_is_true(json_object_get(result, "duplicate")), "and once");
        json_decref(result);
        CHECK_STATUS(bw_device_dispatch(device), BW_OK);
        CHECK(has_event(&record, "notification.received", "title", "Tea"), "its text is the desktop's");
        CHECK(!has_event(&record, "notification.received", "title", "News"), "not that of the alert");

        CHECK_STATUS(bw_device_start(device), BW_OK);
        confirmed.device = device;
        confirmed.id = id;
        CHECK(comes_true(is_confirmed, &confirmed), "the session confirms it");
        json_array_clear(record.all);
        CHECK_STATUS(bw_device_dispatch(device), BW_OK);
        CHECK(!has_event(&record, "notification.received", NULL, NULL), "and does not bring it again");

        /* Larger than services carry. */
        CHECK_STATUS(bw_device_stop(device), BW_OK);
        large = (char *)malloc(4096);
        params = (char *)malloc(4096);
        if (large != NULL && params != NULL) {
            memset(large, 'x', 3000);
            large[3000] = 0;
            snprintf(params, 4096, "{\"title\":\"t\",\"body\":\"%s\"}", large);
            free(id);
            bw_free(payload);
            payload = NULL;
            id = pushed(desktop, params);
            CHECK_STATUS(bw_desktop_seal_push(desktop, json_string_value(json_object_get(value, "id")), id, NULL,
                                              &payload),
                         BW_E_LIMIT);
            CHECK_ERROR(BW_E_LIMIT, "2815");
        }
        free(large);
        free(params);
    }
    json_decref(value);
    free(id);
    bw_free(payload);
    CHECK_STATUS(bw_device_close(other), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&record);
}

static void topic_parameters(void)
{
    char topic[160];
    char *big = (char *)malloc(65538);
    size_t size;
    bw_subscription subscription = 0;
    struct record record;
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    CHECK_STATUS(bw_device_post(NULL, "host.a", NULL), BW_E_HANDLE);
    CHECK_STATUS(bw_desktop_post((bw_desktop *)device, "host.a", NULL), BW_E_HANDLE);
    CHECK_STATUS(bw_device_post(device, NULL, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_device_post(device, "", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_device_post(device, "host.", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_device_post(device, "notification.received", NULL), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "topic");
    CHECK_STATUS(bw_device_post(device, "host.a b", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_device_post(device, "host.\xff", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_device_post(device, "host.a", "[]"), BW_E_INVALID);
    CHECK_STATUS(bw_device_post(device, "host.a", "{"), BW_E_INVALID);
    CHECK_STATUS(bw_device_post(device, "host.a", "\xff"), BW_E_INVALID);
    memset(topic, 'x', sizeof topic);
    memcpy(topic, "host.", 5);
    topic[129] = 0;
    CHECK_STATUS(bw_device_post(device, topic, NULL), BW_E_INVALID);
    topic[128] = 0;
    CHECK_STATUS(bw_device_post(device, topic, NULL), BW_OK);
    for (size = 65536; size <= 65537; size++) {
        memset(big, 'x', size);
        memcpy(big, "{\"a\":\"", 6);
        memcpy(big + size - 2, "\"}", 3);
        CHECK_STATUS(bw_device_post(device, "host.a", big), size == 65536 ? BW_OK : BW_E_INVALID);
    }
    CHECK_ERROR(BW_E_INVALID, "data_json");
    free(big);
    record_begin(&record);
    CHECK_STATUS(bw_device_subscribe(device, "host.", record_event, &record, record_destroy, NULL), BW_E_INVALID);
    CHECK_NUMBER(record.destroyed, 1);
    CHECK_ERROR(BW_E_INVALID, "host.");
    CHECK_STATUS(bw_device_subscribe(device, topic, record_event, &record, record_destroy, &subscription), BW_OK);
    CHECK_STATUS(bw_device_unsubscribe(device, subscription), BW_OK);
    CHECK_NUMBER(record.destroyed, 2);
    record_end(&record);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_STATUS(bw_device_post(device, "host.a", NULL), BW_E_HANDLE);
}

struct posting {
    bw_device *device;
    int round;
};

static void *post_from_thread(void *context)
{
    bw_device *device = (bw_device *)context;
    CHECK_STATUS(bw_device_post(device, "host.thread", "{\"from\":\"thread\"}"), BW_OK);
    return NULL;
}

static void post_again(void *user_data, const char *event, const char *event_json)
{
    struct posting *posting = (struct posting *)user_data;
    (void)event;
    (void)event_json;
    if (posting->round++ == 0)
        CHECK_STATUS(bw_device_post(posting->device, "host.again", NULL), BW_OK);
}

/* A topic is delivered in dispatch, on its thread, in order with all others, to its subscribers and to those for all. */
static void topics(void)
{
    pthread_t thread;
    struct record all, own;
    struct posting posting;
    int number;
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    record_begin(&all);
    record_begin(&own);
    CHECK_STATUS(bw_device_subscribe(device, "*", record_event, &all, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_device_subscribe(device, "host.thread", record_event, &own, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    all.events = 0;
    json_array_clear(all.all);
    CHECK_STATUS(bw_device_post(device, "host.first", NULL), BW_OK);
    CHECK_NUMBER(pthread_create(&thread, NULL, post_from_thread, device), 0);
    pthread_join(thread, NULL);
    CHECK_STATUS(bw_device_post(device, "host.last", "{\"n\":[1,null]}"), BW_OK);
    CHECK_NUMBER(all.events, 0);
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    CHECK_NUMBER(all.events, 3);
    CHECK_NUMBER(own.events, 1);
    CHECK(pthread_equal(own.thread, pthread_self()), "on the thread that dispatches");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(all.all, 0), "event")), "host.first");
    CHECK_NUMBER(json_object_size(json_object_get(json_array_get(all.all, 0), "data")), 0);
    CHECK(has_event(&all, "host.thread", "from", "thread"), "with its data");
    CHECK_TEXT(json_string_value(json_object_get(json_array_get(all.all, 2), "event")), "host.last");
    CHECK(json_object_get(json_array_get(all.all, 0), "desktop") == NULL, "and no desktop");

    posting.device = device;
    posting.round = 0;
    CHECK_STATUS(bw_device_subscribe(device, "host.again", post_again, &posting, NULL, NULL), BW_OK);
    CHECK_STATUS(bw_device_post(device, "host.again", NULL), BW_OK);
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    CHECK_NUMBER(posting.round, 1);
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    CHECK_NUMBER(posting.round, 2);

    for (number = 0; number < 1024; number++)
        if (bw_device_post(device, "host.many", NULL) != BW_OK)
            break;
    CHECK_NUMBER(number, 1024);
    CHECK_STATUS(bw_device_post(device, "host.many", NULL), BW_E_LIMIT);
    all.events = 0;
    CHECK_STATUS(bw_device_dispatch(device), BW_OK);
    CHECK_NUMBER(all.events, 1024);
    CHECK_STATUS(bw_device_post(device, "host.many", NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(all.destroyed, 1);
    CHECK_NUMBER(own.destroyed, 1);
    record_end(&all);
    record_end(&own);

    record_begin(&all);
    CHECK_STATUS(bw_desktop_subscribe(desktop, "host.x", record_event, &all, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_desktop_post(desktop, "host.x", "{\"a\":\"b\"}"), BW_OK);
    CHECK_STATUS(bw_desktop_dispatch(desktop), BW_OK);
    CHECK(has_event(&all, "host.x", "a", "b"), "a desktop's topics likewise");
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&all);
}

/* The events that were added with alerts can be subscribed to, by either role. */
static void event_names(void)
{
    static const char *const names[] = {"notification.presented", "notification.response", "notification.silent",
                                        "authorization.changed", "badge.changed"};
    size_t index;
    bw_device *device = open_device(":memory:");
    bw_desktop *desktop = open_desktop(":memory:");
    struct record record;
    record_begin(&record);
    for (index = 0; index < sizeof names / sizeof names[0]; index++) {
        CHECK_STATUS(bw_device_subscribe(device, names[index], record_event, &record, record_destroy, NULL), BW_OK);
        CHECK_STATUS(bw_desktop_subscribe(desktop, names[index], record_event, &record, record_destroy, NULL), BW_OK);
    }
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    CHECK_NUMBER(record.destroyed, 10);
    record_end(&record);
}

int main(int argc, char **argv)
{
    RUN(token_parameters);
    RUN(tokens_travel);
    RUN(seal_parameters);
    RUN(sealed_pushes);
    RUN(topic_parameters);
    RUN(topics);
    RUN(event_names);
    return check_end();
}
