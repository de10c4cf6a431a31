/*
 * measure.h - clocks, percentiles and what the kernel tells about a process, for all programs of the benchmarks.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* For qsort() of uint64_t. */
static inline int by_size(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* A percentile of sorted values, 0 of none. */
static inline uint64_t percentile(const uint64_t *sorted, size_t count, unsigned percent)
{
    return count == 0 ? 0 : sorted[(count - 1) * percent / 100];
}

/* Prints what is wrong to standard error, and ends the process with 2. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void broken(const char *format, ...);

/* User and system time of all threads of a process. */
double cpu_seconds(pid_t process);

/* A number of /proc/PID/status, such as that of "VmRSS:"; -1 when there is none. */
long status_number(pid_t process, const char *key);

#endif /* MEASURE_H */
