/* The inbox: load, mark, mark all, delete, clear, refresh over one desktop; what is refused; what stays when it is away. */
#include "roles.h"

/* What the inbox says, and that it says it of every desktop. */
struct view {
    json_t *page;
    json_t *state;
};

static struct view view_of(bw_device *device, const char *params)
{
    struct view view;
    char *json = NULL;
    CHECK_STATUS(bw_inbox_load(device, params, &json), BW_OK);
    view.page = parsed(json);
    json = NULL;
    CHECK_STATUS(bw_inbox_state(device, &json), BW_OK);
    view.state = parsed(json);
    return view;
}

static void view_end(struct view view)
{
    json_decref(view.page);
    json_decref(view.state);
}

static size_t rows_of(struct view view)
{
    return json_array_size(json_object_get(view.page, "notifications"));
}

static json_t *row_of(struct view view, size_t index)
{
    return json_array_get(json_object_get(view.page, "notifications"), index);
}

/* Rows, unread, loading and the last error, as they must be after a step. */
static void expect(bw_device *device, const char *step, size_t rows, int64_t unread, const char *error)
{
    struct view view = view_of(device, NULL);
    json_t *desktop = json_array_get(json_object_get(view.state, "desktops"), 0);
    const char *code = json_string_value(json_object_get(json_object_get(desktop, "error"), "code"));
    char *json = NULL;
    json_t *state;
    printf("      after %s\n", step);
    CHECK_NUMBER(rows_of(view), rows);
    CHECK_NUMBER(json_integer_value(json_object_get(view.page, "total")), rows);
    CHECK_NUMBER(json_integer_value(json_object_get(view.page, "unread")), unread);
    CHECK(json_is_false(json_object_get(view.page, "loading")), "nothing is being loaded");
    CHECK_NUMBER(json_integer_value(json_object_get(view.state, "unread")), unread);
    CHECK(json_is_false(json_object_get(view.state, "loading")), "nor does the state say so");
    CHECK_NUMBER(json_integer_value(json_object_get(desktop, "unread")), unread);
    CHECK_TEXT(code != NULL ? code : "none", error);
    CHECK_STATUS(bw_device_state(device, &json), BW_OK);
    state = parsed(json);
    CHECK_NUMBER(json_integer_value(json_object_get(state, "unread")), unread);
    json_decref(state);
    view_end(view);
}

static void notify(bw_desktop *desktop, const char *title)
{
    char params[128];
    snprintf(params, sizeof params, "{\"title\":\"%s\",\"body\":\"body of %s\"}", title, title);
    CHECK_STATUS(bw_desktop_notify(desktop, params, within(10000), NULL), BW_OK);
}

/* A number of a result, which is freed. */
static int64_t number_of(char *json, const char *member)
{
    json_t *result = parsed(json);
    json_t *value = json_object_get(result, member);
    int64_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    json_decref(result);
    return number;
}

static int has_settings(void *context)
{
    char *json = NULL;
    bw_status status = bw_inbox_settings((bw_device *)context, NULL, &json);
    bw_free(json);
    return status == BW_OK;
}

