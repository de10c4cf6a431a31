/*
 * bellwire-tray - Bellwire in the panel: how many notifications are unread, which they are, and who sends them.
 *
 * A device by default, which desktops push to; with --desktop the desktop itself. It has no thread and no timer of its
 * own: the library is one descriptor in GTK's main loop.
 */
#include "desktop_alert.h"
#include "history_window.h"
#include "model.h"
#include "pair_window.h"
#include "quiet_window.h"
#include "send_window.h"
#include "settings_window.h"
#include "tray.h"

#include <glib-unix.h>
#include <glib/gi18n.h>
#include <gtk/gtk.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>

/* Not APPLICATION_ID, which the library claims on the bus for the alerts. */
#define INSTANCE_ID APPLICATION_ID ".Instance"
#define DESKTOP_INSTANCE_ID APPLICATION_ID ".DesktopInstance"

typedef struct {
    GtkApplication *application;
    gboolean is_desktop, is_background;
    char *state_dir, *relay_url, *listen;
    Model *model;
    Tray *tray;
    DesktopAlerts *alerts;
    char *icon_dir, *program;
    char **start_arguments;
    char *urgent; /* the notification that is to be raised */
    guint raise_source;
    int code;
} Program;

static void quit(Program *program) {
    /* A dialog of GTK's own may be running a main loop in ours. */
    GList *windows = gtk_window_list_toplevels();
    g_list_foreach(windows, (GFunc)(void (*)(void))g_object_ref, NULL);
    for (GList *each = windows; each; each = each->next)
        if (GTK_IS_DIALOG(each->data)) gtk_widget_destroy(each->data);
    g_list_free_full(windows, g_object_unref);
    g_application_quit(G_APPLICATION(program->application));
}

static void on_wish(TrayWish wish, gpointer data);

static void on_quiet_hours(gpointer data) { on_wish(TRAY_QUIET_HOURS, data); }

static void show_settings(Program *program) {
    SettingsWindowOptions options = {
        .application = program->application,
        .model = program->model,
        .autostart = tray_name(program->is_desktop),
        .start_arguments = program->start_arguments,
        .quiet_hours = on_quiet_hours,
        .user_data = program,
    };
    settings_window_present(&options);
}

static void on_wish(TrayWish wish, gpointer data) {
    Program *program = data;
    switch (wish) {
    case TRAY_PAIR: pair_window_present(program->application, program->model); break;
    case TRAY_HISTORY: history_window_present(program->application, program->model, NULL, NULL); break;
    case TRAY_SEND: send_window_present(program->application, program->model); break;
    case TRAY_QUIET_HOURS:
        quiet_window_present(program->application, program->model, tray_quiet(program->tray));
        break;
    case TRAY_SETTINGS: show_settings(program); break;
    case TRAY_QUIT: quit(program); break;
    }
}

/* Who started it from a menu sees no terminal. */
static void say_failure(Program *program, const char *failure) {
    g_printerr("bellwire-tray: %s\n", failure);
    program->code = EXIT_FAILURE;
    GtkWidget *dialog = gtk_message_dialog_new(NULL, 0, GTK_MESSAGE_ERROR, GTK_BUTTONS_CLOSE,
                                               _("Bellwire cannot start"));
    gtk_message_dialog_format_secondary_text(GTK_MESSAGE_DIALOG(dialog), "%s", failure);
    gtk_window_set_title(GTK_WINDOW(dialog), "Bellwire");
    gtk_application_add_window(program->application, GTK_WINDOW(dialog));
    g_signal_connect(dialog, "response", G_CALLBACK(gtk_widget_destroy), NULL);
    gtk_widget_show(dialog);
}

/* The user tapped an alert. */
static void on_opened(Model *model, const char *peer, const char *id, Program *program) {
    history_window_present(program->application, model, peer, id);
}

static void on_tapped(const char *id, gpointer data) {
    Program *program = data;
    history_window_present(program->application, program->model, NULL, id);
}

static gboolean raise_urgent(gpointer data) {
    Program *program = data;
    program->raise_source = 0;
    history_window_raise(program->application, program->model, program->urgent);
    return G_SOURCE_REMOVE;
}

/* A thousand in one dispatch raise the window once. */
static void raise_soon(Program *program, const char *id) {
    g_free(program->urgent);
    program->urgent = g_strdup(id);
    if (program->raise_source == 0) program->raise_source = g_idle_add(raise_urgent, program);
}

