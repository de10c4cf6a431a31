/*
 * The parts of libpng and libjpeg-turbo that Bellwire uses, in libpng16.so.16 and libturbojpeg.so.0, which are loaded on
 * first use: a machine without them runs everything else. Any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Grey pixels, 0 = black, rows without gaps. */
struct bw_image {
    uint8_t *grey; /* to free() */
    unsigned width, height;
};

/* Reads a PNG or JPEG image. 0, or, with what is wrong in `why`, cut to its `size`: -ENOENT (the library that it takes
 * cannot be used), -EINVAL (it is no such image, or damaged), -EFBIG (it has more pixels than that), -ENOMEM. */
int bw_image_read(
    struct bw_image *image, const uint8_t *bytes, size_t count, uint64_t most_pixels, char *why, size_t size);

/* Makes a PNG image: *count bytes, to free(). 0, -ENOENT or -ENOMEM, as above. */
int bw_image_write_png(const struct bw_image *image, uint8_t **png, size_t *count, char *why, size_t size);

#pragma GCC visibility pop
