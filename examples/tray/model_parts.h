/*
 * model_parts.h - what the files of the model share: model.c has the library's handle and the calls about pairing and
 * notifications, model_alerts.c those about alerts and settings.
 */
#ifndef TRAY_MODEL_PARTS_H
#define TRAY_MODEL_PARTS_H

#include "model.h"
#include "preferences.h"
#include "side.h"

struct _Model {
    GObject parent;
    const Side *side;
    void *handle;
    char *state_dir, *listen, *preferences_file;
    Preferences own;
    char *shown_name, *holder;
    guint descriptor_source, changed_source, reopen_source;
    json_t *peers, *latest;
    gint64 unread;
    gboolean is_online, is_asking, is_guest;
    char *authorization, *problem;
};

/* A call in progress. */
typedef struct {
    Model *model;
    GObject *owner;
    ModelDone done;
} Call;

Call *model_call_new(Model *self, GObject *owner, ModelDone done);
void model_call_free(void *call);
/* The completion of a call; and the errors that are returned at once. */
void model_on_end(void *call, bw_status status, const char *json);
void model_begun(Model *self, bw_status status, GObject *owner, ModelDone done);

/* What one of the side's calls without parameters tells; ours, or NULL. */
json_t *model_told(Model *self, bw_status (*call)(void *handle, char **json));
/* Takes the text. */
void model_set_problem(Model *self, char *problem);
/* Looks at everything anew, soon and once. */
void model_look_soon(Model *self);

#endif
