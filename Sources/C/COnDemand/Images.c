#include "Images.h"

#include <dlfcn.h>
#include <errno.h>
#include <gif_lib.h>
#include <png.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#define PNG_FUNCTIONS(f)                                                                                               \
    f(png_image_begin_read_from_memory) f(png_image_finish_read) f(png_image_write_to_memory) f(png_image_free)
#define JPEG_FUNCTIONS(f)                                                                                              \
    f(tjInitDecompress) f(tjDecompressHeader3) f(tjDecompress2) f(tjDestroy) f(tjGetErrorStr2) f(tjGetErrorCode)
#define WEBP_FUNCTIONS(f) f(WebPDecodeYUV) f(WebPFree)
#define GIF_FUNCTIONS(f)                                                                                               \
    f(DGifOpen) f(DGifGetRecordType) f(DGifGetImageDesc) f(DGifGetLine) f(DGifGetExtension) f(DGifGetExtensionNext)    \
        f(DGifCloseFile)

/* As in webp/decode.h, which is not needed for two functions. */
uint8_t *WebPDecodeYUV(
    const uint8_t *bytes, size_t count, int *width, int *height, uint8_t **u, uint8_t **v, int *stride, int *uv_stride);
void WebPFree(void *pixels);

static struct {
#define FIELD(name) __typeof__(&name) name;
    PNG_FUNCTIONS(FIELD)
} png;

static struct {
    JPEG_FUNCTIONS(FIELD)
} jpeg;

static struct {
    WEBP_FUNCTIONS(FIELD)
} webp;

static struct {
    GIF_FUNCTIONS(FIELD)
} gif;

struct entry {
    const char *name;
    void **field;
};

struct library {
    const char *name;
    const struct entry *entries;
    size_t count;
    bool is_loaded;
};

#define PNG_ENTRY(name) {#name, (void **)(void *)&png.name},
#define JPEG_ENTRY(name) {#name, (void **)(void *)&jpeg.name},
static const struct entry png_entries[] = {PNG_FUNCTIONS(PNG_ENTRY)};
#define WEBP_ENTRY(name) {#name, (void **)(void *)&webp.name},
static const struct entry jpeg_entries[] = {JPEG_FUNCTIONS(JPEG_ENTRY)};
static const struct entry webp_entries[] = {WEBP_FUNCTIONS(WEBP_ENTRY)};
#define GIF_ENTRY(name) {#name, (void **)(void *)&gif.name},
static const struct entry gif_entries[] = {GIF_FUNCTIONS(GIF_ENTRY)};

static struct library png_library = {
    "libpng16.so.16", png_entries, sizeof png_entries / sizeof *png_entries, false};
static struct library jpeg_library = {
    "libturbojpeg.so.0", jpeg_entries, sizeof jpeg_entries / sizeof *jpeg_entries, false};
static struct library webp_library = {
    "libwebp.so.7", webp_entries, sizeof webp_entries / sizeof *webp_entries, false};
static struct library gif_library = {"libgif.so.7", gif_entries, sizeof gif_entries / sizeof *gif_entries, false};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int load(struct library *library, char *why, size_t size) {
    void *loaded = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
        const char *reason = dlerror();
        snprintf(why, size, "%s", reason ? reason : "it cannot be loaded");
        return -ENOENT;
    }
    for (size_t i = 0; i < library->count; i++) {
        *library->entries[i].field = dlsym(loaded, library->entries[i].name);
        if (*library->entries[i].field) continue;
        snprintf(why, size, "%s has no %s", library->name, library->entries[i].name);
        dlclose(loaded);
        return -ENOENT;
    }
    library->is_loaded = true;
    return 0;
}

static int use(struct library *library, char *why, size_t size) {
    pthread_mutex_lock(&lock);
    int r = library->is_loaded ? 0 : load(library, why, size);
    pthread_mutex_unlock(&lock);
    return r;
}

/* Room for the pixels, when there are not too many. */
static int prepare(struct bw_image *image, uint64_t most_pixels, char *why, size_t size) {
    const uint64_t pixels = (uint64_t)image->width * image->height;
    if (pixels > most_pixels) {
        snprintf(why, size, "it has %u x %u pixels", image->width, image->height);
        return -EFBIG;
    }
    image->grey = malloc(pixels ? pixels : 1);
    if (!image->grey) return -ENOMEM;
    return 0;
}

static int read_png(
    struct bw_image *image, const uint8_t *bytes, size_t count, bool again, uint64_t most_pixels, char *why, size_t size) {
    int r = use(&png_library, why, size);
    if (r < 0) return r;
    png_image state;
    memset(&state, 0, sizeof state);
    state.version = PNG_IMAGE_VERSION;
    bool ok = png.png_image_begin_read_from_memory(&state, bytes, count);
    if (ok) {
        const bool is_transparent = state.format & PNG_FORMAT_FLAG_ALPHA;
        state.format = PNG_FORMAT_GRAY;
        image->width = state.width;
        image->height = state.height;
        r = prepare(image, most_pixels, why, size);
        if (r == 0) {
            /* What is transparent stands on white, or else on black: light modules are for dark pages. */
            const png_color white = {255, 255, 255}, black = {0, 0, 0};
            ok = png.png_image_finish_read(
                &state, again ? &black : &white, image->grey, (png_int_32)state.width, NULL);
            r = is_transparent;
        }
    }
    if (!ok) {
        snprintf(why, size, "%s", state.message);
        r = -EINVAL;
    }
    png.png_image_free(&state);
    return r;
}

