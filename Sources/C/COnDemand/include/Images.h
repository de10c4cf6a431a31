/*
 * The parts of libpng, libjpeg-turbo, libwebp and giflib that Bellwire uses, in libpng16.so.16, libturbojpeg.so.0,
 * libwebp.so.7 and libgif.so.7, which are loaded on first use: a machine without them runs everything else. Any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Grey pixels, 0 = black, rows without gaps. */
struct bw_image {
    uint8_t *grey; /* to free() */
    unsigned width, height;
};

/* Reads a PNG or JPEG image. Some files can be read in two ways: with `again`, transparent pixels are put on black, and
 * CMYK values are amounts of ink. 1 if this is such a file, otherwise 0. If it fails, the reason is in `why`, cut to
 * `size`: -ENOENT (the library that it needs cannot be used), -EINVAL (not such an image, or damaged), -EFBIG (more than
 * `most_pixels`), -ENOMEM. */
int bw_image_read(
    struct bw_image *image, const uint8_t *bytes, size_t count, bool again, uint64_t most_pixels, char *why,
    size_t size);

/* Decodes a PNG, JPEG or still WebP image, or all frames of a GIF, to the end, and throws the pixels away. 0 (also for
 * anything else), -ENOENT (the library that it takes cannot be used), -EINVAL (damaged, cut short, or a GIF without a
 * frame or with more pixels in all frames together than that), -EFBIG (a PNG image with more pixels than that),
 * -ENOMEM. */
int bw_image_check(const uint8_t *bytes, size_t count, uint64_t most_pixels);

/* Makes a PNG image: *count bytes, to free(). 0, -ENOENT or -ENOMEM, as above. */
int bw_image_write_png(const struct bw_image *image, uint8_t **png, size_t *count, char *why, size_t size);

#pragma GCC visibility pop
