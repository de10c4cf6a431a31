/*
 * bellwire.h - end-to-end encrypted push notifications between your own machines.
 *
 * C99, and valid C++. This header is both the documentation and the contract of the library.
 *
 * Roles     A device (bw_device) pairs with desktops, receives their pushes and calls their methods. A desktop
 *           (bw_desktop) shows pairing codes, keeps the history, answers the methods and pushes to its devices.
 *           A relay (bw_relay) forwards frames between them. A peer is any of these, seen from another.
 *           "Host" in an option or event name means the program that embeds this library.
 * Strings   UTF-8, NUL-terminated. Names that end in _json hold JSON (RFC 8259). The library borrows parameters for
 *           the duration of the call. The caller owns results and frees them with bw_free(). Strings passed to a
 *           callback are valid until it returns. Outputs are written only if the call succeeds (status >= 0).
 * Units     A name's suffix gives the unit: _ms is milliseconds. Times in JSON are milliseconds since
 *           1970-01-01T00:00Z.
 * Threads   Any thread may call any function, unless the function says otherwise. Callbacks run only inside
 *           bw_*_dispatch() and bw_*_run(), on the thread that calls these, one at a time per handle.
 *           A callback may call any function, including bw_*_close(). Two callbacks on two threads that close each
 *           other's handle would deadlock.
 * Unwinding A callback must return: no C++ exception, longjmp() or pthread_exit() may leave it. An exception that no
 *           caller of dispatch catches ends the process; so does any exception with "threaded", where no function of
 *           the program is below the callback. If a function of the program's does catch it, memory of that dispatch
 *           leaks, and the event counts as delivered. The handle then stays busy until dispatch or close
 *           is called again by the function that called dispatch or by one of its callers, or until the thread ends.
 *           If dispatch ran on a stack of the program's own (a fiber), only the end of the thread frees the handle: a
 *           callback may switch to another fiber, and the handle is busy until that callback returns.
 * Handles   A handle is an index into a table and is never dereferenced. A handle that is NULL, closed or of the wrong
 *           kind gives BW_E_HANDLE.
 * Errors    Functions that can fail return a bw_status. bw_last_error() returns the details for the calling thread.
 *           Every function that returns a status may return BW_E_INVALID (invalid parameter), BW_E_HANDLE,
 *           BW_E_FORKED, BW_E_CLOSED (another thread closed the handle) and BW_E_NO_MEMORY. Other errors are listed
 *           with each function. For a device that another program holds, each may also return BW_E_BUSY (that program
 *           has not answered for 5 s, "reason":"holder_silent") and BW_E_OFFLINE (it ended during the call, which may
 *           have been executed, "reason":"holder_ended"); BW_E_LIMIT, if parameters or a result have more than 16 MiB
 *           ("reason":"too_large"); and BW_E_PROTOCOL, if it sends what cannot be read ("reason":"holder_unreadable").
 *           BW_E_NO_MEMORY means that a C library could not allocate memory. If the library's own Swift code cannot, the
 *           process ends, like any Swift program (by a trap, an abort, or a fault in Swift's runtime, which does not
 *           check all of its allocations). So keep enough memory free for the library.
 * Fork      If a process forks after it has opened a handle, calls in the child give BW_E_FORKED. Fork followed by exec
 *           is fine.
 * Process   Loading the library starts no thread and changes no signal handler, locale or environment variable. The
 *           first open starts two threads, which run until the process ends. A DNS lookup and the check of an alert's
 *           image use one more thread each while they run. dlclose() does not unload the library.
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

/* The version of this header. bw_version() returns the version of the loaded library. */
#define BW_VERSION "0.1.0"
/* Increases when a function or a status is added. If one is removed or changed, the soname changes. */
#define BW_ABI_VERSION 1

/* The result of a call: 0 = done, > 0 = accepted with a note, < 0 = failed. Codes are never renumbered. */
typedef int32_t bw_status;

enum bw_status_code {
    BW_OK = 0,
    BW_QUEUED = 1,          /* accepted and stored; will be executed later                                      */
    BW_E_INVALID = -1,      /* invalid parameter: NULL, not JSON, unknown key, out of range                     */
    BW_E_HANDLE = -2,       /* the handle is NULL, closed or of the wrong kind                                  */
    BW_E_BUSY = -3,         /* in use: state_dir by another process; dispatch by another thread or a callback   */
    BW_E_OFFLINE = -4,      /* not connected to the desktop                                                     */
    BW_E_TIMEOUT = -5,      /* no answer in time; the command may still be executed                             */
    BW_E_REMOTE = -6,       /* the peer refused; the detail has its code and message                            */
    BW_E_PROTOCOL = -7,     /* the peer's answer cannot be decoded                                              */
    BW_E_DENIED = -8,       /* the peer, or a file's permissions, do not allow it                               */
    BW_E_UNSUPPORTED = -9,  /* the peer, or this build, does not support it                                     */
    BW_E_STORE = -10,       /* the database failed: disk full, I/O error                                        */
    BW_E_CLOSED = -11,      /* the handle was closed while the call waited                                      */
    BW_E_FORKED = -12,      /* this process was forked from the one that opened the library                     */
    BW_E_NO_MEMORY = -13,   /* out of memory                                                                    */
    BW_E_IO = -14,          /* cannot use a file or directory; the detail names it                              */
    BW_E_NETWORK = -15,     /* cannot use an address: in use, not local, or its certificate is unreadable       */
    BW_E_PAIRING = -16,     /* pairing failed; "reason" in the detail is one of a fixed list                    */
    BW_E_NOT_FOUND = -17,   /* no such desktop, device, subscription or other item                              */
    BW_E_LIMIT = -18        /* a limit of the library was reached; the detail names it                          */
};

/* The version of the library, such as "0.1.0". Static string; also works after fork. Since 0.1. */
BW_API const char *bw_version(void);

/* The ABI version of the library. A program works with any library whose number is at least the BW_ABI_VERSION it
 * was compiled with. Since 0.1. */
BW_API int32_t bw_abi_version(void);

/* The name of a status, such as "BW_E_TIMEOUT", or "unknown". Static string. Since 0.1. */
BW_API const char *bw_status_name(bw_status status);

/* Frees memory that the library returned. NULL is allowed. Since 0.1. */
BW_API void bw_free(void *pointer);

/* The last error on this thread, as JSON {"status","message","detail"}: the name of the status, an English message
 * that says what is wrong and what to do, and further facts. Free it with bw_free(). NULL if no call on this thread
 * has failed, or if memory ran out. Successful calls do not change it. Since 0.1. */
BW_API char *bw_last_error(void);

/* Called exactly once for each user_data passed to the library, when the library no longer needs it, and also if the
 * call that took it fails. May be NULL. */
typedef void (*bw_destroy)(void *user_data);

enum bw_log_level { BW_LOG_DEBUG = 0, BW_LOG_INFO = 1, BW_LOG_WARNING = 2, BW_LOG_ERROR = 3 };

/* Receives one line of the log. Lines never contain payloads, keys or codes. */
typedef void (*bw_log_callback)(void *user_data, int32_t level, const char *message);

/* Sets the log callback of the process and the lowest level it receives (enum bw_log_level). Replaces the previous
 * callback. NULL = no log (the default). The library keeps up to 256 lines in a ring buffer and passes them on in
 * the next dispatch of any handle. Errors: BW_E_INVALID (level). Since 0.1. */
BW_API bw_status bw_set_log(int32_t level, bw_log_callback callback, void *user_data, bw_destroy destroy);

/* ================================================================================================================
 * Device
 * ============================================================================================================= */

typedef struct bw_device bw_device;

/* Opens a device. It stays offline until bw_device_start(). On success the caller owns *device and must close it.
 *
 * options_json is an object, or NULL for the defaults. Unknown keys are errors.
 *   "state_dir"  text   directory for keys and database, created with mode 0700. Default:
 *                       $XDG_STATE_HOME/bellwire/device, or ~/.local/state/bellwire/device. ":memory:" stores nothing.
 *   "shared"     bool   true (default) = other handles, also those of other programs, may open the directory at the same
 *                       time. The first is the holder: it has the connections and the database. The others are guests:
 *                       the same functions work, and the holder carries them out. If it ends, a guest takes over. Pushes
 *                       and responses are delivered once for each "application_id". A guest omits the options that
 *                       describe the device ("name", "relay_url" and so on) or repeats the holder's; another value gives
 *                       BW_E_INVALID, with "reason":"shared_option". A program that shows alerts becomes the holder if
 *                       the one that is it shows none. false = only this handle, in all processes, can have it open
 *   "yields"     bool   true = as the holder, hands the device over to a program with other options, and becomes its
 *                       guest; as a guest, takes the holder's options as they are, but its own "relay_url" for its
 *                       calls that pair. Default: false
 *   "name"       text   name shown to the desktop's user, at most 256 bytes. Default: the host name
 *   "platform"   text   platform reported to the desktop: letters, digits and _ : . # @ -. Default: "linux"
 *   "relay_url"  text   ws:// or wss:// URL of a relay to use in addition to those in a desktop's code
 *   "keys"       text   "file" (default): the key is a file in state_dir that only its owner can read.
 *                       "secret-service": the key is in the keyring of the user's session; an existing key file moves
 *                       there. Opening then waits for the keyring, up to 15 s
 *   "tls"        object {"ca_file": path to PEM certificates to trust instead of the system's}
 *   "legacy"     text   how desktops that cannot prove their identity may pair: "qr" (default) = by QR code; "all" =
 *                       also by a typed six-digit code; "none" = not at all
 *   "follow_system" bool  true (default) = disconnects when the machine sleeps and reconnects when it wakes (logind),
 *                       reconnects when the network changes, and looks for relays on the local network (Avahi) if it
 *                       knows no other. A missing service is reported in the state's "notes". A desktop also
 *                       announces its own relay (Avahi), unless the relay listens only on loopback
 *   "late_alerts" text  which late pushes, such as those sent during an absence, may show an alert: "none" (default),
 *                       "summary" (one alert with their number; each urgent one has its own) or "each"
 *   "alerts"     text   who shows alerts: "none" (default) = no alerts, "system" = the desktop environment, "host" =
 *                       your program; see "Alerts"
 *   "application_id" text  name of the program's .desktop file without the extension, such as org.example.App. "system"
 *                       alerts carry it, and the badge requires it. The library claims this name on the session bus. A
 *                       click can start the program if its .desktop file has DBusActivatable=true and the notification
 *                       server supports it (GNOME's does). It is also the program's name among those that share the
 *                       device: handles with one name count as one program. Default for that: "program", or the file
 *                       name of the executable; a further handle that is open at the same time is then a program of its
 *                       own, which gets events from its first dispatch on and is forgotten when it is closed
 *   "program"    text   for interpreters: what the executable runs, such as the path of a script
 *   "icon"       text   icon of "system" alerts: a name from the icon theme, or a path
 *   "application_name" text  the program's name for its user, in "system" alerts and in the question for permission, up to
 *                       256 bytes. Default: "name" if given, or else the last part of "application_id", "program" or the
 *                       path of the executable
 *   "burst_limit" int   the alert setting "burstLimit" until the user sets it, 0 (default) to 100; see "Alerts"
 *   "opens_links" bool  true = a click on a "system" alert opens its "deepLink" with xdg-open, if that is an https:// or
 *                       http:// URL and the user has turned the alert setting "openLinks" on; other alerts have no action
 *                       Open. false (default) = the library opens nothing
 *   "images"     object {"enabled"?: bool,"timeout_ms"?: 100 to 30,000, default 5,000,"allow"?: [non-public addresses
 *                       or ranges that images may come from, such as 10.0.0.0/8]}
 *   "threaded"   bool   true = the library dispatches on its own thread, which runs the callbacks; bw_device_dispatch()
 *                       and bw_device_run() then give BW_E_BUSY. Default: false
 *
 * If the database is damaged, the library moves it aside (it never deletes it), starts a new one with what can still
 * be read, and sends the "problem" event database_damaged. Pairings and rights have a second copy, from which they are
 * restored. Errors: BW_E_BUSY (state_dir is in use by a program that does not share it, or by a holder that does not
 * answer for 5 s, with "reason":"holder_silent", its "process" and its name), BW_E_IO (state_dir cannot be created or
 * read), BW_E_DENIED (others can read the key file or write to state_dir, the keyring is locked, or the holder's socket
 * is another user's), BW_E_UNSUPPORTED (the holder uses another version of the library, with
 * "reason":"library_version"), BW_E_STORE, BW_E_LIMIT (file descriptors, 512 guests or 256 programs). Since 0.1. */
