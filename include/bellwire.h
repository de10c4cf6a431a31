/*
 * bellwire.h - pair with a desktop, receive its notifications, answer them.
 *
 * C99, C++-clean. This header is the library's documentation and its contract.
 *
 * Roles     A device (bw_device) pairs with desktops, receives their pushes and calls their methods. A desktop
 *           (bw_desktop) shows the pairing code, keeps the history, answers the methods and pushes to its devices.
 *           A relay (bw_relay) carries frames between them.
 * Strings   UTF-8, NUL-terminated; JSON (RFC 8259) where a name ends in _json. Parameters are borrowed for the call.
 *           Results belong to the caller, who frees them with bw_free(). Strings given to a callback are borrowed
 *           until it returns. Outputs are written only when the call succeeds (a status >= 0).
 * Units     Stand in the names: _ms is milliseconds. Times in JSON are milliseconds since 1970-01-01T00:00Z.
 * Threads   Every function may be called from any thread, unless it says otherwise. Callbacks run only inside
 *           bw_*_dispatch() and bw_*_run(), on the thread that calls them, one at a time for each handle.
 *           A callback may call every function, bw_*_close() included; two callbacks on two threads that close each
 *           other's handle would wait for each other.
 * Handles   A handle is a number in a table, never dereferenced: one that is NULL, closed or of another kind gives
 *           BW_E_HANDLE.
 * Errors    Functions that can fail return a bw_status. bw_last_error() has the calling thread's details.
 *           Every function with a status may return BW_E_INVALID (a parameter that cannot be), BW_E_HANDLE,
 *           BW_E_FORKED, BW_E_CLOSED (the handle was closed meanwhile) and BW_E_NO_MEMORY; each names its others.
 * Fork      After fork() the child's calls give BW_E_FORKED, when the parent had opened a handle before. exec is fine.
 * Process   Loading starts no thread and changes no signal, locale or environment. Two threads are started by the
 *           first open and live as long as the process; a host name that must be looked up takes a third one for as
 *           long as that lasts. dlclose() keeps the library loaded.
 *
 * Copyright (c) 2026 The Bellwire authors. MIT License.
 */
#ifndef BELLWIRE_H
#define BELLWIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BW_API __attribute__((visibility("default")))
#else
#define BW_API
#endif

/* ================================================================================================================
 * Library
 * ============================================================================================================= */

/* The version that this header belongs to; bw_version() tells that of the library at run time. */
#define BW_VERSION "0.1.0"
/* Grows when a function or a status is added; the soname changes when one is taken away or changed. */
#define BW_ABI_VERSION 1

/* What a call came to. 0 = done, > 0 = accepted with a note, < 0 = failed. Never renumbered. */
typedef int32_t bw_status;

enum bw_status_code {
    BW_OK = 0,
    BW_QUEUED = 1,          /* accepted; it is kept and will be carried out later                                    */
    BW_E_INVALID = -1,      /* a parameter cannot be: NULL, not JSON, an unknown key, out of range                   */
    BW_E_HANDLE = -2,       /* the handle is NULL, closed, or of another kind                                        */
    BW_E_BUSY = -3,         /* in use: the state_dir by another process, dispatch by another thread or a callback    */
    BW_E_OFFLINE = -4,      /* no connection to the desktop now                                                      */
    BW_E_TIMEOUT = -5,      /* no answer in time; the command may still be carried out                               */
    BW_E_REMOTE = -6,       /* the peer refused; its code and message are in the detail                              */
    BW_E_PROTOCOL = -7,     /* the peer's answer cannot be decoded                                                   */
    BW_E_DENIED = -8,       /* the peer does not allow it, or a file's permissions do not                            */
    BW_E_UNSUPPORTED = -9,  /* the peer, or this build, does not know it                                             */
    BW_E_STORE = -10,       /* the database failed: disk full, an I/O error                                          */
    BW_E_CLOSED = -11,      /* the handle was closed while the call waited                                           */
    BW_E_FORKED = -12,      /* this process is a fork of the one that opened the library                             */
    BW_E_NO_MEMORY = -13,   /* memory ran out                                                                        */
    BW_E_IO = -14,          /* a file or directory cannot be used; the detail names it                               */
    BW_E_NETWORK = -15,     /* an address cannot be used: in use, not ours, a certificate that cannot be read        */
    BW_E_PAIRING = -16,     /* pairing failed; "reason" in the detail is one of a fixed list                         */
    BW_E_NOT_FOUND = -17,   /* no such desktop, device or subscription                                               */
    BW_E_LIMIT = -18        /* a limit of the library is reached; the detail names it                                */
};

/* The library's version, such as "0.1.0". Static; works after fork. Since 0.1. */
BW_API const char *bw_version(void);

/* The library's ABI version: a program works with a library whose number is at least its own BW_ABI_VERSION.
 * Since 0.1. */
BW_API int32_t bw_abi_version(void);

/* The name of a status, such as "BW_E_TIMEOUT"; "unknown" for a number that is none. Static. Since 0.1. */
BW_API const char *bw_status_name(bw_status status);

/* Frees a string that the library gave to the caller. NULL is allowed. Since 0.1. */
BW_API void bw_free(void *pointer);

/* The details of the last call of this thread that failed, as JSON {"status","message","detail"}: the status by
 * name, what is wrong and what to do in English, and further facts. Owned by the caller (bw_free); NULL when no call
 * of this thread has failed, or memory ran out. Calls that succeed leave it as it is. Since 0.1. */
BW_API char *bw_last_error(void);

/* Called exactly once for each user_data that was given to the library, when it needs it no more; also when the
 * call that took it fails. May be NULL. */
typedef void (*bw_destroy)(void *user_data);

enum bw_log_level { BW_LOG_DEBUG = 0, BW_LOG_INFO = 1, BW_LOG_WARNING = 2, BW_LOG_ERROR = 3 };

/* A line of the log: never a payload, a key or a code. */
typedef void (*bw_log_callback)(void *user_data, int32_t level, const char *message);

/* Sets the process's log callback and the lowest level that it wants (enum bw_log_level); replaces the one before.
 * callback NULL = none (the default). Lines are kept in a ring of 256 and handed over by the next dispatch of any
 * handle. Errors: BW_E_INVALID (level). Since 0.1. */
BW_API bw_status bw_set_log(int32_t level, bw_log_callback callback, void *user_data, bw_destroy destroy);

/* ================================================================================================================
 * Device
 * ============================================================================================================= */

typedef struct bw_device bw_device;

/* Opens a device; it stays offline until bw_device_start(). On success *device is the caller's to close.
 *
 * options_json is an object, or NULL for the defaults. An unknown key is an error that names it.
 *   "state_dir"  text   directory of keys and database, created with mode 0700; default
 *                       $XDG_STATE_HOME/bellwire/device (else ~/.local/state/bellwire/device). ":memory:" keeps
 *                       nothing. One open handle for each, in all processes.
 *   "name"       text   shown to the desktop's user; default the host name; at most 256 bytes
 *   "platform"   text   told to the desktop; default "linux"; letters, digits and _ : . # @ -
 *   "relay_url"  text   ws:// or wss:// url that is used beside those that a desktop names in its code
 *   "keys"       text   "file" (default): the key is a file of the state_dir that only its owner can read;
 *                       "secret-service": in the keyring of the user's session, into which a key file moves. Opening
 *                       then waits for the keyring, 15 s at most
 *   "tls"        object {"ca_file": path of PEM certificates to trust instead of the system's}
 *   "legacy"     text   what a desktop that cannot prove who it is may do: "qr" (default) pair by a QR code, "all" also
 *                       by the six digits of a typed code, "none" nothing
 *   "follow_system" bool  true (default) = goes to sleep and wakes with the machine (logind), connects anew when its
 *                       network changes, looks for relays nearby (Avahi) when no other is known; what is not there is
 *                       a note in the state. A desktop's own relay is announced on the local network (Avahi), unless it
 *                       listens on loopback alone
 *   "late_alerts" text  which pushes that come late, such as after an absence, may show an alert: "none" (default),
 *                       "summary" (one, that says how many), "each"
 *   "alerts"     text   who shows alerts: "none" (default), "system" or "host"; see "Alerts"
 *   "application_id" text  the name of the program's .desktop file without its ending, such as org.example.App:
 *                       "system" alerts carry it and the badge needs it. The program has that name on the session's
 *                       bus, and a tap can start it where the .desktop file says DBusActivatable=true and the server
 *                       can (GNOME's)
 *   "icon"       text   of "system" alerts: a name of the icon theme, or a path
 *   "images"     object {"enabled"?: bool,"timeout_ms"?: 100 to 30,000, default 5,000,"allow"?: [addresses or ranges,
 *                       such as 10.0.0.0/8, that images may come from though they are not public]}
 *   "threaded"   bool   true = the library runs the dispatch loop on a thread of its own, which calls the callbacks;
 *                       bw_device_dispatch() and bw_device_run() then give BW_E_BUSY. Default false
 *
 * A database that is damaged is moved aside (never deleted), a new one begun, and a "problem" event says so.
 * Errors: BW_E_BUSY (the state_dir is in use), BW_E_IO (it cannot be created or read), BW_E_DENIED (the key file is
 * readable by others, others may write into the state_dir, the keyring is locked), BW_E_STORE, BW_E_LIMIT (file
 * descriptors). Since 0.1. */
