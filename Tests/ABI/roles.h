/*
 * roles.h - what the tests that run a relay, a desktop and a device share: opening them on loopback, dispatching them
 * until something has happened, and recording events.
 */
#ifndef ROLES_H
#define ROLES_H

#include "check.h"

/* ---- JSON ---------------------------------------------------------------------------------------------------- */

/* Parses a result of the library's and frees it. */
MAYBE_UNUSED static json_t *parsed(char *json)
{
    json_t *value = json != NULL ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;
    bw_free(json);
    return value;
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

MAYBE_UNUSED static bw_device *open_device(const char *state_dir)
{
    char options[512];
    bw_device *device = NULL;
    snprintf(options, sizeof options, "{\"state_dir\":\"%.300s\",\"name\":\"test device\"}", state_dir);
    CHECK_STATUS(bw_device_open(options, &device), BW_OK);
    return device;
}

/* A desktop that carries a relay on a free port of loopback. */
MAYBE_UNUSED static bw_desktop *open_desktop(const char *state_dir)
{
    char options[512];
    bw_desktop *desktop = NULL;
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.300s\",\"name\":\"test desktop\",\"relay\":{\"listen\":\"127.0.0.1:0\"}}", state_dir);
    CHECK_STATUS(bw_desktop_open(options, &desktop), BW_OK);
    return desktop;
}

MAYBE_UNUSED static bw_relay *open_relay(void)
{
    bw_relay *relay = NULL;
    CHECK_STATUS(bw_relay_open("{\"listen\":\"127.0.0.1:0\"}", &relay), BW_OK);
    return relay;
}

/* The port of a relay that was started; 0 when it has none. */
MAYBE_UNUSED static int relay_port(bw_relay *relay)
{
    char *json = NULL;
    json_t *state;
    int port;
    if (bw_relay_state(relay, &json) != BW_OK)
        return 0;
    state = parsed(json);
    port = (int)json_integer_value(json_object_get(state, "port"));
    json_decref(state);
    return port;
}

/* Lets a desktop offer pairing; the QR's text is the caller's to free with free(). */
MAYBE_UNUSED static char *offered_code(bw_desktop *desktop)
{
    char *json = NULL;
    char *payload = NULL;
    json_t *offer;
    const char *text;
    if (!CHECK_STATUS(bw_desktop_offer(desktop, within(10000), &json), BW_OK))
        return NULL;
    offer = parsed(json);
    text = json_string_value(json_object_get(offer, "payload"));
    if (CHECK(text != NULL, "an offer has the QR code's text as \"payload\""))
        payload = strdup(text);
    json_decref(offer);
    return payload;
}

/* Pairs the two; true when it worked. */
MAYBE_UNUSED static int pair(bw_device *device, bw_desktop *desktop)
{
    char *code = offered_code(desktop);
    int good = code != NULL && CHECK_STATUS(bw_pairing_scan(device, code, within(15000), NULL), BW_OK);
    free(code);
    return good;
}

/* ---- waiting ------------------------------------------------------------------------------------------------- */

struct dispatched {
    bw_device *device;
    bw_desktop *desktop;
    bw_relay *relay;
};

/* Polls the handles (those that are not NULL) and dispatches what is readable, until done(context) or the deadline. */
MAYBE_UNUSED static int dispatch_until(struct dispatched handles, int (*done)(void *context), void *context, int32_t ms)
{
    int64_t deadline = monotonic_ms() + within(ms);
    while (!done(context)) {
        struct pollfd fds[3];
        nfds_t count = 0;
        int64_t left = deadline - monotonic_ms();
        if (left <= 0)
            return 0;
        if (handles.device != NULL)
            fds[count++].fd = bw_device_fd(handles.device);
        if (handles.desktop != NULL)
            fds[count++].fd = bw_desktop_fd(handles.desktop);
        if (handles.relay != NULL)
            fds[count++].fd = bw_relay_fd(handles.relay);
        fds[0].events = fds[1].events = fds[2].events = POLLIN;
        if (poll(fds, count, (int)left) <= 0)
            continue;
        if (handles.device != NULL && bw_device_dispatch(handles.device) < 0)
            return done(context);
        if (handles.desktop != NULL && bw_desktop_dispatch(handles.desktop) < 0)
            return done(context);
        if (handles.relay != NULL && bw_relay_dispatch(handles.relay) < 0)
            return done(context);
    }
    return 1;
}

MAYBE_UNUSED static struct dispatched only_device(bw_device *device)
{
    struct dispatched handles;
    memset(&handles, 0, sizeof handles);
    handles.device = device;
    return handles;
}