BW_API bw_status bw_device_open(const char *options_json, bw_device **device);

/* Connects to the paired desktops and stays connected until stop or close. Does not wait. Idempotent. Since 0.1. */
BW_API bw_status bw_device_start(bw_device *device);

/* Disconnects; a shared device stays connected until all programs that started it have stopped it. Pending calls fail
 * with BW_E_OFFLINE or enter the queue (see "Methods"). A pairing in progress fails with BW_E_PAIRING (cancelled).
 * Subscriptions stay. Idempotent. Since 0.1. */
BW_API bw_status bw_device_stop(bw_device *device);

/* Call this before the machine sleeps: closes the connections at once, without notifying relays. A displayed code
 * keeps its expiry. Unfinished pushes are sent again later. Pending calls fail with BW_E_OFFLINE. Idempotent.
 * Since 0.1. */
BW_API bw_status bw_device_suspend(bw_device *device);

/* Call this after the machine wakes: reconnects at once, without backoff. Idempotent. Since 0.1. */
BW_API bw_status bw_device_resume(bw_device *device);

/* Closes the device: fails waiting calls and pending completions with BW_E_CLOSED (these completions run on this
 * thread), runs each destroy, and returns. No callback runs after that. If another thread is running a callback,
 * close waits for it. If close is called inside a callback, that callback's own destroy runs after the callback
 * returns. Since 0.1. */
BW_API bw_status bw_device_close(bw_device *device);

/* Returns a file descriptor that becomes readable when there is something to dispatch, for poll, epoll, GLib, Qt or
 * asyncio; or a negative status. It never changes while the handle is open. Only poll it: do not read, write or
 * close it. Since 0.1. */
BW_API int32_t bw_device_fd(bw_device *device);

/* Runs the callbacks for everything that has arrived, then returns. Never waits for more to arrive. If another program
 * holds the device, stored events come from there; a dispatch waits 5 s for a program that does not answer. Errors:
 * BW_E_BUSY (called inside a callback of this handle, by two threads at once, or with "threaded"), BW_E_STORE (pushes
 * could not be marked as delivered: they come again). Since 0.1. */
BW_API bw_status bw_device_dispatch(bw_device *device);

/* For programs without a main loop: waits and dispatches until timeout_ms have passed (BW_OK; -1 = no limit),
 * bw_device_quit() is called (BW_OK) or the handle is closed (BW_E_CLOSED). Errors: BW_E_BUSY as for dispatch.
 * Since 0.1. */
BW_API bw_status bw_device_run(bw_device *device, int32_t timeout_ms);

/* Makes the running bw_device_run() return, or the next one if none is running. Not async-signal-safe. Since 0.1. */
BW_API bw_status bw_device_quit(bw_device *device);

/* The state of the device, as JSON:
 * {"id","deviceId","name","started","unread","latestPush","authorization","connection":[{"desktop","name","online",
 * "routes":[{"url","state","problem"?,"forgeable"?}]}],"queue":{"count","pending","sending","failed"},"notes":[],
 * "counters":{},"sharing"?:{"part":"holder" or "guest","holder":{"application","process","showsAlerts"}}}.
 * "sharing" is absent with "shared":false and ":memory:"; "process" is the holder's process id. "forgeable":true = probes have
 * shown that this relay lets anyone send in the name of any unencrypted peer: messages of such a desktop over this
 * relay may be forged. false = the probes found no such weakness (a malicious relay can hide it); absent = not known
 * yet. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_state(bw_device *device, char **state_json);

/* ================================================================================================================
 * Pairing
 *
 * There are three independent flows: "scan" (the desktop shows a QR code and the device scans it), "show" (the
 * device shows one and the desktop scans it) and "code" (the desktop shows digits and the user types them on the
 * device). A new attempt of a flow replaces the previous one. Every step sends the event pairing.changed.
 *
 * Pairings between Bellwire peers are end-to-end encrypted: only someone who has seen the code can pair, and no relay
 * or network can read or change the messages. Both sides show the same "sas" (short authentication string), {"digits":
 * six digits, "words": two words}, for their users to compare. After "scan" and "show" someone who copied the code
 * cannot find a key that gives the same "sas", because each side is bound to its part before it knows the other's. If
 * the peer does not commit, there is "sasMissing":"older_peer" instead: update the peer and pair again to compare.
 *
 * A Bellwire peer has "secure":true in lists, and is called an encrypted peer below; there is never a fallback to plain
 * text with it. ChainlessChain desktops and phones have "secure":false.
 *
 * In version 2 of the encryption each connection has keys of its own: someone who steals a device or desktop later
 * cannot decrypt recorded traffic. With version 1 the keys never change, so a thief can decrypt recordings.
 *
 * For an encrypted peer, lists also contain "seal", {"version","psk","problem"?}. "version" is the lowest encryption
 * version that is accepted from it: 2 (sessions with keys of their own), or 1 (static keys) before the first session
 * without a preshared key. "psk":true = a preshared key from the pairing protects the sessions, in addition to the
 * identity keys; false = one side did not offer sessions while pairing: update both and pair again to get one.
 * "problem":"handshake_refused" (on devices) = the desktop answers with different keys than those of the pairing, for
 * example because a backup of one side was restored: pair again. "problem":"no_session" = the peer has not answered for
 * 90 s, and no relay calls it absent: it is off, or a relay drops the handshakes. "problem":"not_paired" = the peer
 * says, without proof, that it is not paired with this side: it has lost its pairings; pair again.
 *
 * Every pairing function may fail with BW_E_STORE or BW_E_PAIRING; the detail then has a "reason": not_json,
 * wrong_type, bad_code, missing_peer_id, bad_field, expired, no_identity, no_relay, relay_unreachable,
 * desktop_offline, typed_code_unavailable, rejected, peer_store_failed, not_secure, timeout or cancelled.
 * ============================================================================================================= */

/* Receives the result of an _async call: the status, and JSON with the result or with what bw_last_error() would
 * return. Called exactly once, in dispatch; if the handle is closed first, on the closing thread with BW_E_CLOSED.
 * Passing NULL gives BW_E_INVALID. */
typedef void (*bw_completion)(void *user_data, bw_status status, const char *json);

/* Pairs with the desktop whose QR code contains qr_text, and starts the device if necessary. Waits up to timeout_ms
 * (1 to 600000). *desktop_json (may be NULL) becomes the desktop's entry from bw_pairing_list(). Scanning a code a
 * second time returns the same desktop. A ChainlessChain desktop that sends nothing for 10 s is stored with
 * "unconfirmed":true (see bw_pairing_list()). Since 0.1. */
BW_API bw_status bw_pairing_scan(bw_device *device, const char *qr_text, int32_t timeout_ms, char **desktop_json);

/* The same without waiting. If it returns BW_OK, completion will be called. Since 0.1. */
BW_API bw_status bw_pairing_scan_async(bw_device *device, const char *qr_text, int32_t timeout_ms,
                                       bw_completion completion, void *user_data, bw_destroy destroy);

/* Creates a code that is valid for 5 minutes, and starts the device if necessary. Waits up to timeout_ms until the
 * device is registered with a relay ("relay_url", or else the last one that worked). *offer_json becomes
 * {"payload","code","expiresAt"}; payload is the text for the QR code (bw_qr_terminal). When a desktop has scanned
 * it, the event pairing.changed follows. Since 0.1. */
BW_API bw_status bw_pairing_show(bw_device *device, int32_t timeout_ms, char **offer_json);

/* The same without waiting. If it returns BW_OK, completion will be called. Since 0.1. */
BW_API bw_status bw_pairing_show_async(bw_device *device, int32_t timeout_ms, bw_completion completion,
                                       void *user_data, bw_destroy destroy);

/* Pairs with the desktop that shows this code: twelve digits, such as "123456-789012". Spaces and the dash are
 * optional. ChainlessChain desktops show six digits. These do not authenticate the desktop, so they are accepted only
 * with "legacy":"all". Uses the same relay as bw_pairing_show(). Timeout and result are those of bw_pairing_scan().
 * Since 0.1. */
BW_API bw_status bw_pairing_type(bw_device *device, const char *code, int32_t timeout_ms, char **desktop_json);
BW_API bw_status bw_pairing_type_async(bw_device *device, const char *code, int32_t timeout_ms,
                                       bw_completion completion, void *user_data, bw_destroy destroy);

/* Cancels a flow ("scan", "show" or "code"; NULL = all three); its calls fail with reason "cancelled". BW_OK if none
 * is in progress. Since 0.1. */
BW_API bw_status bw_pairing_cancel(bw_device *device, const char *flow);

/* Passes the user's decision about the desktop that pairing.changed reported with "state":"confirming". flow is "show",
 * or NULL. Such a desktop cannot prove that it saw the code: anyone who knows the code's six digits can send the same
 * messages. accept: 1 = accept, 0 = reject; no answer before "expiresAt" (30 s) also rejects it. After a rejection the
 * code is "displaying" again. If a desktop that can prove it arrives in the meantime, it replaces the one in question
 * and pairs without confirmation. Errors: BW_E_NOT_FOUND (no desktop waits for confirmation). Since 0.1. */
BW_API bw_status bw_pairing_confirm(bw_device *device, const char *flow, int32_t accept);