static void the_sequence(void)
{
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device = open_device(":memory:");
    struct record record;
    struct outcome outcome;
    struct view view;
    char ids[3][64];
    char *json = NULL;
    size_t index;
    record_begin(&record);
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_device_subscribe(device, "*", record_event, &record, NULL, NULL), BW_OK);
    if (!pair(device, desktop))
        return;
    CHECK(dispatch_until(only_device(device), has_settings, device, 10000), "the desktop's settings are fetched by itself");
    expect(device, "pairing", 0, 0, "none");

    notify(desktop, "first");
    notify(desktop, "second");
    notify(desktop, "third");
    record.wanted = record.events + 3;
    CHECK_STATUS(bw_inbox_refresh(device, NULL, within(10000), &json), BW_OK);
    CHECK_NUMBER(number_of(json, "unread"), 3);
    expect(device, "three pushes", 3, 3, "none");
    view = view_of(device, "{\"limit\":3}");
    for (index = 0; index < 3; index++) {
        const char *id = json_string_value(json_object_get(row_of(view, index), "id"));
        snprintf(ids[index], sizeof ids[index], "%.60s", id != NULL ? id : "");
    }
    CHECK_TEXT(json_string_value(json_object_get(row_of(view, 0), "title")), "third");
    CHECK(json_is_false(json_object_get(row_of(view, 0), "read")), "it is not read");
    CHECK(json_is_string(json_object_get(row_of(view, 0), "desktop")), "it says whose it is");
    view_end(view);
    view = view_of(device, "{\"query\":\"secon*\"}");
    CHECK_NUMBER(rows_of(view), 1);
    view_end(view);

    json = NULL;
    CHECK_STATUS(bw_inbox_mark_read(device, NULL, ids[0], within(10000), &json), BW_OK);
    CHECK_NUMBER(number_of(json, "markedCount"), 1);
    expect(device, "a mark", 3, 2, "none");
    view = view_of(device, "{\"unreadOnly\":true}");
    CHECK_NUMBER(rows_of(view), 2);
    view_end(view);

    json = NULL;
    CHECK_STATUS(bw_inbox_mark_all_read(device, NULL, within(10000), &json), BW_OK);
    CHECK_NUMBER(number_of(json, "markedCount"), 2);
    expect(device, "a mark of all", 3, 0, "none");

    json = NULL;
    CHECK_STATUS(bw_inbox_delete(device, NULL, ids[1], within(10000), &json), BW_OK);
    CHECK_NUMBER(number_of(json, "deletedCount"), 1);
    expect(device, "a deletion", 2, 0, "none");
    CHECK_STATUS(bw_inbox_delete(device, NULL, ids[1], within(10000), NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_mark_read(device, NULL, "nothing", within(10000), NULL), BW_E_NOT_FOUND);

    json = NULL;
    CHECK_STATUS(bw_desktop_history(desktop, NULL, &json), BW_OK);
    CHECK_NUMBER(number_of(json, "total"), 2);
    CHECK_STATUS(bw_inbox_clear_async(device, NULL, within(10000), complete, &outcome, outcome_destroy), BW_OK);
    CHECK(dispatch_until(only_device(device), completed, &outcome, 10000), "the completion comes");
    CHECK_STATUS(outcome.status, BW_OK);
    CHECK_NUMBER(outcome.destroyed, 1);
    expect(device, "clearing", 0, 0, "none");

    json = NULL;
    CHECK_STATUS(bw_inbox_refresh(device, NULL, within(10000), &json), BW_OK);
    CHECK_NUMBER(number_of(json, "dropped"), 0);
    expect(device, "a refresh", 0, 0, "none");
    json = NULL;
    CHECK_STATUS(bw_desktop_history(desktop, NULL, &json), BW_OK);
    CHECK_NUMBER(number_of(json, "total"), 0);
    CHECK(dispatch_until(only_device(device), recorded, &record, 10000), "events have come");
    CHECK(has_event(&record, "inbox.changed", NULL, NULL), "the inbox tells that it has changed");
    CHECK(has_event(&record, "unread.changed", NULL, NULL), "and how much is unread");
    CHECK(has_event(&record, "settings.changed", NULL, NULL), "and the desktop's settings");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
    record_end(&record);
}

