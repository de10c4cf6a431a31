#pragma once
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <uv.h>

/* Variadic in C, so out of Swift's reach: names the calling thread, for debuggers and ps. */
static inline void bw_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/* Linux only, so not in the C library's module: takes a newcomer, non-blocking and closed by exec. */
int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int bw_accept(int listener) { return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }

/* Random bytes of the kernel's; may give fewer, or -1 and EINTR. */
static inline ssize_t bw_random(void *bytes, size_t count) { return getrandom(bytes, count, 0); }
