#pragma once
#include <malloc.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

/* Variadic in C, so out of Swift's reach: names the calling thread, for debuggers and ps. */
static inline void bw_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Linux only, so not in the C library's module: takes a newcomer, non-blocking and closed by exec. */
int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int bw_accept(int listener) { return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }

/* Random bytes of the kernel's; may give fewer, or -1 and EINTR. */
static inline ssize_t bw_random(void *bytes, size_t count) { return getrandom(bytes, count, 0); }

/* Not in the C library's module: gives freed memory back to the system. */
static inline void bw_return_memory(void) { malloc_trim(0); }

/* A timer by the clock on the wall: readable when its moment has come, and when the clock was set. */
static inline int bw_wall_timer(void) { return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC); }
static inline int bw_wall_timer_set(int timer, time_t seconds, long nanoseconds) {
    struct itimerspec moment = {{0, 0}, {seconds, nanoseconds}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &moment, NULL);
}

/* By a clock that is never set; 0 milliseconds disarm it. */
static inline int bw_short_timer(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }
static inline int bw_short_timer_set(int timer, long milliseconds) {
    struct itimerspec after = {{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000000}};
    return timerfd_settime(timer, 0, &after, NULL);
}

/* Hears of what is put into a directory: the time zone is the file (or link) "localtime" in /etc. */
static inline int bw_directory_watch(const char *directory) {
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch < 0) return watch;
    if (inotify_add_watch(watch, directory, IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE | IN_ONLYDIR) >= 0) return watch;
    close(watch);
    return -1;
}

/* Reads all that it heard: whether some of it was about the file `name`, or got lost. */
static inline int bw_directory_changed(int watch, const char *name) {
    union {
        struct inotify_event event;
        char bytes[4096];
    } read_into;
    int is_changed = 0;
    for (ssize_t count; (count = read(watch, &read_into, sizeof read_into)) > 0;) {
        for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= count;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(read_into.bytes + at);
            if (event->mask & IN_Q_OVERFLOW || (event->len > 0 && strcmp(event->name, name) == 0)) is_changed = 1;
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
    return is_changed;
}
