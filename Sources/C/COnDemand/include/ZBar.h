/*
 * The part of ZBar that Bellwire uses, in libzbar.so.0, which is loaded on first use: a machine without it runs
 * everything else. Any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Called for each QR code that was found, with its bytes as they stand in the code, borrowed for the call. */
typedef void (*bw_zbar_found)(void *context, const char *bytes, size_t count);

/* Looks for QR codes, dark on light or light on dark, in height rows of width grey bytes, which are changed by it.
 * 0; -ENOENT when the library cannot be used, with the reason in `why`, cut to its `size`; -ENOMEM. */
int bw_zbar_read(
    uint8_t *grey, unsigned width, unsigned height, bw_zbar_found found, void *context, char *why, size_t size);

#pragma GCC visibility pop
