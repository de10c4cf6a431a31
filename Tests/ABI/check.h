/*
 * check.h - prints a line for each check and counts them; and what every test of the interface needs.
 *
 * A test is a function of no parameters, run by RUN(name). main() ends with "return check_end();".
 * C99 and C++17. Deadlines are in milliseconds and are longer under valgrind (CHECK_SCALE).
 */
#ifndef CHECK_H
#define CHECK_H

#include <bellwire.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__)
#define MAYBE_UNUSED __attribute__((unused))
#else
#define MAYBE_UNUSED
#endif

static int check_passed;
static int check_failed;
static const char *check_test = "";
static char check_directory[64];

/* ---- counting ------------------------------------------------------------------------------------------------ */

#define CHECK(condition, what) check_record((condition) ? 1 : 0, __LINE__, what, NULL)
#define CHECK_STATUS(call, expected) check_status((call), (expected), __LINE__, #call)
#define CHECK_NUMBER(value, expected) check_number((int64_t)(value), (int64_t)(expected), __LINE__, #value)
#define CHECK_TEXT(value, expected) check_text((value), (expected), __LINE__, #value)
/* The last error of this thread: its status by name, and a text that its message or detail must contain. */
#define CHECK_ERROR(status, part) check_error((status), (part), __LINE__)
#define RUN(test) check_run(#test, test, argc, argv)

static int check_record(int good, int line, const char *what, const char *got)
{
    if (good) {
        check_passed++;
        printf("ok    %s: %s\n", check_test, what);
    } else {
        check_failed++;
        printf("FAIL  %s, line %d: %s%s%s\n", check_test, line, what, got != NULL ? ": " : "", got != NULL ? got : "");
    }
    fflush(stdout);
    return good;
}

MAYBE_UNUSED static int check_number(int64_t value, int64_t expected, int line, const char *what)
{
    char got[96];
    snprintf(got, sizeof got, "%" PRId64 ", expected %" PRId64, value, expected);
    return check_record(value == expected, line, what, got);
}

MAYBE_UNUSED static int check_status(bw_status status, bw_status expected, int line, const char *what)
{
    char text[512];
    char got[640];
    char *error = status < 0 ? bw_last_error() : NULL;
    snprintf(text, sizeof text, "%.300s is %s", what, bw_status_name(expected));
    snprintf(got, sizeof got, "%s; last error %.400s", bw_status_name(status), error != NULL ? error : "none");
    bw_free(error);
    return check_record(status == expected, line, text, got);
}

MAYBE_UNUSED static int check_text(const char *value, const char *expected, int line, const char *what)
{
    char got[512];
    snprintf(got, sizeof got, "\"%.200s\", expected \"%.200s\"", value != NULL ? value : "(null)", expected);
    return check_record(value != NULL && strcmp(value, expected) == 0, line, what, got);
}

MAYBE_UNUSED static int check_error(bw_status status, const char *part, int line)
{
    char what[256];
    char *error = bw_last_error();
    json_t *object = error != NULL ? json_loads(error, 0, NULL) : NULL;
    json_t *detail = json_object_get(object, "detail");
    const char *name = json_string_value(json_object_get(object, "status"));
    const char *message = json_string_value(json_object_get(object, "message"));
    int good = name != NULL && strcmp(name, bw_status_name(status)) == 0 && message != NULL && *message != 0
        && (detail == NULL || json_is_object(detail)) && strstr(error, part) != NULL;
    snprintf(what, sizeof what, "the last error is %s and says \"%.100s\"", bw_status_name(status), part);
    check_record(good, line, what, error != NULL ? error : "(null)");
    json_decref(object);
    bw_free(error);
    return good;
}

/* ---- time and processes -------------------------------------------------------------------------------------- */

MAYBE_UNUSED static int check_scale(void)
{
    const char *scale = getenv("CHECK_SCALE");
    return scale != NULL && atoi(scale) > 0 ? atoi(scale) : 1;
}

/* A deadline of so many milliseconds, as it is on this machine. */
MAYBE_UNUSED static int32_t within(int32_t ms)
{
    return ms * check_scale();
}

MAYBE_UNUSED static int64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

MAYBE_UNUSED static int64_t epoch_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

MAYBE_UNUSED static int entries_of(const char *directory)
{
    int count = 0;
    struct dirent *entry;
    DIR *stream = opendir(directory);
    if (stream == NULL)
        return -1;
    while ((entry = readdir(stream)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

MAYBE_UNUSED static int thread_count(void)
{
    return entries_of("/proc/self/task");
}

/* Open file descriptors; the one that counts them counts in every call. */
MAYBE_UNUSED static int fd_count(void)
{
    return entries_of("/proc/self/fd");
}

/* Whether there are, at once or soon, no more descriptors than that: what a closed handle had may take a moment to go. */
MAYBE_UNUSED static int fd_count_falls_to(int count)
{
    int64_t deadline = monotonic_ms() + within(5000);
    while (fd_count() > count) {
        struct timespec pause = {0, 2000000};
        if (monotonic_ms() > deadline)
            return 0;
        nanosleep(&pause, NULL);
    }
    return 1;
}

/* Runs a function in a forked child that may be killed, and returns what waitpid says. */
MAYBE_UNUSED static int in_child(int (*body)(void))
{
    int status = -1;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(body());
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    return status;
}

/* ---- directories --------------------------------------------------------------------------------------------- */

/* A directory for this run, removed at its end. */
MAYBE_UNUSED static const char *work_directory(void)
{
    if (check_directory[0] == 0) {
        snprintf(check_directory, sizeof check_directory, "/tmp/bellwire-abi-XXXXXX");
        if (mkdtemp(check_directory) == NULL)
            abort();
    }
    return check_directory;
}

/* A path in it, in a buffer of the caller's. */
MAYBE_UNUSED static const char *path_in(char *buffer, size_t size, const char *name)
{
    snprintf(buffer, size, "%s/%s", work_directory(), name);
    return buffer;
}

MAYBE_UNUSED static void remove_tree(const char *path)
{
    struct dirent *entry;
    DIR *stream = opendir(path);
    if (stream != NULL) {
        while ((entry = readdir(stream)) != NULL) {
            char child[512];
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            snprintf(child, sizeof child, "%.200s/%.250s", path, entry->d_name);
            remove_tree(child);
        }
        closedir(stream);
        rmdir(path);
    } else {
        unlink(path);
    }
}

/* ---- running ------------------------------------------------------------------------------------------------- */

/* Runs a test, unless arguments of the program name others. It has a minute (of this machine's); then the program is
 * ended by SIGALRM, and run.sh says so. */
static void check_run(const char *name, void (*test)(void), int argc, char **argv)
{
    int chosen = argc < 2;
    int index;
    for (index = 1; index < argc; index++)
        chosen = chosen || strcmp(argv[index], name) == 0;
    if (!chosen)
        return;
    check_test = name;
    alarm((unsigned)(60 * check_scale()));
    test();
    alarm(0);
}

static int check_end(void)
{
    if (check_directory[0] != 0)
        remove_tree(check_directory);
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed == 0 ? 0 : 1;
}

#endif /* CHECK_H */
