/* Every number that a host can pass, at its extremes: nothing traps, each is a named error or has a defined result. */
#include "roles.h"

#include <math.h>

static const int32_t times[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 600001, INT32_MAX};
static const int64_t moments[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_C(1) << 53, INT64_MAX - 1, INT64_MAX};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define OF_TIME(call) CHECK_STATUS((call), BW_E_INVALID), CHECK_ERROR(BW_E_INVALID, "timeout_ms")

static int destroyed;

static void on_completion(void *user_data, bw_status status, const char *json)
{
    (void)user_data, (void)status, (void)json;
    CHECK(0, "a call with a wrong parameter has no completion");
}

static void on_destroy(void *user_data)
{
    (void)user_data;
    destroyed++;
}

/* A status of the header, and the error of this thread has its name. */
static void defined(bw_status status, int line)
{
    int named = status >= 0 || strcmp(bw_status_name(status), "unknown") != 0;
    check_record(named, line, "has a status of the header", bw_status_name(status));
}
#define DEFINED(call) defined((call), __LINE__)

static void times_of(bw_device *device, bw_desktop *desktop, int32_t time)
{
    char *json = NULL;
    int before = destroyed;
    OF_TIME(bw_pairing_scan(device, "x", time, &json));
    OF_TIME(bw_pairing_show(device, time, &json));
    OF_TIME(bw_pairing_type(device, "123456-789012", time, &json));
    OF_TIME(bw_inbox_refresh(device, NULL, time, &json));
    OF_TIME(bw_inbox_mark_read(device, NULL, "n", time, &json));
    OF_TIME(bw_inbox_mark_all_read(device, NULL, time, &json));
    OF_TIME(bw_inbox_delete(device, NULL, "n", time, &json));
    OF_TIME(bw_inbox_clear(device, NULL, time, &json));
    OF_TIME(bw_notification_mark_all_as_read(device, NULL, NULL, time, &json));
    OF_TIME(bw_device_invoke(device, NULL, "test.echo", NULL, time, &json));
    OF_TIME(bw_alerts_request(device, NULL, time, &json));
    OF_TIME(bw_desktop_offer(desktop, time, &json));
    OF_TIME(bw_desktop_code(desktop, time, &json));
    OF_TIME(bw_desktop_notify(desktop, "{\"title\":\"Tea\",\"body\":\"\"}", time, &json));
    OF_TIME(bw_desktop_invoke(desktop, "notification.markAllAsRead", NULL, time, &json));
    OF_TIME(bw_pairing_scan_async(device, "x", time, on_completion, NULL, on_destroy));
    OF_TIME(bw_pairing_show_async(device, time, on_completion, NULL, on_destroy));
    OF_TIME(bw_pairing_type_async(device, "123456-789012", time, on_completion, NULL, on_destroy));
    OF_TIME(bw_inbox_refresh_async(device, NULL, time, on_completion, NULL, on_destroy));
    OF_TIME(bw_inbox_mark_read_async(device, NULL, "n", time, on_completion, NULL, on_destroy));
    OF_TIME(bw_notification_mark_all_as_read_async(device, NULL, NULL, time, on_completion, NULL, on_destroy));
    OF_TIME(bw_device_invoke_async(device, NULL, "test.echo", NULL, time, on_completion, NULL, on_destroy));
    OF_TIME(bw_alerts_request_async(device, NULL, time, on_completion, NULL, on_destroy));
    OF_TIME(bw_desktop_offer_async(desktop, time, on_completion, NULL, on_destroy));
    OF_TIME(bw_desktop_code_async(desktop, time, on_completion, NULL, on_destroy));
    OF_TIME(bw_desktop_notify_async(desktop, "{\"title\":\"Tea\",\"body\":\"\"}", time, on_completion, NULL, on_destroy));
    OF_TIME(bw_desktop_invoke_async(desktop, "notification.markAllAsRead", NULL, time, on_completion, NULL, on_destroy));
    CHECK(json == NULL, "and no result was given");
    CHECK_NUMBER(destroyed - before, 12);
}

static void numbers_of(bw_device *device, bw_desktop *desktop, int64_t number)
{
    char params[128];
    char *json = NULL;
    CHECK_STATUS(bw_queue_clear(device, number), number < 0 ? BW_E_INVALID : BW_OK);
    CHECK_STATUS(bw_alerts_badge(device, number), number < 0 ? BW_E_INVALID : BW_OK);
    DEFINED(bw_alerts_authorize(device, "ephemeral", number));
    DEFINED(bw_alerts_authorize(device, "authorized", number));
    snprintf(params, sizeof params, "{\"limit\":%" PRId64 ",\"offset\":%" PRId64 "}", number, number);
    DEFINED(bw_inbox_load(device, params, &json));
    bw_free(json), json = NULL;
    DEFINED(bw_desktop_history(desktop, params, &json));
    bw_free(json), json = NULL;
    snprintf(params, sizeof params, "{\"title\":\"Tea\",\"body\":\"\",\"scheduledAt\":%" PRId64 ",\"badge\":%" PRId64 "}",
             number, number);
    DEFINED(bw_desktop_notify(desktop, params, within(5000), NULL));
    snprintf(params, sizeof params, "{\"title\":\"Tea\",\"trigger\":{\"type\":\"interval\",\"seconds\":%" PRId64 "}}",
             number);
    DEFINED(bw_reminder_add(device, params, NULL));
    DEFINED(bw_alerts_in_front(device, (int32_t)number));
    DEFINED(bw_pairing_confirm(device, NULL, (int32_t)number));
    DEFINED(bw_desktop_confirm(desktop, NULL, (int32_t)number));
    DEFINED(bw_desktop_skill_enable(desktop, "notification", (int32_t)number));
    DEFINED(bw_device_rekey_confirm(device, "a", "b", (int32_t)number));
    DEFINED(bw_desktop_rekey_confirm(desktop, "a", "b", (int32_t)number));
    DEFINED(bw_device_unsubscribe(device, (bw_subscription)number));
    DEFINED(bw_desktop_unsubscribe(desktop, (bw_subscription)number));
    if (number < -1) {
        CHECK_STATUS(bw_device_run(device, INT32_MIN), BW_E_INVALID);
        CHECK_STATUS(bw_desktop_run(desktop, INT32_MIN), BW_E_INVALID);
    }
}