/* The colours of printing as grey. Adobe's programs write how much light is left, others how much ink is there. */
static void print_to_grey(uint8_t *grey, const uint8_t *inks, size_t pixels, bool is_ink) {
    for (size_t i = 0; i < pixels; i++) {
        unsigned light[4];
        for (int j = 0; j < 4; j++) light[j] = is_ink ? 255u - inks[4 * i + j] : inks[4 * i + j];
        grey[i] = (uint8_t)((light[0] * 77 + light[1] * 150 + light[2] * 29) * light[3] / (255 * 256));
    }
}

static int read_jpeg(
    struct bw_image *image, const uint8_t *bytes, size_t count, bool again, uint64_t most_pixels, char *why, size_t size) {
    int r = use(&jpeg_library, why, size);
    if (r < 0) return r;
    tjhandle state = jpeg.tjInitDecompress();
    if (!state) return -ENOMEM;
    int width = 0, height = 0, subsampling = 0, colours = -1;
    /* It gives the rest of the header where it has no name for the subsampling, as in CMYK with 4:2:0, which it can read. */
    const bool is_read = jpeg.tjDecompressHeader3(state, bytes, count, &width, &height, &subsampling, &colours) == 0;
    bool ok = (is_read || subsampling < 0) && width > 0 && height > 0 && colours >= 0;
    if (ok) {
        const bool is_print = colours == TJCS_CMYK || colours == TJCS_YCCK;
        const tjscalingfactor half = {1, 2};
        /* Of a large picture with four bytes a pixel, half the size is enough. */
        if (is_print && (uint64_t)width * (uint64_t)height > most_pixels / 4) {
            width = TJSCALED(width, half);
            height = TJSCALED(height, half);
        }
        image->width = (unsigned)width;
        image->height = (unsigned)height;
        r = prepare(image, most_pixels, why, size);
        const size_t pixels = (size_t)width * (size_t)height;
        uint8_t *inks = r == 0 && is_print ? malloc(pixels * 4) : NULL;
        if (r == 0 && is_print && !inks) r = -ENOMEM;
        if (r == 0) {
            /* A file that was cut short is read as far as it goes. */
            ok = jpeg.tjDecompress2(
                     state, bytes, count, is_print ? inks : image->grey, width, 0, height,
                     is_print ? TJPF_CMYK : TJPF_GRAY, TJFLAG_LIMITSCANS) == 0 ||
                 jpeg.tjGetErrorCode(state) == TJERR_WARNING;
            if (ok && is_print) print_to_grey(image->grey, inks, pixels, again);
            r = is_print;
        }
        free(inks);
    }
    if (!ok) {
        snprintf(why, size, "%s", jpeg.tjGetErrorStr2(state));
        r = -EINVAL;
    }
    jpeg.tjDestroy(state);
    return r;
}