BW_API bw_status bw_device_open(const char *options_json, bw_device **device);

/* Connects to the paired desktops and stays connected, until stop or close. Does not wait. Idempotent. Since 0.1. */
BW_API bw_status bw_device_start(bw_device *device);

/* Disconnects. Calls under way fail with BW_E_OFFLINE, or go into the queue (see "Methods"); a pairing under way fails
 * with BW_E_PAIRING (cancelled); subscriptions stay. Idempotent. Since 0.1. */
BW_API bw_status bw_device_stop(bw_device *device);

/* Before the machine sleeps: closes the connections at once; relays are told nothing. An open code keeps its end, what
 * was being sent is sent again later. Calls under way fail with BW_E_OFFLINE. Idempotent. Since 0.1. */
BW_API bw_status bw_device_suspend(bw_device *device);

/* After it: connects again at once, without the growing pauses of a connection that fails. Idempotent. Since 0.1. */
BW_API bw_status bw_device_resume(bw_device *device);

/* Closes the device: fails waiting calls and open completions with BW_E_CLOSED (completions run on this thread), runs
 * each destroy, then returns; after that no callback runs. From another thread it waits for the callback that is
 * running; inside a callback, that callback's own destroy runs after it returned. Since 0.1. */
BW_API bw_status bw_device_close(bw_device *device);

/* A file descriptor that is readable when there is something to dispatch: for poll, epoll, GLib, Qt, asyncio. Constant
 * for the handle's life; only for polling: do not read, write or close it. Returns it, or a negative status.
 * Since 0.1. */
BW_API int32_t bw_device_fd(bw_device *device);

/* Calls the callbacks for what has come, and returns; never waits for more. Errors: BW_E_BUSY (called inside a
 * callback of this handle, by two threads at once, or "threaded"), BW_E_STORE (pushes could not be marked as handed
 * over: they come again). Since 0.1. */
BW_API bw_status bw_device_dispatch(bw_device *device);

/* Waits and dispatches, for programs that have no loop: until timeout_ms have passed (-1 = no limit), which gives
 * BW_OK, or bw_device_quit() is called, which gives BW_OK, or the handle is closed, which gives BW_E_CLOSED. Errors:
 * BW_E_BUSY as for dispatch. Since 0.1. */
BW_API bw_status bw_device_run(bw_device *device, int32_t timeout_ms);

/* Makes the bw_device_run() that is under way return, or the next one if there is none. Not for signal handlers.
 * Since 0.1. */
BW_API bw_status bw_device_quit(bw_device *device);

/* The state, as JSON:
 * {"id","deviceId","name","started","unread","latestPush","authorization","connection":[{"desktop","name","online",
 * "routes":[{"url","state","problem"?}]}],"queue":{"count","pending","sending","failed"},"notes":[],"counters":{}}.
 * Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_state(bw_device *device, char **state_json);

/* ================================================================================================================
 * Pairing
 *
 * Three flows, independent of each other: "scan" (the desktop shows a QR code, the device scans it), "show" (the device
 * shows one, the desktop scans it) and "code" (the desktop shows digits, they are typed here). One of each at a time: a
 * newer one replaces it. Every step is told as the event pairing.changed.
 * Between Bellwire peers a pairing is sealed: only who has seen the code can make it, and nobody in between can read or
 * change what follows. Both sides then have the same "sas", {"digits": six digits, "words": two words}, for their
 * people to compare. A desktop paired sealed says "secure":true and is never spoken with in plain text again. The keys
 * are static: who steals one can read what was recorded before (no forward secrecy).
 * Failures of all: BW_E_PAIRING with "reason" in the detail (not_json, wrong_type, bad_code, missing_peer_id,
 * bad_field, expired, no_identity, no_relay, relay_unreachable, desktop_offline, typed_code_unavailable, rejected,
 * not_secure, timeout, cancelled), BW_E_STORE.
 * ============================================================================================================= */

/* Takes the result of a call made with _async: status, and JSON: the result, or what bw_last_error() would give.
 * Called exactly once, in dispatch; on close with BW_E_CLOSED by the closing thread. NULL is BW_E_INVALID. */
typedef void (*bw_completion)(void *user_data, bw_status status, const char *json);

/* Pairs with the desktop whose QR code says qr_text, starting the device if it is not started. Waits at most
 * timeout_ms (1 to 600000); *desktop_json (may be NULL) becomes what bw_pairing_list() has of it. A code that was
 * paired already gives that desktop again. Since 0.1. */
BW_API bw_status bw_pairing_scan(bw_device *device, const char *qr_text, int32_t timeout_ms, char **desktop_json);

/* The same, without waiting. BW_OK = the completion will come. Since 0.1. */
BW_API bw_status bw_pairing_scan_async(bw_device *device, const char *qr_text, int32_t timeout_ms,
                                       bw_completion completion, void *user_data, bw_destroy destroy);

/* Begins to show a code for 5 minutes, starting the device if need be: waits (at most timeout_ms) until a relay has it
 * registered ("relay_url", else the one that worked last). *offer_json becomes {"payload","code","expiresAt"}: payload
 * is the text for the QR code (bw_qr_terminal). That a desktop has taken it comes as pairing.changed. Since 0.1. */
BW_API bw_status bw_pairing_show(bw_device *device, int32_t timeout_ms, char **offer_json);

/* The same, without waiting. BW_OK = the completion will come. Since 0.1. */
BW_API bw_status bw_pairing_show_async(bw_device *device, int32_t timeout_ms, bw_completion completion,
                                       void *user_data, bw_destroy destroy);

/* Pairs with the desktop that shows this code: twelve digits, such as "123456-789012"; spaces and the dash may be left
 * out. Six digits are what deployed desktops show; they prove nothing, and are taken only with "legacy":"all". The
 * relay is that of bw_pairing_show(). Waits and gives as bw_pairing_scan(). Since 0.1. */
BW_API bw_status bw_pairing_type(bw_device *device, const char *code, int32_t timeout_ms, char **desktop_json);
BW_API bw_status bw_pairing_type_async(bw_device *device, const char *code, int32_t timeout_ms,
                                       bw_completion completion, void *user_data, bw_destroy destroy);

/* Ends a flow ("scan", "show" or "code"; NULL = all three): its calls fail with reason "cancelled". None under way =
 * BW_OK. Since 0.1. */
BW_API bw_status bw_pairing_cancel(bw_device *device, const char *flow);

/* The paired desktops, as JSON
 * [{"id","name","platform","secure","sas"?,"online","pairedAt","lastSeenAt","signalingUrl"?, "relayUrl"?,"iceExpired"?:
 * true = what it gave to be reached directly is too old: pair again}], the oldest pairing first. Errors: BW_E_STORE.
 * Since 0.1. */
BW_API bw_status bw_pairing_list(bw_device *device, char **desktops_json);