static void positions_and_lengths(bw_device *device)
{
    const double numbers[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, -0.0, 90.0, 180.0, 4.9e-324};
    const size_t lengths[] = {0, 4097, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1, (size_t)INT32_MAX + 1};
    uint8_t token[4096] = {1};
    size_t a, b;
    for (a = 0; a < COUNT(numbers); a++) {
        for (b = 0; b < COUNT(numbers); b++) {
            DEFINED(bw_reminder_position(device, numbers[a], numbers[b], 10.0));
            DEFINED(bw_reminder_position(device, 1.0, numbers[a], numbers[b]));
        }
        if (!isfinite(numbers[a]))
            CHECK_STATUS(bw_reminder_position(device, numbers[a], 2.0, 3.0), BW_E_INVALID);
    }
    for (a = 0; a < COUNT(lengths); a++)
        CHECK_STATUS(bw_device_token(device, "fcm", token, lengths[a]), BW_E_INVALID);
    CHECK_STATUS(bw_device_token(device, "fcm", token, sizeof token), BW_OK);
}

static void pictures(void)
{
    const int32_t sizes[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    uint8_t grey[16] = {0};
    uint8_t *png = NULL;
    size_t size = 0;
    size_t a, b, c;
    char *texts = NULL;
    for (a = 0; a < COUNT(sizes); a++) {
        if (sizes[a] != 1)
            CHECK_STATUS(bw_qr_png("x", sizes[a], &png, &size), BW_E_INVALID);
        for (b = 0; b < COUNT(sizes); b++)
            for (c = 0; c < COUNT(sizes); c++)
                /* One pixel is there; whatever claims to be larger than that must be refused before it is read. */
                if (sizes[a] <= 1 && sizes[b] <= 1)
                    DEFINED(bw_qr_read_pixels(grey, sizes[a], sizes[b], sizes[c], &texts));
    }
    bw_free(texts);
}

/* The device is the holder's own, then a guest's. */
static void everything(const char *directory, int guests)
{
    char options[512];
    bw_device *holder = NULL, *device = NULL;
    bw_desktop *first = NULL, *desktop = NULL;
    char *json = NULL;
    size_t index;
    snprintf(options, sizeof options, "{\"state_dir\":\"%.200s/device\",\"alerts\":\"host\"}", directory);
    CHECK_STATUS(bw_device_open(options, &holder), BW_OK);
    snprintf(options, sizeof options, "{\"state_dir\":\"%.200s/desktop\",\"relay\":{\"listen\":\"127.0.0.1:0\"}}", directory);
    CHECK_STATUS(bw_desktop_open(options, &first), BW_OK);
    if (guests) {
        snprintf(options, sizeof options, "{\"state_dir\":\"%.200s/device\",\"application_id\":\"org.example.Guest\"}",
                 directory);
        CHECK_STATUS(bw_device_open(options, &device), BW_OK);
        snprintf(options, sizeof options, "{\"state_dir\":\"%.200s/desktop\",\"application_id\":\"org.example.Guest\"}",
                 directory);
        CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    }
    for (index = 0; index < COUNT(times); index++)
        times_of(guests ? device : holder, guests ? desktop : first, times[index]);
    for (index = 0; index < COUNT(moments); index++)
        numbers_of(guests ? device : holder, guests ? desktop : first, moments[index]);
    positions_and_lengths(guests ? device : holder);
    if (guests) {
        CHECK_STATUS(bw_device_close(device), BW_OK);
        CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    }
    CHECK_STATUS(bw_device_state(holder, &json), BW_OK);
    bw_free(json), json = NULL;
    CHECK_STATUS(bw_desktop_state(first, &json), BW_OK);
    bw_free(json);
    CHECK_STATUS(bw_device_close(holder), BW_OK);
    CHECK_STATUS(bw_desktop_close(first), BW_OK);
}

static void alone(void)
{
    char directory[96];
    path_in(directory, sizeof directory, "alone");
    everything(directory, 0);
}

static void as_guest(void)
{
    char directory[96];
    path_in(directory, sizeof directory, "guest");
    everything(directory, 1);
}

int main(int argc, char **argv)
{
    RUN(alone);
    RUN(as_guest);
    RUN(pictures);
    return check_end();
}
