/*
 * bellwire_jansson.h - bellwire.h for programs that use jansson.
 *
 * Inline functions only: your program links jansson itself (2.8 or later), in addition to Bellwire. C99, valid C++.
 * Each function wraps the function of bellwire.h whose name begins with bw_ instead of bwj_. Statuses, threads and
 * time limits are the same. All since 0.1.
 *
 *   cc program.c $(pkg-config --cflags --libs bellwire jansson)
 *
 * Parameters  A json_t parameter is borrowed: the caller keeps its reference and may release it when the call returns,
 *             also with _async. NULL means NULL in bellwire.h: no options, no parameters. A value that is not
 *             valid JSON (it contains itself, or a string that is not UTF-8) gives BW_E_INVALID.
 * Results     *result is a new reference; the caller calls json_decref(). result may be NULL. It is first set to NULL,
 *             so json_decref() is also safe after a failure.
 * Callbacks   A json_t passed to a callback is borrowed until the callback returns; json_incref() keeps it. It is not
 *             shared and may be changed.
 * Memory      BW_E_NO_MEMORY may also mean that the call was executed but its result did not fit into memory; then
 *             bw_last_error() reports an earlier failure. Call json_set_alloc_funcs() before you open anything, because
 *             the library and the program may share one jansson.
 * Strings     A string may contain U+0000: json_string_length() is its real length. If a peer sent a duplicate key, the
 *             last one counts. Numbers use a decimal point, whatever the locale.
 *
 * Copyright (c) 2026 The Bellwire authors. MIT License.
 */
#ifndef BELLWIRE_JANSSON_H
#define BELLWIRE_JANSSON_H

#include <bellwire.h>
#include <jansson.h>
#include <stdlib.h>

