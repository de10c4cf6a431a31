/*
 * The part of libcurl that Bellwire uses, in libcurl.so.4 (or its GnuTLS build), which is loaded on first use: a machine
 * without it runs everything else.
 *
 * One transfer is one GET over HTTPS, by curl's multi_socket interface, with a multi handle of its own: no connection, no
 * name and no TLS session of one serves another. It never looks a name up, never follows a redirect, uses no proxy,
 * cookies, user name or file of curl's, starts no thread and never waits. Everything belongs to one thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A loaded library. It stays loaded. */
struct bw_curl;

/* Loads the library of that name and starts it, if it is new enough (7.85). On failure: -ENOENT, and the reason in `why`,
 * cut to its `size`. Any thread. */
int bw_curl_load(const struct bw_curl **curl, const char *name, char *why, size_t size);

/* What `reference` means where it stands in the answer from `base`: the whole address in `result`. False when it means
 * nothing or is too long. */
bool bw_curl_resolve(const struct bw_curl *curl, const char *base, const char *reference, char *result, size_t size);

enum { BW_TRANSFER_READ = 1, BW_TRANSFER_WRITE = 2, BW_TRANSFER_ERROR = 4 };

/* Called inside bw_transfer_step() and bw_transfer_end() only; none of them may call anything of this header. */
struct bw_transfer_calls {
    void *context;
    /* Wants to hear when the descriptor can be read or written; 0 = no more: it is about to be closed. */
    void (*watch)(void *context, int descriptor, int events);
    /* Wants bw_transfer_step() with -1 after so many milliseconds, instead of before; negative = not at all. */
    void (*timer)(void *context, long milliseconds);
    /* Whether a connection may go to this address (a struct sockaddr). */
    bool (*connect)(void *context, const void *address, size_t size);
    /* A line of a response's head, with its line end; an empty one ends the head. False stops the transfer. */
    bool (*head)(void *context, long status, const char *line, size_t count);
    /* Bytes of the body. False stops the transfer. */
    bool (*body)(void *context, const char *bytes, size_t count);
};

struct bw_transfer;

/* Prepares a transfer; it begins with the first step. NULL when libcurl has no memory, or does not know an option.
 *   pin       where the name leads: "host:port:address,address"; NULL when the host is an address
 *   ca_file   the authorities to trust, PEM, in place of the system's; NULL = the system's
 *   accept, agent   the header lines to send: "Accept: …", "User-Agent: …"
 *   maximum   a body that says that it is longer is refused before it comes */
struct bw_transfer *bw_transfer_new(
    const struct bw_curl *curl, const struct bw_transfer_calls *calls, const char *url, const char *pin,
    const char *ca_file, const char *accept, const char *agent, int64_t maximum);

enum bw_transfer_result {
    BW_TRANSFER_DONE = 0,
    BW_TRANSFER_STOPPED, /* by a callback */
    BW_TRANSFER_NO_CONNECTION,
    BW_TRANSFER_TLS,
    BW_TRANSFER_CERTIFICATE,
    BW_TRANSFER_CA_FILE,
    BW_TRANSFER_TOO_LARGE,
    BW_TRANSFER_CUT,
    BW_TRANSFER_NO_HTTP,
    BW_TRANSFER_NO_NAME, /* the pin was not used */
    BW_TRANSFER_OTHER,
};

/* Goes on, because of what happened on a descriptor, or, with -1, because time has passed. True when the transfer has
 * ended, with how in `result`. */
bool bw_transfer_step(struct bw_transfer *transfer, int descriptor, int events, enum bw_transfer_result *result);
/* The Content-Type of the answer, or NULL; belongs to the transfer. */
const char *bw_transfer_content_type(struct bw_transfer *transfer);
/* Ends and frees it, at any time but inside a callback. */
void bw_transfer_end(struct bw_transfer *transfer);

#pragma GCC visibility pop