MAYBE_UNUSED static struct dispatched only_desktop(bw_desktop *desktop)
{
    struct dispatched handles;
    memset(&handles, 0, sizeof handles);
    handles.desktop = desktop;
    return handles;
}

/*
 * For a program that has one device or desktop: dispatches until standard input ends, then closes the handle. The
 * program's exit code: 4 if it can't be closed, 5 if a dispatch fails.
 */
MAYBE_UNUSED static int serve_until_input_ends(struct dispatched handle)
{
    for (;;) {
        struct pollfd fds[2];
        bw_status status;
        fds[0].fd = handle.device != NULL ? bw_device_fd(handle.device) : bw_desktop_fd(handle.desktop);
        fds[1].fd = STDIN_FILENO;
        fds[0].events = fds[1].events = POLLIN;
        if (poll(fds, 2, -1) > 0 && fds[1].revents != 0) {
            status = handle.device != NULL ? bw_device_close(handle.device) : bw_desktop_close(handle.desktop);
            return status == BW_OK ? 0 : 4;
        }
        status = handle.device != NULL ? bw_device_dispatch(handle.device) : bw_desktop_dispatch(handle.desktop);
        if (status < 0) {
            char *error = bw_last_error();
            fprintf(stderr, "dispatch: %s\n", error);
            bw_free(error);
            return 5;
        }
    }
}

/* ---- recording ----------------------------------------------------------------------------------------------- */

/* The events of a subscription, and how often its destroy ran. */
struct record {
    int events;
    int destroyed;
    json_t *all; /* an array of event_json */
    pthread_t thread;
    int wanted; /* for recorded() */
};

MAYBE_UNUSED static void record_begin(struct record *record)
{
    memset(record, 0, sizeof *record);
    record->all = json_array();
}

MAYBE_UNUSED static void record_end(struct record *record)
{
    json_decref(record->all);
    record->all = NULL;
}

MAYBE_UNUSED static void record_event(void *user_data, const char *event, const char *event_json)
{
    struct record *record = (struct record *)user_data;
    json_t *value = json_loads(event_json, 0, NULL);
    const char *name = json_string_value(json_object_get(value, "event"));
    if (name == NULL || strcmp(name, event) != 0 || json_object_get(value, "data") == NULL)
        CHECK(0, "an event's JSON has its name and its data");
    record->events++;
    record->thread = pthread_self();
    json_array_append_new(record->all, value);
}

MAYBE_UNUSED static void record_destroy(void *user_data)
{
    ((struct record *)user_data)->destroyed++;
}

MAYBE_UNUSED static int recorded(void *context)
{
    struct record *record = (struct record *)context;
    return record->events >= record->wanted;
}

/* Whether an event of that name came, whose data has that text as the member (NULL: any). */
MAYBE_UNUSED static int has_event(const struct record *record, const char *name, const char *member, const char *text)
{
    size_t index;
    for (index = 0; index < json_array_size(record->all); index++) {
        json_t *event = json_array_get(record->all, index);
        json_t *data = json_object_get(event, "data");
        const char *value = member != NULL ? json_string_value(json_object_get(data, member)) : NULL;
        if (strcmp(json_string_value(json_object_get(event, "event")), name) != 0)
            continue;
        if (member == NULL || (value != NULL && strcmp(value, text) == 0))
            return 1;
    }
    return 0;
}

/* The completion of an _async call. */
struct outcome {
    int calls;
    int destroyed;
    bw_status status;
    char reason[64]; /* "reason" of the detail, when it failed in pairing */
    char code[32];   /* "code", where there is one */
    pthread_t thread;
};

MAYBE_UNUSED static void complete(void *user_data, bw_status status, const char *json)
{
    struct outcome *outcome = (struct outcome *)user_data;
    json_t *value = json != NULL ? json_loads(json, 0, NULL) : NULL;
    const char *reason = json_string_value(json_object_get(json_object_get(value, "detail"), "reason"));
    const char *code = json_string_value(json_object_get(value, "code"));
    snprintf(outcome->reason, sizeof outcome->reason, "%.60s", reason != NULL ? reason : "");
    snprintf(outcome->code, sizeof outcome->code, "%.30s", code != NULL ? code : "");
    outcome->calls++;
    outcome->status = status;
    outcome->thread = pthread_self();
    json_decref(value);
}

MAYBE_UNUSED static void outcome_destroy(void *user_data)
{
    ((struct outcome *)user_data)->destroyed++;
}

MAYBE_UNUSED static int completed(void *context)
{
    return ((struct outcome *)context)->calls > 0;
}

#endif /* ROLES_H */
