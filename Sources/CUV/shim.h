#pragma once
#include <sys/prctl.h>
#include <uv.h>

/* Variadic in C, so out of Swift's reach: names the calling thread, for debuggers and ps. */
static inline void bw_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
