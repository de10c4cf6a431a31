/*
 * load.h - what the parts of the relay benchmark's load generator share.
 *
 * load.c reads the command line; runs.c has the runs and prints their results; peers.c opens connections and moves their
 * bytes; message.c makes the message and checks each that arrives; identity.c has the keys of peers that prove their ids;
 * websocket.c, raw.c, mqtt.c and nats.c speak the protocols.
 * One thread plays all clients of a server on loopback, so it knows what was sent to whom.
 */
#ifndef LOAD_H
#define LOAD_H

#include "../measure.h"

#include <stdint.h>
#include <stdlib.h>

/* ---- load.c: the command line --------------------------------------------------------------------------------- */

struct options {
    long port;
    long pid;        /* the server's                                              */
    long pairs;      /* senders, each with a receiver of its own                  */
    long window;     /* messages under way between a pair, at most                */
    long size;       /* bytes of a message                                        */
    long rate;       /* messages a second                                         */
    long idle;       /* peers that only stay connected                            */
    long run_ms;     /* how long is measured                                      */
    long warm_up_ms; /* before it                                                 */
    long quiet_ms;   /* the server counts as settled when it sends nothing so long */
    long other_port; /* of the receivers' server; 0 = it is the senders'          */
    long other_pid;
    long proved;     /* 1 = peers prove their ids                                 */
};
extern struct options options;

/* Part of every peer's name: peers of two runs against one server have different ones. */
extern unsigned run_number;

/* ---- peers.c: connections ------------------------------------------------------------------------------------- */

enum peer_state { PEER_CONNECTING, PEER_GREETING, PEER_REGISTERING, PEER_READY };

struct buffer {
    uint8_t *bytes;
    size_t length, capacity;
};

struct peer {
    int socket;
    enum peer_state state;
    int awaits_writable; /* epoll watches for it */
    int is_queued;       /* in the list of peers with output */
    struct peer *next_queued;
    uint32_t number;
    struct buffer input, output; /* the start of an incomplete frame; what the kernel has not taken yet */
    uint64_t sent, arrived;      /* messages to this peer: sequence numbers of the next */
};

extern struct peer *peers; /* by their numbers */

void make_peers(uint32_t count);

/* Connects and registers peers, at most `burst` of them at a time, and waits for all. */
void register_peers(uint32_t first, uint32_t count, uint32_t burst);

/* Room for more output of a peer, which is sent with the next pump(); written() says how much was used. */
uint8_t *output_room(struct peer *peer, size_t size);
void written(struct peer *peer, size_t size);
void output(struct peer *peer, const void *bytes, size_t size);

/* When so many peers were ready. */
extern struct milestone {
    uint64_t count, at;
} milestone;

/* Called by a protocol when the server has accepted a registration. */
void peer_is_ready(struct peer *peer);

/* Sends output, waits at most so long for input, handles it, and sends what it caused. */
void pump(uint64_t nanoseconds);

/* Until nothing has arrived for options.quiet_ms. */
void await_quiet(void);

/* ---- message.c: what is sent and checked ---------------------------------------------------------------------- */

struct tally {
    uint64_t ready;    /* registered peers                   */
    uint64_t arrived;  /* messages                           */
    uint64_t lost;     /* messages that a later one overtook, or that never arrived */
    uint64_t repeated; /* arrived again, or too late         */
    uint64_t misrouted, altered;
    uint64_t refused;  /* errors that the server sent        */
};
extern struct tally tally;

/* Called for each message that arrives in order, when set. */
extern void (*on_arrival)(uint64_t sequence);

void make_message(size_t size);

/* The next message to a peer. */
void send_message(struct peer *from, uint32_t to);

/* A peer got a message, which begins here. */
void message_arrived(struct peer *peer, const uint8_t *bytes, size_t length);

/* ---- identity.c: peers that prove their ids ------------------------------------------------------------------- */

enum { SIGNATURE_TEXT = 88 }; /* with the zero at its end */

void make_identities(uint32_t count);
const char *identity_name(uint32_t number);

/* The signature of a peer, in base64url, for the relay of that origin. */
void sign_nonce(uint32_t number, const char *origin, const char *nonce, char *signature, size_t size);

/* ---- websocket.c, raw.c, mqtt.c, nats.c ----------------------------------------------------------------------- */

struct protocol {
    const char *name;
    /* Sends what a client begins with, once connected. */
    void (*greet)(struct peer *peer);
    /* Takes one frame off the input. Returns its length, 0 when it is incomplete. */
    size_t (*take)(struct peer *peer, const uint8_t *bytes, size_t length);
    void (*send)(struct peer *from, uint32_t to, const void *message, size_t length);
};
extern const struct protocol websocket_protocol, raw_protocol, mqtt_protocol, nats_protocol;
extern const struct protocol *protocol; /* that of this run */

/* The target of a raw frame that registers its sender: see forward.c. */
#define RAW_REGISTRATION UINT32_MAX

/* ---- runs.c: each returns 0, or 2 when a message was lost, repeated, misrouted or altered ---------------------- */

int run_throughput(void);
int run_latency(void);
int run_registrations(void);

#endif /* LOAD_H */
