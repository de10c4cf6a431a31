#include "autostart.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>

static char *path_of(const char *name) {
    char *file = g_strconcat(name, ".desktop", NULL);
    char *path = g_build_filename(g_get_user_config_dir(), "autostart", file, NULL);
    g_free(file);
    return path;
}

/* Whether the entry starts something: settings of a desktop environment switch one off without taking it away. */
static gboolean starts(const char *path) {
    GKeyFile *entry = g_key_file_new();
    gboolean is_on =
        g_key_file_load_from_file(entry, path, G_KEY_FILE_NONE, NULL) &&
        !g_key_file_get_boolean(entry, G_KEY_FILE_DESKTOP_GROUP, G_KEY_FILE_DESKTOP_KEY_HIDDEN, NULL) &&
        (!g_key_file_has_key(entry, G_KEY_FILE_DESKTOP_GROUP, "X-GNOME-Autostart-enabled", NULL) ||
         g_key_file_get_boolean(entry, G_KEY_FILE_DESKTOP_GROUP, "X-GNOME-Autostart-enabled", NULL));
    g_key_file_unref(entry);
    return is_on;
}

/* The entry for all users, as a package installs it. The user's own of the same name replaces it. */
static gboolean is_on_for_all(const char *name) {
    gboolean is_on = FALSE, is_found = FALSE;
    char *file = g_strconcat(name, ".desktop", NULL);
    for (const char *const *each = g_get_system_config_dirs(); *each && !is_found; each++) {
        char *path = g_build_filename(*each, "autostart", file, NULL);
        is_found = g_file_test(path, G_FILE_TEST_EXISTS);
        if (is_found) is_on = starts(path);
        g_free(path);
    }
    g_free(file);
    return is_on;
}

gboolean autostart_is_on(const char *name) {
    char *path = path_of(name);
    gboolean is_on = g_file_test(path, G_FILE_TEST_EXISTS) ? starts(path) : is_on_for_all(name);
    g_free(path);
    return is_on;
}

/* As the Desktop Entry Specification quotes an argument; GKeyFile adds the backslashes of a string itself. */
static void append_quoted(GString *line, const char *argument) {
    g_string_append(line, line->len ? " \"" : "\"");
    for (const char *at = argument; *at; at++) {
        if (*at == '"' || *at == '`' || *at == '$' || *at == '\\') g_string_append_c(line, '\\');
        if (*at == '%') g_string_append_c(line, '%');
        g_string_append_c(line, *at);
    }
    g_string_append_c(line, '"');
}

gboolean autostart_set(const char *name, gboolean is_on, const char *title, char **arguments, GError **error) {
    char *path = path_of(name);
    gboolean is_done = TRUE;
    gboolean is_for_all = is_on_for_all(name);
    if (is_on || is_for_all) {
        char *folder = g_path_get_dirname(path);
        g_mkdir_with_parents(folder, 0700);
        g_free(folder);
        GString *line = g_string_new(NULL);
        for (char **each = arguments; *each; each++) append_quoted(line, *each);
        GKeyFile *entry = g_key_file_new();
        g_key_file_set_string(entry, G_KEY_FILE_DESKTOP_GROUP, G_KEY_FILE_DESKTOP_KEY_TYPE, "Application");
        g_key_file_set_string(entry, G_KEY_FILE_DESKTOP_GROUP, G_KEY_FILE_DESKTOP_KEY_NAME, title);
        g_key_file_set_string(entry, G_KEY_FILE_DESKTOP_GROUP, G_KEY_FILE_DESKTOP_KEY_EXEC, line->str);
        g_key_file_set_string(entry, G_KEY_FILE_DESKTOP_GROUP, G_KEY_FILE_DESKTOP_KEY_ICON, "org.bellwire.Tray");
        /* Off, against the entry for all users. */
        if (!is_on) g_key_file_set_boolean(entry, G_KEY_FILE_DESKTOP_GROUP, G_KEY_FILE_DESKTOP_KEY_HIDDEN, TRUE);
        g_string_free(line, TRUE);
        is_done = g_key_file_save_to_file(entry, path, error);
        g_key_file_unref(entry);
    } else if (g_unlink(path) != 0 && errno != ENOENT) {
        g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(errno), "%s: %s", path, g_strerror(errno));
        is_done = FALSE;
    }
    g_free(path);
    return is_done;
}
