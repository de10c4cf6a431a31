/*
 * peers.c - connections of the load generator: non-blocking sockets on one epoll descriptor.
 */
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 512, INPUT = 1 << 20 };

/* Nothing that the benchmark waits for takes so long; a run that waits longer is broken. */
#define PATIENCE_NS UINT64_C(120000000000)

struct peer *peers;

static struct peer *queued; /* those with output */
static int events = -1;
static uint64_t deadline, last_input;

static void watch(struct peer *peer, int operation, int for_writable)
{
    struct epoll_event event;
    event.events = EPOLLIN | (for_writable ? EPOLLOUT : 0);
    event.data.ptr = peer;
    if (epoll_ctl(events, operation, peer->socket, &event) != 0)
        broken("epoll: %s", strerror(errno));
    peer->awaits_writable = for_writable;
}

struct milestone milestone;

void make_peers(uint32_t count)
{
    peers = calloc(count, sizeof *peers);
    events = epoll_create1(EPOLL_CLOEXEC);
    if (peers == NULL || events < 0)
        broken("cannot make %u peers", count);
    if (options.proved)
        make_identities(count);
    deadline = now_ns() + PATIENCE_NS;
}

/* ---- output --------------------------------------------------------------------------------------------------- */

uint8_t *output_room(struct peer *peer, size_t size)
{
    struct buffer *output = &peer->output;
    if (output->length + size > output->capacity) {
        output->capacity = (output->length + size) * 2;
        output->bytes = realloc(output->bytes, output->capacity);
        if (output->bytes == NULL)
            broken("out of memory");
    }
    return output->bytes + output->length;
}

void written(struct peer *peer, size_t size)
{
    peer->output.length += size;
    if (!peer->is_queued) {
        peer->is_queued = 1;
        peer->next_queued = queued;
        queued = peer;
    }
}

void output(struct peer *peer, const void *bytes, size_t size)
{
    memcpy(output_room(peer, size), bytes, size);
    written(peer, size);
}

static void flush_peer(struct peer *peer)
{
    struct buffer *output = &peer->output;
    ssize_t taken;
    int is_left;
    if (peer->state == PEER_CONNECTING || peer->state == PEER_SECURING || output->length == 0)
        return;
    taken = peer->tls != NULL ? tls_send(peer, output->bytes, output->length)
                              : send(peer->socket, output->bytes, output->length, MSG_NOSIGNAL);
    if (taken < 0 && errno != EAGAIN && errno != EINTR)
        broken("send: %s", strerror(errno));
    if (taken > 0) {
        output->length -= (size_t)taken;
        memmove(output->bytes, output->bytes + taken, output->length);
    }
    is_left = output->length > 0;
    if (is_left != peer->awaits_writable)
        watch(peer, EPOLL_CTL_MOD, is_left);
}

static void flush_all(void)
{
    while (queued != NULL) {
        struct peer *peer = queued;
        queued = peer->next_queued;
        peer->is_queued = 0;
        flush_peer(peer);
    }
}

/* ---- input ---------------------------------------------------------------------------------------------------- */

static void keep_incomplete(struct buffer *input, const uint8_t *bytes, size_t length)
{
    if (length > input->capacity) {
        input->bytes = realloc(input->bytes, length);
        input->capacity = length;
        if (input->bytes == NULL)
            broken("out of memory");
    }
    if (length > 0)
        memcpy(input->bytes, bytes, length);
    input->length = length;
}

static void read_peer(struct peer *peer)
{
    static uint8_t bytes[INPUT];
    struct buffer *input = &peer->input;
    size_t length = input->length, used = 0, frame;
    ssize_t got;
    if (length > 0)
        memcpy(bytes, input->bytes, length);
    got = peer->tls != NULL ? tls_receive(peer, bytes + length, sizeof bytes - length)
                            : recv(peer->socket, bytes + length, sizeof bytes - length, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        broken("the server closed connection %u: %s", peer->number, got < 0 ? strerror(errno) : "end of stream");
    length += (size_t)got;
    while (used < length && (frame = protocol->take(peer, bytes + used, length - used)) > 0)
        used += frame;
    if (used == 0 && length == sizeof bytes)
        broken("a frame of more than %d bytes", INPUT);
    keep_incomplete(input, bytes + used, length - used);
}

static void greet(struct peer *peer)
{
    peer->state = PEER_GREETING;
    protocol->greet(peer);
}

static void secure(struct peer *peer)
{
    if (tls_handshake(peer))
        greet(peer);
}

static void connected(struct peer *peer)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(peer->socket, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
        broken("connect: %s", strerror(error));
    watch(peer, EPOLL_CTL_MOD, 0);
    if (!options.tls) {
        greet(peer);
        return;
    }
    peer->state = PEER_SECURING;
    secure(peer);
}

void pump(uint64_t nanoseconds)
{
    struct epoll_event happened[EVENTS];
    struct timespec wait = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    uint64_t now;
    int count;
    flush_all();
    count = epoll_pwait2(events, happened, EVENTS, &wait, NULL);
    for (int i = 0; i < count; i++) {
        struct peer *peer = happened[i].data.ptr;
        if (peer->state == PEER_CONNECTING)
            connected(peer);
        else if (peer->state == PEER_SECURING)
            secure(peer);
        else if (happened[i].events & EPOLLOUT)
            flush_peer(peer);
        if (peer->state != PEER_SECURING && happened[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            read_peer(peer);
    }
    flush_all();
    now = now_ns();
    if (count > 0)
        last_input = now;
    if (now > deadline)
        broken("the run is not over after %d s: %" PRIu64 " peers ready, %" PRIu64 " messages arrived",
               (int)(PATIENCE_NS / 1000000000u), tally.ready, tally.arrived);
}

void await_quiet(void)
{
    last_input = now_ns();
    do
        pump(20000000);
    while (now_ns() - last_input < (uint64_t)options.quiet_ms * 1000000u);
}

/* ---- registering ---------------------------------------------------------------------------------------------- */

static int is_odd(uint32_t number) { return number % 2 == 1; }
int (*is_elsewhere)(uint32_t number) = is_odd;

static void open_peer(uint32_t number)
{
    struct peer *peer = &peers[number];
    struct sockaddr_in address;
    int one = 1;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port =
        htons((uint16_t)(options.other_port > 0 && is_elsewhere(number) ? options.other_port : options.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer->number = number;
    peer->state = PEER_CONNECTING;
    peer->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (peer->socket < 0)
        broken("socket: %s", strerror(errno));
    setsockopt(peer->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(peer->socket, (struct sockaddr *)&address, sizeof address) != 0 && errno != EINPROGRESS)
        broken("connect: %s", strerror(errno));
    watch(peer, EPOLL_CTL_ADD, 1);
}

void peer_is_ready(struct peer *peer)
{
    if (peer->state == PEER_READY)
        return;
    peer->state = PEER_READY;
    if (++tally.ready == milestone.count)
        milestone.at = now_ns();
}

void register_peers(uint32_t first, uint32_t count, uint32_t burst)
{
    const uint64_t before = tally.ready;
    uint32_t opened = 0;
    while (tally.ready - before < count) {
        while (opened < count && opened - (tally.ready - before) < burst)
            open_peer(first + opened++);
        pump(100000000);
    }
}

void close_peers(uint32_t first, uint32_t count)
{
    flush_all();
    for (uint32_t number = first; number < first + count; number++) {
        struct peer *peer = &peers[number];
        tls_free(peer);
        close(peer->socket);
        peer->state = PEER_CONNECTING;
        peer->input.length = peer->output.length = 0;
    }
}
