/*
 * mqtt.c - a client of an MQTT 3.1.1 broker, each peer with a topic of its own.
 *
 * At QoS 0 the broker forgets a client that leaves. At QoS 1 it keeps the client's session and stores messages for it.
 */
#include "load.h"

#include <stdio.h>
#include <string.h>

enum {
    CONNECT = 0x10, CONNACK = 0x2, PUBLISH = 0x3, SUBSCRIBE = 0x82, SUBACK = 0x9, PUBACK = 0x4,
    QOS_1 = 0x02 /* a flag of PUBLISH */
};
enum { NAME = 24, LONGEST_HEAD = 5 };

static size_t write_name(char name[NAME], uint32_t number)
{
    return (size_t)snprintf(name, NAME, "%08x/%08x", run_number, number);
}

/* The packet's type, and how many bytes follow: seven bits a byte, the lowest first. */
static void send_head(struct peer *peer, unsigned type, size_t length)
{
    uint8_t head[LONGEST_HEAD] = {(uint8_t)type};
    size_t size = 1;
    do {
        head[size++] = (uint8_t)((length & 0x7F) | (length > 0x7F ? 0x80 : 0));
        length >>= 7;
    } while (length > 0);
    output(peer, head, size);
}

static void send_name(struct peer *peer, const char *name, size_t length)
{
    const uint8_t size[2] = {(uint8_t)(length >> 8), (uint8_t)length};
    output(peer, size, sizeof size);
    output(peer, name, length);
}

static void greet(struct peer *peer)
{
    /* The protocol's name and level, whether the session is a clean one, no keepalive. */
    const uint8_t header[10] = {0, 4, 'M', 'Q', 'T', 'T', 4, options.qos ? 0 : 2, 0, 0};
    char name[NAME];
    size_t length = write_name(name, peer->number);
    send_head(peer, CONNECT, sizeof header + 2 + length);
    output(peer, header, sizeof header);
    send_name(peer, name, length);
}

static void subscribe(struct peer *peer)
{
    static const uint8_t packet_id[2] = {0, 1};
    const uint8_t quality[1] = {(uint8_t)options.qos};
    char name[NAME];
    size_t length = write_name(name, peer->number);
    send_head(peer, SUBSCRIBE, sizeof packet_id + 2 + length + sizeof quality);
    output(peer, packet_id, sizeof packet_id);
    send_name(peer, name, length);
    output(peer, quality, sizeof quality);
}

static void send_to(struct peer *from, uint32_t to, const void *message, size_t length)
{
    char name[NAME];
    size_t name_length = write_name(name, to);
    /* From 1 to 65,535; fewer messages than that are unanswered. */
    const unsigned id = (unsigned)(from->posted % UINT16_MAX) + 1;
    const uint8_t packet_id[2] = {(uint8_t)(id >> 8), (uint8_t)id};
    const size_t id_length = options.qos ? sizeof packet_id : 0;
    send_head(from, PUBLISH << 4 | (options.qos ? QOS_1 : 0), 2 + name_length + id_length + length);
    send_name(from, name, name_length);
    output(from, packet_id, id_length);
    output(from, message, length);
}

static void take_packet(struct peer *peer, unsigned first, const uint8_t *body, size_t length)
{
    size_t topic;
    switch (first >> 4) {
    case CONNACK:
        if (length < 2 || body[1] != 0)
            broken("the broker refuses a client");
        peer->state = PEER_REGISTERING;
        subscribe(peer);
        break;
    case SUBACK: peer_is_ready(peer); break;
    case PUBLISH:
        topic = length < 2 ? length : 2u + ((size_t)body[0] << 8 | body[1]);
        if (topic + (first & QOS_1) > length)
            broken("a damaged packet");
        if (first & QOS_1) {
            send_head(peer, PUBACK << 4, 2);
            output(peer, body + topic, 2);
            topic += 2;
        }
        message_arrived(peer, body + topic, length - topic);
        break;
    case PUBACK: message_accepted(peer); break;
    default: break;
    }
}

static size_t take(struct peer *peer, const uint8_t *bytes, size_t length)
{
    size_t head = 1, body = 0;
    int is_last = 0;
    for (unsigned shift = 0; !is_last; shift += 7) {
        if (head == length || head == LONGEST_HEAD)
            return 0;
        body |= (size_t)(bytes[head] & 0x7F) << shift;
        is_last = (bytes[head++] & 0x80) == 0;
    }
    if (length - head < body)
        return 0;
    take_packet(peer, bytes[0], bytes + head, body);
    return head + body;
}

const struct protocol mqtt_protocol = {"mqtt", greet, take, send_to};
