/*
 * recent.h - the ids of the last 256 pushes: what a receiver needs at least to tell a repeated push.
 */
#ifndef RECENT_H
#define RECENT_H

#include <stddef.h>

/* Longer ids count as the same when they begin alike. */
enum { RECENT_IDS = 256, RECENT_ID_BYTES = 64 };

/* 1 when the id is known; else it takes the place of the oldest. */
int is_recent(const char *id, size_t length);

#endif /* RECENT_H */
