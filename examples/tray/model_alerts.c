/* Alerts and settings of the model. */
#include "model_parts.h"

#include "text.h"

#include <stdlib.h>

/* Alerts --------------------------------------------------------------------------------------------------------- */

gboolean model_alerts_allowed(Model *self) {
    return g_strcmp0(self->authorization, "authorized") == 0 || g_strcmp0(self->authorization, "provisional") == 0;
}

gboolean model_alerts_undecided(Model *self) {
    return !model_is_desktop(self) && !self->is_guest && g_strcmp0(self->authorization, "notDetermined") == 0;
}

gboolean model_alerts_refused(Model *self) { return g_strcmp0(self->authorization, "denied") == 0; }

void model_allow_alerts(Model *self, gboolean allow) {
    bw_status status = bw_alerts_authorize(self->handle, allow ? "authorized" : "denied", 0);
    model_set_problem(self, status < 0 ? text_failure(status) : NULL);
}

static void on_asked(void *user_data, bw_status status, const char *json) {
    (void)json;
    Call *call = user_data;
    if (status == BW_E_CLOSED) return;
    call->model->is_asking = FALSE;
    /* A server without buttons cannot ask: quiet alerts need no question. All else is asked at the next start. */
    if (status == BW_E_UNSUPPORTED) bw_alerts_authorize(call->model->handle, "provisional", 0);
    model_look_soon(call->model);
}

void model_ask_for_alerts(Model *self) {
    enum { PATIENCE_MS = 600000 };
    if (self->is_asking || !model_alerts_undecided(self)) return;
    Call *call = model_call_new(self, NULL, NULL);
    self->is_asking = bw_alerts_request_async(self->handle, NULL, PATIENCE_MS, on_asked, call, model_call_free) >= 0;
}

/* Settings ------------------------------------------------------------------------------------------------------- */

json_t *model_settings(Model *self) { return model_told(self, self->side->settings); }

gboolean model_set_settings(Model *self, json_t *settings, GObject *owner, ModelDone done) {
    char *text = json_dumps(settings, 0);
    Call *call = model_call_new(self, owner, done);
    bw_status status = self->side->set_settings(self->handle, text, model_on_end, call, model_call_free);
    model_begun(self, status, owner, done);
    free(text);
    json_decref(settings);
    return status >= 0;
}