/* A desktop shows what its devices send; a device's alerts are the library's. What is urgent raises the window as well,
 * unless it comes late, or the user wants no alerts or no texts in them. */
static void on_arrived(Model *model, const char *peer, json_t *data, Program *program) {
    (void)peer;
    if (program->alerts) desktop_alerts_show(program->alerts, data);
    const char *priority = json_string_value(json_object_get(data, "priority"));
    if (g_strcmp0(priority, "urgent") != 0 || json_is_true(json_object_get(data, "silenced")) ||
        json_is_true(json_object_get(data, "late")) || model_alerts_refused(model))
        return;
    json_t *settings = model_settings(model);
    gboolean hides_texts = json_is_false(json_object_get(settings, "showPreview"));
    json_decref(settings);
    if (!hides_texts) raise_soon(program, json_string_value(json_object_get(data, "id")));
}

/* A device asks, and no window may be open for the answer. */
static void on_pairing(Model *model, json_t *data, Program *program) {
    if (pair_window_is_question(data)) pair_window_ask(program->application, model, data);
}

static void on_move(Model *model, json_t *question, Program *program) {
    pair_window_ask_move(program->application, model, question);
}

static gboolean on_signal(gpointer data) {
    quit(data);
    return G_SOURCE_CONTINUE;
}

static char **start_arguments(Program *program) {
    GPtrArray *arguments = g_ptr_array_new();
    g_ptr_array_add(arguments, g_strdup(program->program));
    g_ptr_array_add(arguments, g_strdup("--background"));
    if (program->is_desktop) g_ptr_array_add(arguments, g_strdup("--desktop"));
    g_ptr_array_add(arguments, g_strconcat("--state-dir=", program->state_dir, NULL));
    if (program->relay_url) g_ptr_array_add(arguments, g_strconcat("--relay-url=", program->relay_url, NULL));
    if (program->listen) g_ptr_array_add(arguments, g_strconcat("--listen=", program->listen, NULL));
    g_ptr_array_add(arguments, NULL);
    return (char **)g_ptr_array_free(arguments, FALSE);
}

/* The first instance alone comes here. */
static void begin(Program *program) {
    const char *kind = program->is_desktop ? "desktop" : "device";
    if (!program->state_dir)
        program->state_dir = g_build_filename(g_get_user_state_dir(), "bellwire", kind, NULL);
    char *failure = NULL;
    ModelOptions model = {program->is_desktop, program->state_dir, program->relay_url, program->listen};
    program->model = model_new(&model, &failure);
    if (!program->model) {
        say_failure(program, failure);
        g_free(failure);
        return;
    }
    program->icon_dir = g_strdup_printf("%s/bellwire-tray-%s", g_get_user_runtime_dir(), kind);
    program->start_arguments = start_arguments(program);
    TrayOptions options = {
        .model = program->model,
        .name = tray_name(program->is_desktop),
        .state_dir = program->state_dir,
        .icon_dir = program->icon_dir,
        .start_arguments = program->start_arguments,
        .wish = on_wish,
        .user_data = program,
    };
    program->tray = tray_new(&options);
    if (program->is_desktop) program->alerts = desktop_alerts_new(on_tapped, program);
    g_signal_connect(program->model, "arrived", G_CALLBACK(on_arrived), program);
    g_signal_connect(program->model, "opened", G_CALLBACK(on_opened), program);
    g_signal_connect(program->model, "pairing", G_CALLBACK(on_pairing), program);
    g_signal_connect(program->model, "move", G_CALLBACK(on_move), program);
    g_application_hold(G_APPLICATION(program->application));
    model_repeat_moves(program->model);
}

/* Also for each further start: the program is there already, so it shows itself. */
static void on_activate(GApplication *application, gpointer data) {
    (void)application;
    Program *program = data;
    gboolean is_first = !program->tray;
    if (is_first && program->code == 0) begin(program);
    if (!program->tray) return;
    gboolean is_paired = json_array_size(model_peers(program->model)) > 0;
    if (is_first && is_paired) model_ask_for_alerts(program->model);
    if (is_first && (program->is_background || is_paired)) return;
    on_wish(is_paired ? TRAY_HISTORY : TRAY_PAIR, program);
}