/* Names that end in _ are internal to this header. */
#ifdef __cplusplus
#define BWJ_CAST_(type, value) static_cast<type>(value)
extern "C" {
#else
#define BWJ_CAST_(type, value) ((type)(value))
#endif

/* ================================================================================================================
 * JSON
 *
 * With these functions you can use json_t with any other function of bellwire.h.
 * ============================================================================================================= */

/* The JSON text of a value; free it with bwj_free(). NULL for NULL. For a value that can't be serialized it is the
 * empty string, which the library refuses. */
static inline char *bwj_text(const json_t *value) {
    static char unwritable[1];
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    return text || !value ? text : unwritable;
}

/* Frees a text of bwj_text() with the allocator of the program's jansson. NULL is allowed. */
static inline void bwj_free(char *text) {
    json_malloc_t allocate;
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    if (text && *text) release(text);
}

/* Parses JSON text that the library returned, without freeing it. NULL for NULL, or if out of memory. */
static inline json_t *bwj_parse(const char *json) {
    return json ? json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
}

/* Ends a call: parses *json into *result (result may be NULL), frees *json, and returns the call's status.
 *
 *   char *json = NULL;
 *   json_t *desktops = NULL;
 *   bw_status status = bwj_take(bw_pairing_list(device, &json), &json, &desktops);
 */
static inline bw_status bwj_take(bw_status status, char **json, json_t **result) {
    if (result) *result = NULL;
    if (status >= 0 && result && *json) {
        *result = bwj_parse(*json);
        if (!*result) status = BW_E_NO_MEMORY;
    }
    bw_free(*json);
    *json = NULL;
    return status;
}

/* bw_last_error(): a new reference to {"status","message","detail"}; NULL if no call on this thread has failed. */
static inline json_t *bwj_last_error(void) {
    char *json = bw_last_error();
    json_t *error = bwj_parse(json);
    bw_free(json);
    return error;
}

/* ================================================================================================================
 * Callbacks
 * ============================================================================================================= */

/* Like bw_event_callback. event_json is {"event","desktop"?,"data"}; NULL only if out of memory. */
typedef void (*bwj_event_callback)(void *user_data, const char *event, json_t *event_json);

/* Like bw_completion: result is the call's result or, if status < 0, what bw_last_error() would return. NULL if there
 * is none, or if out of memory. */
typedef void (*bwj_completion)(void *user_data, bw_status status, json_t *result);

struct bwj_callback_ {
    bwj_event_callback event;
    bwj_completion completion;
    void *user_data;
    bw_destroy destroy;
};

static inline void bwj_on_event_(void *user_data, const char *event, const char *event_json) {
    const struct bwj_callback_ *callback = BWJ_CAST_(struct bwj_callback_ *, user_data);
    json_t *value = bwj_parse(event_json);
    callback->event(callback->user_data, event, value);
    json_decref(value);
}

static inline void bwj_on_completion_(void *user_data, bw_status status, const char *json) {
    const struct bwj_callback_ *callback = BWJ_CAST_(struct bwj_callback_ *, user_data);
    json_t *value = bwj_parse(json);
    callback->completion(callback->user_data, status, value);
    json_decref(value);
}

static inline void bwj_destroy_(void *user_data) {
    struct bwj_callback_ *callback = BWJ_CAST_(struct bwj_callback_ *, user_data);
    if (callback->destroy) callback->destroy(callback->user_data);
    free(callback);
}

/* NULL if out of memory; destroy has run in that case. */
static inline struct bwj_callback_ *bwj_callback_of_(bwj_event_callback event, bwj_completion completion,
                                                     void *user_data, bw_destroy destroy) {
    struct bwj_callback_ *callback = BWJ_CAST_(struct bwj_callback_ *, malloc(sizeof *callback));
    if (callback) {
        callback->event = event;
        callback->completion = completion;
        callback->user_data = user_data;
        callback->destroy = destroy;
    } else if (destroy) {
        destroy(user_data);
    }
    return callback;
}

/* ================================================================================================================
 * Device
 * ============================================================================================================= */

/* bw_device_open(). The caller closes *device. */
static inline bw_status bwj_device_open(const json_t *options, bw_device **device) {
    char *text = bwj_text(options);
    bw_status status = bw_device_open(text, device);
    bwj_free(text);
    return status;
}

/* bw_device_state(). */
static inline bw_status bwj_device_state(bw_device *device, json_t **state) {
    char *json = NULL;
    return bwj_take(bw_device_state(device, &json), &json, state);
}

/* bw_device_subscribe(). callback is not NULL; bw_device_unsubscribe() ends it. */
static inline bw_status bwj_device_subscribe(bw_device *device, const char *event, bwj_event_callback callback,
                                             void *user_data, bw_destroy destroy,
                                             bw_subscription *subscription) {
    struct bwj_callback_ *taken = bwj_callback_of_(callback, NULL, user_data, destroy);
    if (!taken) return BW_E_NO_MEMORY;
    return bw_device_subscribe(device, event, callback ? bwj_on_event_ : NULL, taken, bwj_destroy_, subscription);
}

/* bw_device_post(). */
static inline bw_status bwj_device_post(bw_device *device, const char *topic, const json_t *data) {
    char *text = bwj_text(data);
    bw_status status = bw_device_post(device, topic, text);
    bwj_free(text);
    return status;
}

/* bw_pairing_list(): an array. */
static inline bw_status bwj_pairing_list(bw_device *device, json_t **desktops) {
    char *json = NULL;
    return bwj_take(bw_pairing_list(device, &json), &json, desktops);
}

/* bw_pairing_scan(): *desktop becomes the paired desktop. */
static inline bw_status bwj_pairing_scan(bw_device *device, const char *qr_text, int32_t timeout_ms, json_t **desktop) {
    char *json = NULL;
    return bwj_take(bw_pairing_scan(device, qr_text, timeout_ms, &json), &json, desktop);
}

/* bw_pairing_scan_async(). */
static inline bw_status bwj_pairing_scan_async(bw_device *device, const char *qr_text, int32_t timeout_ms,
                                               bwj_completion completion, void *user_data, bw_destroy destroy) {
    struct bwj_callback_ *taken = bwj_callback_of_(NULL, completion, user_data, destroy);
    if (!taken) return BW_E_NO_MEMORY;
    return bw_pairing_scan_async(device, qr_text, timeout_ms,
                                 completion ? bwj_on_completion_ : NULL, taken, bwj_destroy_);
}

/* bw_inbox_load(). */
static inline bw_status bwj_inbox_load(bw_device *device, const json_t *params, json_t **page) {
    char *json = NULL, *text = bwj_text(params);
    bw_status status = bw_inbox_load(device, text, &json);
    bwj_free(text);
    return bwj_take(status, &json, page);
}

/* ================================================================================================================
 * Methods
 *
 * The methods of bellwire.h with the same parameters and results, and bw_device_invoke() for any other. With BW_QUEUED
 * the result is {"queued":true,"id"}.
 * ============================================================================================================= */

typedef bw_status (*bwj_method_)(bw_device *device, const char *desktop, const char *params_json, int32_t timeout_ms,
                                 char **result_json);
typedef bw_status (*bwj_method_async_)(bw_device *device, const char *desktop, const char *params_json,
                                       int32_t timeout_ms, bw_completion completion, void *user_data,
                                       bw_destroy destroy);

static inline bw_status bwj_call_(bwj_method_ method, bw_device *device, const char *desktop, const json_t *params,
                                  int32_t timeout_ms, json_t **result) {
    char *json = NULL, *text = bwj_text(params);
    bw_status status = method(device, desktop, text, timeout_ms, &json);
    bwj_free(text);
    return bwj_take(status, &json, result);
}

static inline bw_status bwj_call_async_(bwj_method_async_ method, bw_device *device, const char *desktop,
                                        const json_t *params, int32_t timeout_ms, bwj_completion completion,
                                        void *user_data, bw_destroy destroy) {
    struct bwj_callback_ *taken = bwj_callback_of_(NULL, completion, user_data, destroy);
    char *text;
    bw_status status;
    if (!taken) return BW_E_NO_MEMORY;
    text = bwj_text(params);
    status = method(device, desktop, text, timeout_ms, completion ? bwj_on_completion_ : NULL, taken, bwj_destroy_);
    bwj_free(text);
    return status;
}

/* bwj_notification_<name>() and bwj_notification_<name>_async(), each like the function of bellwire.h without the j:
 *
 *   bw_status bwj_notification_send(bw_device *device, const char *desktop, const json_t *params, int32_t timeout_ms,
 *                                   json_t **result);
 *   bw_status bwj_notification_send_async(bw_device *device, const char *desktop, const json_t *params,
 *                                         int32_t timeout_ms, bwj_completion completion, void *user_data,
 *                                         bw_destroy destroy);
 */
#define BWJ_METHOD_(name, method)                                                                                      \
    static inline bw_status bwj_notification_##name(bw_device *device, const char *desktop, const json_t *params,      \
                                                    int32_t timeout_ms, json_t **result) {                             \
        return bwj_call_(bw_notification_##name, device, desktop, params, timeout_ms, result);                         \
    }                                                                                                                  \
    static inline bw_status bwj_notification_##name##_async(bw_device *device, const char *desktop,                    \
                                                            const json_t *params, int32_t timeout_ms,                  \
                                                            bwj_completion completion, void *user_data,                \
                                                            bw_destroy destroy) {                                      \
        return bwj_call_async_(bw_notification_##name##_async, device, desktop, params, timeout_ms, completion,        \
                               user_data, destroy);                                                                    \
    }
