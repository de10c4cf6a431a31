/*
 * message.c - the message that is sent again and again, and what is checked when it arrives.
 *
 * It is a push as deployed desktops write it. Its id, of a UUID's form, tells the receiver's number and the sequence
 * number of the message among those to that receiver.
 */
#include "load.h"

#include <stdio.h>
#include <string.h>

struct tally tally;
void (*on_arrival)(uint64_t sequence);

static const char head[] = "{\"type\":\"relay:event\",\"payload\":{\"event\":\"notification.received\",\"notificationId\":\"";
static const char blank_id[] = "00000000-0000-4000-8000-000000000000";
static const char middle[] = "\",\"title\":\"Build finished\",\"body\":\"";
static const char tail[] = "\",\"priority\":\"normal\",\"source\":\"pc\",\"timestamp\":1715760000000,"
                           "\"data\":{\"category\":\"ci\",\"url\":\"app://builds/4711\",\"thread\":\"builds\"}}}";
static const char filler[] = "the quick brown fox jumps over the lazy dog ";

enum {
    HEAD = sizeof head - 1,
    ID = sizeof blank_id - 1,
    RECEIVER_DIGITS = 8,
    SEQUENCE = 24, /* where it begins in the id */
    SEQUENCE_DIGITS = ID - SEQUENCE,
    LEAST = HEAD + ID + sizeof middle - 1 + sizeof tail - 1
};

static struct {
    char *bytes;
    size_t size;
} message;

static void write_hex(char *digits, int count, uint64_t value)
{
    for (int i = count - 1; i >= 0; i--, value >>= 4)
        digits[i] = "0123456789abcdef"[value & 15];
}

/* Of what is no digit it makes some number: the receiver or the sequence is wrong then, and is counted. */
static uint64_t read_hex(const uint8_t *digits, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 4 | (uint64_t)((digits[i] & 15) + (digits[i] > '9' ? 9 : 0));
    return value;
}

void make_message(size_t size)
{
    size_t body;
    char *end;
    if (size < LEAST)
        broken("a message has at least %d bytes", (int)LEAST);
    message.bytes = malloc(size + 1);
    if (message.bytes == NULL)
        broken("out of memory");
    message.size = size;
    end = stpcpy(stpcpy(stpcpy(message.bytes, head), blank_id), middle);
    body = size - LEAST;
    for (size_t i = 0; i < body; i++)
        *end++ = filler[i % (sizeof filler - 1)];
    memcpy(end, tail, sizeof tail);
}

void send_message(struct peer *from, uint32_t to)
{
    char *id = message.bytes + HEAD;
    write_hex(id, RECEIVER_DIGITS, to);
    write_hex(id + SEQUENCE, SEQUENCE_DIGITS, peers[to].sent++);
    protocol->send(from, to, message.bytes, message.size);
}

void post_message(struct peer *from, uint32_t to)
{
    from->posted++;
    send_message(from, to);
}

void message_accepted(struct peer *from)
{
    from->accepted++;
    tally.accepted++;
}

void message_arrived(struct peer *peer, const uint8_t *bytes, size_t length)
{
    const uint8_t *id = bytes + HEAD;
    const size_t rest = HEAD + ID;
    uint64_t sequence;
    tally.arrived++;
    if (length < message.size || memcmp(bytes, head, HEAD) != 0
        || memcmp(id + RECEIVER_DIGITS, blank_id + RECEIVER_DIGITS, SEQUENCE - RECEIVER_DIGITS) != 0
        || memcmp(bytes + rest, message.bytes + rest, message.size - rest) != 0) {
        tally.altered++;
        return;
    }
    if (read_hex(id, RECEIVER_DIGITS) != peer->number) {
        tally.misrouted++;
        return;
    }
    sequence = read_hex(id + SEQUENCE, SEQUENCE_DIGITS);
    if (sequence < peer->arrived || sequence >= peer->sent) {
        tally.repeated++;
        return;
    }
    tally.lost += sequence - peer->arrived;
    peer->arrived = sequence + 1;
    if (on_arrival != NULL)
        on_arrival(sequence);
}
