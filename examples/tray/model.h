/*
 * model.h - the library in GLib's main loop, and what the rest of the program shows of it.
 *
 * Signals:
 *   "changed"                          the peers, the unread, the latest, or the problem; bursts come as one
 *   "pairing" (json_t *data)           a step of a pairing, as the library's pairing.changed has it
 *   "move" (json_t *question)          a peer asks to move to a new key: {"id","name","newId"}
 *   "arrived" (const char *peer, json_t *data)
 *                                      a new notification, as the library's notification.received has it; a desktop's
 *                                      has no peer
 *   "opened" (const char *peer, id)    somebody tapped the alert of a notification
 *   "reopened"                         calls in progress are gone: the name or the relay has changed
 */
#ifndef TRAY_MODEL_H
#define TRAY_MODEL_H

#include <bellwire.h>
#include <glib-object.h>
#include <jansson.h>

G_DECLARE_FINAL_TYPE(Model, model, TRAY, MODEL, GObject)

enum { LATEST = 7 };

/* The name that alerts, the badge and the autostart go by: that of the .desktop file. */
#define APPLICATION_ID "org.bellwire.Tray"
/* Pushes of one source that alert within a second, where bursts are summed up. */
enum { BURST_LIMIT = 5 };

typedef struct {
    gboolean is_desktop;
    const char *state_dir;
    const char *relay_url, *listen; /* NULL = the default; a relay that was set in the program holds without one */
} ModelOptions;

/* Opens and starts the library. If it returns NULL, *failure says why. */
Model *model_new(const ModelOptions *options, char **failure);
/* Sets the name and the relay, also for later starts; NULL = the default. Calls in progress are dropped. If it
 * returns FALSE, *failure says why, and all is as it was. */
gboolean model_set_up(Model *self, const char *name, const char *relay_url, char **failure);

/* Closes the library. Calls in progress are dropped. */
void model_close(Model *self);

gboolean model_is_desktop(Model *self);
gint64 model_unread(Model *self);
/* Whether a desktop, or the desktop's relay, can be reached. */
gboolean model_is_online(Model *self);
/* The paired peers, as bw_pairing_list() or bw_desktop_devices() has them, with "online" where it is known. The
 * model's. */
json_t *model_peers(Model *self);
/* The newest notifications. The model's. */
json_t *model_latest(Model *self);
/* What went wrong last, in words; NULL once something went well. The model's. */
const char *model_problem(Model *self);

/* The name that others see. The model's. */
const char *model_name(Model *self);
/* What was set of both; NULL = nothing. The model's. */
const char *model_own_name(Model *self);
const char *model_relay_url(Model *self);
/* The program whose name, relay and alerts hold because it has the device; NULL = this one. The model's. */
const char *model_holder(Model *self);
/* Where a desktop's own relay could serve the local network, while it serves this machine only. NULL = it need not, or
 * cannot; else ours to free. */
char *model_lan_offer(Model *self);
/* Does so from now on. As model_set_up(). */
gboolean model_use_lan(Model *self, char **failure);
/* Nothing is known yet that a code of our own could be shown at. */
gboolean model_lacks_relay(Model *self);

/* A page of the history: parameters as of bw_inbox_load(), taken. NULL, and a problem, when it failed; else ours. */
json_t *model_page(Model *self, json_t *params);
/* peer may be NULL where the notification is the desktop's own. What fails becomes the problem. */
void model_mark_read(Model *self, const char *peer, const char *id);
void model_mark_all_read(Model *self);
void model_delete(Model *self, const char *peer, const char *id);
void model_unpair(Model *self, const char *peer);

/* Takes the end of a call: result on success, else failure in words; owner as it was given. Not called once the model
 * is closed. */
typedef void (*ModelDone)(GObject *owner, json_t *result, const char *failure);

/* The owner is held until the call has ended. */
void model_show_code(Model *self, GObject *owner, ModelDone done);
void model_show_digits(Model *self, GObject *owner, ModelDone done); /* desktops alone */
void model_scan(Model *self, const char *text, GObject *owner, ModelDone done);
void model_type(Model *self, const char *digits, GObject *owner, ModelDone done); /* devices alone */
void model_notify(Model *self, json_t *params, GObject *owner, ModelDone done);   /* desktops alone */
/* Sends a notification to the desktop peer; it waits for a day if that is away. Takes params. Devices alone. */
void model_send(Model *self, const char *peer, json_t *params, GObject *owner, ModelDone done);
/* Ends calls in progress. */
void model_cancel_pairing(Model *self);
/* FALSE = there is no question any more. */
gboolean model_confirm(Model *self, const char *flow, gboolean accepts);

/* Emits "move" for each peer that still waits for an answer: questions survive restarts. */
void model_repeat_moves(Model *self);
/* FALSE = there is no such question any more. */
gboolean model_confirm_move(Model *self, const char *peer, const char *new_id, gboolean accepts);

/* Alerts of a device: whether they are shown, whether the user has not been asked yet, and has refused. */
gboolean model_alerts_allowed(Model *self);
gboolean model_alerts_undecided(Model *self);
gboolean model_alerts_refused(Model *self);
/* The user's answer. */
void model_allow_alerts(Model *self, gboolean allow);
/* Asks the user by an alert, once. */
void model_ask_for_alerts(Model *self);

/* Settings with quiet hours: the device's own, or the desktop's. NULL when they cannot be read; else ours. */
json_t *model_settings(Model *self);
/* Takes the settings. FALSE when it fails at once. Without done, what fails becomes the problem. */
gboolean model_set_settings(Model *self, json_t *settings, GObject *owner, ModelDone done);

#endif