/* Gives a desktop another name, of 1 to 256 bytes, here only. Errors: BW_E_NOT_FOUND, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_pairing_rename(bw_device *device, const char *desktop, const char *name);

/* Ends a pairing at once: the desktop is told if it was paired sealed and can be reached, and nothing of it is accepted
 * any more. Its notifications stay in the inbox. Errors: BW_E_NOT_FOUND, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_pairing_unpair(bw_device *device, const char *desktop);

/* Ends all pairings. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_pairing_clear(bw_device *device);

/* ================================================================================================================
 * Methods
 *
 * Each sends one command to a paired desktop and gives its result as JSON. desktop is the "id" of a paired desktop, or
 * NULL when exactly one is paired. params_json is an object, nested at most 64 deep, checked before anything is sent;
 * NULL = no parameters.
 * timeout_ms is 1 to 600000. result_json may be NULL.
 * Errors of all: BW_E_INVALID (the detail names the "field"), BW_E_NOT_FOUND (desktop), BW_E_OFFLINE, BW_E_TIMEOUT,
 * BW_E_REMOTE (detail: "code", "message"), BW_E_PROTOCOL, BW_E_DENIED, BW_E_UNSUPPORTED, BW_E_LIMIT (1,024 calls of the
 * handle are under way, or wait to be dispatched). The _async form reports the same through its completion, but for
 * BW_E_INVALID and BW_E_LIMIT, which it returns at once.
 *
 * A connection that ends while a call waits takes what was on its way with it. A desktop that was paired sealed carries
 * an id out once: such a call is sent again, under its id, until it is answered or its time is over; the desktop
 * refuses what comes later than that. With another desktop the call ends with BW_E_OFFLINE, and may have been carried
 * out; so may, with any, one that ended with BW_E_TIMEOUT. BW_E_DENIED: the desktop's user does not allow it, or too
 * much came at once (detail: "code" -32010). BW_E_UNSUPPORTED of a desktop without such methods is remembered until the
 * next connection.
 *
 * Five methods can wait: markAsRead, markAllAsRead, delete, clearAll, updateSettings. Where the others give
 * BW_E_OFFLINE these give BW_QUEUED, and {"queued":true,"id"} as their result: see "Queue".
 * ============================================================================================================= */

/* notification.send: shows a notification on the desktop, which keeps it and pushes it to its devices.
 * {"title" (1 to 1024 bytes), "body" (at most 65536 bytes), "icon"?, "priority"?: "low"|"normal"|"high"|"urgent",
 * "respectQuietHours"?: bool} -> {"success","notificationId"?,"silenced","error"?,"timestamp"}. "silenced": kept and
 * pushed for the history alone, because of the desktop's quiet hours (which "urgent" passes, and "respectQuietHours"
 * false) or because its notifications are switched off. The two methods below heed both as well. Since 0.1. */
