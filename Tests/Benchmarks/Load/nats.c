/*
 * nats.c - a client of a NATS server, each peer with a subject of its own (docs.nats.io, "Client Protocol").
 */
#include "load.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 32, LINE = 4096 };

static int write_name(char name[NAME], uint32_t number)
{
    return snprintf(name, NAME, "load.%08x.%08x", run_number, number);
}

/* Without waiting for INFO: the server reads only after it has sent that. */
static void greet(struct peer *peer)
{
    char name[NAME], text[160];
    write_name(name, peer->number);
    peer->state = PEER_REGISTERING;
    output(peer, text, (size_t)snprintf(text, sizeof text,
                                        "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB %s 1\r\nPING\r\n", name));
}

static void send_to(struct peer *from, uint32_t to, const void *message, size_t length)
{
    char name[NAME], head[64];
    write_name(name, to);
    output(from, head, (size_t)snprintf(head, sizeof head, "PUB %s %zu\r\n", name, length));
    output(from, message, length);
    output(from, "\r\n", 2);
}

/* MSG SUBJECT SUBSCRIPTION BYTES */
static size_t take_message(struct peer *peer, const uint8_t *bytes, size_t head, size_t length)
{
    size_t body = 0, place = head - 2;
    while (place > 0 && bytes[place - 1] != ' ')
        place--;
    for (; place < head - 2; place++) {
        if (bytes[place] < '0' || bytes[place] > '9' || body > 1 << 24)
            broken("a damaged message");
        body = body * 10 + (size_t)(bytes[place] - '0');
    }
    if (length - head < body + 2)
        return 0;
    message_arrived(peer, bytes + head, body);
    return head + body + 2;
}

static int begins(const uint8_t *bytes, size_t length, const char *word)
{
    return length >= strlen(word) && memcmp(bytes, word, strlen(word)) == 0;
}

static size_t take(struct peer *peer, const uint8_t *bytes, size_t length)
{
    const uint8_t *end = memchr(bytes, '\n', length < LINE ? length : LINE);
    size_t head;
    if (end == NULL) {
        if (length >= LINE)
            broken("a line without an end");
        return 0;
    }
    head = (size_t)(end - bytes) + 1;
    if (begins(bytes, head, "MSG "))
        return take_message(peer, bytes, head, length);
    if (begins(bytes, head, "PONG"))
        peer_is_ready(peer);
    else if (begins(bytes, head, "PING"))
        output(peer, "PONG\r\n", 6);
    else if (!begins(bytes, head, "INFO "))
        broken("the server says %.*s", (int)head - 1, (const char *)bytes);
    return head;
}

const struct protocol nats_protocol = {"nats", greet, take, send_to};
