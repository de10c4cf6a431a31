#include "Systemd.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <systemd/sd-bus.h>

/* Every function that is taken from the library: none of them is variadic. */
#define FUNCTIONS(f)                                                                                                   \
    f(sd_bus_new) f(sd_bus_set_address) f(sd_bus_set_bus_client) f(sd_bus_negotiate_fds) f(sd_bus_start)               \
    f(sd_bus_close_unref) f(sd_bus_get_fd) f(sd_bus_get_events) f(sd_bus_get_timeout) f(sd_bus_process)                \
    f(sd_bus_is_ready) f(sd_bus_get_unique_name) f(sd_bus_send) f(sd_bus_reply_method_errno)                           \
    f(sd_bus_message_new_method_call) f(sd_bus_message_set_auto_start) f(sd_bus_message_sensitive)                     \
    f(sd_bus_message_unref) f(sd_bus_message_append_basic) f(sd_bus_message_append_array)                              \
    f(sd_bus_message_open_container) f(sd_bus_message_close_container) f(sd_bus_message_get_type)                      \
    f(sd_bus_message_get_reply_cookie) f(sd_bus_message_get_sender) f(sd_bus_message_get_path)                         \
    f(sd_bus_message_get_interface) f(sd_bus_message_get_member) f(sd_bus_message_get_error)                           \
    f(sd_bus_message_peek_type) f(sd_bus_message_read_basic) f(sd_bus_message_read_array)                              \
    f(sd_bus_message_enter_container) f(sd_bus_message_exit_container) f(sd_bus_message_skip)                          \
    f(sd_bus_message_new_method_return) f(sd_bus_message_new_signal) f(sd_bus_message_get_expect_reply)                \
    f(sd_bus_reply_method_error)

struct table {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
};

/* Written once, under the lock, before the first use by any thread. */
static struct table loaded;
static bool is_loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int fill(void *library, struct table *table, const char **missing) {
    const struct {
        const char *name;
        void **field;
    } entries[] = {
#define ENTRY(name) {#name, (void **)(void *)&table->name},
        FUNCTIONS(ENTRY)};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *entries[i].field = dlsym(library, entries[i].name);
        if (!*entries[i].field) {
            *missing = entries[i].name;
            return -ENOENT;
        }
    }
    return 0;
}