static gint on_options(GApplication *application, GVariantDict *options, gpointer data) {
    Program *program = data;
    if (g_variant_dict_contains(options, "version")) {
        g_print("bellwire-tray %s\n", bw_version());
        return EXIT_SUCCESS;
    }
    program->is_desktop = g_variant_dict_contains(options, "desktop");
    program->is_background = g_variant_dict_contains(options, "background");
    /* The window manager and the dock find the .desktop file by it. */
    g_set_prgname(APPLICATION_ID);
    gdk_set_program_class(APPLICATION_ID);
    g_variant_dict_lookup(options, "state-dir", "^ay", &program->state_dir);
    g_variant_dict_lookup(options, "relay-url", "s", &program->relay_url);
    g_variant_dict_lookup(options, "listen", "s", &program->listen);
    if (program->is_desktop) g_application_set_application_id(application, DESKTOP_INSTANCE_ID);
    if (program->state_dir) {
        char *absolute = g_canonicalize_filename(program->state_dir, NULL);
        g_free(program->state_dir);
        program->state_dir = absolute;
    }
    return -1;
}

/* Translated in main(). */
static GOptionEntry entries[] = {
    {"desktop", 0, 0, G_OPTION_ARG_NONE, NULL, N_("Run as a desktop: pair devices, push to them, keep the history"), NULL},
    {"state-dir", 0, 0, G_OPTION_ARG_FILENAME, NULL, N_("Directory for keys and notifications"), N_("DIRECTORY")},
    {"relay-url", 0, 0, G_OPTION_ARG_STRING, NULL, N_("Use the relay at this URL"), "URL"},
    {"listen", 0, 0, G_OPTION_ARG_STRING, NULL,
     N_("With --desktop, without --relay-url: address of its own relay (default 127.0.0.1:9001, this machine only)"),
     "HOST:PORT"},
    {"background", 0, 0, G_OPTION_ARG_NONE, NULL, N_("Start without opening a window"), NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, NULL, N_("Print the version"), NULL},
    {0},
};

/* The translations lie beside the program where it was built, and else where it was installed. */
static void find_translations(const char *program) {
    setlocale(LC_ALL, "");
    char *folder = g_path_get_dirname(program), *directory = g_build_filename(folder, "locale", NULL);
    if (!g_file_test(directory, G_FILE_TEST_IS_DIR)) {
        g_free(directory);
        directory = g_build_filename(folder, "..", "share", "locale", NULL);
    }
    bindtextdomain(GETTEXT_PACKAGE, directory);
    bind_textdomain_codeset(GETTEXT_PACKAGE, "UTF-8");
    textdomain(GETTEXT_PACKAGE);
    g_free(directory);
    g_free(folder);
}

int main(int argc, char **argv) {
    Program program = {0};
    g_set_prgname("bellwire-tray");
    g_set_application_name("Bellwire");
    program.program = g_file_read_link("/proc/self/exe", NULL);
    find_translations(program.program ? program.program : argv[0]);
    program.application = gtk_application_new(INSTANCE_ID, (GApplicationFlags)0);
    GApplication *application = G_APPLICATION(program.application);
    for (GOptionEntry *each = entries; each->long_name; each++) {
        each->description = _(each->description);
        if (each->arg_description) each->arg_description = _(each->arg_description);
    }
    g_application_add_main_option_entries(application, entries);
    g_application_set_option_context_summary(application, _("Shows notifications from your desktops in the panel."));
    g_signal_connect(application, "handle-local-options", G_CALLBACK(on_options), &program);
    g_signal_connect(application, "activate", G_CALLBACK(on_activate), &program);
    g_unix_signal_add(SIGTERM, on_signal, &program);
    g_unix_signal_add(SIGINT, on_signal, &program);

    int code = g_application_run(application, argc, argv);
    if (program.raise_source) g_source_remove(program.raise_source);
    if (program.alerts) desktop_alerts_free(program.alerts);
    if (program.tray) tray_free(program.tray);
    if (program.model) {
        model_close(program.model);
        g_object_unref(program.model);
    }
    g_object_unref(program.application);
    g_strfreev(program.start_arguments);
    g_free(program.urgent);
    g_free(program.icon_dir);
    g_free(program.state_dir);
    g_free(program.relay_url);
    g_free(program.listen);
    g_free(program.program);
    return program.code ? program.code : code;
}