/* Without a connection: what is here is shown, what is changed waits. */
static void offline(void)
{
    char path[256];
    bw_desktop *desktop = open_desktop(":memory:");
    bw_device *device;
    struct view view;
    char id[64];
    const char *text;
    char *json = NULL;
    json_t *queue;
    snprintf(path, sizeof path, "%.200s/offline", work_directory());
    device = open_device(path);
    if (!pair(device, desktop))
        return;
    notify(desktop, "kept");
    CHECK_STATUS(bw_inbox_refresh(device, NULL, within(10000), NULL), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);

    device = open_device(path);
    view = view_of(device, NULL);
    CHECK_NUMBER(rows_of(view), 1);
    CHECK_NUMBER(json_integer_value(json_object_get(view.page, "unread")), 1);
    text = json_string_value(json_object_get(row_of(view, 0), "id"));
    snprintf(id, sizeof id, "%.60s", text != NULL ? text : "");
    view_end(view);
    CHECK_STATUS(bw_inbox_refresh(device, NULL, within(10000), NULL), BW_E_OFFLINE);
    expect(device, "a refresh offline", 1, 1, "offline");
    CHECK_STATUS(bw_inbox_mark_read(device, NULL, id, within(10000), &json), BW_QUEUED);
    queue = parsed(json);
    CHECK(json_is_true(json_object_get(queue, "queued")) && json_is_string(json_object_get(queue, "id")),
          "a change that waits has an id");
    json_decref(queue);
    view = view_of(device, NULL);
    CHECK(json_is_true(json_object_get(row_of(view, 0), "read")), "it is shown at once");
    view_end(view);
    CHECK_STATUS(bw_inbox_delete(device, NULL, id, within(10000), NULL), BW_QUEUED);
    expect(device, "a deletion offline", 0, 0, "none");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    /* It still waits, and is still shown, after the process has begun anew. */
    device = open_device(path);
    expect(device, "opening again", 0, 0, "none");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_desktop_close(desktop), BW_OK);
}

static void refusals(void)
{
    bw_device *device = open_device(":memory:");
    struct outcome outcome;
    char *json = NULL;
    memset(&outcome, 0, sizeof outcome);
    CHECK_STATUS(bw_inbox_load(NULL, NULL, &json), BW_E_HANDLE);
    CHECK_STATUS(bw_inbox_load(device, NULL, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_load(device, "[", &json), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_load(device, "{\"limit\":0}", &json), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "limit");
    CHECK_STATUS(bw_inbox_load(device, "{\"limit\":501}", &json), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_load(device, "{\"colour\":1}", &json), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "colour");
    CHECK_STATUS(bw_inbox_load(device, "{\"desktop\":7}", &json), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "desktop");
    CHECK_STATUS(bw_inbox_load(device, "{\"before\":\"nowhere\"}", &json), BW_E_INVALID);
    CHECK_ERROR(BW_E_INVALID, "before");
    CHECK(json == NULL, "a call that fails gives nothing");
    CHECK_STATUS(bw_inbox_state(device, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_state(NULL, &json), BW_E_HANDLE);
    CHECK_STATUS(bw_inbox_settings(device, NULL, &json), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_settings(device, "nobody", NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_refresh(device, NULL, 0, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_refresh(device, NULL, 1000, NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_refresh(device, "nobody", 1000, NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_refresh_async(device, NULL, 1000, NULL, NULL, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_mark_read(device, NULL, NULL, 1000, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_mark_read(device, NULL, "", 1000, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_mark_read(device, NULL, "id", 1000, NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_mark_all_read(device, NULL, 600001, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_mark_all_read(device, NULL, 1000, NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_delete(device, NULL, NULL, 1000, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_delete(device, "nobody", "id", 1000, NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_clear(NULL, NULL, 1000, NULL), BW_E_HANDLE);
    CHECK_STATUS(bw_inbox_clear(device, NULL, 1000, NULL), BW_E_NOT_FOUND);
    CHECK_STATUS(bw_inbox_mark_read_async(device, NULL, "id", 1000, NULL, &outcome, outcome_destroy), BW_E_INVALID);
    CHECK_STATUS(bw_inbox_delete_async(device, NULL, "", 1000, complete, &outcome, outcome_destroy), BW_E_INVALID);
    CHECK_NUMBER(outcome.destroyed, 2);
    CHECK_STATUS(bw_inbox_mark_all_read_async(device, NULL, 1000, complete, &outcome, outcome_destroy), BW_OK);
    CHECK(dispatch_until(only_device(device), completed, &outcome, 10000), "the completion comes");
    CHECK_STATUS(outcome.status, BW_E_NOT_FOUND);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_inbox_load(device, NULL, &json), BW_E_HANDLE);
}

int main(int argc, char **argv)
{
    RUN(the_sequence);
    RUN(offline);
    RUN(refusals);
    return check_end();
}