BW_API bw_status bw_notification_send(bw_device *device, const char *desktop, const char *params_json,
                                      int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_send_async(bw_device *device, const char *desktop, const char *params_json,
                                            int32_t timeout_ms, bw_completion completion, void *user_data,
                                            bw_destroy destroy);

/* notification.sendToMobile: the desktop pushes to one of its devices; without "deviceId", to the caller.
 * {"title","body","deviceId"?,"data"?: object} -> {"success","delivered","deviceId"?,"error"?}. "delivered": the device
 * had it within 2 s; if not, it gets it when it is there again (bw_desktop_notify()). Since 0.1. */
BW_API bw_status bw_notification_send_to_mobile(bw_device *device, const char *desktop, const char *params_json,
                                                int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_send_to_mobile_async(bw_device *device, const char *desktop, const char *params_json,
                                                      int32_t timeout_ms, bw_completion completion, void *user_data,
                                                      bw_destroy destroy);

/* notification.broadcast: the desktop pushes to all its devices.
 * {"title","body"} -> {"success","deliveredCount","failedCount","error"?}. Since 0.1. */
BW_API bw_status bw_notification_broadcast(bw_device *device, const char *desktop, const char *params_json,
                                           int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_broadcast_async(bw_device *device, const char *desktop, const char *params_json,
                                                 int32_t timeout_ms, bw_completion completion, void *user_data,
                                                 bw_destroy destroy);

/* notification.getHistory: the desktop's history, newest first.
 * {"limit"?: 1 to 500, default 50, "offset"?, "unreadOnly"?: bool} -> {"success","notifications":[{"id","title","body",
 * "priority","read","source","createdAt","readAt"?,"data"?}],"total","unreadCount","skipped","next"?,"incomplete"?};
 * "skipped" counts rows of the desktop's that could not be read; "incomplete": true comes with a search while the
 * desktop still indexes its oldest texts, which are neither found nor counted yet. Bellwire desktops also take:
 *   "query"     text    words that all stand in title or body; "buil*" is any word that begins so; at most 1024 bytes
 *   "priority"  text    rows of this priority; "source": "pc"|"mobile" alike
 *   "since"     number  rows created at this moment or later; "until": at this moment or earlier
 *   "sort"      text    "newest" (default), "oldest", "priority" (the most urgent first), "unread" (unread rows first)
 *   "before"    text    the page after this place in that order: "next" of a page, or a row's id; goes without
 *                       "offset", and is faster far down in a long history
 * "total" counts all rows that the question matches, "unreadCount" all unread ones of the history. Since 0.1. */
BW_API bw_status bw_notification_get_history(bw_device *device, const char *desktop, const char *params_json,
                                             int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_get_history_async(bw_device *device, const char *desktop, const char *params_json,
                                                   int32_t timeout_ms, bw_completion completion, void *user_data,
                                                   bw_destroy destroy);

/* notification.markAsRead: {"notificationId"} -> {"success","markedCount","error"?}. Since 0.1. */
BW_API bw_status bw_notification_mark_as_read(bw_device *device, const char *desktop, const char *params_json,
                                              int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_mark_as_read_async(bw_device *device, const char *desktop, const char *params_json,
                                                    int32_t timeout_ms, bw_completion completion, void *user_data,
                                                    bw_destroy destroy);

/* notification.markAllAsRead: no parameters -> {"success","markedCount","error"?}; "markedCount" is "all" from desktops
 * that do not count. Since 0.1. */
BW_API bw_status bw_notification_mark_all_as_read(bw_device *device, const char *desktop, const char *params_json,
                                                  int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_mark_all_as_read_async(bw_device *device, const char *desktop, const char *params_json,
                                                        int32_t timeout_ms, bw_completion completion, void *user_data,
                                                        bw_destroy destroy);

/* notification.delete: {"notificationId"} -> {"success","deletedCount"?,"error"?}. An id that is not there is no
 * failure: "deletedCount" is 0, and "error" says so. Since 0.1. */
BW_API bw_status bw_notification_delete(bw_device *device, const char *desktop, const char *params_json,
                                        int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_delete_async(bw_device *device, const char *desktop, const char *params_json,
                                              int32_t timeout_ms, bw_completion completion, void *user_data,
                                              bw_destroy destroy);

/* notification.clearAll: no parameters -> {"success","clearedCount","error"?}; "clearedCount" may be "all" as well.
 * Since 0.1. */
BW_API bw_status bw_notification_clear_all(bw_device *device, const char *desktop, const char *params_json,
                                           int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_clear_all_async(bw_device *device, const char *desktop, const char *params_json,
                                                 int32_t timeout_ms, bw_completion completion, void *user_data,
                                                 bw_destroy destroy);

/* notification.getUnreadCount: no parameters -> {"success","count"}. Since 0.1. */
BW_API bw_status bw_notification_get_unread_count(bw_device *device, const char *desktop, const char *params_json,
                                                  int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_get_unread_count_async(bw_device *device, const char *desktop, const char *params_json,
                                                        int32_t timeout_ms, bw_completion completion, void *user_data,
                                                        bw_destroy destroy);

/* notification.getSettings: the desktop's settings; a device's own are another thing.
 * No parameters -> {"enabled","quietHoursEnabled","quietHoursStart"?,"quietHoursEnd"?,"soundEnabled",
 * "vibrationEnabled","showPreview","retentionRows"?,"retentionDays"?,"revision"?}. Times of day are HH:mm, local to the
 * desktop; a range may cross midnight, and start = end means never. The last three come from Bellwire desktops.
 * Since 0.1. */
BW_API bw_status bw_notification_get_settings(bw_device *device, const char *desktop, const char *params_json,
                                              int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_get_settings_async(bw_device *device, const char *desktop, const char *params_json,
                                                    int32_t timeout_ms, bw_completion completion, void *user_data,
                                                    bw_destroy destroy);

/* notification.updateSettings: any of those fields, at least one; the others stay.
 * {fields,"revision"?} -> {"success","settings"?,"revision"?,"stale"?:[field],"error"?}. With "revision" (that of the
 * settings on which the change is based), a field that somebody else has changed since keeps the desktop's value and is
 * named in "stale"; when no other field is left, "success" is false. "retentionRows" (0 to 10000000) and
 * "retentionDays" (0 to 36500) say how much history is kept, 0 = all. Since 0.1. */
BW_API bw_status bw_notification_update_settings(bw_device *device, const char *desktop, const char *params_json,
                                                 int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_update_settings_async(bw_device *device, const char *desktop, const char *params_json,
                                                       int32_t timeout_ms, bw_completion completion, void *user_data,
                                                       bw_destroy destroy);

/* Any other method of the desktop's ("namespace.method"): parameters and result are passed as they are. Since 0.1. */
BW_API bw_status bw_device_invoke(bw_device *device, const char *desktop, const char *method, const char *params_json,
                                  int32_t timeout_ms, char **result_json);
BW_API bw_status bw_device_invoke_async(bw_device *device, const char *desktop, const char *method,
                                        const char *params_json, int32_t timeout_ms, bw_completion completion,
                                        void *user_data, bw_destroy destroy);

/* ================================================================================================================
 * Inbox
 *
 * The desktops' history as the device knows it, in the store: it opens at once, and offline. Pushes enter it as they
 * come; each time that a desktop can be reached it is refreshed by itself, and the desktop's settings are fetched. The
 * desktop is the source of truth: a refresh drops what it no longer has. From a desktop that keeps no pushes for its
 * devices (one that was not paired sealed) what was missed meanwhile enters as pushes, "late":true, once; what was read
 * there already is no news, and enters read.
 *
 * A change is in the inbox before its command is sent, and is put back when the desktop refuses it. When the answer is
 * lost (BW_E_TIMEOUT, or the connection ended) the rows come back as they were, with "uncertain":true: they may be read
 * or deleted already, the next refresh settles it; and the command is sent again under its id (see "Queue"), unless it
 * is about everything and the desktop is one that would carry it out twice. While a desktop is away a change gives
 * BW_QUEUED, and {"queued":true,"id"}: it stays shown, and is put back when queue.ended says anything but "done".
 *
 * Unread are the unread notifications of all desktops, silenced and late ones included; each refresh corrects the
 * number by what the desktop counts, so it may be more than the rows that are here. It is never negative, and is what a
 * badge shows. What another device of the user's has marked, deleted or cleared is so here, too, at once or with the
 * next refresh.
 *
 * desktop is the "id" of a paired desktop, or NULL when exactly one is paired. Rows of a desktop that was unpaired
 * stay; named by its id, they are changed here alone. Errors of all that ask a desktop: as for the methods.
 * ============================================================================================================= */

/* A page of the inbox, out of the store. params_json: {"desktop"?: only of this one,"limit"?: 1 to 500, default 50,
 * "offset"?,"unreadOnly"?: bool,"query"?,"priority"?,"source"?,"since"?,"until"?,"sort"?,"before"?}, as for
 * notification.getHistory; NULL = the newest of all. *page_json becomes
 * {"notifications":[{"desktop","id","title","body",
 * "priority","source","createdAt","receivedAt","silenced","late","read","readAt"?,"uncertain"?:
 * true,"data",…}],"total", "unread","next"?,"loading","incomplete"?: true}: "total" counts what the question matches,
 * "unread" is that of the desktop or of all. "incomplete": the text index, which is built in the background, does not
 * have the oldest rows yet, so a "query" may miss them. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_load(bw_device *device, const char *params_json, char **page_json);

/* {"unread","loading","desktops":[{"desktop","unread","loading","refreshedAt"?,"error"?:{"code","message"},
 * "unsupported"?: true}]}: "loading" while a refresh is under way; "error" is what went wrong last, until something
 * goes well; "unsupported" = the desktop has no notification skill, and is not asked again before the next connection.
 * Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_state(bw_device *device, char **state_json);

/* The desktop's settings as it told them last, out of the store: {"settings":{as notification.getSettings gives them},
 * "fetchedAt"}. They are the desktop's, not this device's. A change is told as settings.changed. Errors: BW_E_NOT_FOUND
 * (desktop; or it has not told them yet), BW_E_UNSUPPORTED, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_settings(bw_device *device, const char *desktop, char **settings_json);

/* Brings the inbox up to date with the desktop's history, page by page; NULL = with those of all paired desktops.
 * *result_json (may be NULL) becomes {"added","updated","dropped","unread","failed"?:[{"desktop","code","message"}]};
 * "failed" when several were asked and not all answered. Since 0.1. */
BW_API bw_status bw_inbox_refresh(bw_device *device, const char *desktop, int32_t timeout_ms, char **result_json);
BW_API bw_status bw_inbox_refresh_async(bw_device *device, const char *desktop, int32_t timeout_ms,
                                        bw_completion completion, void *user_data, bw_destroy destroy);

/* Marks a notification as read. *result_json (may be NULL) becomes {"success","markedCount","unread"}. Also BW_QUEUED.
 * Errors: BW_E_NOT_FOUND (the inbox does not have it), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_mark_read(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                    char **result_json);
BW_API bw_status bw_inbox_mark_read_async(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                          bw_completion completion, void *user_data, bw_destroy destroy);

/* Marks all of a desktop's. As bw_inbox_mark_read(). Since 0.1. */
BW_API bw_status bw_inbox_mark_all_read(bw_device *device, const char *desktop, int32_t timeout_ms, char **result_json);
BW_API bw_status bw_inbox_mark_all_read_async(bw_device *device, const char *desktop, int32_t timeout_ms,
                                              bw_completion completion, void *user_data, bw_destroy destroy);

/* Deletes a notification, on the desktop as well: {"success","deletedCount"?,"unread"}. Also BW_QUEUED. Errors:
 * BW_E_NOT_FOUND (the inbox does not have it), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_delete(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                 char **result_json);
BW_API bw_status bw_inbox_delete_async(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                       bw_completion completion, void *user_data, bw_destroy destroy);

/* Deletes all of a desktop's: {"success","clearedCount","unread"}. As bw_inbox_delete(). Since 0.1. */
BW_API bw_status bw_inbox_clear(bw_device *device, const char *desktop, int32_t timeout_ms, char **result_json);
BW_API bw_status bw_inbox_clear_async(bw_device *device, const char *desktop, int32_t timeout_ms,
                                      bw_completion completion, void *user_data, bw_destroy destroy);

/* ================================================================================================================
 * Queue
 *
 * Commands that wait for their desktops, in the store: given while there was no connection, while the desktop was away,
 * or while others waited for it already. When the desktop is there they are sent in the order in which they were given,
 * one after the other, each under its id; a desktop that was paired sealed carries an id out once.
 * pending -> sending -> done (leaves the queue) | failed: refused by the desktop, three times without an answer, or 24
 * hours old. What failed stays until it is retried or cleared. A newer command takes out what it makes needless:
 * clearAll earlier marks and deletes, markAllAsRead earlier marks, updateSettings the same fields of an earlier one. At
 * most 100 are kept; then the oldest pending one gives way. Every change is told as queue.changed, every end as
 * queue.ended. A change of settings says on which revision it is based: a field that was changed on the desktop since
 * stays, and is named in "stale" of the result.
 * ============================================================================================================= */

/* The commands in the queue, the oldest first: [{"id","desktop","method","params","state":
 * "pending"|"sending"|"failed", "tries","createdAt","expiresAt","error"?:{"code","message"}}]. Errors: BW_E_STORE.
 * Since 0.1. */
BW_API bw_status bw_queue_list(bw_device *device, char **commands_json);

/* Takes a command out. One that was sent before may have been carried out all the same. Errors: BW_E_NOT_FOUND,
 * BW_E_BUSY (it is being sent just now), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_queue_remove(bw_device *device, const char *id);

/* Lets a command that has failed wait again, as if it were new; NULL = all that have. Errors: BW_E_NOT_FOUND, BW_E_BUSY
 * (it is being sent just now), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_queue_retry(bw_device *device, const char *id);

/* Takes out the commands that have failed and were given before older_than_ms (milliseconds since 1970); 0 = all that
 * have failed. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_queue_clear(bw_device *device, int64_t older_than_ms);

/* ================================================================================================================
 * Alerts
 *
 * What a person sees and answers: of the pushes, and of the program's own reminders. The option "alerts" says who shows
 * them: nobody ("none", the default: nothing of this section happens), the desktop environment ("system":
 * org.freedesktop.Notifications on the session's bus; libsystemd is loaded for it), or the program ("host"). They are
 * shown from the first bw_device_start() until the device is closed, also while it is stopped.
 *
 * Authorization  "notDetermined" -> bw_alerts_request() -> "authorized" | "denied"; "provisional" shows quietly
 *                (passive, without sound) and needs no question; "ephemeral" ends at a time. The library never asks by
 *                itself. It is stored. Unless it is authorized, provisional or ephemeral no alert is shown; pushes
 *                reach the inbox and the callbacks all the same.
 * A push         is shown when it was stored as new and all of these agree, in this order: not "silenced"; the device's
 *                settings ("enabled", its source, its category); the authorization; "late_alerts", if it came late; the
 *                device's quiet hours, in its own time zone ("urgent" passes). What quiet hours held back is told by
 *                one alert when they end. notification.presented says what became of it. When its notification is read
 *                or deleted, here or on another device, the alert is taken away.
 * An alert       {"id","title","subtitle"?,"body"?,"badge"?,"sound"?: "default", a name of the sound theme or a path,
 *                "category"?,"thread"?,"userInfo"?: {},"deepLink"?,"attachments"?: [paths of images, the first is
 *                shown], "level"?: "passive"|"active" (default)|"timeSensitive"}. A new one takes the place of the one
 *                with its id. A push's has the push's id, the thread remote.<source> and the category
 *                REMOTE_NOTIFICATION, unless it says others, and its data as userInfo; "urgent" is timeSensitive, "low"
 *                passive.
 * Images         of a push are fetched from the first valid https:// address of "imageUrl" (beside its data or in it),
 *                "fcm_options.image", "notification.image", "media_url": public addresses only, also after redirects,
 *                PNG, JPEG, GIF or WebP, at most 10 MiB and 50 megapixels, within the option "images" "timeout_ms".
 *                libcurl is loaded for it. They lie in state_dir/images for 24 hours, 200 MiB at most; with ":memory:"
 *                there are none.
 * Responses      notification.response is kept in the store until a callback has had it, like a push:
 *                {"id","action","text"?,"userInfo","deepLink"?,"category"?,"thread"?,"title","respondedAt","late"?:
 *                true, "push"?: as notification.received had it}; without a "desktop" it is a reminder's. "action" is
 *                "default" (a tap), "dismiss", "MARK_READ_ACTION" (carried out by the library: at the desktop, or in
 *                the queue), "REPLY_ACTION" or another reply's id (with "text"), else the host's own. userInfo and
 *                deepLink are as they came, and are data for the host alone.
 *
 * Threads        of alerts are for the host and for taking them away together: no notification server groups by them.
 *                Servers older than version 1.1 of the specification get an image as the icon.
 *
 * Errors of all, besides their own: BW_E_STORE; BW_E_UNSUPPORTED with "alerts": "none" for requests, adding reminders,
 * positions and badges. At most 1,000 alerts are on their way at once; beyond that a push is in the inbox alone.
 * ============================================================================================================= */

/* {"authorization":{"status","until"?,"advice"},"presenter":{"kind","ready","server"?: its name,"capabilities"?: [],
 * "problem"?},"inFront","badge","waiting": alerts on their way,"counters":{"shown","hidden","failed","responses",
 * "images","imagesRefused"}}. Since 0.1. */
BW_API bw_status bw_alerts_state(bw_device *device, char **state_json);

/* Asks for the permission to alert, in the moment that the host thinks right, and waits until it is given or refused.
 * params_json: {"provisional"?: true = quietly, without a question, unless it was answered before}, or NULL. The
 * callback of bw_alerts_on_authorize() asks (in dispatch: so this call belongs on another thread, or use _async), else
 * with "system" an alert with the buttons Allow and Don't allow. What was answered is not asked again, but a
 * provisional one can be raised. *authorization_json (may be NULL) becomes {"status","until"?, "advice"}. Errors:
 * BW_E_DENIED (it was refused, now or before), BW_E_TIMEOUT (not answered yet: the answer counts when it comes; or
 * closed without one), BW_E_OFFLINE (no notification server; the device was never started), BW_E_UNSUPPORTED (nobody
 * can ask). Since 0.1. */
BW_API bw_status bw_alerts_request(bw_device *device, const char *params_json, int32_t timeout_ms,
                                   char **authorization_json);
BW_API bw_status bw_alerts_request_async(bw_device *device, const char *params_json, int32_t timeout_ms,
                                         bw_completion completion, void *user_data, bw_destroy destroy);

/* Sets the authorization: the answer to bw_alerts_on_authorize(), or what a page of settings says. status is one of
 * those above; until_ms (milliseconds since 1970) is when "ephemeral" ends, else 0. Since 0.1. */
BW_API bw_status bw_alerts_authorize(bw_device *device, const char *status, int64_t until_ms);

/* Called in dispatch when bw_alerts_request() wants to know; request_json is {"name"}. Returns at once; the answer is
 * given by bw_alerts_authorize(), then or later. */
typedef void (*bw_authorize_callback)(void *user_data, const char *request_json);

/* Sets who asks the person; NULL = nobody, as at first. destroy runs when another takes its place, or the device is
 * closed. Since 0.1. */
BW_API bw_status bw_alerts_on_authorize(bw_device *device, bw_authorize_callback callback, void *user_data,
                                        bw_destroy destroy);

enum bw_presentation {
    BW_PRESENT_NOTHING = 0,
    BW_PRESENT_BANNER = 1, /* on the screen                                                            */
    BW_PRESENT_SOUND = 2,
    BW_PRESENT_BADGE = 4,
    BW_PRESENT_LIST = 8,   /* in the list of the delivered; what has a banner is there as well         */
    BW_PRESENT_ALL = 15
};

/* Called in dispatch before an alert is shown while the program is in front: returns a sum of bw_presentation. Without
 * an answer within 500 ms it is BW_PRESENT_ALL. alert_json is {"desktop"?,"alert":{…},"reminder"?: true}. */
typedef int32_t (*bw_will_present_callback)(void *user_data, const char *alert_json);

/* Sets who is asked; NULL = nobody, as at first. destroy as above. Since 0.1. */
BW_API bw_status bw_alerts_on_will_present(bw_device *device, bw_will_present_callback callback, void *user_data,
                                           bw_destroy destroy);

/* Says whether the program is in front of the user: 1 or 0, as at first. Since 0.1. */
BW_API bw_status bw_alerts_in_front(bw_device *device, int32_t in_front);

/* Called in dispatch with "host", to show an alert: {"desktop"?,"alert":{…},"actions":[{"id","title","kind",
 * "foreground","destructive","placeholder"?}],"presentation": a sum of bw_presentation,"quietly": bool,"image"?: path,
 * "reminder"?: true}; or to take one away, perhaps one of an earlier run: {"desktop"?,"alert":{"id"},"withdraw": true}.
 * Returns 0; anything else = it cannot be shown now: it is tried again, and given up after a minute. What the user does
 * goes to bw_alerts_respond(). */
typedef int32_t (*bw_present_callback)(void *user_data, const char *alert_json);

/* Sets who shows alerts with "host". destroy as above. Errors: BW_E_UNSUPPORTED ("alerts" is not "host"). Since 0.1. */
BW_API bw_status bw_alerts_on_present(bw_device *device, bw_present_callback callback, void *user_data,
                                      bw_destroy destroy);

/* With "host": what the user did with an alert. desktop is that of the alert, NULL for a reminder's; action as in
 * "Responses"; text is that of a reply, else NULL. Errors: BW_E_NOT_FOUND (no such alert was shown, or it was
 * answered), BW_E_INVALID (its category has no such action), BW_E_UNSUPPORTED ("alerts" is not "host"). Since 0.1. */
BW_API bw_status bw_alerts_respond(bw_device *device, const char *desktop, const char *id, const char *action,
                                   const char *text);

/* Registers the categories of alerts, in place of those before: [{"id","actions":[{"id","title","kind"?: "button"
 * (default)| "reply","placeholder"?,"foreground"?: bool,"destructive"?: bool}]}]; at most 64, of 8 actions.
 * REMOTE_NOTIFICATION has MARK_READ_ACTION unless it is registered otherwise. They are stored. Since 0.1. */
BW_API bw_status bw_alerts_categories(bw_device *device, const char *categories_json);

/* The device's own settings, which no desktop sees: {"enabled","quietHoursEnabled","quietHoursStart": "22:00",
 * "quietHoursEnd": "08:00","soundEnabled","showPreview": false = the title alone,"sources":{"pc":
 * bool,…},"categories":{id: bool}}; a source or category that is not named is on. Start = end: never quiet.
 * Since 0.1. */
BW_API bw_status bw_alerts_settings(bw_device *device, char **settings_json);

/* Changes those that settings_json names, at once; of sources and categories the members that are named (null = as at
 * first). *result_json (may be NULL) becomes all of them. Since 0.1. */
BW_API bw_status bw_alerts_set_settings(bw_device *device, const char *settings_json, char **result_json);

/* The alerts that were shown and neither answered nor taken away, the newest first, at most 500:
 * [{"desktop"?,"alert":{…}, "shownAt","reminder"?: true}]. Since 0.1. */
BW_API bw_status bw_alerts_delivered(bw_device *device, char **alerts_json);

/* Takes shown alerts from the screen and the list: that of an id (with its desktop, NULL for a reminder's), those of a
 * thread, or all with neither. Errors: BW_E_NOT_FOUND (of an id). Since 0.1. */
BW_API bw_status bw_alerts_remove(bw_device *device, const char *desktop, const char *id, const char *thread);

/* Sets the badge, for a host that counts something else; the next unread.changed sets it anew. 0 clears it. With
 * "system" and an "application_id" it stands at the program's icon (com.canonical.Unity.LauncherEntry). Since 0.1. */
BW_API bw_status bw_alerts_badge(bw_device *device, int64_t badge);

/* ================================================================================================================
 * Reminders
 *
 * The program's own alerts, at a time or a place. They are in the store, at most 500, and are shown as a push's; what
 * became due while nothing ran comes once at the next start, "late": true in notification.presented. Times follow the
 * time zone and the clock of the device, also when they change: at a time that the clock leaves out in spring a
 * reminder comes at the moment after the gap, at one that it shows twice in autumn once.
 * ============================================================================================================= */

/* Adds a reminder, or replaces the one with its id: an alert (see "Alerts"; without "id" it is given one; those that
 * begin with "bellwire." are the library's own) and "trigger":
 *   none, or {"type":"now"}
 *       at once
 *   {"type":"interval","seconds","repeats"?: bool}
 *       after so many seconds by the clock on the wall, 1 to 100 years; repeating at least 60
 *   {"type":"moment","at": ms}
 *       at that moment; one that is past comes at once
 *   {"type":"calendar","year"?,"month"?,"day"?,"weekday"?: 1 (Monday) to 7,"hour"?,"minute"?,"second"?,"repeats"?:
 *       bool} when the local time matches all that are there, at least one; those finer than the finest are 0 (day and
 *       month 1), all others any
 *   {"type":"region","latitude","longitude","radius_m": 10 to 1,000,000,"on"?: "enter" (default)|"exit"|"both",
 *    "repeats"?: bool}
 *       by what bw_reminder_position() says
 * *result_json (may be NULL) becomes the reminder, with "nextAt"? (ms). Errors: BW_E_INVALID (also for a time that
 * never comes, such as 30 February), BW_E_LIMIT (500 are kept). Since 0.1. */
BW_API bw_status bw_reminder_add(bw_device *device, const char *reminder_json, char **result_json);

/* The reminders that are still to come, the next first, those of regions last. Since 0.1. */
BW_API bw_status bw_reminder_list(bw_device *device, char **reminders_json);

/* Takes reminders out: that of an id, those of a thread, or all with neither. What was shown stays
 * (bw_alerts_remove()). Errors: BW_E_NOT_FOUND (of an id). Since 0.1. */
BW_API bw_status bw_reminder_remove(bw_device *device, const char *id, const char *thread);

/* Says where the device is, in degrees; accuracy_m is the uncertainty in metres (0 = none). A region is entered or left
 * when the position is inside or outside with certainty; the first position leaves none. Errors: BW_E_INVALID (no such
 * place). Since 0.1. */
BW_API bw_status bw_reminder_position(bw_device *device, double latitude, double longitude, double accuracy_m);

/* ================================================================================================================
 * Events
 *
 * event_json is {"event","desktop"?,"data"}. A device's events:
 *   notification.received  {"id","title","body","priority","source","createdAt","receivedAt","silenced","late","data",
 *                          …}. It is in the store before the callback runs, and is handed over exactly once; only when
 *                          the process ended inside dispatch does it come again, with "redelivered":true. It waits
 *                          until there is a subscription for it; with 100,000 waiting no more are taken (problem
 *                          inbox_full). "late": it did not come at once, but after an absence of either side
 *   notification.updated   the same, and "replaces": the id of a push with the same "collapseKey" whose place it takes.
 *                          Who does not subscribe to it gets notification.received instead
 *   unread.changed         {"unread"}: of all desktops; the badge
 *   inbox.changed          {"loading","error"?,"unsupported"?} as in bw_inbox_state(): the inbox has other rows of the
 *                          "desktop", or shows them otherwise; or a refresh has begun or ended
 *   settings.changed       {"settings","fetchedAt"} as bw_inbox_settings(): the "desktop" has others than it had
 *   connection.changed     {"online","routes":[…]} of the "desktop"
 *   pairing.changed        {"flow":"scan","state":"scanning"|"sending"|"success"|"failed",…},
 *                          {"flow":"show","state":"connecting"|"displaying"|"completed"|"expired"|"failed",…},
 *                          {"flow":"code","state":"submitting"|"waiting"|"success"|"failed",…}; with them what there
 *                          is of "payload", "code", "expiresAt", "desktop", "reason", "message"
 *   peers.changed          {"desktops":[…]} as bw_pairing_list(): one was paired, renamed, unpaired, or has moved
 *   queue.changed          {"count","pending","sending","failed"}: what the queue holds now
 *   queue.ended            {"id","method","outcome":
 *                          "done"|"failed"|"superseded"|"displaced"|"removed","result"?,"error"?:
 *                          {"code","message"},"by"?}: a queued command of the "desktop" was carried out, has failed, or
 *                          has left the queue: made needless by a newer one ("by"), because it was full, or by the host
 *   notification.presented {"id","presented","reason"?,"late"?,"reminder"?,"image"?:{"path"|"error"}}: an alert of the
 *                          "desktop", or of the host's own, is on the screen or in the list, or is not: silenced,
 *                          disabled, source_disabled, category_disabled, not_determined, denied, late, too_many,
 *                          quiet_hours (it is told when they end), will_present, presenter_failed (after a minute),
 *                          replaced, removed
 *   notification.response  what a person did with an alert: see "Alerts"; kept until it is taken, "redelivered": true
 *                          as above
 *   notification.silent    {"id","userInfo","timeoutMs"}: work without an alert, see bw_device_complete(); kept until
 *                          taken
 *   authorization.changed  {"status","until"?,"advice": "explain"|"settings"|"register"|"upgrade"}: at the start, and
 *                          when it changes; advice is what to do: explain and ask, point to the settings, give the push
 *                          tokens, ask for more than quiet alerts
 *   badge.changed          {"badge"}: the number at the program's icon; 0 = none
 *   command                {"type","payload"}: anything else that a paired desktop sent
 *   problem                {"code","message"}: something went wrong that no call reports
 *   host.…                 the host's own topics: see bw_device_post()
 * State events (unread, badge, inbox, settings, authorization, connection, peers, queue.changed) that wait in the
 * host's queue are replaced by newer ones. It holds 1,024 events; beyond that the oldest event that is no state gives
 * way, and a problem tells how many.
 * ============================================================================================================= */

typedef uint64_t bw_subscription;
typedef void (*bw_event_callback)(void *user_data, const char *event, const char *event_json);

/* Calls callback for each event of that name, or for all with "*", in their order, until unsubscribed. *subscription
 * (may be NULL) becomes its number, never 0. Errors: BW_E_INVALID (no such event). Since 0.1. */
BW_API bw_status bw_device_subscribe(bw_device *device, const char *event, bw_event_callback callback, void *user_data,
                                     bw_destroy destroy, bw_subscription *subscription);

/* Ends a subscription and runs its destroy: after it returned, the callback does not run. From another thread it waits
 * for the callback if that is running; inside the callback its destroy runs after it returned.
 * Errors: BW_E_NOT_FOUND. Since 0.1. */
BW_API bw_status bw_device_unsubscribe(bw_device *device, bw_subscription subscription);

/* Posts an event of the host's own to whoever has subscribed to it, or to "*": from any thread to the one that
 * dispatches, in order with all other events. Nobody = nothing happens. topic is "host." and then letters, digits and
 * . _ -, 128 bytes at most; data_json is an object of at most 65,536 bytes, or NULL for {}. Inside a callback it comes
 * with the next dispatch. Errors: BW_E_LIMIT (1,024 events wait: dispatch first; nothing was dropped). Since 0.1. */
BW_API bw_status bw_device_post(bw_device *device, const char *topic, const char *data_json);

/* ================================================================================================================
 * Push services
 *
 * A program that also gets pushes from a service of its platform tells its desktops where to send them. Each desktop
 * that was paired sealed hears the tokens once every start, and when they change; others never do.
 * ============================================================================================================= */

/* Gives the device's token of a service, length bytes as the service gave them (1 to 4,096), in each run anew: one of
 * an earlier run is never sent. service is 1 to 64 letters, digits and . _ -, such as "fcm"; at most 16 services.
 * Replaces the one before. Errors: BW_E_LIMIT, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_token(bw_device *device, const char *service, const uint8_t *token, size_t length);

/* Takes the token of a service back, as when the user logs out; NULL = of all services that ever had one. Each desktop
 * hears it, one that is not reached when it is, also in a later run. None given = BW_OK. Errors: BW_E_STORE.
 * Since 0.1. */
BW_API bw_status bw_device_clear_token(bw_device *device, const char *service);

/* Takes in what a service has brought: an APNs payload ("aps") or an FCM message ("notification","data"). It is a push
 * of the paired desktop that its "desktop" names (beside its data or in it), else of "push:<service>"; "notificationId"
 * is its id: what came over the wire before is a duplicate. An "encrypted_body" is opened with the keys of the pairing.
 * A badge alone sets the badge; content-available without an alert becomes notification.silent. *result_json (may be
 * NULL) becomes {"kind": "push"| "silent"|"badge","id"?,"duplicate"}. Errors: BW_E_PROTOCOL (it is neither), BW_E_LIMIT
 * (100,000 pushes wait for the program), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_receive(bw_device *device, const char *service, const char *payload_json,
                                   char **result_json);

/* Ends a notification.silent: result is "new_data", "no_data" or "failed". It has 30 s from its arrival; after that it
 * has failed. Errors: BW_E_NOT_FOUND (no such one is under way in this run). Since 0.1. */
BW_API bw_status bw_device_complete(bw_device *device, const char *id, const char *result);

/* ================================================================================================================
 * Desktop
 * ============================================================================================================= */

typedef struct bw_desktop bw_desktop;

/* Opens a desktop; offline until bw_desktop_start(). options_json as for a device ("state_dir" defaults to
 * $XDG_STATE_HOME/bellwire/desktop), and:
 *   "relay_url"  text    the relay that it registers at and names in its pairing codes
 *   "relay"      object  options of bw_relay_open(): carries its own LAN relay, registers at it, and names it in its
 *                        codes as "signalingUrl"; its "state_dir" is by default relay/ in the desktop's own
 *   "signaling_url" text what the codes name instead, when devices reach that relay under another url
 *   "confirm"    bool    true = every device waits for bw_desktop_confirm(); default false: only those that cannot
 *                        prove that they have seen the code, as deployed phones
 *   "legacy"     text    what such a device may do: "qr" (default) and "all" as for a device, "none" nothing
 *   "max_commands_per_second" number  of one device, default 200 (1 to 100000); one that was quiet may give ten times
 *                        as many at once. What is more is refused with -32010, and told when to come again
 * One of "relay_url" and "relay" is needed to go online. Errors: as bw_device_open(). Since 0.1. */
BW_API bw_status bw_desktop_open(const char *options_json, bw_desktop **desktop);

/* Starts its relay, if it carries one, and goes online. Does not wait. Idempotent. Errors: BW_E_NETWORK (the relay's
 * address is in use, …), BW_E_INVALID (neither relay nor relay_url). Since 0.1. */
BW_API bw_status bw_desktop_start(bw_desktop *desktop);
/* These are as for a device. Since 0.1. */
BW_API bw_status bw_desktop_stop(bw_desktop *desktop);
BW_API bw_status bw_desktop_close(bw_desktop *desktop);
BW_API int32_t bw_desktop_fd(bw_desktop *desktop);
BW_API bw_status bw_desktop_dispatch(bw_desktop *desktop);
BW_API bw_status bw_desktop_run(bw_desktop *desktop, int32_t timeout_ms);
BW_API bw_status bw_desktop_quit(bw_desktop *desktop);

/* {"id","name","started","unread","connection":[{"url","state","problem"?}],"relay"?:{"port","healthPort","note"?},
 * "notes":[],"offer"?:{"state","expiresAt"},"counters":{}}. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_state(bw_desktop *desktop, char **state_json);

/* A desktop's events: notification.received (what a device asked it to show), unread.changed, connection.changed,
 * peers.changed {"devices":[…]}, command, problem, as for a device, and
 *   notification.read     {"ids","readAt"}: of the history, by a device's command or by the desktop's own
 *   notification.deleted  {"ids"}; notification.cleared {"before"}: everything that was created before that moment
 *   notification.presented {"id","device","presented","at"}: a device says, once or not at all, whether it has shown a
 *                         push to its user, and when by its clock
 *   settings.changed {"settings","revision"}
 *   pairing.changed  {"flow":"offer","state":"displaying"|"acked"|"paired"|"expired"|"cancelled"|"failed",…},
 *                    {"flow":"scan","state":"scanned"|"confirming"|"sending"|"paired"|"expired"|"cancelled"|"failed",…},
 *                    {"flow":"code","state":"connecting"|"displaying"|"acked"|"paired"|"expired"|"cancelled"|"failed",…};
 *                    with them what there is of "payload", "code", "expiresAt", "device", "reason", "message".
 *                    "acked" with "confirm":true and "confirming" ask for bw_desktop_confirm() until "expiresAt"
 * Since 0.1. */
BW_API bw_status bw_desktop_subscribe(bw_desktop *desktop, const char *event, bw_event_callback callback,
                                      void *user_data, bw_destroy destroy, bw_subscription *subscription);
BW_API bw_status bw_desktop_unsubscribe(bw_desktop *desktop, bw_subscription subscription);
/* As bw_device_post(). Since 0.1. */
BW_API bw_status bw_desktop_post(bw_desktop *desktop, const char *topic, const char *data_json);

/* Starts the desktop if need be, waits (at most timeout_ms) until a relay has it registered, and begins to offer
 * pairing for 5 minutes; a newer offer replaces it. *offer_json becomes {"payload","code","expiresAt"}: payload is the
 * text for the QR code (bw_qr_terminal). Errors: BW_E_OFFLINE or BW_E_TIMEOUT (no relay), BW_E_NETWORK. Since 0.1. */
BW_API bw_status bw_desktop_offer(bw_desktop *desktop, int32_t timeout_ms, char **offer_json);

/* The same, without waiting. BW_OK = the completion will come. Since 0.1. */
BW_API bw_status bw_desktop_offer_async(bw_desktop *desktop, int32_t timeout_ms, bw_completion completion,
                                        void *user_data, bw_destroy destroy);

/* Scans the code that a device shows: its text. *device_json (may be NULL) becomes who shows it: {"id","deviceId",
 * "name","platform","secure"}. Then the user is asked: bw_desktop_confirm() within 30 s. The rest is told as
 * pairing.changed. Starts the desktop if need be. Errors: BW_E_PAIRING as for a device, BW_E_NETWORK. Since 0.1. */
BW_API bw_status bw_desktop_scan(bw_desktop *desktop, const char *qr_text, char **device_json);

/* Shows a code to be typed, for 5 minutes, starting the desktop if need be: waits (at most timeout_ms) until the relay
 * has its nameplate. *code_json becomes {"code","expiresAt"}, code as "123456-789012". After three devices that did not
 * know it the code is burnt: pairing.changed says "failed". Errors: BW_E_OFFLINE or BW_E_TIMEOUT (no relay),
 * BW_E_PAIRING, BW_E_NETWORK. Since 0.1. */
BW_API bw_status bw_desktop_code(bw_desktop *desktop, int32_t timeout_ms, char **code_json);
/* The same, without waiting. BW_OK = the completion will come. Since 0.1. */
BW_API bw_status bw_desktop_code_async(bw_desktop *desktop, int32_t timeout_ms, bw_completion completion,
                                       void *user_data, bw_destroy destroy);

/* Ends a flow ("offer", "scan" or "code"; NULL = all three). None under way = BW_OK. Since 0.1. */
BW_API bw_status bw_desktop_pairing_cancel(bw_desktop *desktop, const char *flow);

/* The user's answer to the device that pairing.changed has named in this flow; NULL = in the only one that asks.
 * accept 0 = no. A no to a device that cannot prove that it has seen the code ends nothing: the code is "displaying"
 * again, for others. Errors: BW_E_NOT_FOUND (nothing waits; or within a second after another device has taken the place
 * of the one that was asked about: the answer was meant for that). Since 0.1. */
BW_API bw_status bw_desktop_confirm(bw_desktop *desktop, const char *flow, int32_t accept);

/* The paired devices: [{"id","deviceId","name","platform","secure","sas"?,"pairedAt","lastSeenAt"}]. Errors:
 * BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_devices(bw_desktop *desktop, char **devices_json);

/* The push tokens that the paired devices have given: [{"device","deviceId","service","token": hex,"receivedAt"}]. One
 * for each device and service; a token that another device gives is that one's from then on. Errors: BW_E_STORE. Since
 * 0.1. */
BW_API bw_status bw_desktop_tokens(bw_desktop *desktop, char **tokens_json);

/* As bw_pairing_rename(), bw_pairing_unpair() and bw_pairing_clear(), of devices. A device that was paired sealed and
 * is not reached is told later: at the next start, and when it speaks, for 30 days. Since 0.1. */
BW_API bw_status bw_desktop_rename(bw_desktop *desktop, const char *device, const char *name);
BW_API bw_status bw_desktop_unpair(bw_desktop *desktop, const char *device);
BW_API bw_status bw_desktop_clear(bw_desktop *desktop);

/* What devices may do: {"skills":[{"name","risk","enabled","methods":{method:
 * risk}}],"devices":[{"id","name","allowed": {skill: allowance}}]}. A risk is "safe" (reads), "mutating" or
 * "privileged"; a skill's is that of its riskiest method. A device may call the methods of at most its allowance's
 * risk; "mutating" until the user says otherwise. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_permissions(bw_desktop *desktop, char **permissions_json);

/* How far a device may go with a skill (such as "notification"): "nothing", "safe", "mutating" or "privileged". Holds
 * for what comes from now on, and until it is unpaired; what is refused gives the device -32001, BW_E_DENIED. Errors:
 * BW_E_NOT_FOUND (device, skill), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_allow(bw_desktop *desktop, const char *device, const char *skill, const char *allowance);

/* Switches a skill off (enabled 0) or on for all devices. Errors: BW_E_NOT_FOUND, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_skill_enable(bw_desktop *desktop, const char *skill, int32_t enabled);

/* A notification of the desktop's own: kept in its history and pushed to its devices. *result_json (may be NULL) is
 * {"success","notificationId","deliveredCount","failedCount","timestamp"}: delivered = the device has said within 2 s
 * that it has it; of a deployed phone, which says nothing, that no relay has called it absent by then. For the others
 * it stays in an outbox until they are there again: 30 days (a day for deployed phones) or until its "expiresAt" (epoch
 * milliseconds), and 10,000 for each device (beyond it the oldest go, and a problem outbox_full says so). One with a
 * "collapseKey" takes the place of the one before it, in the outbox and in the history.
 * {"title","body","priority"?,"deviceId"? (only that device),"data"?: object,"collapseKey"?,"expiresAt"?}
 * Errors: BW_E_NOT_FOUND (deviceId), BW_E_STORE, BW_E_TIMEOUT (kept; the push may still go out). Since 0.1. */
BW_API bw_status bw_desktop_notify(bw_desktop *desktop, const char *params_json, int32_t timeout_ms,
                                   char **result_json);
/* The same without waiting; pushes go out in the order of the calls. Since 0.1. */
BW_API bw_status bw_desktop_notify_async(bw_desktop *desktop, const char *params_json, int32_t timeout_ms,
                                         bw_completion completion, void *user_data, bw_destroy destroy);

/* The desktop's history: parameters and result of notification.getHistory. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_history(bw_desktop *desktop, const char *params_json, char **result_json);

/* One of the eleven methods ("notification.markAllAsRead", "notification.updateSettings", …) for the desktop's own
 * user, who may do everything: parameters and result as above under "Methods"; devices hear of what changes.
 * "sendToMobile" needs a "deviceId". Errors: BW_E_INVALID, BW_E_UNSUPPORTED (method), BW_E_NOT_FOUND, BW_E_STORE,
 * BW_E_TIMEOUT (carried out; who was reached is not known in time). Since 0.1. */
BW_API bw_status bw_desktop_invoke(bw_desktop *desktop, const char *method, const char *params_json,
                                   int32_t timeout_ms, char **result_json);
BW_API bw_status bw_desktop_invoke_async(bw_desktop *desktop, const char *method, const char *params_json,
                                         int32_t timeout_ms, bw_completion completion, void *user_data,
                                         bw_destroy destroy);

/* ================================================================================================================
 * Relay
 * ============================================================================================================= */

typedef struct bw_relay bw_relay;

/* Opens a relay; nothing is bound until bw_relay_start(). options_json: "listen" ("127.0.0.1:9001"; port 0 = any),
 * "health" (no page when absent), "tls" {"certificate_file","key_file"}, "threaded", "state_dir" (keeps which ids were
 * ever proved; default: memory only), "origins" (the urls that proofs may be made for; default: its addresses with its
 * port), and the limits that `bellwire relay --help` lists with their defaults. Since 0.1. */
BW_API bw_status bw_relay_open(const char *options_json, bw_relay **relay);

/* Binds and serves. Idempotent. Errors: BW_E_NETWORK (address in use, not ours; certificate), BW_E_DENIED (port below
 * 1024). Since 0.1. */
BW_API bw_status bw_relay_start(bw_relay *relay);
/* Tells the peers (server-shutdown), then closes their connections; what it stored for absent peers is gone.
 * Idempotent. Since 0.1. */
BW_API bw_status bw_relay_stop(bw_relay *relay);
/* These are as for a device. A relay's events: problem. Since 0.1. */
BW_API bw_status bw_relay_close(bw_relay *relay);
BW_API int32_t bw_relay_fd(bw_relay *relay);
BW_API bw_status bw_relay_dispatch(bw_relay *relay);
BW_API bw_status bw_relay_run(bw_relay *relay, int32_t timeout_ms);
BW_API bw_status bw_relay_quit(bw_relay *relay);
BW_API bw_status bw_relay_subscribe(bw_relay *relay, const char *event, bw_event_callback callback, void *user_data,
                                    bw_destroy destroy, bw_subscription *subscription);
BW_API bw_status bw_relay_unsubscribe(bw_relay *relay, bw_subscription subscription);

/* {"started","port","healthPort","stats":{…}}: what /stats says. Since 0.1. */
BW_API bw_status bw_relay_state(bw_relay *relay, char **state_json);

/* ================================================================================================================
 * JSON
 *
 * For programs without a JSON parser of their own: reads one value out of a text that the library gave. pointer is a
 * JSON Pointer (RFC 6901), such as "/data/title" or "/data/routes/0/url"; "" is the whole. Each call parses json anew.
 * Errors of both: BW_E_INVALID (not JSON; no pointer), BW_E_NOT_FOUND (nothing stands there).
 * ============================================================================================================= */

/* *text becomes the value: a text as it is, with U+FFFD for a NUL inside it; anything else as JSON. Owned by the caller
 * (bw_free). Since 0.1. */
BW_API bw_status bw_json_text(const char *json, const char *pointer, char **text);

/* *number becomes the value: a number without its fraction, or 0 and 1 for false and true; BW_E_INVALID for anything
 * else. Since 0.1. */
BW_API bw_status bw_json_integer(const char *json, const char *pointer, int64_t *number);

/* ================================================================================================================
 * QR
 * ============================================================================================================= */

/* Draws text as a QR code for a terminal: lines of half blocks, in colours of its own, so that it can be scanned on
 * dark and light backgrounds. plain != 0: without colour sequences, for a light background. Text of 1 to 2,048 bytes.
 * Errors: BW_E_INVALID. Since 0.1. */
BW_API bw_status bw_qr_terminal(const char *text, int32_t plain, char **drawing);

/* Draws text as a QR code, as an SVG document in which a module is one unit: black on white, with the quiet zone. Text
 * as above. Errors: BW_E_INVALID. Since 0.1. */
BW_API bw_status bw_qr_svg(const char *text, char **svg);

/* Draws text as a QR code, as a PNG image, black on white, with the quiet zone: scale pixels a module, 1 to 32. *png
 * becomes its *size bytes, owned by the caller (bw_free). libpng is loaded for it. Errors: BW_E_INVALID,
 * BW_E_UNSUPPORTED (no libpng). Since 0.1. */
BW_API bw_status bw_qr_png(const char *text, int32_t scale, uint8_t **png, size_t *size);

/* Reads the QR codes in an image file, PNG or JPEG, of at most 32 MiB and 50 megapixels: dark on light or light on
 * dark, at least 2 pixels a module. *texts_json becomes an array of their texts. libzbar, and libpng or libturbojpeg,
 * are loaded for it; a large picture takes a second. Errors: BW_E_NOT_FOUND (no QR code in it), BW_E_IO (the file
 * cannot be read), BW_E_INVALID (it is no such image), BW_E_LIMIT (too large), BW_E_UNSUPPORTED (a library is missing;
 * the message names it). Since 0.1. */
BW_API bw_status bw_qr_read(const char *path, char **texts_json);

/* The same of pixels that the program has: height rows of width grey bytes (0 = black), each row stride bytes after the
 * one before. Since 0.1. */
BW_API bw_status bw_qr_read_pixels(const uint8_t *grey, int32_t width, int32_t height, int32_t stride,
                                   char **texts_json);

#ifdef __cplusplus
}
#endif

#endif /* BELLWIRE_H */
