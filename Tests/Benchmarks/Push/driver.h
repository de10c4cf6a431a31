/*
 * driver.h - the roles as the benchmark's driver sees them: processes that answer commands, three of which are paired,
 * and the loads that it puts on them.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "bench.h"

#include <sys/types.h>

enum { LINE = 8192 };

/* What the command line says. */
extern int is_short;
extern const char *work, *counted_library;

/* ---- processes.c ---------------------------------------------------------------------------------------------- */

struct process {
    const char *name;
    pid_t pid;
    FILE *commands, *answers;
    char line[LINE]; /* the last answer */
    struct counters *counters; /* NULL unless it counts */
};

/* Makes a role that ends by itself the end of the run: it has said why. */
void watch_processes(void);

/* Starts this program in a role, in a directory of its own; counters names a file when it is to count. */
void start(struct process *process, const char *name, const char *role, const char *directory, const char *relay,
           const char *counters);

/* Ends its input, and waits for it. */
void end(struct process *process);

/* Its next line. */
const char *answer(struct process *process);

/* Gives it a command, and returns its answer. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
const char *ask(struct process *process, const char *format, ...);

void pause_ms(long milliseconds);

/* ---- loads.c -------------------------------------------------------------------------------------------------- */

/* A relay, and a desktop and a device that are paired over it. */
struct trio {
    struct process relay, desktop, device;
    char url[64];
    uint64_t next; /* the number of the next push */
};

/* Starts the three and pairs them. The desktop's history has `rows` unread rows then. The device's unread count is as
 * large, and its inbox has as many of them as an inbox keeps. */
void open_trio(struct trio *trio, const char *name, uint64_t rows, int counts);
void close_trio(struct trio *trio);

/* Until desktop and device use less than a thirtieth of a core. */
void await_quiet(const struct trio *trio);

/* A desktop without devices makes `rows` notifications, which stay unread: how many a second. */
double fill(struct process *desktop, uint64_t rows);

struct load {
    const char *name;
    uint64_t window;
    double rate; /* a second; 0 = as fast as the window allows */
    uint64_t count;
    double seconds; /* it ends with this or `count` */
};

struct outcome {
    uint64_t sent, late;
    double p50, p90, p99, most; /* ms */
    double rate;
    double relay_us, desktop_us, device_us; /* of processor time, for each push */
    struct counters desktop, device;        /* in a counted run, of all pushes */
    /* For each push, from its call to its callback. */
    double desktop_syncs_before_callback, device_syncs_before_callback;
    double desktop_pages_before_callback, device_pages_before_callback;
};

/* Ends the program unless every push arrived once and in order. */
struct outcome run(struct trio *trio, const struct load *load);

#endif /* DRIVER_H */
