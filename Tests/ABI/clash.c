/*
 * A host that has functions with the names of those that the library gets from jansson and libuv. It says whether its
 * own work and the library's goes well beside each other, and whether the library's went through the host's functions.
 *
 *   OWN_COPIES   it has jansson and libuv themselves, linked into it
 *   OWN_NAMES    it has other functions that happen to have their names, and must never be called by anybody else
 *   LOADED       it loads the library (its argument) with RTLD_DEEPBIND, as a program does that takes plug-ins
 */
#include <bellwire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OWN_COPIES
#include <jansson.h>
#include <uv.h>

static long allocations;

static void *count_and_allocate(size_t size)
{
    allocations++;
    return malloc(size);
}

static void on_timer(uv_timer_t *timer)
{
    *(int *)timer->data = 1;
}

static int own_work(void)
{
    uv_loop_t loop;
    uv_timer_t timer;
    int rang = 0;
    json_t *value = json_loads("{\"a\":[1,2,3]}", 0, NULL);
    int good = json_array_size(json_object_get(value, "a")) == 3;
    json_decref(value);
    good = good && uv_loop_init(&loop) == 0 && uv_timer_init(&loop, &timer) == 0;
    timer.data = &rang;
    good = good && uv_timer_start(&timer, on_timer, 1, 0) == 0 && uv_run(&loop, UV_RUN_DEFAULT) == 0 && rang;
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    return good && uv_loop_close(&loop) == 0;
}
#endif

#ifdef OWN_NAMES
static int called_by_others;

/* Of each kind that the library uses: to read, to build, to write, to free; a loop, a timer, a connection. */
#define NOT_YOURS(name)                                                                                                \
    void *name(void);                                                                                                  \
    void *name(void)                                                                                                   \
    {                                                                                                                  \
        called_by_others++;                                                                                            \
        fprintf(stderr, "the host's own %s was called\n", #name);                                                      \
        return NULL;                                                                                                   \
    }

NOT_YOURS(json_loadb)
NOT_YOURS(json_loads)
NOT_YOURS(json_object)
NOT_YOURS(json_object_iter)
NOT_YOURS(json_dumps)
NOT_YOURS(json_dump_callback)
NOT_YOURS(json_delete)
NOT_YOURS(uv_loop_init)
NOT_YOURS(uv_run)
NOT_YOURS(uv_timer_start)
NOT_YOURS(uv_tcp_connect)
NOT_YOURS(uv_async_send)
#endif

#ifdef LOADED
#include <dlfcn.h>

static void *library;

/* dlsym gives a data pointer; ISO C has no cast from that to a function. */
#define FIND(function)                                                                                                 \
    do {                                                                                                               \
        void *symbol = dlsym(library, #function);                                                                      \
        if (symbol == NULL)                                                                                            \
            return 0;                                                                                                  \
        memcpy(&loaded_##function, &symbol, sizeof symbol);                                                            \
    } while (0)

static bw_status (*loaded_bw_device_open)(const char *, bw_device **);
static bw_status (*loaded_bw_device_state)(bw_device *, char **);
static bw_status (*loaded_bw_device_close)(bw_device *);
static void (*loaded_bw_free)(void *);

static int find(const char *path)
{
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == NULL)
        return 0;
    FIND(bw_device_open);
    FIND(bw_device_state);
    FIND(bw_device_close);
    FIND(bw_free);
    return 1;
}

static int library_works(void)
{
    bw_device *device = NULL;
    char *json = NULL;
    int good = loaded_bw_device_open("{\"state_dir\":\":memory:\"}", &device) == BW_OK
        && loaded_bw_device_state(device, &json) == BW_OK && strstr(json, "did:key:z") != NULL;
    loaded_bw_free(json);
    return loaded_bw_device_close(device) == BW_OK && good;
}
#else
/* A push from a desktop to a device, over loopback: JSON read and written, and the loop. */
static int library_works(void)
{
    bw_device *device = NULL;
    bw_desktop *desktop = NULL;
    char *offer = NULL;
    char *payload = NULL;
    char *result = NULL;
    int64_t delivered = 0;
    int good = bw_device_open("{\"state_dir\":\":memory:\"}", &device) == BW_OK
        && bw_desktop_open("{\"state_dir\":\":memory:\",\"relay\":{\"listen\":\"127.0.0.1:0\"}}", &desktop) == BW_OK
        && bw_desktop_offer(desktop, 10000, &offer) == BW_OK && bw_json_text(offer, "/payload", &payload) == BW_OK
        && bw_pairing_scan(device, payload, 15000, NULL) == BW_OK
        && bw_desktop_notify(desktop, "{\"title\":\"t\",\"body\":\"b\",\"data\":{\"n\":1.5e3}}", 10000, &result) == BW_OK
        && bw_json_integer(result, "/deliveredCount", &delivered) == BW_OK && delivered == 1;
    bw_free(result);
    bw_free(payload);
    bw_free(offer);
    bw_device_close(device);
    bw_desktop_close(desktop);
    return good;
}
#endif

int main(int argc, char **argv)
{
    const char *whose = "";
    int good = 1;
#ifdef LOADED
    if (argc != 2 || !find(argv[1])) {
        printf("it cannot be loaded: %s\n", dlerror());
        return 1;
    }
#else
    (void)argc, (void)argv;
#endif
#ifdef OWN_COPIES
    long before;
    json_set_alloc_funcs(count_and_allocate, free);
    good = own_work();
    before = allocations;
#endif
    good = library_works() && good;
#ifdef OWN_COPIES
    whose = allocations == before ? ", each with its own" : ", with one copy";
    good = own_work() && good;
#endif
#ifdef OWN_NAMES
    good = good && called_by_others == 0;
#endif
    printf("%s%s\n", good ? "both work" : "they do not work beside each other", whose);
    return good ? 0 : 1;
}
