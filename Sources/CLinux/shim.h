#pragma once
#include <sys/eventfd.h>

/* The header's flags are an enum that Swift does not import as integers. */
static inline int linux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
