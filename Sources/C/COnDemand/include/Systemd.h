/*
 * The part of sd-bus that Bellwire uses, in libsystemd.so.0, which is loaded on first use: a machine without it runs
 * everything else. Nothing here calls back, starts a thread or blocks; what arrives is what bw_bus_process() returns.
 *
 * Results are sd-bus's: 0 or more, or a negative errno. Until bw_systemd_load() has given 0, no other function may be
 * called. A connection and its messages belong to one thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sd_bus;
struct sd_bus_message;

#pragma GCC visibility push(hidden)

/* Loads the library, once for the process; later calls with a name that can be loaded give 0 too. On failure: -ENOENT,
 * and the reason in `why`, cut to its `size`. Any thread. */
int bw_systemd_load(const char *name, char *why, size_t size);

/* A connection to the bus at `address`, on its way; sends Hello by itself. `take_descriptors`: whether messages may
 * carry file descriptors. */
int bw_bus_open(struct sd_bus **bus, const char *address, bool take_descriptors);
/* Ends the connection without waiting, and frees it. Its descriptor is closed. */
void bw_bus_close(struct sd_bus *bus);
int bw_bus_descriptor(struct sd_bus *bus);
/* What to poll the descriptor for: POLLIN, POLLOUT. */
int bw_bus_events(struct sd_bus *bus);
/* When bw_bus_process() wants to be called even if nothing comes: microseconds of CLOCK_MONOTONIC, or UINT64_MAX. */
int bw_bus_timeout(struct sd_bus *bus, uint64_t *microseconds);
/* One step: 0 = nothing more to do now. `message` may be set when the result is positive; the caller unrefs it. */
int bw_bus_process(struct sd_bus *bus, struct sd_bus_message **message);
/* Whether the bus has said its welcome. */
int bw_bus_is_ready(struct sd_bus *bus);
/* Our own name. Only when ready: earlier it would block. */
int bw_bus_name(struct sd_bus *bus, const char **name);
/* Sends, or queues what the socket does not take; `cookie` is what the reply will carry, NULL = none is wanted. */
int bw_bus_send(struct sd_bus *bus, struct sd_bus_message *message, uint64_t *cookie);

int bw_message_new_call(
    struct sd_bus *bus, struct sd_bus_message **message, const char *destination, const char *path,
    const char *interface, const char *member);
/* The answer to a call that came. */
int bw_message_new_reply(struct sd_bus_message *call, struct sd_bus_message **message);
/* A signal to everybody. */
int bw_message_new_signal(
    struct sd_bus *bus, struct sd_bus_message **message, const char *path, const char *interface, const char *member);
/* Whether whoever called waits for an answer. */
int bw_message_wants_reply(struct sd_bus_message *call);
/* Whether the bus may start the service that is called. */
int bw_message_set_auto_start(struct sd_bus_message *message, bool start);
/* The message's memory is wiped when it is freed. */
int bw_message_set_sensitive(struct sd_bus_message *message);
void bw_message_unref(struct sd_bus_message *message);
/* Answers a method call with "not supported", if it wants an answer. */
int bw_message_refuse(struct sd_bus_message *call);
/* The same, with an error's D-Bus name and a text for people. */
int bw_message_refuse_as(struct sd_bus_message *call, const char *name, const char *text);

/* `value`: the text itself for s, o, g; else a pointer to the value (b is an int). */
int bw_message_append(struct sd_bus_message *message, char type, const void *value);
int bw_message_append_bytes(struct sd_bus_message *message, const void *bytes, size_t count);
int bw_message_open(struct sd_bus_message *message, char type, const char *contents);
int bw_message_close(struct sd_bus_message *message);

enum { BW_MESSAGE_CALL = 1, BW_MESSAGE_RETURN = 2, BW_MESSAGE_ERROR = 3, BW_MESSAGE_SIGNAL = 4 };
int bw_message_type(struct sd_bus_message *message);
int bw_message_reply_cookie(struct sd_bus_message *message, uint64_t *cookie);
/* These may be NULL, and belong to the message. */
const char *bw_message_sender(struct sd_bus_message *message);
const char *bw_message_path(struct sd_bus_message *message);
const char *bw_message_interface(struct sd_bus_message *message);
const char *bw_message_member(struct sd_bus_message *message);
const char *bw_message_error_name(struct sd_bus_message *message);
const char *bw_message_error_text(struct sd_bus_message *message);

/* The type of the next value and, of a container, its contents; 0 = the end of the container or message. */
int bw_message_peek(struct sd_bus_message *message, char *type, const char **contents);
/* 0 = the end; -ENXIO = the next value has another type. Texts and descriptors belong to the message. */
int bw_message_read(struct sd_bus_message *message, char type, void *value);
/* An array of bytes; it belongs to the message. */
int bw_message_read_bytes(struct sd_bus_message *message, const void **bytes, size_t *count);
int bw_message_enter(struct sd_bus_message *message, char type, const char *contents);
int bw_message_exit(struct sd_bus_message *message);
/* Passes over values; NULL = one value of whatever type. */
int bw_message_skip(struct sd_bus_message *message, const char *types);

#pragma GCC visibility pop