BW_NOTIFICATION_METHODS(BWJ_METHOD_)
#undef BWJ_METHOD_

/* bw_device_invoke(): any other method of the desktop's. params and *result can be any JSON. */
static inline bw_status bwj_device_invoke(bw_device *device, const char *desktop, const char *method,
                                          const json_t *params, int32_t timeout_ms, json_t **result) {
    char *json = NULL, *text = bwj_text(params);
    bw_status status = bw_device_invoke(device, desktop, method, text, timeout_ms, &json);
    bwj_free(text);
    return bwj_take(status, &json, result);
}
static inline bw_status bwj_device_invoke_async(bw_device *device, const char *desktop, const char *method,
                                                const json_t *params, int32_t timeout_ms, bwj_completion completion,
                                                void *user_data, bw_destroy destroy) {
    struct bwj_callback_ *taken = bwj_callback_of_(NULL, completion, user_data, destroy);
    char *text;
    bw_status status;
    if (!taken) return BW_E_NO_MEMORY;
    text = bwj_text(params);
    status = bw_device_invoke_async(device, desktop, method, text, timeout_ms,
                                    completion ? bwj_on_completion_ : NULL, taken, bwj_destroy_);
    bwj_free(text);
    return status;
}

/* ================================================================================================================
 * Desktop
 * ============================================================================================================= */

/* bw_desktop_open(). The caller closes *desktop. */
static inline bw_status bwj_desktop_open(const json_t *options, bw_desktop **desktop) {
    char *text = bwj_text(options);
    bw_status status = bw_desktop_open(text, desktop);
    bwj_free(text);
    return status;
}

/* bw_desktop_state(). */
static inline bw_status bwj_desktop_state(bw_desktop *desktop, json_t **state) {
    char *json = NULL;
    return bwj_take(bw_desktop_state(desktop, &json), &json, state);
}

/* bw_desktop_subscribe(). callback is not NULL; bw_desktop_unsubscribe() ends it. */
static inline bw_status bwj_desktop_subscribe(bw_desktop *desktop, const char *event, bwj_event_callback callback,
                                              void *user_data, bw_destroy destroy,
                                              bw_subscription *subscription) {
    struct bwj_callback_ *taken = bwj_callback_of_(callback, NULL, user_data, destroy);
    if (!taken) return BW_E_NO_MEMORY;
    return bw_desktop_subscribe(desktop, event, callback ? bwj_on_event_ : NULL, taken, bwj_destroy_, subscription);
}