static const uint8_t png_begins[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, jpeg_begins[] = {0xff, 0xd8, 0xff};

static bool begins(const uint8_t *bytes, size_t count, const void *with, size_t size) {
    return count >= size && memcmp(bytes, with, size) == 0;
}

/* At an eighth of its size: all of the file is read for it, and little memory is needed. */
static int check_jpeg(const uint8_t *bytes, size_t count, char *why, size_t size) {
    int r = use(&jpeg_library, why, size);
    if (r < 0) return r;
    tjhandle state = jpeg.tjInitDecompress();
    if (!state) return -ENOMEM;
    int width = 0, height = 0, subsampling = 0, colours = 0;
    r = -EINVAL;
    if (jpeg.tjDecompressHeader3(state, bytes, count, &width, &height, &subsampling, &colours) == 0) {
        const tjscalingfactor eighth = {1, 8};
        const bool is_cmyk = colours == TJCS_CMYK || colours == TJCS_YCCK;
        width = TJSCALED(width, eighth);
        height = TJSCALED(height, eighth);
        uint8_t *pixels = malloc((size_t)width * (size_t)height * (is_cmyk ? 4 : 1));
        if (!pixels) {
            r = -ENOMEM;
        } else if (jpeg.tjDecompress2(
                       state, bytes, count, pixels, width, 0, height, is_cmyk ? TJPF_CMYK : TJPF_GRAY,
                       TJFLAG_LIMITSCANS) == 0 ||
                   /* "Premature end of …": other oddities are no loss. */
                   (jpeg.tjGetErrorCode(state) == TJERR_WARNING && !strstr(jpeg.tjGetErrorStr2(state), "remature end"))) {
            r = 0;
        }
        free(pixels);
    }
    jpeg.tjDestroy(state);
    return r;
}

static int check_webp(const uint8_t *bytes, size_t count, char *why, size_t size) {
    /* Animations are for another library. */
    if (count > 20 && memcmp(bytes + 12, "VP8X", 4) == 0 && bytes[20] & 2) return 0;
    int r = use(&webp_library, why, size);
    if (r < 0) return r;
    int width, height, stride, uv_stride;
    uint8_t *u, *v, *pixels = webp.WebPDecodeYUV(bytes, count, &width, &height, &u, &v, &stride, &uv_stride);
    if (!pixels) return -EINVAL;
    webp.WebPFree(pixels);
    return 0;
}

struct source {
    const uint8_t *bytes;
    size_t count;
};

static int take(GifFileType *state, GifByteType *to, int count) {
    struct source *source = state->UserData;
    const size_t taken = (size_t)count < source->count ? (size_t)count : source->count;
    if (taken) memcpy(to, source->bytes, taken);
    source->bytes += taken;
    source->count -= taken;
    return (int)taken;
}

/* A frame, line by line; interlaced ones are as long. */
static bool check_frame(GifFileType *state, uint64_t *pixels_left) {
    if (!gif.DGifGetImageDesc(state)) return false;
    const int width = state->Image.Width, height = state->Image.Height;
    if (width <= 0 || height <= 0 || (uint64_t)width * (uint64_t)height > *pixels_left) return false;
    *pixels_left -= (uint64_t)width * (uint64_t)height;
    uint8_t *line = malloc((size_t)width);
    int lines = 0;
    while (line && lines < height && gif.DGifGetLine(state, line, width)) lines++;
    free(line);
    return lines == height;
}

/* All frames, up to the trailer: a file that ends without it was cut short. */
static int check_gif(const uint8_t *bytes, size_t count, uint64_t most_pixels, char *why, size_t size) {
    int r = use(&gif_library, why, size);
    if (r < 0) return r;
    struct source source = {bytes, count};
    GifFileType *state = gif.DGifOpen(&source, take, NULL);
    if (!state) return -EINVAL;
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    int frames = 0;
    bool ok = true;
    while (ok && (ok = gif.DGifGetRecordType(state, &type)) && type != TERMINATE_RECORD_TYPE) {
        if (type == IMAGE_DESC_RECORD_TYPE) {
            ok = check_frame(state, &most_pixels);
            frames++;
            continue;
        }
        int code;
        GifByteType *block = NULL;
        ok = type == EXTENSION_RECORD_TYPE && gif.DGifGetExtension(state, &code, &block);
        while (ok && block) ok = gif.DGifGetExtensionNext(state, &block);
    }
    gif.DGifCloseFile(state, NULL);
    return ok && frames > 0 ? 0 : -EINVAL;
}

int bw_image_check(const uint8_t *bytes, size_t count, uint64_t most_pixels) {
    char why[256];
    if (begins(bytes, count, jpeg_begins, sizeof jpeg_begins)) return check_jpeg(bytes, count, why, sizeof why);
    if (begins(bytes, count, "RIFF", 4)) return check_webp(bytes, count, why, sizeof why);
    if (begins(bytes, count, "GIF8", 4)) return check_gif(bytes, count, most_pixels, why, sizeof why);
    if (!begins(bytes, count, png_begins, sizeof png_begins)) return 0;
    struct bw_image image;
    memset(&image, 0, sizeof image);
    int r = read_png(&image, bytes, count, false, most_pixels, why, sizeof why);
    free(image.grey);
    return r < 0 ? r : 0;
}

int bw_image_read(
    struct bw_image *image, const uint8_t *bytes, size_t count, bool again, uint64_t most_pixels, char *why, size_t size) {
    memset(image, 0, sizeof *image);
    int r = -EINVAL;
    snprintf(why, size, "it is neither");
    if (begins(bytes, count, png_begins, sizeof png_begins))
        r = read_png(image, bytes, count, again, most_pixels, why, size);
    else if (begins(bytes, count, jpeg_begins, sizeof jpeg_begins))
        r = read_jpeg(image, bytes, count, again, most_pixels, why, size);
    if (r < 0) {
        free(image->grey);
        image->grey = NULL;
    }
    return r;
}

int bw_image_write_png(const struct bw_image *image, uint8_t **result, size_t *count, char *why, size_t size) {
    int r = use(&png_library, why, size);
    if (r < 0) return r;
    png_image state;
    memset(&state, 0, sizeof state);
    state.version = PNG_IMAGE_VERSION;
    state.width = image->width;
    state.height = image->height;
    state.format = PNG_FORMAT_GRAY;
    const png_int_32 stride = (png_int_32)image->width;
    /* Compressed twice: first to know how long it becomes. */
    png_alloc_size_t length = 0;
    uint8_t *bytes = NULL;
    bool ok = png.png_image_write_to_memory(&state, NULL, &length, 0, image->grey, stride, NULL);
    if (ok) ok = (bytes = malloc(length)) != NULL;
    if (ok) ok = png.png_image_write_to_memory(&state, bytes, &length, 0, image->grey, stride, NULL);
    png.png_image_free(&state);
    if (!ok) {
        free(bytes);
        return -ENOMEM;
    }
    *result = bytes;
    *count = length;
    return 0;
}
