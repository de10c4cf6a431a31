/*
 * forward.c - the least that a relay does, as a bound for the relay benchmark: frames in, the same frames out.
 *
 *   forward PORT
 *
 * TCP on loopback, one thread. A frame is the length of what follows, a receiver's number, a message; the numbers are
 * 32 bits in the machine's order. A frame to RAW_REGISTRATION has its sender's number as its message and is answered
 * with an empty one; any other goes unchanged to its receiver, or nowhere. Nothing is parsed, unmasked, kept or logged.
 * What one turn of the loop brings for a receiver leaves in one write.
 */
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, INPUT = 1 << 20, NUMBERS = 1 << 17 };

struct client {
    int socket, awaits_writable, is_queued;
    uint32_t number; /* NUMBERS until it is registered */
    struct buffer input, output;
    struct client *next_queued;
};

static struct client *clients[NUMBERS], *queued;
static int events;

static void make_room(struct buffer *buffer, size_t size)
{
    if (size <= buffer->capacity)
        return;
    buffer->capacity = size * 2;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    if (buffer->bytes == NULL)
        broken("out of memory");
}

static void watch(struct client *client, int operation, int for_writable)
{
    struct epoll_event event;
    event.events = EPOLLIN | (for_writable ? EPOLLOUT : 0);
    event.data.ptr = client;
    epoll_ctl(events, operation, client->socket, &event);
    client->awaits_writable = for_writable;
}

static void flush(struct client *client)
{
    struct buffer *output = &client->output;
    ssize_t taken = send(client->socket, output->bytes, output->length, MSG_NOSIGNAL);
    if (taken > 0) {
        output->length -= (size_t)taken;
        memmove(output->bytes, output->bytes + taken, output->length);
    }
    if (client->awaits_writable != (output->length > 0))
        watch(client, EPOLL_CTL_MOD, output->length > 0);
}

static void forward(struct client *to, const void *frame, size_t size)
{
    make_room(&to->output, to->output.length + size);
    memcpy(to->output.bytes + to->output.length, frame, size);
    to->output.length += size;
    if (!to->is_queued) {
        to->is_queued = 1;
        to->next_queued = queued;
        queued = to;
    }
}

/* 0 when the frame is damaged. */
static int take_frame(struct client *from, uint32_t target, const uint8_t *frame, size_t size)
{
    static const uint32_t answer[2] = {sizeof target, RAW_REGISTRATION};
    if (target == RAW_REGISTRATION) {
        if (size < sizeof answer + sizeof from->number)
            return 0;
        memcpy(&from->number, frame + sizeof answer, sizeof from->number);
        if (from->number >= NUMBERS) {
            from->number = NUMBERS;
            return 0;
        }
        clients[from->number] = from;
        forward(from, answer, sizeof answer);
    } else if (target < NUMBERS && clients[target] != NULL) {
        forward(clients[target], frame, size);
    }
    return 1;
}

/* 0 when the connection is over. */
static int read_client(struct client *client)
{
    static uint8_t bytes[INPUT];
    struct buffer *input = &client->input;
    size_t length = input->length, used = 0;
    uint32_t head[2];
    ssize_t got;
    if (length > 0)
        memcpy(bytes, input->bytes, length);
    got = recv(client->socket, bytes + length, sizeof bytes - length, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 1;
    if (got <= 0)
        return 0;
    length += (size_t)got;
    while (length - used >= sizeof head) {
        size_t size;
        memcpy(head, bytes + used, sizeof head);
        size = head[0] + sizeof head[0];
        if (size < sizeof head || size > sizeof bytes)
            return 0;
        if (length - used < size)
            break;
        if (!take_frame(client, head[1], bytes + used, size))
            return 0;
        used += size;
    }
    input->length = length - used;
    make_room(input, input->length);
    if (input->length > 0)
        memcpy(input->bytes, bytes + used, input->length);
    return 1;
}

static void accept_clients(int listener)
{
    int one = 1, end;
    while ((end = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct client *client = calloc(1, sizeof *client);
        if (client == NULL)
            broken("out of memory");
        client->socket = end;
        client->number = NUMBERS;
        setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        watch(client, EPOLL_CTL_ADD, 0);
    }
}

static void forget(struct client *client)
{
    if (client->number < NUMBERS && clients[client->number] == client)
        clients[client->number] = NULL;
    close(client->socket);
    free(client->input.bytes);
    free(client->output.bytes);
    free(client);
}

static void flush_all(void)
{
    while (queued != NULL) {
        struct client *client = queued;
        queued = client->next_queued;
        client->is_queued = 0;
        flush(client);
    }
}

static int listen_on(int port)
{
    struct rlimit limit;
    struct sockaddr_in address;
    struct epoll_event event;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1024) != 0)
        broken("cannot listen on port %d: %s", port, strerror(errno));
    events = epoll_create1(EPOLL_CLOEXEC);
    event.events = EPOLLIN;
    event.data.ptr = NULL; /* the listener is no client */
    if (events < 0 || epoll_ctl(events, EPOLL_CTL_ADD, listener, &event) != 0)
        broken("epoll: %s", strerror(errno));
    return listener;
}

int main(int argc, char **argv)
{
    int listener = listen_on(argc == 2 ? (int)strtol(argv[1], NULL, 10) : 0);
    for (;;) {
        struct epoll_event happened[EVENTS];
        struct client *gone[EVENTS];
        int ended = 0, count = epoll_wait(events, happened, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            struct client *client = happened[i].data.ptr;
            if (client == NULL) {
                accept_clients(listener);
                continue;
            }
            if (happened[i].events & EPOLLOUT)
                flush(client);
            if ((happened[i].events & ~(uint32_t)EPOLLOUT) != 0 && !read_client(client))
                gone[ended++] = client;
        }
        flush_all();
        while (ended > 0)
            forget(gone[--ended]);
    }
}
