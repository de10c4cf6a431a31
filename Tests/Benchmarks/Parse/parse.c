/*
 * parse.c - the least that a push of 400 bytes costs its receiver, as a bound for Handover.
 *
 *   parse [PUSHES]
 *
 * Parses the push with jansson, takes out its fields, looks its id up among the recent ones, and calls the host back.
 * PUSHES (default 200000) is how many each of the ten rounds has; the first warms up, and the median of the others is
 * printed as one line of JSON, in nanoseconds of processor time for each push.
 */
#include "../measure.h"
#include "recent.h"

#include <jansson.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 400, POOL = 4096, ROUNDS = 9, DATA_MEMBERS = 8 };

/* ---- the push ------------------------------------------------------------------------------------------------- */

struct text {
    const char *bytes;
    size_t length;
};

struct push {
    struct text id, title, body, priority, source;
    json_int_t time;
    struct {
        struct text name, value;
    } data[DATA_MEMBERS];
    size_t data_count;
};

typedef void (*push_callback)(void *user_data, const struct push *push);

/* A UUID-like id, one escape, some UTF-8, filled up to SIZE. */
static void make_push(char *text, unsigned number)
{
    static const char tail[] = "\",\"priority\":\"normal\",\"source\":\"pc\",\"timestamp\":1715760000000,"
                               "\"data\":{\"category\":\"ci\",\"url\":\"app://builds/4711\",\"thread\":\"builds\"}}}";
    static const char filler[] = "the quick brown fox jumps over the lazy dog ";
    size_t length = (size_t)snprintf(
        text, SIZE,
        "{\"type\":\"relay:event\",\"payload\":{\"event\":\"notification.received\",\"notificationId\":\""
        "%08x-5b1c-4e0f-9a7d-3c2b1a0f%04x\",\"title\":\"Build finished\",\"body\":\"caf\xc3\xa9: done\\n",
        number * 2654435761u, number);
    while (length + sizeof tail - 1 < SIZE) {
        text[length] = filler[length % (sizeof filler - 1)];
        length++;
    }
    memcpy(text + length, tail, sizeof tail - 1);
}

/* ---- what a receiver does with it ----------------------------------------------------------------------------- */

static struct text text_of(const json_t *value)
{
    struct text text = {json_string_value(value), json_string_length(value)};
    return text;
}

static int is_text(const json_t *value, const char *expected)
{
    const char *text = json_string_value(value);
    return text != NULL && strcmp(text, expected) == 0;
}

static void take_fields(json_t *payload, struct push *push)
{
    const char *name;
    json_t *value;
    push->id = text_of(json_object_get(payload, "notificationId"));
    push->title = text_of(json_object_get(payload, "title"));
    push->body = text_of(json_object_get(payload, "body"));
    push->priority = text_of(json_object_get(payload, "priority"));
    push->source = text_of(json_object_get(payload, "source"));
    push->time = json_integer_value(json_object_get(payload, "timestamp"));
    push->data_count = 0;
    json_object_foreach(json_object_get(payload, "data"), name, value)
    {
        if (push->data_count == DATA_MEMBERS)
            break;
        push->data[push->data_count].name.bytes = name;
        push->data[push->data_count].name.length = strlen(name);
        push->data[push->data_count++].value = text_of(value);
    }
}

/* 1 when the push is new, and was handed over. */
static int receive(const char *bytes, size_t length, push_callback callback, void *user_data)
{
    json_t *frame = json_loadb(bytes, length, 0, NULL), *payload = json_object_get(frame, "payload");
    struct push push;
    int is_new = 0;
    if (is_text(json_object_get(frame, "type"), "relay:event")
        && is_text(json_object_get(payload, "event"), "notification.received")) {
        take_fields(payload, &push);
        is_new = push.id.length > 0 && !is_recent(push.id.bytes, push.id.length);
        if (is_new)
            callback(user_data, &push);
    }
    json_decref(frame);
    return is_new;
}

/* Touches every field. */
static void handed_over(void *user_data, const struct push *push)
{
    uint64_t *check = user_data;
    *check += (uint64_t)push->time + push->id.length + push->title.length + push->body.length + push->priority.length
        + push->source.length + (uint8_t)push->id.bytes[0] + (uint8_t)push->title.bytes[0]
        + (uint8_t)push->body.bytes[0];
    for (size_t i = 0; i < push->data_count; i++)
        *check += push->data[i].name.length + push->data[i].value.length + (uint8_t)push->data[i].value.bytes[0];
}

/* ---- the measurement ------------------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    static char pool[POOL][SIZE];
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
    /* Behind a volatile pointer, as a host's callback is: the compiler must not see through it. */
    push_callback volatile callback = handed_over;
    uint64_t times[ROUNDS], check = 0;
    if (count < 1)
        broken("usage: parse [PUSHES]");
    for (unsigned i = 0; i < POOL; i++)
        make_push(pool[i], i);
    for (int round = -1; round < ROUNDS; round++) {
        const double begin = cpu_seconds(0);
        long are_new = 0;
        for (long i = 0; i < count; i++)
            are_new += receive(pool[i % POOL], SIZE, callback, &check);
        if (are_new != count)
            broken("%ld of %ld pushes were not new", count - are_new, count);
        if (round >= 0)
            times[round] = (uint64_t)((cpu_seconds(0) - begin) / (double)count * 1e9);
    }
    qsort(times, ROUNDS, sizeof *times, by_size);
    printf("{\"new_ns\":%" PRIu64 ",\"least_ns\":%" PRIu64 ",\"most_ns\":%" PRIu64 ",\"bytes\":%d,\"check\":%" PRIu64 "}\n",
           times[ROUNDS / 2], times[0], times[ROUNDS - 1], SIZE, check);
    return 0;
}