/* The paired desktops, oldest pairing first, as JSON
 * [{"id","name","platform","secure","seal"?,"sas"?,"sasMissing"?,"online","pairedAt","lastSeenAt","signalingUrl"?,
 * "relayUrl"?,"iceExpired"?,"unconfirmed"?,"forgeable"?}].
 * "iceExpired":true means that the desktop's data for a direct connection has expired: pair again. "unconfirmed":true
 * means that an unencrypted desktop has sent nothing since it was paired: it may have rejected the code, or may not
 * exist. Its first message confirms it; until then it stays paired, unless bw_pairing_unpair() is called.
 * "forgeable":true means that one of its relays lets anyone send in the name of this unencrypted desktop; see
 * bw_device_state(). The library finds this out within a few seconds of registering with the relay, and sends
 * peers.changed and problem (forgeable_relay). Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_pairing_list(bw_device *device, char **desktops_json);

/* Renames a desktop, on this device only; 1 to 256 bytes. Errors: BW_E_NOT_FOUND, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_pairing_rename(bw_device *device, const char *desktop, const char *name);

/* Ends a pairing at once. From then on the device accepts nothing from this desktop. An encrypted desktop is notified
 * if it can be reached. Its notifications stay in the inbox. Errors: BW_E_NOT_FOUND, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_pairing_unpair(bw_device *device, const char *desktop);

/* Ends all pairings. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_pairing_clear(bw_device *device);

/* Revokes a stolen key. desktop is the id of a paired desktop, which is unpaired without being notified, or any
 * did:key. From then on the device accepts nothing in the name of this key: no frame, no pairing, no move to another
 * key. The state counts its frames as "revoked"; pairing with its codes gives BW_E_DENIED (reason "revoked"). The
 * desktop needs a new key and must be paired again. Revocations are stored, and bw_pairing_clear() keeps them. At most
 * 1,024 keys are remembered. Errors: BW_E_INVALID (not a key; or the device's own, see bw_device_rekey()), BW_E_LIMIT,
 * BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_revoke(bw_device *device, const char *desktop);

/* Removes a revocation: the key can be paired again. Errors: BW_E_NOT_FOUND, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_readmit(bw_device *device, const char *desktop);

/* The keys that are refused, oldest first: [{"id","name","at","movedTo"?}]. "name" is empty if the key was not paired.
 * "movedTo" is the key that its owner moved to (bw_desktop_rekey()); without it the key was revoked. Errors:
 * BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_revoked(bw_device *device, char **keys_json);

/* Starts moving the device to a new key, or continues. Use it to replace a key from time to time, or after the state
 * directory was moved to another machine: once the move is complete, the old key is refused, and so is any copy of it.
 * The new key is stored next to the old one. Every paired desktop's user is asked to accept it
 * (rekey.changed there), while the device continues to use the old key. Once all have accepted, the state is "ready":
 * close the device and open it again to switch to the new key. A peer that is offline or declines blocks the move;
 * unpair it to continue without it. Another call asks peers that declined once more.
 *
 * *status_json (may be NULL) becomes the status, as in bw_device_rekey_status(). Errors: BW_E_UNSUPPORTED (a peer has
 * used no session yet, see the detail's "peers": unpair it, and pair it again after the move; or ":memory:" is used),
 * BW_E_BUSY (the last move has not reached every peer), BW_E_IO, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_rekey(bw_device *device, char **status_json);

/* Cancels a move and deletes the new key. Possible until the device is opened with the new key. Errors:
 * BW_E_NOT_FOUND (no such move), BW_E_IO, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_rekey_cancel(bw_device *device);

/* The device's own move, and the questions about moves of its desktops:
 * {"state":"none"|"asking"|"ready"|"switched","id","oldId"?,"newId"?,"peers"?:[{"id","name",
 * "state":"waiting"|"approved"|
 * "declined"|"no_session"}],"questions":[{"id","name","newId","at"}]}.
 * "no_session": the peer was paired after the move began, and can be asked once it has used a session.
 * "switched": the new key is in use; "peers" lists those that do not know it yet. Since 0.1. */
BW_API bw_status bw_device_rekey_status(bw_device *device, char **status_json);

/* Passes the user's decision about a desktop that moves to a new key. desktop and new_id are "id" and "newId" of the
 * question. Accept only if the desktop's user started the move and sees the same new id: anyone who has a copy of the
 * old key can ask. accept: 1 = accept, 0 = decline. Questions have no deadline and survive restarts. Errors:
 * BW_E_NOT_FOUND (no such question), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_rekey_confirm(bw_device *device, const char *desktop, const char *new_id, int32_t accept);

/* ================================================================================================================
 * Methods
 *
 * Each function sends one command to a paired desktop and returns its result as JSON. desktop is the "id" of a
 * paired desktop, or NULL if exactly one is paired. params_json is an object, nested at most 64 levels deep, or NULL
 * for no parameters; it is validated before anything is sent. timeout_ms is 1 to 600000. result_json may be NULL.
 *
 * Errors of all: BW_E_INVALID (the detail names the "field"), BW_E_NOT_FOUND (desktop), BW_E_OFFLINE, BW_E_TIMEOUT,
 * BW_E_REMOTE (detail: "code", "message"), BW_E_PROTOCOL, BW_E_DENIED, BW_E_UNSUPPORTED, BW_E_LIMIT (1,024 calls of
 * this handle are in progress or wait to be dispatched). The _async form returns BW_E_INVALID and BW_E_LIMIT at once
 * and reports all other errors through its completion.
 *
 * If the connection breaks while a call waits, messages in flight are lost. An encrypted desktop executes each command
 * id at most once, so the library sends the command again under the same id until it is answered or times out. The
 * desktop refuses commands that arrive after their timeout. With other desktops, the call fails with BW_E_OFFLINE and
 * may have been executed. With any desktop, a call that failed with BW_E_TIMEOUT may have been executed. BW_E_DENIED
 * means that the desktop's user does not allow the method, or that too many commands came at once (detail: "code"
 * -32010). If a desktop answers BW_E_UNSUPPORTED, the library remembers this until the next connection.
 *
 * Some methods can be queued: markAsRead, markAllAsRead, delete, clearAll, updateSettings. Instead of BW_E_OFFLINE they
 * return BW_QUEUED with the result {"queued":true,"id"}; see "Queue". So can those that push, if you ask for it with
 * "queueMs".
 * ============================================================================================================= */

/* All methods as an X-macro: expands X(name, method) for each. bw_notification_<name>() and
 * bw_notification_<name>_async() send "notification.<method>". Future versions may add methods. Since 0.1. */
#define BW_NOTIFICATION_METHODS(X)                                                                                     \
    X(send, send)                                                                                                      \
    X(send_to_mobile, sendToMobile)                                                                                    \
    X(broadcast, broadcast)                                                                                            \
    X(get_history, getHistory)                                                                                         \
    X(mark_as_read, markAsRead)                                                                                        \
    X(mark_all_as_read, markAllAsRead)                                                                                 \
    X(delete, delete)                                                                                                  \
    X(clear_all, clearAll)                                                                                             \
    X(get_unread_count, getUnreadCount)                                                                                \
    X(get_settings, getSettings)                                                                                       \
    X(update_settings, updateSettings)

/* notification.send: shows a notification on the desktop, which stores it and pushes it to its devices.
 * {"title" (1 to 1024 bytes), "body" (at most 65536 bytes), "icon"?, "priority"?: "low"|"normal"|"high"|"urgent",
 * "respectQuietHours"?: bool} -> {"success","notificationId"?,"scheduledAt"?,"silenced","error"?,"timestamp"}.
 * "data"?: object and the optional fields of a push: "silenced"?: bool,"collapseKey"?,"expiresAt"?,"imageUrl"?,
 * "deepLink"?,"category"?,"threadId"?,"subtitle"?,"badge"?: number,"sound"?.
 * "silenced": it was stored and pushed without an alert, because the desktop is in quiet hours or its notifications are
 * switched off. Priority "urgent" and "respectQuietHours":false override quiet hours. With "scheduledAt" (milliseconds
 * since 1970, within 366 days) the desktop pushes it at that time by its own clock, and the result contains the time;
 * desktops that do not support this push at once, and their result has no "scheduledAt". bw_notification_delete() with
 * the "notificationId" withdraws a push, scheduled or sent. With "queueMs" (1 to 86400000) the call may wait in the
 * queue for that many milliseconds if the desktop is encrypted: see "Queue". Other desktops could show it
 * twice, so for them "queueMs" is ignored. All this also applies to the next two methods. Since 0.1. */
