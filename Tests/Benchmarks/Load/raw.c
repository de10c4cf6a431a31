/*
 * raw.c - a client of forward.c: the length of what follows, the receiver's number, the message.
 */
#include "load.h"

#include <string.h>

static void send_to(struct peer *from, uint32_t to, const void *message, size_t length)
{
    const uint32_t head[2] = {(uint32_t)(length + sizeof to), to};
    output(from, head, sizeof head);
    output(from, message, length);
}

static void greet(struct peer *peer) { send_to(peer, RAW_REGISTRATION, &peer->number, sizeof peer->number); }

static size_t take(struct peer *peer, const uint8_t *bytes, size_t length)
{
    uint32_t head[2];
    size_t frame;
    if (length < sizeof head)
        return 0;
    memcpy(head, bytes, sizeof head);
    frame = head[0] + sizeof head[0];
    if (length < frame)
        return 0;
    if (head[1] == RAW_REGISTRATION)
        peer_is_ready(peer);
    else
        message_arrived(peer, bytes + sizeof head, frame - sizeof head);
    return frame;
}

const struct protocol raw_protocol = {"raw", greet, take, send_to};
