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

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: load LIBRARY\n");
        return 2;
    }
    path = argv[1];
    argc = 1;
    RUN(load_and_unload);
    RUN(nothing_but_the_header);
    return check_end();
}