/* bw_desktop_post(). */
static inline bw_status bwj_desktop_post(bw_desktop *desktop, const char *topic, const json_t *data) {
    char *text = bwj_text(data);
    bw_status status = bw_desktop_post(desktop, topic, text);
    bwj_free(text);
    return status;
}

/* bw_desktop_offer(): {"payload","code","expiresAt"}. */
static inline bw_status bwj_desktop_offer(bw_desktop *desktop, int32_t timeout_ms, json_t **offer) {
    char *json = NULL;
    return bwj_take(bw_desktop_offer(desktop, timeout_ms, &json), &json, offer);
}

/* bw_desktop_notify(). */
static inline bw_status bwj_desktop_notify(bw_desktop *desktop, const json_t *params, int32_t timeout_ms,
                                           json_t **result) {
    char *json = NULL, *text = bwj_text(params);
    bw_status status = bw_desktop_notify(desktop, text, timeout_ms, &json);
    bwj_free(text);
    return bwj_take(status, &json, result);
}
static inline bw_status bwj_desktop_notify_async(bw_desktop *desktop, const json_t *params, int32_t timeout_ms,
                                                 bwj_completion completion, void *user_data, bw_destroy destroy) {
    struct bwj_callback_ *taken = bwj_callback_of_(NULL, completion, user_data, destroy);
    char *text;
    bw_status status;
    if (!taken) return BW_E_NO_MEMORY;
    text = bwj_text(params);
    status = bw_desktop_notify_async(desktop, text, timeout_ms,
                                     completion ? bwj_on_completion_ : NULL, taken, bwj_destroy_);
    bwj_free(text);
    return status;
}

/* bw_desktop_seal_push(). */
static inline bw_status bwj_desktop_seal_push(bw_desktop *desktop, const char *device, const char *id,
                                              const json_t *options, json_t **payload) {
    char *json = NULL, *text = bwj_text(options);
    bw_status status = bw_desktop_seal_push(desktop, device, id, text, &json);
    bwj_free(text);
    return bwj_take(status, &json, payload);
}

/* bw_desktop_history(). */
static inline bw_status bwj_desktop_history(bw_desktop *desktop, const json_t *params, json_t **page) {
    char *json = NULL, *text = bwj_text(params);
    bw_status status = bw_desktop_history(desktop, text, &json);
    bwj_free(text);
    return bwj_take(status, &json, page);
}

/* bw_desktop_invoke(): a notification method, called as the desktop's own user. */
static inline bw_status bwj_desktop_invoke(bw_desktop *desktop, const char *method, const json_t *params,
                                           int32_t timeout_ms, json_t **result) {
    char *json = NULL, *text = bwj_text(params);
    bw_status status = bw_desktop_invoke(desktop, method, text, timeout_ms, &json);
    bwj_free(text);
    return bwj_take(status, &json, result);
}
static inline bw_status bwj_desktop_invoke_async(bw_desktop *desktop, const char *method, const json_t *params,
                                                 int32_t timeout_ms, bwj_completion completion, void *user_data,
                                                 bw_destroy destroy) {
    struct bwj_callback_ *taken = bwj_callback_of_(NULL, completion, user_data, destroy);
    char *text;
    bw_status status;
    if (!taken) return BW_E_NO_MEMORY;
    text = bwj_text(params);
    status = bw_desktop_invoke_async(desktop, method, text, timeout_ms,
                                     completion ? bwj_on_completion_ : NULL, taken, bwj_destroy_);
    bwj_free(text);
    return status;
}

/* ================================================================================================================
 * Relay
 * ============================================================================================================= */

/* bw_relay_open(). The caller closes *relay. */
static inline bw_status bwj_relay_open(const json_t *options, bw_relay **relay) {
    char *text = bwj_text(options);
    bw_status status = bw_relay_open(text, relay);
    bwj_free(text);
    return status;
}

/* bw_relay_state(). */
static inline bw_status bwj_relay_state(bw_relay *relay, json_t **state) {
    char *json = NULL;
    return bwj_take(bw_relay_state(relay, &json), &json, state);
}

/* bw_relay_subscribe(). callback is not NULL; bw_relay_unsubscribe() ends it. */
static inline bw_status bwj_relay_subscribe(bw_relay *relay, const char *event, bwj_event_callback callback,
                                            void *user_data, bw_destroy destroy,
                                            bw_subscription *subscription) {
    struct bwj_callback_ *taken = bwj_callback_of_(callback, NULL, user_data, destroy);
    if (!taken) return BW_E_NO_MEMORY;
    return bw_relay_subscribe(relay, event, callback ? bwj_on_event_ : NULL, taken, bwj_destroy_, subscription);
}

#ifdef __cplusplus
}
#endif

#endif /* BELLWIRE_JANSSON_H */
