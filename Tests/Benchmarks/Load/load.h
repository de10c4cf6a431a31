/*
 * load.h - what the parts of the relay benchmark's load generator share.
 *
 * load.c reads the command line; runs.c, stored.c and beside.c have the runs and print their results; peers.c opens
 * connections and moves their bytes, through tls.c if they are encrypted; message.c makes the message and checks each that
 * arrives; identity.c has the keys of peers that prove their ids; websocket.c, raw.c, mqtt.c and nats.c speak the protocols.
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
    long tls;        /* 1 = over TLS                                              */
    long each;       /* messages stored for each absent peer                      */
    long health;     /* port of the relay's health page; 0 = a message that is accepted counts as stored */
    long settle_ms;  /* how long registered peers stay idle before the server's memory is read */
    long qos;        /* of MQTT; 1 = sessions outlive their connections           */
    long run_number; /* 0 = a new one                                             */
};
extern struct options options;

/* Part of every peer's name: peers of two runs against one server have different ones, unless --run-number is given. */
extern unsigned run_number;

/* ---- peers.c: connections ------------------------------------------------------------------------------------- */

enum peer_state { PEER_CONNECTING, PEER_SECURING, PEER_GREETING, PEER_REGISTERING, PEER_READY };

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
    uint64_t posted, accepted;   /* messages from this peer to absent ones; those that the server has answered */
    struct ssl_st *tls;          /* NULL = not encrypted */
};

extern struct peer *peers; /* by their numbers */

void make_peers(uint32_t count);

/* Whether a peer connects to --other-port, if there is one; receivers do, which are odd. */
extern int (*is_elsewhere)(uint32_t number);

/* Connects and registers peers, at most `burst` of them at a time, and waits for all. */
void register_peers(uint32_t first, uint32_t count, uint32_t burst);

/* Closes connections. Their peers may register again. */
void close_peers(uint32_t first, uint32_t count);

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
    uint64_t accepted; /* messages to absent peers that the server has answered */
    uint64_t refused;  /* errors that the server sent        */
};
extern struct tally tally;

/* Called for each message that arrives in order, when set. */
extern void (*on_arrival)(uint64_t sequence);

void make_message(size_t size);

/* The next message to a peer. */
void send_message(struct peer *from, uint32_t to);

/* The same, to a peer that is absent: see message_accepted(). */
void post_message(struct peer *from, uint32_t to);

/* The server has answered a message to an absent peer. */
void message_accepted(struct peer *from);

/* A peer got a message, which begins here. */
void message_arrived(struct peer *peer, const uint8_t *bytes, size_t length);

/* ---- identity.c: peers that prove their ids ------------------------------------------------------------------- */

enum { SIGNATURE_TEXT = 88 }; /* with the zero at its end */

void make_identities(uint32_t count);
const char *identity_name(uint32_t number);

/* The signature of a peer, in base64url, for the relay of that origin. Over TLS it includes that of the connection. */
void sign_nonce(const struct peer *peer, const char *origin, const char *nonce, char *signature, size_t size);

/* ---- tls.c: each client's end of TLS -------------------------------------------------------------------------- */

enum { TLS_BINDING = 32 };

/* Goes on with a handshake, and begins it. 1 = it is done. */
int tls_handshake(struct peer *peer);

/* Like send() and recv() without flags. */
ssize_t tls_send(struct peer *peer, const void *bytes, size_t length);
ssize_t tls_receive(struct peer *peer, void *bytes, size_t size);

/* The exporter of RFC 9266: it differs for each connection. */
void tls_binding(const struct peer *peer, uint8_t binding[TLS_BINDING]);
void tls_free(struct peer *peer);

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

/* ---- runs.c, stored.c, beside.c: each returns 0, or 2 when a message was lost, repeated, misrouted or altered --- */

enum { REGISTERING_AT_ONCE = 64 };

/* Ends the line of JSON, and tells whether every message arrived as it should; so many never did. */
int finish(uint64_t missing);

int run_throughput(void);
int run_latency(void);
int run_registrations(void);
int run_store(void);
int run_drain(void);
int run_beside(void);

#endif /* LOAD_H */