BW_API bw_status bw_notification_send(bw_device *device, const char *desktop, const char *params_json,
                                      int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_send_async(bw_device *device, const char *desktop, const char *params_json,
                                            int32_t timeout_ms, bw_completion completion, void *user_data,
                                            bw_destroy destroy);

/* notification.sendToMobile: pushes to one device of the desktop, by default the caller.
 * {"title","body","deviceId"?,"data"?: object} ->
 * {"success","notificationId"?,"scheduledAt"?,"delivered"?,"deviceId"?,"error"?}. "delivered": the device received it
 * within 2 s.
 * Otherwise the device receives it once it is back online; see bw_desktop_notify(). "answerWhen":"stored" answers
 * without waiting for the device, and "delivered" is then false. ChainlessChain desktops don't report delivery, so
 * "delivered" is absent. Since 0.1. */
BW_API bw_status bw_notification_send_to_mobile(bw_device *device, const char *desktop, const char *params_json,
                                                int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_send_to_mobile_async(bw_device *device, const char *desktop, const char *params_json,
                                                      int32_t timeout_ms, bw_completion completion, void *user_data,
                                                      bw_destroy destroy);

/* notification.broadcast: pushes to all devices of the desktop, or with "group" to a group of them; see
 * bw_desktop_invoke(). A desktop without groups ignores it.
 * {"title","body","group"?} -> {"success","notificationId"?,"scheduledAt"?,"deliveredCount","failedCount","error"?}.
 * With "answerWhen":"stored" it answers without waiting for the devices, and both counts are 0. "publisher" is for
 * programs of the desktop: see bw_desktop_notify(). Since 0.1. */
BW_API bw_status bw_notification_broadcast(bw_device *device, const char *desktop, const char *params_json,
                                           int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_broadcast_async(bw_device *device, const char *desktop, const char *params_json,
                                                 int32_t timeout_ms, bw_completion completion, void *user_data,
                                                 bw_destroy destroy);

/* notification.getHistory: the desktop's history, newest first.
 * {"limit"?: 1 to 500, default 50, "offset"?, "unreadOnly"?: bool} -> {"success","notifications":[{"id","title","body",
 * "priority","read","source","createdAt","readAt"?,"data"?}],"total","unreadCount","skipped","next"?,"incomplete"?}.
 * "skipped" counts the desktop's rows that could not be read. "incomplete":true comes with a search while the
 * desktop is still indexing its oldest rows; these are not found or counted yet. Bellwire desktops also accept:
 *   "query"     text    words that must all occur in title or body; "buil*" matches words with this prefix; at most
 *                       1024 bytes
 *   "priority"  text    only rows with this priority
 *   "source"    text    only rows from this source: "pc"|"mobile"
 *   "since"     number  only rows created at or after this time
 *   "until"     number  only rows created at or before this time
 *   "sort"      text    "newest" (default), "oldest", "priority" (most urgent first), "unread" (unread rows first)
 *   "before"    text    the page after this position in the sort order: "next" of the previous page, or a row's id.
 *                       Faster than "offset" in a long history; cannot be combined with it
 * "total" counts all rows that match, "unreadCount" all unread rows of the history. Since 0.1. */
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

/* notification.markAllAsRead: no parameters -> {"success","markedCount","error"?}; "markedCount" is "all" if the
 * desktop does not count. Since 0.1. */
BW_API bw_status bw_notification_mark_all_as_read(bw_device *device, const char *desktop, const char *params_json,
                                                  int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_mark_all_as_read_async(bw_device *device, const char *desktop, const char *params_json,
                                                        int32_t timeout_ms, bw_completion completion, void *user_data,
                                                        bw_destroy destroy);

/* notification.delete: {"notificationId"} -> {"success","deletedCount"?,"error"?}. Deleting an unknown id is not a
 * failure: "deletedCount" is 0, and "error" says why. Since 0.1. */
BW_API bw_status bw_notification_delete(bw_device *device, const char *desktop, const char *params_json,
                                        int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_delete_async(bw_device *device, const char *desktop, const char *params_json,
                                              int32_t timeout_ms, bw_completion completion, void *user_data,
                                              bw_destroy destroy);

/* notification.clearAll: no parameters -> {"success","clearedCount","error"?}; "clearedCount" is "all" if the
 * desktop does not count. Since 0.1. */
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

/* notification.getSettings: the desktop's settings. A device's own settings are separate; see bw_alerts_settings().
 * No parameters -> {"enabled","quietHoursEnabled","quietHoursStart"?,"quietHoursEnd"?,"soundEnabled",
 * "vibrationEnabled","showPreview","retentionRows"?,"retentionDays"?,"revision"?}. Times of day are HH:mm in the
 * desktop's time zone. A range may cross midnight; start = end means never. Only Bellwire desktops send the last
 * three fields. Since 0.1. */
BW_API bw_status bw_notification_get_settings(bw_device *device, const char *desktop, const char *params_json,
                                              int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_get_settings_async(bw_device *device, const char *desktop, const char *params_json,
                                                    int32_t timeout_ms, bw_completion completion, void *user_data,
                                                    bw_destroy destroy);

/* notification.updateSettings: changes the given fields, at least one; other fields stay as they are.
 * {fields,"revision"?} -> {"success","settings"?,"revision"?,"stale"?:[field],"error"?}. "revision" is that of the
 * settings on which the change is based. With it, a field that someone else has changed since then keeps the
 * desktop's value and is listed in "stale". If all given fields are stale, "success" is false. "retentionRows" (0 to
 * 10000000) and "retentionDays" (0 to 36500) limit the history; 0 = no limit. Since 0.1. */
BW_API bw_status bw_notification_update_settings(bw_device *device, const char *desktop, const char *params_json,
                                                 int32_t timeout_ms, char **result_json);
BW_API bw_status bw_notification_update_settings_async(bw_device *device, const char *desktop, const char *params_json,
                                                       int32_t timeout_ms, bw_completion completion, void *user_data,
                                                       bw_destroy destroy);

/* Calls any other method of the desktop ("namespace.method"). Parameters and result are passed through unchanged.
 * Since 0.1. */
BW_API bw_status bw_device_invoke(bw_device *device, const char *desktop, const char *method, const char *params_json,
                                  int32_t timeout_ms, char **result_json);
BW_API bw_status bw_device_invoke_async(bw_device *device, const char *desktop, const char *method,
                                        const char *params_json, int32_t timeout_ms, bw_completion completion,
                                        void *user_data, bw_destroy destroy);

/* ================================================================================================================
 * Inbox
 *
 * The device's stored copy of its desktops' histories. It is available at once, also offline. Pushes are added as they
 * arrive. Each time a desktop becomes reachable, the library refreshes its rows and fetches its settings. The
 * desktop is the source of truth: a refresh drops rows that the desktop no longer has. A ChainlessChain desktop does
 * not store pushes for its devices. After an absence, the device therefore fetches its missed notifications and
 * delivers them once, as pushes with "late":true; those already read on the desktop become read rows without a push.
 *
 * A change appears in the inbox before its command is sent, and is undone if the desktop refuses it. If the answer
 * is lost (BW_E_TIMEOUT, or the connection broke), the rows revert with "uncertain":true: the change may or may not
 * have happened, and the next refresh shows which. The library also sends the command again (see "Queue"); then the
 * detail of the error is {"queued":true,"id"}. While a desktop is offline, a change returns BW_QUEUED and
 * {"queued":true,"id"}. The inbox keeps showing it, and undoes it if queue.ended reports anything but "done".
 *
 * The unread count covers all desktops and includes silenced and late notifications. Each refresh corrects it with
 * the desktop's own count, so it can exceed the number of unread rows stored here. It is never negative, and is the
 * number to show on a badge. Changes made on the user's other devices appear here at once or with the next refresh.
 *
 * desktop is the "id" of a paired desktop, or NULL if exactly one is paired. Rows of an unpaired desktop stay; calls
 * that name its id change them on this device only. Functions that ask a desktop have the same errors as the
 * methods.
 * ============================================================================================================= */

/* Loads a page of the inbox from the store. params_json: {"desktop"?: only this one,"limit"?: 1 to 500, default 50,
 * "offset"?,"unreadOnly"?: bool,"query"?,"priority"?,"source"?,"since"?,"until"?,"sort"?,"before"?}, as for
 * notification.getHistory; NULL = the newest of all desktops. *page_json becomes
 * {"notifications":[{"desktop","id","title","body",
 * "priority","source","createdAt","receivedAt","silenced","late","read","readAt"?,"uncertain"?:
 * true,"hint"?: true,"data",…}],"total", "unread","next"?,"loading","incomplete"?: true}.
 * "total" counts all rows that match, "unread" those of the desktop or of all. "incomplete": the search index is
 * still being built in the background and lacks the oldest rows, so a "query" may miss them. A page ends early, with at
 * least one row, before its rows have more than 2 MiB of JSON: continue with "next", or with an "offset" that counts
 * the rows received. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_load(bw_device *device, const char *params_json, char **page_json);

/* {"unread","loading","desktops":[{"desktop","unread","loading","refreshedAt"?,"error"?:{"code","message"},
 * "unsupported"?: true}]}. "loading" is true during a refresh. "error" is the last failure; it is cleared when a
 * refresh or a change succeeds. A refusal (denied) is also cleared when a refresh begins, when the desktop becomes
 * reachable again, or when a command that needs the same rights succeeds. "unsupported": the desktop has no
 * notification.* methods; the library does not ask it again before the next connection. Errors: BW_E_STORE. Since
 * 0.1. */
BW_API bw_status bw_inbox_state(bw_device *device, char **state_json);

/* The desktop's settings as last received, from the store: {"settings":{as in
 * notification.getSettings},"fetchedAt"}. These are the desktop's settings, not this device's. When they change, the
 * event settings.changed is sent. Errors: BW_E_NOT_FOUND (no such desktop, or its settings were never received),
 * BW_E_UNSUPPORTED, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_settings(bw_device *device, const char *desktop, char **settings_json);

/* Updates the inbox from the desktop's history, page by page; NULL = from all paired desktops. *result_json (may be
 * NULL) becomes {"added","updated","dropped","unread","failed"?:[{"desktop","code","message"}]}. "failed" is present
 * if several desktops were asked and some did not answer. Since 0.1. */
BW_API bw_status bw_inbox_refresh(bw_device *device, const char *desktop, int32_t timeout_ms, char **result_json);
BW_API bw_status bw_inbox_refresh_async(bw_device *device, const char *desktop, int32_t timeout_ms,
                                        bw_completion completion, void *user_data, bw_destroy destroy);

/* Marks a notification as read. *result_json (may be NULL) becomes {"success","markedCount","unread"}. May return
 * BW_QUEUED. Errors: BW_E_NOT_FOUND (not in the inbox), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_mark_read(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                    char **result_json);
BW_API bw_status bw_inbox_mark_read_async(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                          bw_completion completion, void *user_data, bw_destroy destroy);

/* Marks all notifications of a desktop as read. Otherwise like bw_inbox_mark_read(). Since 0.1. */
BW_API bw_status bw_inbox_mark_all_read(bw_device *device, const char *desktop, int32_t timeout_ms, char **result_json);
BW_API bw_status bw_inbox_mark_all_read_async(bw_device *device, const char *desktop, int32_t timeout_ms,
                                              bw_completion completion, void *user_data, bw_destroy destroy);

/* Deletes a notification, also on the desktop: {"success","deletedCount"?,"unread"}. May return BW_QUEUED. Errors:
 * BW_E_NOT_FOUND (not in the inbox), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_inbox_delete(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                 char **result_json);
BW_API bw_status bw_inbox_delete_async(bw_device *device, const char *desktop, const char *id, int32_t timeout_ms,
                                       bw_completion completion, void *user_data, bw_destroy destroy);

/* Deletes all notifications of a desktop: {"success","clearedCount","unread"}. Otherwise like bw_inbox_delete().
 * Since 0.1. */
BW_API bw_status bw_inbox_clear(bw_device *device, const char *desktop, int32_t timeout_ms, char **result_json);
BW_API bw_status bw_inbox_clear_async(bw_device *device, const char *desktop, int32_t timeout_ms,
                                      bw_completion completion, void *user_data, bw_destroy destroy);

/* ================================================================================================================
 * Queue
 *
 * Stored commands that wait for their desktops. A command enters the queue if there is no connection, if the desktop
 * is offline, or if other commands already wait for it. When the desktop is reachable, the commands are sent in
 * order, one at a time, each under its id. An encrypted desktop executes each id at most once.
 *
 * States: pending -> sending -> done (leaves the queue) or failed. A command fails if the desktop refuses it, after
 * three attempts without an answer, or after 24 hours (or its "queueMs"). Failed commands stay until they are retried
 * or cleared. A newer command removes those that it makes redundant: clearAll removes earlier marks and deletes;
 * markAllAsRead removes earlier marks; updateSettings removes the same fields from an earlier one. The queue holds at
 * most 100 commands; a new one then displaces the oldest pending one. Every change sends queue.changed, and every
 * command that ends sends queue.ended. A settings change carries the revision it is based on: fields that changed on
 * the desktop since then keep the desktop's value and are listed in the result's "stale". A queued markAllAsRead or
 * clearAll affects only what the user has seen: it ends at the newest notification in the inbox. An unencrypted desktop
 * gets their ids instead, at most 1,000.
 * ============================================================================================================= */

/* The commands in the queue, oldest first: [{"id","desktop","method","params","state": "pending"|"sending"|"failed",
 * "tries","createdAt","expiresAt","error"?:{"code","message"}}]. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_queue_list(bw_device *device, char **commands_json);

/* Removes a command. If it has been sent before, it may have been executed. Errors: BW_E_NOT_FOUND, BW_E_BUSY (it is
 * being sent), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_queue_remove(bw_device *device, const char *id);

/* Makes a failed command pending again, as if it were new; NULL = all failed commands. Errors: BW_E_NOT_FOUND,
 * BW_E_BUSY (it is being sent), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_queue_retry(bw_device *device, const char *id);

/* Removes failed commands that were created before older_than_ms (milliseconds since 1970); 0 = all failed commands.
 * Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_queue_clear(bw_device *device, int64_t older_than_ms);

/* ================================================================================================================
 * Alerts
 *
 * Alerts are what the user sees and responds to. Pushes and the program's own reminders produce them. The option
 * "alerts" chooses who shows them: "none" (the default; nothing in this section happens), "system" = the desktop
 * environment (org.freedesktop.Notifications on the session bus; loads libsystemd) or "host" = the program. Alerts
 * are shown from the first bw_device_start() until the device is closed, also while it is stopped.
 *
 * Authorization  "notDetermined" -> bw_alerts_request() -> "authorized" | "denied". "provisional" shows alerts quietly
 *                (passive, without sound) and needs no permission. "ephemeral" ends at a given time. The library never
 *                asks by itself. The answer is stored. Without authorization ("authorized", "provisional" or
 *                "ephemeral") no alert is shown; pushes still reach the inbox and the callbacks.
 * A push         shows an alert if it is new and passes these checks, in this order: it is not "silenced"; its
 *                "expiresAt" has not passed; the device's settings allow it ("enabled", its source, its category);
 *                authorization; "late_alerts" if it came late; the device's quiet hours in its own time zone ("urgent"
 *                overrides them). When quiet hours end, one alert summarizes the pushes that they held back. With the
 *                setting "burstLimit", pushes of one source of a desktop that exceed this number within a second are
 *                summarized by one alert, too. "timeSensitive" alerts are not summarized. If several desktops are paired,
 *                "system" alerts show the name of the desktop. notification.presented reports the outcome. When the notification is
 *                read or deleted, here or on another device, the library withdraws its alert.
 * Waiting        An alert waits for its image (see "Images"), for bw_alerts_on_present(), for a notification server and
 *                while its callback fails. The checks run again when it is about to be shown, and at once when the
 *                settings or the authorization change: an alert that fails them is not shown. A push waits
 *                for 24 hours at most (reason "expired"), a reminder without limit. Alerts that waited are
 *                shown in their order of arrival, "timeSensitive" ones and reminders first.
 * An alert       {"id","title","subtitle"?,"body"?,"badge"?,"sound"?: "default", a name from the sound theme or a path
 *                (a file name alone, such as "chime.wav", plays the default), "category"?,"thread"?,"userInfo"?:
 *                {},"deepLink"?,"attachments"?: [paths of images; the first is shown], "level"?: "passive"|"active"
 *                (default)|"timeSensitive"}. A new alert replaces the one with the same id. A push's alert has the
 *                push's id and, unless the push sets them, the thread remote.<source> and the category
 *                REMOTE_NOTIFICATION; its userInfo is the push's data. Priority
 *                "urgent" becomes timeSensitive, "low" passive.
 * Images         of a push come from the first valid https:// URL in "imageUrl" (beside or inside its data),
 *                "fcm_options.image", "notification.image", "media_url". Only public addresses are allowed, also after
 *                redirects. Formats: PNG, JPEG, GIF, WebP; at most 10 MiB, 50 megapixels and 500 frames, the frames of
 *                a GIF with at most 250 megapixels together, within "timeout_ms" of the option "images", counted from
 *                the push's arrival. Other alerts don't wait for it. After a timeout, nothing is fetched from that host
 *                for a minute ("host_resting"). Loads libcurl, and libpng, libturbojpeg, libwebp or libgif, if
 *                installed, to reject a damaged or truncated image ("not_an_image"); of an animated WebP image only the
 *                headers are checked. Files stay in state_dir/images until their notification is deleted, for 24 hours
 *                and 200 MiB at most; with ":memory:" no images are fetched.
 * Responses      notification.response is stored until a callback has received it, like a push:
 *                {"id","action","text"?,"textNeeded"?: true,"userInfo","deepLink"?,"category"?,"thread"?,"title",
 *                "respondedAt","late"?: true, "push"?: as in notification.received}. Without a "desktop" it belongs to
 *                a reminder. "action" is
 *                "default" (click or tap), "dismiss", "MARK_READ_ACTION" (the library executes it, or queues it for an
 *                offline desktop), "REPLY_ACTION" or another reply action (with "text"), or an action that the program
 *                defined. If the notification server has no text field ("capabilities" without "inline-reply"), a reply
 *                is shown as a button; the response then has "textNeeded":true instead of "text", and the program must
 *                ask for the text. userInfo and deepLink are passed on unchanged; the library interprets them only with
 *                the option "opens_links".
 *                While the program is not running, only GNOME keeps a response: with "application_id" and a .desktop
 *                file with DBusActivatable=true, the response starts the program. With other notification servers, a
 *                response made while the program is not running is lost; the alert stays in bw_alerts_delivered() until
 *                its server ends. After the next start, alerts that the same server still shows can be answered.
 * Threads        group alerts: bw_alerts_delivered() lists those of a thread together, and bw_alerts_remove() can
 *                remove them together, whichever desktop they are from. On the screen, KDE Plasma groups by thread.
 *                Like other servers with the capability "x-kde-origin-name", it shows the thread's name next to the
 *                program's, so choose a readable name. The library does not send such servers the thread
 *                remote.<source>, nor any thread while "showPreview" is false. Other servers group by program or not at
 *                all. On no server does an alert replace another one of the same thread.
 * Language       The library's own words (Open, Mark as read, summaries, the question for permission) are in the language of
 *                the environment, as gettext chooses it: LANGUAGE, LC_ALL, LC_MESSAGES, LANG. There are English (the
 *                default) and German.
 * Screen         The server chooses the size of images; it shows them larger with the capability "x-kde-urls" or
 *                "body-images". Servers older than version 1.1 of the specification show the image as the icon.
 *
 * All these functions can also fail with BW_E_STORE. If "alerts" is "none", requests, adding reminders, positions and
 * badges fail with BW_E_UNSUPPORTED. At most 1,000 alerts can be in progress. Beyond that, the library drops the oldest
 * one that is neither "timeSensitive" nor a reminder ("too_many"), and shows one alert with the number of dropped ones.
 * ============================================================================================================= */

/* {"authorization":{"status","until"?,"advice"},"presenter":{"kind","ready","server"?: its name,"capabilities"?: [],
 * "problem"?,"doNotDisturb"?: whether the desktop environment is in do-not-disturb mode, if its server reports that
 * ("Inhibited" of org.freedesktop.Notifications, or dunst's "paused")},"inFront","badge","waiting": alerts in
 * progress,"counters":{"shown","hidden","failed","responses",
 * "images","imagesRefused"}}. Since 0.1. */
BW_API bw_status bw_alerts_state(bw_device *device, char **state_json);

/* Asks the user for permission to show alerts, and waits for the answer. Call it when the user can see why.
 * params_json: {"provisional"?: true = quiet alerts without asking, unless the user has already answered}, or NULL.
 * The callback of bw_alerts_on_authorize() asks; it runs in dispatch, so make this call on another thread or use
 * _async. Without such a callback, "system" shows an alert with the buttons Allow and Don't allow. The user is asked
 * only once, but "provisional" can be upgraded. *authorization_json (may be NULL) becomes {"status","until"?,
 * "advice"}. Errors: BW_E_DENIED (refused, now or earlier), BW_E_TIMEOUT (no answer yet, or the question was closed
 * without one; a later answer still counts), BW_E_OFFLINE (no notification server, or the device was never started),
 * BW_E_UNSUPPORTED (there is no way to ask: no callback, or the notification server has no buttons). If only a suitable
 * notification server is missing, the library asks as soon as there is one, and that answer counts. Since 0.1. */
BW_API bw_status bw_alerts_request(bw_device *device, const char *params_json, int32_t timeout_ms,
                                   char **authorization_json);
BW_API bw_status bw_alerts_request_async(bw_device *device, const char *params_json, int32_t timeout_ms,
                                         bw_completion completion, void *user_data, bw_destroy destroy);

/* Sets the authorization: the answer to bw_alerts_on_authorize(), or the choice on a settings page. status is one of
 * the values above. until_ms (milliseconds since 1970) is when "ephemeral" ends, otherwise 0. Since 0.1. */
BW_API bw_status bw_alerts_authorize(bw_device *device, const char *status, int64_t until_ms);

/* Called in dispatch when bw_alerts_request() needs an answer; request_json is {"name"}. Must return at once. Answer
 * with bw_alerts_authorize(), then or later. */
typedef void (*bw_authorize_callback)(void *user_data, const char *request_json);

/* Sets the callback that asks the user; NULL = none (the default). destroy runs when the callback is replaced or the
 * device is closed. Since 0.1. */
BW_API bw_status bw_alerts_on_authorize(bw_device *device, bw_authorize_callback callback, void *user_data,
                                        bw_destroy destroy);

enum bw_presentation {
    BW_PRESENT_NOTHING = 0,
    BW_PRESENT_BANNER = 1, /* on the screen                                                            */
    BW_PRESENT_SOUND = 2,
    BW_PRESENT_BADGE = 4,
    BW_PRESENT_LIST = 8,   /* in the list of delivered alerts; BANNER implies LIST                     */
    BW_PRESENT_ALL = 15
};

/* Called in dispatch before an alert is shown while the program is in front. Returns a sum of bw_presentation flags.
 * If there is no answer within 500 ms, BW_PRESENT_ALL applies. alert_json is {"desktop"?,"alert":{…},"reminder"?:
 * true}. */
typedef int32_t (*bw_will_present_callback)(void *user_data, const char *alert_json);

/* Sets the callback; NULL = none (the default). destroy as above. Since 0.1. */
BW_API bw_status bw_alerts_on_will_present(bw_device *device, bw_will_present_callback callback, void *user_data,
                                           bw_destroy destroy);

/* Tells the library whether the program is in the foreground: 1 or 0 (the default). Since 0.1. */
BW_API bw_status bw_alerts_in_front(bw_device *device, int32_t in_front);

/* With "host", called in dispatch to show an alert: {"desktop"?,"alert":{…},"actions":[{"id","title","kind",
 * "foreground","destructive","placeholder"?}],"presentation": a sum of bw_presentation,"quietly": bool,"image"?: path,
 * "reminder"?: true}; or to withdraw one, possibly of an earlier run: {"desktop"?,"alert":{"id"},"withdraw": true}.
 * Returns 0 on success. Any other value means that the alert cannot be shown now: the library tries again for a
 * minute. Report the user's response with bw_alerts_respond(). */
typedef int32_t (*bw_present_callback)(void *user_data, const char *alert_json);

/* Sets the callback that shows alerts with "host". destroy as above. Errors: BW_E_UNSUPPORTED ("alerts" is not
 * "host"). Since 0.1. */
BW_API bw_status bw_alerts_on_present(bw_device *device, bw_present_callback callback, void *user_data,
                                      bw_destroy destroy);

/* With "host": reports what the user did with an alert. desktop is the alert's desktop, or NULL for a reminder;
 * action as in "Responses"; text is the text of a reply, otherwise NULL. Errors: BW_E_NOT_FOUND (no such alert was
 * shown, or it was already answered), BW_E_INVALID (its category has no such action), BW_E_UNSUPPORTED ("alerts" is
 * not "host"). Since 0.1. */
BW_API bw_status bw_alerts_respond(bw_device *device, const char *desktop, const char *id, const char *action,
                                   const char *text);

/* Registers the alert categories and replaces all earlier ones: [{"id","actions":[{"id","title","kind"?: "button"
 * (default)| "reply","placeholder"?,"foreground"?: bool,"destructive"?: bool}]}].
 * At most 64 categories with 8 actions each. REMOTE_NOTIFICATION has the action MARK_READ_ACTION unless you register
 * it yourself. Categories are stored. Since 0.1. */
BW_API bw_status bw_alerts_categories(bw_device *device, const char *categories_json);

/* The device's own alert settings, which no desktop sees: {"enabled","quietHoursEnabled","quietHoursStart": "22:00",
 * "quietHoursEnd": "08:00","soundEnabled","showPreview": false = only the title,"burstLimit": 0 (off) to 100; until it is
 * set, the option "burst_limit","openLinks": see the option "opens_links"; default false,"sources":{"pc": bool,…},
 * "categories":{id: bool}}. Sources and categories that are not listed are on. Start = end: never quiet. Since 0.1. */
BW_API bw_status bw_alerts_settings(bw_device *device, char **settings_json);

/* Changes the settings that settings_json contains, effective at once; for sources and categories, the members it
 * contains (null = back to the default). *result_json (may be NULL) becomes all settings. Since 0.1. */
BW_API bw_status bw_alerts_set_settings(bw_device *device, const char *settings_json, char **result_json);

/* Opens the desktop environment's notification settings; XDG_CURRENT_DESKTOP determines the program. Errors:
 * BW_E_UNSUPPORTED (no such program is known or installed, or "alerts" is not "system"). Since 0.1. */
BW_API bw_status bw_alerts_settings_open(bw_device *device);

/* The alerts that were shown and neither answered nor withdrawn, at most 500 and 2 MiB of JSON:
 * [{"desktop"?,"alert":{…}, "shownAt","reminder"?: true}]. Those of a thread are listed together: the thread with the
 * newest alert first, and within it the newest alert first. With "system", the library removes an alert when it finds
 * that its notification server has ended, because it can no longer be answered. Since 0.1. */
BW_API bw_status bw_alerts_delivered(bw_device *device, char **alerts_json);

/* Removes alerts from the screen and the list: the one with this id (and desktop; NULL for a reminder), those of a
 * thread, or all if both are NULL. Errors: BW_E_NOT_FOUND (id). Since 0.1. */
BW_API bw_status bw_alerts_remove(bw_device *device, const char *desktop, const char *id, const char *thread);

/* Sets the badge, for a program that counts something other than unread notifications. The next unread.changed
 * overwrites it. 0 clears it. With "system" and an "application_id" it appears on the program's icon
 * (com.canonical.Unity.LauncherEntry). Since 0.1. */
BW_API bw_status bw_alerts_badge(bw_device *device, int64_t badge);

/* ================================================================================================================
 * Reminders
 *
 * The program's own alerts, triggered by time or place. At most 500 are stored. Reminders that became due while the
 * program was not running are shown once at the next start, with "late":true in notification.presented. Times follow
 * the device's time zone and clock, also when these change. If a local time is skipped in spring, the reminder fires
 * right after the gap. If it occurs twice in autumn, the reminder fires once.
 * ============================================================================================================= */

/* Adds a reminder, or replaces the one with the same id. reminder_json is an alert (see "Alerts") with a "trigger".
 * Without an "id" the library assigns one; ids that begin with "bellwire." are reserved. Triggers:
 *   none, or {"type":"now"}
 *       fires at once
 *   {"type":"interval","seconds","repeats"?: bool}
 *       fires after this many seconds of wall-clock time, 1 to 100 years; at least 60 if it repeats
 *   {"type":"moment","at": ms}
 *       fires at this time, or at once if it has passed
 *   {"type":"calendar","year"?,"month"?,"day"?,"weekday"?: 1 (Monday) to 7,"hour"?,"minute"?,"second"?,"repeats"?:
 *       bool} fires when the local time matches all given fields, at least one. Fields finer than the finest one given
 *       are 0 (day and month: 1); all other missing fields match anything
 *   {"type":"region","latitude","longitude","radius_m": 10 to 1,000,000,"on"?: "enter" (default)|"exit"|"both",
 *    "repeats"?: bool}
 *       fires according to the positions that bw_reminder_position() reports
 * *result_json (may be NULL) becomes the reminder, with "nextAt"? (ms). Errors: BW_E_INVALID (also for a time that
 * never comes, such as 30 February), BW_E_LIMIT (500 are stored, or 4 MiB of JSON). Since 0.1. */
BW_API bw_status bw_reminder_add(bw_device *device, const char *reminder_json, char **result_json);

/* The pending reminders, next one first, regions last. Since 0.1. */
BW_API bw_status bw_reminder_list(bw_device *device, char **reminders_json);

/* Removes reminders: the one with this id, those of a thread, or all if both are NULL. Alerts that are already shown
 * stay; see bw_alerts_remove(). Errors: BW_E_NOT_FOUND (id). Since 0.1. */
BW_API bw_status bw_reminder_remove(bw_device *device, const char *id, const char *thread);

/* Reports the device's position in degrees; accuracy_m is the uncertainty in metres (0 = exact). A region counts as
 * entered or left only if the position is certainly inside or outside. The first position never counts as leaving.
 * Errors: BW_E_INVALID (invalid coordinates). Since 0.1. */
BW_API bw_status bw_reminder_position(bw_device *device, double latitude, double longitude, double accuracy_m);

/* ================================================================================================================
 * Events
 *
 * event_json is {"event","desktop"?,"data"}. A device's events:
 *   notification.received  {"id","title","body","priority","source","createdAt","receivedAt","silenced","late","data",
 *                          …}. The push is stored before the callback runs, and delivered exactly once; only if the
 *                          process ends inside dispatch does it come again. "redelivered":true: the callback may have
 *                          run for it before, because the process or the whole machine stopped during a delivery.
 *                          Pushes wait until something subscribes to them; if 100,000 wait, no more are accepted
 *                          (problem inbox_full). "late": it was delayed because one side was offline. "hint":true: it
 *                          came encrypted through a push service; see bw_device_receive(). "encrypted_body": it could
 *                          not be decrypted, and "body" is the unencrypted one; bw_device_state() counts these as
 *                          "unopenedBodies"
 *   notification.updated   the same, and "replaces": the id of the earlier push with the same "collapseKey". Without a
 *                          subscription to this event, it comes as notification.received
 *   unread.changed         {"unread"} of all desktops, for a badge
 *   inbox.changed          {"loading","error"?,"unsupported"?} as in bw_inbox_state(): rows of the "desktop" changed,
 *                          or a refresh started or ended
 *   settings.changed       {"settings","fetchedAt"} as in bw_inbox_settings(): the settings of the "desktop" changed
 *   connection.changed     {"online","routes":[…]} of the "desktop"
 *   pairing.changed        {"flow":"scan","state":"sending"|"success"|"failed",…},
 *                          {"flow":"show","state":"connecting"|"displaying"|"confirming"|"completed"|"expired"|
 *                          "failed",…},
 *                          {"flow":"code","state":"submitting"|"waiting"|"success"|"failed",…}; plus, where they apply,
 *                          "payload", "code", "expiresAt", "desktop", "reason", "message"
 *   peers.changed          {"desktops":[…]} as in bw_pairing_list(): a desktop was paired, renamed or unpaired, or its
 *                          address changed
 *   rekey.changed          the device's own move to a new key, as in bw_device_rekey_status(); or a desktop's move:
 *                          {"state":"confirming"|"approved"|"declined"|"moved","id","name","newId","at"}. "confirming"
 *                          asks for bw_device_rekey_confirm(). After "moved" the desktop has "newId" as its id
 *   queue.changed          {"count","pending","sending","failed"}: the number of commands in the queue, by state
 *   queue.ended            {"id","method","outcome":
 *                          "done"|"failed"|"superseded"|"displaced"|"removed","result"?,"error"?:
 *                          {"code","message"},"by"?}: a queued command of the "desktop" was executed, failed or left
 *                          the queue: superseded by a newer command ("by"), displaced from a full queue, or removed
 *                          by the program
 *   notification.presented {"id","presented","reason"?,"late"?,"reminder"?,"image"?:{"path"|"error"}}: an alert of the
 *                          "desktop", or of the program itself, is on the screen or in the list; or it is not shown,
 *                          because of "reason": silenced, disabled, source_disabled, category_disabled, not_determined,
 *                          denied, expired, late, too_many, burst, quiet_hours (sent when they end), will_present,
 *                          presenter_failed (after a minute), replaced, removed
 *   notification.response  the user responded to an alert; see "Alerts". Stored until delivered; "redelivered":true as
 *                          above
 *   notification.silent    {"id","userInfo","timeoutMs"}: background work without an alert; see bw_device_complete().
 *                          Stored until delivered
 *   authorization.changed  {"status","until"?,"advice": "explain"|"settings"|"register"|"upgrade"}: sent at start and
 *                          when it changes. advice is what the program should do next: explain = explain alerts, then
 *                          ask; settings = refer the user to the settings; register = register the push tokens; upgrade
 *                          = ask for full alerts instead of quiet ones
 *   badge.changed          {"badge"}: the number on the program's icon; 0 = none
 *   command                {"type","payload"}: anything else that a paired desktop sent
 *   problem                {"code","message"}: a failure that no call reports
 *   host.…                 the program's own topics; see bw_device_post()
 * A newer state event (unread, badge, inbox, settings, authorization, connection, peers, queue.changed) replaces an
 * older one that still waits for dispatch. At most 1,024 events wait; beyond that the oldest event that is not a
 * state event is dropped, and a problem event reports how many were dropped.
 * ============================================================================================================= */

typedef uint64_t bw_subscription;
typedef void (*bw_event_callback)(void *user_data, const char *event, const char *event_json);

/* Calls callback for each event with this name, or for all events with "*", in order, until unsubscribed.
 * *subscription (may be NULL) becomes its number, never 0. Errors: BW_E_INVALID (no such event). Since 0.1. */
BW_API bw_status bw_device_subscribe(bw_device *device, const char *event, bw_event_callback callback, void *user_data,
                                     bw_destroy destroy, bw_subscription *subscription);

/* Ends a subscription and runs its destroy. The callback does not run after this returns. If another thread is
 * running the callback, unsubscribe waits for it. If called inside the callback, destroy runs after the callback
 * returns. Errors: BW_E_NOT_FOUND. Since 0.1. */
BW_API bw_status bw_device_unsubscribe(bw_device *device, bw_subscription subscription);

/* Posts an event of the program's own, from any thread, to the subscribers of topic or "*". The dispatching thread
 * delivers it, in order with all other events. Without a subscriber nothing happens. topic is "host."
 * followed by letters, digits and . _ -, at most 128 bytes; data_json is an object of at most 65,536 bytes, or NULL
 * for {}. If posted inside a callback, it comes with the next dispatch. Errors: BW_E_LIMIT (1,024 events wait:
 * dispatch first; nothing was dropped). Since 0.1. */
BW_API bw_status bw_device_post(bw_device *device, const char *topic, const char *data_json);

/* ================================================================================================================
 * Push services
 *
 * A program that also receives pushes from a platform service (such as FCM) tells its desktops where to send them.
 * Each encrypted desktop receives the tokens once per start, and when they change. Other desktops never receive them.
 * ============================================================================================================= */

/* Sets the device's token for a service: length bytes, as the service issued them (1 to 4,096). Set it in each run;
 * tokens of earlier runs are never sent. service is 1 to 64 letters, digits and . _ -, such as "fcm"; at most 16
 * services. Replaces the previous token. Errors: BW_E_LIMIT, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_token(bw_device *device, const char *service, const uint8_t *token, size_t length);

/* Revokes the token of a service, for example when the user logs out; NULL = of all services that ever had one. Each
 * desktop is notified, at the latest when it is back online, even in a later run. After the last one, earlier payloads
 * of bw_desktop_seal_push() no longer open. BW_OK if there was no token. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_clear_token(bw_device *device, const char *service);

/* Processes a payload that a push service delivered: an APNs payload ("aps") or an FCM message ("notification","data").
 * Such payloads are not authenticated, so the push belongs to the desktop "push:<service>", with ids and collapse keys
 * of its own. If its "desktop" field, at the top level or inside "data", names an unencrypted desktop
 * ("secure":false), the push belongs to that desktop instead. Its "notificationId" is the push's id: a second one with
 * the same id from the same source is a duplicate. An "encrypted_body" is decrypted with the pairing's keys. Localized
 * texts ("loc-key" and the like) are in data.localization, {"title"?,"subtitle"?,"body"?: {"key","args"?}}, for the
 * program to look up; the user never sees a key. "aps" is not part of the data. A payload with only a badge sets the
 * badge; content-available without an alert becomes notification.silent. *result_json (may be NULL) becomes
 * {"kind":"push"|"silent"|"badge","id"?,"duplicate","expired"?}.
 * A payload of bw_desktop_seal_push() is the exception: it proves which desktop created it, so the push belongs to that
 * desktop. It is delivered once, with "hint":true until the desktop has confirmed it over its own connection, and never
 * again when it comes there or a second time ("duplicate":true). "expired":true = it came too late and is not shown. A
 * payload that can't be decrypted is handled like any other. Errors: BW_E_PROTOCOL (neither format), BW_E_LIMIT
 * (100,000 pushes wait for the program; or more than 1 MiB of JSON), BW_E_NOT_FOUND (its desktop was unpaired during
 * the call), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_device_receive(bw_device *device, const char *service, const char *payload_json,
                                   char **result_json);

/* Completes a notification.silent: result is "new_data", "no_data" or "failed". Without this call it fails 30 s
 * after its arrival. Errors: BW_E_NOT_FOUND (none with this id is in progress in this run). Since 0.1. */
BW_API bw_status bw_device_complete(bw_device *device, const char *id, const char *result);

/* ================================================================================================================
 * Desktop
 * ============================================================================================================= */

typedef struct bw_desktop bw_desktop;

/* Opens a desktop. It stays offline until bw_desktop_start(). Several programs can have it open, as with a device: one
 * holds it, and the others are its guests. options_json as for a device ("state_dir" defaults to
 * $XDG_STATE_HOME/bellwire/desktop), without "late_alerts", "alerts", "icon" and "images"; "application_id" only names
 * the program. And:
 *   "relay_url"  text    the relay to register with and to name in pairing codes
 *   "relay"      object  options of bw_relay_open(): runs its own LAN relay, registers with it, and names it in its
 *                        codes as "signalingUrl". Its "state_dir" defaults to relay/ inside the desktop's own
 *   "signaling_url" text the URL that codes contain instead, if devices reach that relay under another URL
 *   "confirm"    bool    true = every device waits for bw_desktop_confirm(). Default: false = only devices that cannot
 *                        prove that they saw the code, such as ChainlessChain phones
 *   "legacy"     text    how devices that cannot prove it may pair: "qr" (default), "all" and "none" as for a device
 *   "max_commands_per_second" number  limit per device, 1 to 100000, default 200. After an idle period a device may
 *                        send ten times as many at once. Further commands are refused with -32010 and a time to retry
 * All of these belong to the desktop: a guest omits them or repeats the holder's. If programs share the desktop, give
 * its relay a fixed port, so that devices find it again after another program has taken over. Going online requires
 * "relay_url" or "relay". Errors: as bw_device_open(). Since 0.1. */
BW_API bw_status bw_desktop_open(const char *options_json, bw_desktop **desktop);

/* Starts the desktop's own relay, if configured, and goes online. Does not wait. Idempotent. Errors: BW_E_NETWORK
 * (such as: the relay's address is in use), BW_E_INVALID (neither relay nor relay_url). Since 0.1. */
BW_API bw_status bw_desktop_start(bw_desktop *desktop);
/* These functions work as for a device: a shared desktop runs until all programs that started it have stopped it. Since
 * 0.1. */
BW_API bw_status bw_desktop_stop(bw_desktop *desktop);
BW_API bw_status bw_desktop_close(bw_desktop *desktop);
BW_API int32_t bw_desktop_fd(bw_desktop *desktop);
BW_API bw_status bw_desktop_dispatch(bw_desktop *desktop);
BW_API bw_status bw_desktop_run(bw_desktop *desktop, int32_t timeout_ms);
BW_API bw_status bw_desktop_quit(bw_desktop *desktop);

/* {"id","name","started","unread","connection":[{"url","state","problem"?,"forgeable"?}],
 * "relay"?:{"port","healthPort","note"?},"notes":[],"offer"?:{"state","expiresAt"},"counters":{},
 * "sharing"?:{"part","holder":{"application","process"}}}. "forgeable" and "sharing" are as in bw_device_state(). Over a
 * relay with "forgeable":true, the desktop refuses commands of unencrypted devices that change something, unless they
 * are signed. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_state(bw_desktop *desktop, char **state_json);

/* A desktop's events go to all programs that have it open. They are not stored for programs: what a device asked the
 * desktop to show is in bw_desktop_history(). They are notification.received (a device asked the desktop to show it),
 * unread.changed, connection.changed, peers.changed {"devices":[…]}, command, problem, as for a device, and
 *   notification.read     {"ids","readAt"}: marked as read by a device or by the desktop itself
 *   notification.deleted  {"ids"}
 *   notification.cleared  {"before"}: everything created before this time was deleted
 *   notification.presented {"id","device","presented","at"}: a device reports whether it showed a push to its user, and
 *                         when by its own clock; a Bellwire device reports each push at most once. The desktop does
 *                         not check what devices report
 *   notification.expired  {"ids","device"}: these pushes expired before the device acknowledged them. A push that
 *                         the relay has stored by then may still arrive; the others never do. They stay in the
 *                         history. If the clock is set ahead, it takes 2 minutes until pushes expire by it
 *   settings.changed {"settings","revision"}
 *   pairing.changed
 *       {"flow":"offer","state":"displaying"|"acked"|"paired"|"expired"|"cancelled"|"failed",…},
 *       {"flow":"scan","state":"scanned"|"confirming"|"sending"|"paired"|"expired"|"cancelled"|"failed",…},
 *       {"flow":"code","state":"connecting"|"displaying"|"acked"|"paired"|"expired"|"cancelled"|"failed",…};
 *       plus, where they apply, "payload", "code", "expiresAt", "device", "reason", "message". "acked" with
 *       "confirm":true, and "confirming", ask for bw_desktop_confirm() before "expiresAt"
 *   rekey.changed
 *       as for a device, about the desktop's own move to a new key or that of one of its devices. "confirming" asks for
 *       bw_desktop_rekey_confirm()
 * Since 0.1. */
BW_API bw_status bw_desktop_subscribe(bw_desktop *desktop, const char *event, bw_event_callback callback,
                                      void *user_data, bw_destroy destroy, bw_subscription *subscription);
BW_API bw_status bw_desktop_unsubscribe(bw_desktop *desktop, bw_subscription subscription);
/* Like bw_device_post(). Since 0.1. */
BW_API bw_status bw_desktop_post(bw_desktop *desktop, const char *topic, const char *data_json);

/* Starts the desktop if necessary, waits up to timeout_ms until it is registered with a relay, and offers pairing
 * for 5 minutes. Replaces an earlier offer. *offer_json becomes {"payload","code","expiresAt"}; payload is the text
 * for the QR code (bw_qr_terminal). Errors: BW_E_OFFLINE or BW_E_TIMEOUT (no relay), BW_E_NETWORK. Since 0.1. */
BW_API bw_status bw_desktop_offer(bw_desktop *desktop, int32_t timeout_ms, char **offer_json);

/* The same without waiting. If it returns BW_OK, completion will be called. Since 0.1. */
BW_API bw_status bw_desktop_offer_async(bw_desktop *desktop, int32_t timeout_ms, bw_completion completion,
                                        void *user_data, bw_destroy destroy);

/* Scans the code that a device shows; qr_text is its text. Starts the desktop if necessary. *device_json (may be
 * NULL) becomes the device: {"id","deviceId","name","platform","secure"}. The user must then confirm it: call
 * bw_desktop_confirm() within 30 s. Further steps send pairing.changed. Errors: BW_E_PAIRING as for a device,
 * BW_E_NETWORK. Since 0.1. */
BW_API bw_status bw_desktop_scan(bw_desktop *desktop, const char *qr_text, char **device_json);

/* Creates a code for the user to type on a device, valid for 5 minutes. Starts the desktop if necessary, and waits
 * up to timeout_ms until it is registered with a relay. *code_json becomes {"code","expiresAt"}, code such as
 * "123456-789012". The code allows three attempts, wrong or not completed; then it is void at the third wrong one or at
 * the next attempt, and pairing.changed reports "failed". Errors: BW_E_OFFLINE or BW_E_TIMEOUT (no relay),
 * BW_E_PAIRING, BW_E_NETWORK. Since 0.1. */
BW_API bw_status bw_desktop_code(bw_desktop *desktop, int32_t timeout_ms, char **code_json);
/* The same without waiting. If it returns BW_OK, completion will be called. Since 0.1. */
BW_API bw_status bw_desktop_code_async(bw_desktop *desktop, int32_t timeout_ms, bw_completion completion,
                                       void *user_data, bw_destroy destroy);

/* Cancels a flow ("offer", "scan" or "code"; NULL = all three). BW_OK if none is in progress. Since 0.1. */
BW_API bw_status bw_desktop_pairing_cancel(bw_desktop *desktop, const char *flow);

/* Passes the user's decision about the device that pairing.changed reported in this flow. flow NULL = the only flow
 * that waits for one. accept: 1 = accept, 0 = reject. If the rejected device could not prove that it saw the code, the
 * code stays valid for other devices and its state is "displaying" again. Errors: BW_E_NOT_FOUND (no device waits for
 * confirmation; or the device was replaced by another one less than a second ago, so the decision may have been meant
 * for the first). Since 0.1. */
BW_API bw_status bw_desktop_confirm(bw_desktop *desktop, const char *flow, int32_t accept);

/* The paired devices:
 * [{"id","deviceId","name","platform","secure","seal"?,"sas"?,"sasMissing"?,"pairedAt","lastSeenAt","forgeable"?}].
 * "forgeable":true = one of the desktop's relays lets anyone send in the name of this unencrypted device.
 * Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_devices(bw_desktop *desktop, char **devices_json);

/* The push tokens of the paired devices: [{"device","deviceId","service","token": hex,"receivedAt"}], one per device
 * and service. If another device sends the same token, it belongs to that device from then on. Errors: BW_E_STORE.
 * Since 0.1. */
BW_API bw_status bw_desktop_tokens(bw_desktop *desktop, char **tokens_json);

/* Encrypts a push for a push service, so that only the device can read it. For programs that send payloads themselves,
 * to the tokens of bw_desktop_tokens(). id is the "notificationId" from bw_desktop_notify(), of a push that this device
 * does not have yet. The device also receives the push over its own connection, and shows it once.
 *
 * *payload_json becomes the payload, at most 4,096 bytes, for one device and one push: seal again for each device, and
 * each time it is sent. options_json is NULL or
 *   "service"    text   "apns": {"aps":{"alert":{"title"},"mutable-content":1},"bellwire"}. Any other, and the default,
 *                       "fcm": {"data":{"bellwire"}}, to which the program adds FCM's "token" and "android"
 *   "alert"      text   for "apns": the title that the system shows if the push can't be decrypted, at most 100 bytes
 *                       as JSON. Default: "New notification"
 * A push fits if its title, body, data and other fields have at most 2,815 bytes as JSON, including about 300 bytes of
 * names and numbers. The device publishes the keys for this once its program has called bw_device_token(); one key is
 * used up for each call, and is replaced when the device is connected.
 * Errors: BW_E_NOT_FOUND (device; or the device has the push, or it expired), BW_E_LIMIT (too large; the detail has
 * "size" and "limit" in bytes: shorten the push, or send a payload without content, so that the device connects),
 * BW_E_UNSUPPORTED (detail "reason": "not_encrypted", or "no_prekeys" = the device has published no keys in the last 30
 * days, or has revoked its last token), BW_E_INVALID, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_seal_push(bw_desktop *desktop, const char *device, const char *id,
                                      const char *options_json, char **payload_json);

/* Like bw_pairing_rename(), bw_pairing_unpair() and bw_pairing_clear(), for devices. An encrypted device that is
 * offline is notified later, for 30 days: at the desktop's next start, and when the device sends something. Since
 * 0.1. */
BW_API bw_status bw_desktop_rename(bw_desktop *desktop, const char *device, const char *name);
BW_API bw_status bw_desktop_unpair(bw_desktop *desktop, const char *device);
BW_API bw_status bw_desktop_clear(bw_desktop *desktop);

/* Like bw_device_revoke(), bw_device_readmit() and bw_device_revoked(), for devices. A readmitted device is notified
 * that it is unpaired, like one that bw_desktop_unpair() has unpaired. Since 0.1. */
BW_API bw_status bw_desktop_revoke(bw_desktop *desktop, const char *device);
BW_API bw_status bw_desktop_readmit(bw_desktop *desktop, const char *device);
BW_API bw_status bw_desktop_revoked(bw_desktop *desktop, char **keys_json);

/* Like bw_device_rekey(), bw_device_rekey_cancel(), bw_device_rekey_status() and bw_device_rekey_confirm(), for the
 * desktop and its devices. Since 0.1. */
BW_API bw_status bw_desktop_rekey(bw_desktop *desktop, char **status_json);
BW_API bw_status bw_desktop_rekey_cancel(bw_desktop *desktop);
BW_API bw_status bw_desktop_rekey_status(bw_desktop *desktop, char **status_json);
BW_API bw_status bw_desktop_rekey_confirm(bw_desktop *desktop, const char *device, const char *new_id, int32_t accept);

/* What devices may do: {"skills":[{"name","risk","enabled","methods":{method:
 * risk}}],"devices":[{"id","name","allowed": {skill: allowance}}]}.
 * A skill is a group of methods; the skill "notification" has all notification.* methods. A risk is "safe" (reads),
 * "mutating" or "privileged"; a skill's risk is that of its riskiest method. A device may call methods up to the risk
 * of its allowance, which is "mutating" by default. Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_permissions(bw_desktop *desktop, char **permissions_json);

/* Sets what a device may do with a skill (such as "notification"): "nothing", "safe", "mutating" or "privileged".
 * Applies to future commands, until the device is unpaired. Refused commands give the device -32001, BW_E_DENIED.
 * Errors: BW_E_NOT_FOUND (device, skill), BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_allow(bw_desktop *desktop, const char *device, const char *skill, const char *allowance);

/* Enables a skill (1) or disables it (0) for all devices. Errors: BW_E_NOT_FOUND, BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_skill_enable(bw_desktop *desktop, const char *skill, int32_t enabled);

/* Creates a notification of the desktop's own: stores it in the history and pushes it to its devices.
 * {"title","body","priority"?,"deviceId"? (only that device),"group"? (only its devices),"data"?: object,
 * "collapseKey"?,"expiresAt"?,"scheduledAt"?,"answerWhen"?,"publisher"?} and the other fields of a push ("imageUrl",
 * "deepLink", "category", "threadId", …).
 * *result_json (may be NULL) becomes {"success","notificationId","deliveredCount","failedCount","timestamp"}.
 * Delivered means that the device acknowledged it within 2 s. ChainlessChain phones do not acknowledge; for them it
 * means that no relay reported the phone offline in that time. For other devices the push waits in an outbox until
 * they are back: for 30 days (one day for ChainlessChain phones) or until "expiresAt" (milliseconds since 1970). The
 * outbox keeps 10,000 pushes per device; beyond that it drops the oldest and sends a problem event (outbox_full). A
 * push with a "collapseKey" replaces the previous one with the same key, in the outbox and in the history. With
 * "scheduledAt" (milliseconds since 1970, within 366 days) the desktop keeps it until then, up to 1,000 pushes: at
 * most 100 of one "publisher" (for whom your program publishes, such as the name of a token; not with "deviceId") and
 * 500 of all publishers. The result has "scheduledAt" and counts of 0. It is sent once, while the desktop is started.
 * If its time passes before that, or the clock jumps past it, it is sent at the next opportunity. With
 * "answerWhen":"stored" the call returns when the push is stored, and the counts are 0. "notification.delete" with
 * the "notificationId" withdraws a push, scheduled or sent. Errors: BW_E_NOT_FOUND (deviceId, group, too many
 * scheduled), BW_E_STORE, BW_E_TIMEOUT
 * (stored; the push may still be sent). Since 0.1. */
BW_API bw_status bw_desktop_notify(bw_desktop *desktop, const char *params_json, int32_t timeout_ms,
                                   char **result_json);
/* The same without waiting. Pushes are sent in the order of the calls. Since 0.1. */
BW_API bw_status bw_desktop_notify_async(bw_desktop *desktop, const char *params_json, int32_t timeout_ms,
                                         bw_completion completion, void *user_data, bw_destroy destroy);

/* The desktop's history, with the parameters and result of notification.getHistory. A page ends early as for
 * bw_inbox_load(). Errors: BW_E_STORE. Since 0.1. */
BW_API bw_status bw_desktop_history(bw_desktop *desktop, const char *params_json, char **result_json);

/* Calls one of the methods above ("notification.markAllAsRead", "notification.updateSettings", …) as the desktop's
 * own user, who may do everything. Parameters and result are as under "Methods"; devices are notified of changes.
 * "sendToMobile" requires a "deviceId". Only the program itself can call:
 *   "desktop.setGroup"   {"name","devices": [id]}: creates a group of paired devices or replaces its devices; an empty
 *                        list removes it. A name has 1 to 64 bytes; a desktop has up to 256 groups (BW_E_LIMIT).
 *                        Unpaired devices leave their groups. -> {"groups"}
 *   "desktop.groups"     -> {"groups":[{"name","devices":[id]}]}
 *   "desktop.scheduled"  -> {"scheduled":[{"id","scheduledAt","method","title","group"?,"deviceId"?,"by"?}]}, the next
 *                        one first; "by" is the device that scheduled it
 * Errors: BW_E_INVALID, BW_E_UNSUPPORTED (method), BW_E_NOT_FOUND, BW_E_STORE,
 * BW_E_TIMEOUT (executed, but it is not known yet which devices were reached). Since 0.1. */
BW_API bw_status bw_desktop_invoke(bw_desktop *desktop, const char *method, const char *params_json,
                                   int32_t timeout_ms, char **result_json);
BW_API bw_status bw_desktop_invoke_async(bw_desktop *desktop, const char *method, const char *params_json,
                                         int32_t timeout_ms, bw_completion completion, void *user_data,
                                         bw_destroy destroy);

/* ================================================================================================================
 * Relay
 * ============================================================================================================= */

typedef struct bw_relay bw_relay;

/* Opens a relay. It binds no address until bw_relay_start(). options_json: "listen" ("127.0.0.1:9001"; port 0 = any
 * free port), "health" (address of the health page; none if absent), "tls" {"certificate_file","key_file"},
 * "threaded", "state_dir" (stores which ids were ever proved; default: memory only), "origins" (URLs for which
 * proofs are accepted; default: the relay's addresses with its port), and the limits that `bellwire relay --help`
 * lists with their defaults. Since 0.1. */
BW_API bw_status bw_relay_open(const char *options_json, bw_relay **relay);

/* Binds and serves. Idempotent. Errors: BW_E_NETWORK (address in use or not local; certificate), BW_E_DENIED (port
 * below 1024). Since 0.1. */
BW_API bw_status bw_relay_start(bw_relay *relay);
/* Notifies the peers (server-shutdown), then closes their connections. Frames stored for absent peers are lost.
 * Idempotent. Since 0.1. */
BW_API bw_status bw_relay_stop(bw_relay *relay);
/* These functions work as for a device. A relay has one event: problem. Since 0.1. */
BW_API bw_status bw_relay_close(bw_relay *relay);
BW_API int32_t bw_relay_fd(bw_relay *relay);
BW_API bw_status bw_relay_dispatch(bw_relay *relay);
BW_API bw_status bw_relay_run(bw_relay *relay, int32_t timeout_ms);
BW_API bw_status bw_relay_quit(bw_relay *relay);
BW_API bw_status bw_relay_subscribe(bw_relay *relay, const char *event, bw_event_callback callback, void *user_data,
                                    bw_destroy destroy, bw_subscription *subscription);
BW_API bw_status bw_relay_unsubscribe(bw_relay *relay, bw_subscription subscription);

/* {"started","port","healthPort","stats":{…}}; stats is the content of /stats. Since 0.1. */
BW_API bw_status bw_relay_state(bw_relay *relay, char **state_json);

/* ================================================================================================================
 * JSON
 *
 * For programs without a JSON parser: these functions read one value from JSON that the library returned. pointer is
 * a JSON Pointer (RFC 6901), such as "/data/title" or "/data/routes/0/url"; "" is the whole document. Each call
 * parses json again. Errors of both: BW_E_INVALID (not JSON, or not a pointer), BW_E_NOT_FOUND (no such value).
 * ============================================================================================================= */

/* *text becomes the value: a string as it is, with U+FFFD in place of NUL; anything else as JSON. Free it with
 * bw_free(). Since 0.1. */
BW_API bw_status bw_json_text(const char *json, const char *pointer, char **text);

/* *number becomes the value: a number without its fraction, or 1 and 0 for true and false. Anything else gives
 * BW_E_INVALID. Since 0.1. */
BW_API bw_status bw_json_integer(const char *json, const char *pointer, int64_t *number);

/* ================================================================================================================
 * QR
 * ============================================================================================================= */

/* Draws text as a QR code for a terminal, in half-block characters. It sets its own colours, so it can be scanned on
 * dark and light backgrounds. plain != 0: no colour sequences, for a light background. text has 1 to 2,048 bytes.
 * Errors: BW_E_INVALID. Since 0.1. */
BW_API bw_status bw_qr_terminal(const char *text, int32_t plain, char **drawing);

/* Draws text as a QR code in an SVG document, black on white with the quiet zone; one module is one unit. text as
 * above. Errors: BW_E_INVALID. Since 0.1. */
BW_API bw_status bw_qr_svg(const char *text, char **svg);

/* Draws text as a QR code in a PNG image, black on white with the quiet zone; scale is the number of pixels per
 * module, 1 to 32. *png becomes its *size bytes; free it with bw_free(). Loads libpng. Errors: BW_E_INVALID,
 * BW_E_UNSUPPORTED (no libpng). Since 0.1. */
BW_API bw_status bw_qr_png(const char *text, int32_t scale, uint8_t **png, size_t *size);

/* Reads the QR codes in a PNG or JPEG file of at most 32 MiB and 50 megapixels: dark on light or light on dark, with
 * at least 2 pixels per module. *texts_json becomes an array of their texts. Loads libzbar and libpng or
 * libturbojpeg; a large picture takes about a second. Errors: BW_E_NOT_FOUND (no QR code in it), BW_E_IO (cannot
 * read the file), BW_E_INVALID (not such an image), BW_E_LIMIT (too large), BW_E_UNSUPPORTED (a library is missing;
 * the message names it). Since 0.1. */
BW_API bw_status bw_qr_read(const char *path, char **texts_json);

/* The same for pixels in memory: height rows of width grey bytes (0 = black); each row begins stride bytes after the
 * previous one. Since 0.1. */
BW_API bw_status bw_qr_read_pixels(const uint8_t *grey, int32_t width, int32_t height, int32_t stride,
                                   char **texts_json);

#ifdef __cplusplus
}
#endif

#endif /* BELLWIRE_H */
