/*
 * bench.h - what the parts of the push benchmark share.
 *
 * push.c runs the benchmark and prints it; loads.c and processes.c drive the roles; roles.c plays the relay, the desktop
 * and the device, each in a process of its own; floors.c measures what the machine itself needs; counted.c is preloaded
 * into the roles when their writes are counted.
 */
#ifndef BENCH_H
#define BENCH_H

#include "../measure.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What a process has written to files. counted.c adds, in a file that the other processes map: see COUNTERS_VARIABLE. */
struct counters {
    uint64_t syncs;        /* fsync() and fdatasync()                        */
    uint64_t writes;       /* calls that wrote to a regular file             */
    uint64_t bytes;
    uint64_t log_pages;    /* pages of 4 KiB written to a write-ahead log    */
    uint64_t checkpointed; /* pages of 4 KiB written to anything else        */
};

/* Names the file for this process's counters; set only in a counted run. */
#define COUNTERS_VARIABLE "PUSH_COUNTERS"
/* Name the other processes' counters, for the roles. */
#define DESKTOP_COUNTERS_VARIABLE "PUSH_DESKTOP_COUNTERS"
#define DEVICE_COUNTERS_VARIABLE "PUSH_DEVICE_COUNTERS"
/* Set: the device is not shared with other programs. */
#define UNSHARED_VARIABLE "PUSH_UNSHARED"

static inline uint64_t counter(const uint64_t *value) { return __atomic_load_n(value, __ATOMIC_RELAXED); }

/* Maps the counters in the file at path; NULL for a path of NULL. Creates the file when asked to. */
struct counters *map_counters(const char *path, int create);

/* ---- roles.c: each runs until its input ends ------------------------------------------------------------------ */

int relay_role(void);
int desktop_role(const char *state_dir, const char *relay_url);
int device_role(const char *state_dir, const char *relay_url);

/* ---- floors.c ------------------------------------------------------------------------------------------------- */

struct floors {
    double commit_us; /* a bare SQLite commit of one row of 400 bytes, WAL, FULL  */
    double sync_us;   /* 4 KiB written, then fdatasync()                          */
    double hop_us;    /* 400 bytes over TCP through a process that forwards them  */
};

/* The medians of `rounds` of each, in this directory, through a forwarder that listens on `port`. */
struct floors measure_floors(const char *directory, int port, int rounds);

/* Forwards the first connection's bytes to the second; ends with its input. */
int forward_role(void);

#endif /* BENCH_H */
