#include "ZBar.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <zbar.h>

#define FUNCTIONS(f)                                                                                                   \
    f(zbar_image_scanner_create) f(zbar_image_scanner_destroy) f(zbar_image_scanner_set_config) f(zbar_scan_image)     \
    f(zbar_image_create) f(zbar_image_destroy) f(zbar_image_set_format) f(zbar_image_set_size)                         \
    f(zbar_image_set_data) f(zbar_image_first_symbol) f(zbar_symbol_next) f(zbar_symbol_get_type)                      \
    f(zbar_symbol_get_data) f(zbar_symbol_get_data_length)

struct functions {
#define FIELD(name) __typeof__(&name) name;
    FUNCTIONS(FIELD)
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct functions zbar;
static int is_loaded;

static int load(char *why, size_t size) {
    static const char name[] = "libzbar.so.0";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(why, size, "%s", reason ? reason : "it cannot be loaded");
        return -ENOENT;
    }
    const struct {
        const char *name;
        void **field;
    } entries[] = {
#define ENTRY(name) {#name, (void **)(void *)&zbar.name},
        FUNCTIONS(ENTRY)};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *entries[i].field = dlsym(library, entries[i].name);
        if (*entries[i].field) continue;
        snprintf(why, size, "%s has no %s", name, entries[i].name);
        dlclose(library);
        return -ENOENT;
    }
    is_loaded = 1;
    return 0;
}

static int use(char *why, size_t size) {
    pthread_mutex_lock(&lock);
    int r = is_loaded ? 0 : load(why, size);
    pthread_mutex_unlock(&lock);
    return r;
}

int bw_zbar_read(
    uint8_t *grey, unsigned width, unsigned height, bw_zbar_found found, void *context, char *why, size_t size) {
    int r = use(why, size);
    if (r < 0) return r;
    zbar_image_scanner_t *scanner = zbar.zbar_image_scanner_create();
    zbar_image_t *image = scanner ? zbar.zbar_image_create() : NULL;
    if (image) {
        /* No barcodes; the bytes of a code as they are, since what ZBar takes them for is a guess. */
        zbar.zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0);
        zbar.zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1);
        zbar.zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_BINARY, 1);
        zbar.zbar_image_set_format(image, zbar_fourcc('Y', '8', '0', '0'));
        zbar.zbar_image_set_size(image, width, height);
        const size_t count = (size_t)width * height;
        zbar.zbar_image_set_data(image, grey, count, NULL);
        /* ZBar's own test of the inverted image takes no codes of several parts; this one is as good as the first. */
        if (zbar.zbar_scan_image(scanner, image) == 0) {
            for (size_t i = 0; i < count; i++) grey[i] = (uint8_t)~grey[i];
            zbar.zbar_scan_image(scanner, image);
        }
        for (const zbar_symbol_t *symbol = zbar.zbar_image_first_symbol(image); symbol;
             symbol = zbar.zbar_symbol_next(symbol)) {
            const char *bytes = zbar.zbar_symbol_get_data(symbol);
            if (zbar.zbar_symbol_get_type(symbol) == ZBAR_QRCODE && bytes)
                found(context, bytes, zbar.zbar_symbol_get_data_length(symbol));
        }
    } else {
        r = -ENOMEM;
    }
    if (image) zbar.zbar_image_destroy(image);
    if (scanner) zbar.zbar_image_scanner_destroy(scanner);
    return r;
}
