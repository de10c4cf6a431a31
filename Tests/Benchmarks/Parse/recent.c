/*
 * recent.c - a ring of ids, and chains of those with the same hash.
 */
#include "recent.h"

#include <stdint.h>
#include <string.h>

enum { CHAINS = 512, NONE = -1 };

static struct {
    char id[RECENT_ID_BYTES];
    size_t length; /* 0 = unused */
    uint32_t hash;
    int next; /* with the same hash */
} ring[RECENT_IDS];
static int oldest;

/* First in each chain, plus one: 0 = empty. */
static int chains[CHAINS];

/* FNV-1a. */
static uint32_t hash_of(const char *id, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)id[i]) * 16777619u;
    return hash;
}

static void forget(int index)
{
    int *first = &chains[ring[index].hash % CHAINS];
    int at = *first - 1;
    if (at == index) {
        *first = ring[index].next + 1;
        return;
    }
    while (ring[at].next != index)
        at = ring[at].next;
    ring[at].next = ring[index].next;
}

int is_recent(const char *id, size_t length)
{
    uint32_t hash;
    if (length > RECENT_ID_BYTES)
        length = RECENT_ID_BYTES;
    hash = hash_of(id, length);
    for (int at = chains[hash % CHAINS] - 1; at != NONE; at = ring[at].next)
        if (ring[at].hash == hash && ring[at].length == length && memcmp(ring[at].id, id, length) == 0)
            return 1;
    if (ring[oldest].length > 0)
        forget(oldest);
    memcpy(ring[oldest].id, id, length);
    ring[oldest].length = length;
    ring[oldest].hash = hash;
    ring[oldest].next = chains[hash % CHAINS] - 1;
    chains[hash % CHAINS] = oldest + 1;
    oldest = (oldest + 1) % RECENT_IDS;
    return 0;
}