int bw_systemd_load(const char *name, char *why, size_t size) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, size, "%s", reason ? reason : "it cannot be loaded");
        return -ENOENT;
    }
    struct table table;
    const char *missing = NULL;
    if (fill(library, &table, &missing) < 0) {
        snprintf(why, size, "%s has no %s", name, missing);
        dlclose(library);
        return -ENOENT;
    }
    /* It stays loaded: once in use it is for good. */
    pthread_mutex_lock(&lock);
    if (!is_loaded) {
        loaded = table;
        is_loaded = true;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

/* MARK: The connection */

int bw_bus_open(sd_bus **result, const char *address, bool take_descriptors) {
    sd_bus *bus = NULL;
    int r = loaded.sd_bus_new(&bus);
    if (r >= 0) r = loaded.sd_bus_set_address(bus, address);
    if (r >= 0) r = loaded.sd_bus_set_bus_client(bus, 1);
    if (r >= 0) r = loaded.sd_bus_negotiate_fds(bus, take_descriptors);
    if (r >= 0) r = loaded.sd_bus_start(bus);
    if (r >= 0)
        *result = bus;
    else if (bus)
        loaded.sd_bus_close_unref(bus);
    return r;
}

void bw_bus_close(sd_bus *bus) { loaded.sd_bus_close_unref(bus); }
int bw_bus_descriptor(sd_bus *bus) { return loaded.sd_bus_get_fd(bus); }
int bw_bus_events(sd_bus *bus) { return loaded.sd_bus_get_events(bus); }
int bw_bus_timeout(sd_bus *bus, uint64_t *microseconds) { return loaded.sd_bus_get_timeout(bus, microseconds); }
int bw_bus_process(sd_bus *bus, sd_bus_message **message) { return loaded.sd_bus_process(bus, message); }
int bw_bus_is_ready(sd_bus *bus) { return loaded.sd_bus_is_ready(bus); }
int bw_bus_name(sd_bus *bus, const char **name) { return loaded.sd_bus_get_unique_name(bus, name); }

int bw_bus_send(sd_bus *bus, sd_bus_message *message, uint64_t *cookie) {
    return loaded.sd_bus_send(bus, message, cookie);
}

/* MARK: Writing */

int bw_message_new_call(
    sd_bus *bus, sd_bus_message **message, const char *destination, const char *path, const char *interface,
    const char *member) {
    return loaded.sd_bus_message_new_method_call(bus, message, destination, path, interface, member);
}

int bw_message_new_reply(sd_bus_message *call, sd_bus_message **message) {
    return loaded.sd_bus_message_new_method_return(call, message);
}

int bw_message_new_signal(
    sd_bus *bus, sd_bus_message **message, const char *path, const char *interface, const char *member) {
    return loaded.sd_bus_message_new_signal(bus, message, path, interface, member);
}

int bw_message_wants_reply(sd_bus_message *call) { return loaded.sd_bus_message_get_expect_reply(call); }

int bw_message_set_auto_start(sd_bus_message *message, bool start) {
    return loaded.sd_bus_message_set_auto_start(message, start);
}

int bw_message_set_sensitive(sd_bus_message *message) { return loaded.sd_bus_message_sensitive(message); }
void bw_message_unref(sd_bus_message *message) { loaded.sd_bus_message_unref(message); }
int bw_message_refuse(sd_bus_message *call) { return loaded.sd_bus_reply_method_errno(call, EOPNOTSUPP, NULL); }

int bw_message_refuse_as(sd_bus_message *call, const char *name, const char *text) {
    const sd_bus_error error = {.name = name, .message = text};
    return loaded.sd_bus_reply_method_error(call, &error);
}

int bw_message_append(sd_bus_message *message, char type, const void *value) {
    return loaded.sd_bus_message_append_basic(message, type, value);
}

int bw_message_append_bytes(sd_bus_message *message, const void *bytes, size_t count) {
    return loaded.sd_bus_message_append_array(message, 'y', bytes, count);
}

int bw_message_open(sd_bus_message *message, char type, const char *contents) {
    return loaded.sd_bus_message_open_container(message, type, contents);
}

int bw_message_close(sd_bus_message *message) { return loaded.sd_bus_message_close_container(message); }

/* MARK: Reading */

int bw_message_type(sd_bus_message *message) {
    uint8_t type = 0;
    int r = loaded.sd_bus_message_get_type(message, &type);
    return r < 0 ? r : type;
}

int bw_message_reply_cookie(sd_bus_message *message, uint64_t *cookie) {
    return loaded.sd_bus_message_get_reply_cookie(message, cookie);
}

const char *bw_message_sender(sd_bus_message *message) { return loaded.sd_bus_message_get_sender(message); }
const char *bw_message_path(sd_bus_message *message) { return loaded.sd_bus_message_get_path(message); }
const char *bw_message_interface(sd_bus_message *message) { return loaded.sd_bus_message_get_interface(message); }
const char *bw_message_member(sd_bus_message *message) { return loaded.sd_bus_message_get_member(message); }

const char *bw_message_error_name(sd_bus_message *message) {
    const sd_bus_error *error = loaded.sd_bus_message_get_error(message);
    return error ? error->name : NULL;
}

const char *bw_message_error_text(sd_bus_message *message) {
    const sd_bus_error *error = loaded.sd_bus_message_get_error(message);
    return error ? error->message : NULL;
}

int bw_message_peek(sd_bus_message *message, char *type, const char **contents) {
    return loaded.sd_bus_message_peek_type(message, type, contents);
}

int bw_message_read(sd_bus_message *message, char type, void *value) {
    return loaded.sd_bus_message_read_basic(message, type, value);
}

int bw_message_read_bytes(sd_bus_message *message, const void **bytes, size_t *count) {
    return loaded.sd_bus_message_read_array(message, 'y', bytes, count);
}

int bw_message_enter(sd_bus_message *message, char type, const char *contents) {
    return loaded.sd_bus_message_enter_container(message, type, contents);
}

int bw_message_exit(sd_bus_message *message) { return loaded.sd_bus_message_exit_container(message); }

int bw_message_skip(sd_bus_message *message, const char *types) {
    return loaded.sd_bus_message_skip(message, types);
}
