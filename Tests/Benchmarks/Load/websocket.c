/*
 * websocket.c - a relay's client: RFC 6455 with JSON frames (Wire page, "Relay frames").
 */
#include "load.h"

#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

enum { ID_TEXT = 64 }; /* with the zero at its end */
enum { TEXT = 0x1, CLOSE = 0x8, PING = 0x9, PONG = 0xA, FINAL = 0x80, MASKED = 0x80 };

/* The sample of RFC 6455, section 1.3: a key whose answer is known. */
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ANSWER "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

/* Not secret: a mask keeps proxies from seeing requests in what a browser sends. It only has to differ. */
static uint32_t next_mask(void)
{
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* Eight bytes at a time, into the slack behind the payload. */
static void mask_payload(uint8_t *payload, size_t length, uint32_t mask)
{
    const uint64_t twice = mask | (uint64_t)mask << 32;
    for (size_t i = 0; i < length; i += sizeof twice) {
        uint64_t word;
        memcpy(&word, payload + i, sizeof word);
        word ^= twice;
        memcpy(payload + i, &word, sizeof word);
    }
}

static void send_frame(struct peer *peer, unsigned opcode, const struct iovec *parts, size_t count)
{
    enum { LONGEST_HEAD = 14, SLACK = 8 };
    const uint32_t mask = next_mask();
    size_t length = 0, at = 0, payload;
    uint8_t *frame;
    for (size_t i = 0; i < count; i++)
        length += parts[i].iov_len;
    frame = output_room(peer, LONGEST_HEAD + length + SLACK);
    frame[at++] = (uint8_t)(FINAL | opcode);
    if (length < 126) {
        frame[at++] = (uint8_t)(MASKED | length);
    } else if (length <= UINT16_MAX) {
        frame[at++] = MASKED | 126;
        frame[at++] = (uint8_t)(length >> 8);
        frame[at++] = (uint8_t)length;
    } else {
        frame[at++] = MASKED | 127;
        for (int shift = 56; shift >= 0; shift -= 8)
            frame[at++] = (uint8_t)((uint64_t)length >> shift);
    }
    memcpy(frame + at, &mask, sizeof mask);
    at += sizeof mask;
    payload = at;
    for (size_t i = 0; i < count; i++) {
        memcpy(frame + at, parts[i].iov_base, parts[i].iov_len);
        at += parts[i].iov_len;
    }
    mask_payload(frame + payload, length, mask);
    written(peer, at);
}

static void write_id(char *id, size_t size, uint32_t number)
{
    if (options.proved)
        snprintf(id, size, "%s", identity_name(number));
    else
        snprintf(id, size, "load-%08x-%08x", run_number, number);
}

static void greet(struct peer *peer)
{
    char request[256];
    int length = snprintf(request, sizeof request,
                          "GET / HTTP/1.1\r\nHost: 127.0.0.1:%ld\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Key: " KEY "\r\nSec-WebSocket-Version: 13\r\n\r\n",
                          options.port);
    output(peer, request, (size_t)length);
}

/* `proof`: more members of the frame. */
static void send_registration(struct peer *peer, const char *proof)
{
    char id[ID_TEXT], text[768];
    struct iovec part = {text, 0};
    write_id(id, sizeof id, peer->number);
    part.iov_len = (size_t)snprintf(text, sizeof text,
                                    "{\"type\":\"register\",\"peerId\":\"%s\",\"deviceType\":\"%s\","
                                    "\"deviceInfo\":{\"name\":\"load\",\"os\":\"linux\"}%s}",
                                    id, peer->number % 2 == 0 ? "desktop" : "mobile", proof);
    send_frame(peer, TEXT, &part, 1);
}

/* Answers a challenge. */
static void send_proof(struct peer *peer, const uint8_t *text, size_t length)
{
    static const char member[] = "\"nonce\":\"";
    char origin[48], nonce[256], signature[SIGNATURE_TEXT], proof[512];
    const uint8_t *begin = memmem(text, length, member, sizeof member - 1);
    const uint8_t *end;
    if (begin == NULL)
        broken("a challenge without a nonce");
    begin += sizeof member - 1;
    end = memchr(begin, '"', length - (size_t)(begin - text));
    if (end == NULL || (size_t)(end - begin) >= sizeof nonce)
        broken("a challenge with a nonce that is too long");
    memcpy(nonce, begin, (size_t)(end - begin));
    nonce[end - begin] = '\0';
    snprintf(origin, sizeof origin, "%s://127.0.0.1:%ld", options.tls ? "wss" : "ws", options.port);
    sign_nonce(peer, origin, nonce, signature, sizeof signature);
    snprintf(proof, sizeof proof,
             ",\"bellwire\":1,\"proof\":{\"nonce\":\"%s\",\"origin\":\"%s\",\"signature\":\"%s\"}", nonce, origin,
             signature);
    send_registration(peer, proof);
}

static void send_to(struct peer *from, uint32_t to, const void *message, size_t length)
{
    char id[ID_TEXT], head[128], end[] = "}";
    struct iovec parts[3] = {{head, 0}, {(void *)(uintptr_t)message, length}, {end, 1}};
    write_id(id, sizeof id, to);
    parts[0].iov_len =
        (size_t)snprintf(head, sizeof head, "{\"type\":\"message\",\"to\":\"%s\",\"payload\":", id);
    send_frame(from, TEXT, parts, 3);
}

/* Not parsed: that would cost the two cores of a run more than the relay does. */
static int contains(const uint8_t *bytes, size_t length, const char *text)
{
    return memmem(bytes, length, text, strlen(text)) != NULL;
}

/* The answer to the upgrade; then the peer registers. */
static size_t take_answer(struct peer *peer, const uint8_t *bytes, size_t length)
{
    static const char status[] = "HTTP/1.1 101";
    const uint8_t *end = memmem(bytes, length, "\r\n\r\n", 4);
    if (end == NULL)
        return 0;
    if (memcmp(bytes, status, sizeof status - 1) != 0 || !contains(bytes, (size_t)(end - bytes), ANSWER))
        broken("the server refuses the upgrade");
    peer->state = PEER_REGISTERING;
    send_registration(peer, options.proved ? ",\"bellwire\":1" : "");
    return (size_t)(end - bytes) + 4;
}

static void take_text(struct peer *peer, const uint8_t *text, size_t length)
{
    static const char member[] = "\"payload\":";
    const uint8_t *found = memmem(text, length, member, sizeof member - 1);
    if (found != NULL)
        message_arrived(peer, found + (sizeof member - 1), length - (size_t)(found - text) - (sizeof member - 1));
    else if (contains(text, length, "\"registered\""))
        peer_is_ready(peer);
    else if (contains(text, length, "\"peer-offline\""))
        message_accepted(peer);
    else if (options.proved && contains(text, length, "\"challenge\""))
        send_proof(peer, text, length);
    else if (contains(text, length, "\"error\""))
        tally.refused++;
}

static size_t take(struct peer *peer, const uint8_t *bytes, size_t length)
{
    size_t head = 2, payload;
    struct iovec part;
    if (peer->state == PEER_GREETING)
        return take_answer(peer, bytes, length);
    if (length < head)
        return 0;
    payload = bytes[1];
    if (payload & MASKED)
        broken("the server masks its frames");
    if (payload >= 126) {
        const size_t size = payload == 126 ? 2 : 8;
        head += size;
        if (length < head)
            return 0;
        payload = 0;
        for (size_t i = head - size; i < head; i++)
            payload = payload << 8 | bytes[i];
    }
    if (payload > length - head)
        return 0;
    part.iov_base = (void *)(uintptr_t)(bytes + head);
    part.iov_len = payload;
    switch (bytes[0]) {
    case FINAL | TEXT: take_text(peer, bytes + head, payload); break;
    case FINAL | PING: send_frame(peer, PONG, &part, 1); break;
    case FINAL | PONG: break;
    case FINAL | CLOSE: broken("the server closes a connection");
    default: broken("a frame of type 0x%02x", bytes[0]);
    }
    return head + payload;
}

const struct protocol websocket_protocol = {"websocket", greet, take, send_to};
