/*
 * Loading and unloading the shared library: load LIBRARY. This program is not linked with it, so it calls nothing of
 * check.h that takes a status.
 */
#include "check.h"

#include <dlfcn.h>
#include <locale.h>

extern char **environ;

typedef const char *(*version_function)(void);
typedef bw_status (*open_function)(const char *, bw_device **);
typedef bw_status (*close_function)(bw_device *);

static const char *path;
static void *library;
static struct sigaction actions[NSIG];
static char *environment;

/* dlsym gives a data pointer; ISO C has no cast from that to a function. */
static void find(const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL, name);
    memcpy(function, &symbol, size);
}

static char *joined_environment(void)
{
    size_t size = 1;
    char **variable;
    char *text;
    for (variable = environ; *variable != NULL; variable++)
        size += strlen(*variable) + 1;
    text = (char *)calloc(1, size);
    for (variable = environ; *variable != NULL; variable++) {
        strcat(text, *variable);
        strcat(text, "\n");
    }
    return text;
}

static void unchanged(const char *locale, int threads, int descriptors, const sigset_t *mask)
{
    int number;
    int changed = 0;
    char *now = joined_environment();
    sigset_t mask_now;
    for (number = 1; number < NSIG; number++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        sigaction(number, NULL, &action);
        changed += action.sa_handler != actions[number].sa_handler || action.sa_flags != actions[number].sa_flags;
    }
    CHECK_NUMBER(changed, 0);
    sigemptyset(&mask_now);
    pthread_sigmask(SIG_BLOCK, NULL, &mask_now);
    for (number = 1, changed = 0; number < NSIG; number++)
        changed += sigismember(&mask_now, number) != sigismember(mask, number);
    CHECK_NUMBER(changed, 0);
    CHECK_TEXT(setlocale(LC_ALL, NULL), locale);
    CHECK_TEXT(now, environment);
    CHECK_NUMBER(thread_count(), threads);
    CHECK_NUMBER(fd_count(), descriptors);
    free(now);
}

static void load_and_unload(void)
{
    int number;
    int threads = thread_count();
    int descriptors = fd_count();
    char locale[256];
    sigset_t mask;
    version_function version = NULL;
    open_function open_device = NULL;
    close_function close_device = NULL;
    bw_device *device = NULL;

    snprintf(locale, sizeof locale, "%s", setlocale(LC_ALL, NULL));
    environment = joined_environment();
    sigemptyset(&mask);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    for (number = 1; number < NSIG; number++)
        sigaction(number, NULL, &actions[number]);

    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!CHECK(library != NULL, "the library loads with nothing else at hand")) {
        printf("%s\n", dlerror());
        return;
    }
    unchanged(locale, threads, descriptors, &mask);
    find("bw_version", &version, sizeof version);
    CHECK_TEXT(version(), BW_VERSION);
    unchanged(locale, threads, descriptors, &mask);
    CHECK_NUMBER(dlclose(library), 0);
    unchanged(locale, threads, descriptors, &mask);
    CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL, "after dlclose it is still there");

    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    find("bw_version", &version, sizeof version);
    find("bw_device_open", &open_device, sizeof open_device);
    find("bw_device_close", &close_device, sizeof close_device);
    CHECK_NUMBER(open_device("{\"state_dir\":\":memory:\"}", &device), BW_OK);
    CHECK(thread_count() <= threads + 2, "opening starts two threads");
    /* The threads run in the library's code; nodelete keeps that under their feet. */
    CHECK_NUMBER(dlclose(library), 0);
    CHECK_NUMBER(close_device(device), BW_OK);
    CHECK_NUMBER(dlclose(library), 0);
    CHECK_TEXT(version(), BW_VERSION);
    free(environment);
}

static void nothing_but_the_header(void)
{
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(dlsym(library, "swift_retain") == NULL, "Swift's runtime is not to be seen");
    CHECK(dlsym(library, "swift_addNewDSOImage") == NULL, "nor its registration");
    CHECK(dlvsym(library, "bw_version", "BELLWIRE_1") != NULL, "functions have the version BELLWIRE_1");
    dlclose(library);
}

/* A daemon that has cleared its environment before it loads anything. */
static int child_without_environment(void)
{
    bw_status (*open_device)(const char *, bw_device **) = NULL;
    bw_device *device = NULL;
    clearenv();
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return 1;
    find("bw_device_open", &open_device, sizeof open_device);
    return open_device("{\"state_dir\":\":memory:\"}", &device) == BW_OK ? 0 : 2;
}

static void loaded_without_an_environment(void)
{
    CHECK_NUMBER(in_child(child_without_environment), 0);
}

static int events;

static void count_event(void *user_data, const char *event, const char *event_json)
{
    (void)user_data, (void)event, (void)event_json;
    events++;
}

/* A plug-in that comes and goes, and forgets to close before it goes: nothing crashes, and nothing adds up. */
static void unloaded_while_it_works(void)
{
    bw_status (*open_device)(const char *, bw_device **) = NULL;
    bw_status (*subscribe)(bw_device *, const char *, bw_event_callback, void *, bw_destroy, bw_subscription *) = NULL;
    bw_status (*post)(bw_device *, const char *, const char *) = NULL;
    bw_status (*start)(bw_device *) = NULL;
    bw_status (*dispatch)(bw_device *) = NULL;
    bw_status (*close_device)(bw_device *) = NULL;
    int threads = 0;
    int descriptors = 0;
    int round;
    for (round = 0; round < 10; round++) {
        bw_device *device = NULL;
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        find("bw_device_open", &open_device, sizeof open_device);
        find("bw_device_subscribe", &subscribe, sizeof subscribe);
        find("bw_device_post", &post, sizeof post);
        find("bw_device_start", &start, sizeof start);
        find("bw_device_dispatch", &dispatch, sizeof dispatch);
        find("bw_device_close", &close_device, sizeof close_device);
        CHECK_NUMBER(open_device("{\"state_dir\":\":memory:\"}", &device), BW_OK);
        CHECK_NUMBER(subscribe(device, "host.x", count_event, NULL, NULL, NULL), BW_OK);
        CHECK_NUMBER(start(device), BW_OK);
        CHECK_NUMBER(post(device, "host.x", NULL), BW_OK);
        CHECK_NUMBER(dlclose(library), 0);
        CHECK_NUMBER(dispatch(device), BW_OK);
        CHECK_NUMBER(events, round + 1);
        CHECK_NUMBER(close_device(device), BW_OK);
        if (round == 1) {
            threads = thread_count();
            descriptors = fd_count();
        }
    }
    CHECK_NUMBER(thread_count(), threads);
    CHECK(fd_count_falls_to(descriptors), "descriptors do not add up");
    /* One stays open when the program ends. */
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    {
        bw_device *forgotten = NULL;
        CHECK_NUMBER(open_device("{\"state_dir\":\":memory:\"}", &forgotten), BW_OK);
        CHECK_NUMBER(start(forgotten), BW_OK);
    }
    CHECK_NUMBER(dlclose(library), 0);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: load LIBRARY\n");
        return 2;
    }
    path = argv[1];
    argc = 1;
    RUN(loaded_without_an_environment); /* before this process has loaded it */
    RUN(load_and_unload);
    RUN(nothing_but_the_header);
    RUN(unloaded_while_it_works);
    return check_end();
}
