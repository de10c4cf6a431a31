#pragma once
#include <sys/types.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <stdint.h>
#include <malloc.h>
#include <pthread.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>

/* The header's flags are an enum that Swift does not import as integers. */
static inline int linux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

/* GNU's, so not in the C library's module: the environment, but not that of whoever started a set-user-id program. */
char *secure_getenv(const char *);
static inline const char *linux_environment(const char *name) { return secure_getenv(name); }

/* GNU's, likewise: the file name under which the program was called. */
extern char *program_invocation_short_name;
static inline const char *linux_program_name(void) {
    return program_invocation_short_name ? program_invocation_short_name : "program";
}

/* GNU's, likewise. */
int pthread_getattr_np(pthread_t, pthread_attr_t *);

/* BSD's, likewise: a wipe that the compiler does not leave out. */
void explicit_bzero(void *, size_t);
static inline void linux_wipe(void *bytes, size_t count) { explicit_bzero(bytes, count); }

/* A socket that hears the kernel's news of links, addresses and routes; -1 and errno on failure. */
static inline int linux_route_socket(void) {
    return socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
}
static inline int linux_route_subscribe(int descriptor) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    return bind(descriptor, (const struct sockaddr *)&address, sizeof address);
}

/* The next datagram, as recv() gives it with MSG_TRUNC: its whole length, which may be more than `count`. */
static inline ptrdiff_t linux_route_receive(int descriptor, void *bytes, size_t count, bool *is_kernel) {
    struct sockaddr_nl sender = {0};
    socklen_t length = sizeof sender;
    ptrdiff_t received = recvfrom(descriptor, bytes, count, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *)&sender, &length);
    *is_kernel = length >= sizeof sender && sender.nl_family == AF_NETLINK && sender.nl_pid == 0;
    return received;
}

/* The next connection of a listening socket, -1 and errno without one. */
int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int linux_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

/* Gives back what the heap holds and nobody uses. */
static inline void linux_trim_heap(void) { malloc_trim(0); }

/* Where the caller's stack is: what it calls lies below. */
static __attribute__((noinline, unused)) uintptr_t linux_stack(void) { return (uintptr_t)__builtin_frame_address(0); }

/* Whether an address lies in the stack that the calling thread was started with; a host's fibers have others. */
static inline bool linux_is_thread_stack(uintptr_t address) {
    pthread_attr_t attributes;
    void *base = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    bool is_known = pthread_attr_getstack(&attributes, &base, &size) == 0;
    pthread_attr_destroy(&attributes);
    return is_known && address - (uintptr_t)base < size;
}

/* The calling thread's number in the kernel, and whether the thread with a number is still there. */
static inline pid_t linux_thread(void) { return (pid_t)syscall(SYS_gettid); }
static inline int linux_thread_exists(pid_t thread) { return syscall(SYS_tgkill, getpid(), thread, 0) == 0; }

/* The process at the other end of a Unix socket, or the one that listens there. GNU's struct, likewise. */
struct linux_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};
static inline bool linux_peer_of(int descriptor, struct linux_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, peer, &length) == 0 && length == sizeof *peer;
}
/* Whether it was started by this process's user. */
static inline bool linux_peer_is_same_user(int descriptor) {
    struct linux_peer peer = {0};
    return linux_peer_of(descriptor, &peer) && peer.uid == geteuid();
}
/* Its number, or 0. */
static inline pid_t linux_peer_process(int descriptor) {
    struct linux_peer peer = {0};
    return linux_peer_of(descriptor, &peer) ? peer.pid : 0;
}
