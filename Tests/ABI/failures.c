/*
 * Fails the Nth call of pwrite, fdatasync, open, socket and pthread_create in a whole life: open, pair, push, queue,
 * close. Each life goes on with named statuses, and what was accepted arrives after a restart.
 *
 *     failures [--every N] [--first N] [--pushes N] [CALL...]
 *                                                   CALL: pwrite, fdatasync, open, socket, pthread_create
 *
 * Without --every, a sample is taken: every 97th call. --every 1 fails each of them. --first says with which to begin
 * (default: 1), so that several processes can share the work. The calls of the library and of
 * the libraries below it come here: this program's functions stand before libc's.
 */
#include "roles.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* ---- the calls ----------------------------------------------------------------------------------------------- */

enum call { PWRITE, FDATASYNC, OPEN, SOCKET, THREAD, CALLS };
static const char *const call_names[CALLS] = {"pwrite", "fdatasync", "open", "socket", "pthread_create"};

static int64_t counts[CALLS];
static int failing_call = -1;
static int64_t failing_number;

static int fails(enum call call)
{
    int64_t number = __atomic_add_fetch(&counts[call], 1, __ATOMIC_RELAXED);
    return (int)call == failing_call && number == failing_number;
}

#ifdef __cplusplus
extern "C" {
#endif

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    if (fails(PWRITE)) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset)
{
    return pwrite(file, bytes, count, offset);
}

static int synced(int file, long number)
{
    if (fails(FDATASYNC)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(number, file);
}

int fdatasync(int file)
{
    return synced(file, SYS_fdatasync);
}

int fsync(int file)
{
    return synced(file, SYS_fsync);
}

static int opened(const char *path, int flags, mode_t mode)
{
    if (fails(OPEN)) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#include "opening.h"

int socket(int domain, int type, int protocol)
{
    if (fails(SOCKET)) {
        errno = EMFILE;
        return -1;
    }
    return (int)syscall(SYS_socket, domain, type, protocol);
}

typedef int (*create_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    static create_thread original;
    if (original == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&original, &symbol, sizeof original);
    }
    return fails(THREAD) ? EAGAIN : original(thread, attributes, body, argument);
}

#ifdef __cplusplus
}
#endif

/* ---- what the processes of a life share ---------------------------------------------------------------------- */

#define TITLES 64

struct life {
    int64_t counts[CALLS];
    int pushes;
    /* By the push's number. `twice`: it came again, and was not marked as such. */
    unsigned char accepted[TITLES], received[TITLES], twice[TITLES];
    /* A command was queued, and the desktop has executed it. */
    int queued, executed;
    int paired;
    /* The last status that failed, and the call that gave it. */
    char status[32], where[48];
    /* What the process is doing. */
    char doing[48];
};

static struct life *life;
static int shared_file = -1;
static int relay_at;

static int share(void)
{
    life = (struct life *)mmap(NULL, sizeof *life, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
    return life == (struct life *)MAP_FAILED;
}

/* ---- a life -------------------------------------------------------------------------------------------------- */

static void doing(const char *what)
{
    snprintf(life->doing, sizeof life->doing, "%s", what);
}

/* Whether it worked. Ends the process where a status has no name, or no error says why. */
static int told(bw_status status)
{
    char *error;
    if (status >= 0)
        return 1;
    error = bw_last_error();
    if (strcmp(bw_status_name(status), "BW_E_UNKNOWN") == 0 || error == NULL || strstr(error, "message") == NULL)
        _exit(1);
    bw_free(error);
    snprintf(life->status, sizeof life->status, "%s", bw_status_name(status));
    snprintf(life->where, sizeof life->where, "%s", life->doing);
    return 0;
}

static void received(void *user_data, const char *event, const char *event_json)
{
    json_t *value = json_loads(event_json, 0, NULL);
    const json_t *data = json_object_get(value, "data");
    const char *title = json_string_value(json_object_get(data, "title"));
    int number = title != NULL ? atoi(title + 5) : -1;
    (void)user_data;
    (void)event;
    if (number >= 0 && number < TITLES) {
        life->twice[number] |= life->received[number] && !json_is_true(json_object_get(data, "redelivered"));
        life->received[number] = 1;
    }
    json_decref(value);
}

static int has_all(void *context)
{
    int number;
    (void)context;
    for (number = 0; number < TITLES; number++)
        if (life->accepted[number] && !life->received[number])
            return 0;
    return 1;
}

static int open_both(const char *directory, bw_desktop **desktop, bw_device **device)
{
    char options[512];
    doing("bw_desktop_open");
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.200s/desktop\",\"follow_system\":false,\"relay_url\":\"ws://127.0.0.1:%d\"}",
             directory, relay_at);
    told(bw_desktop_open(options, desktop));
    doing("bw_device_open");
    snprintf(options, sizeof options,
             "{\"state_dir\":\"%.200s/device\",\"follow_system\":false,\"relay_url\":\"ws://127.0.0.1:%d\"}", directory,
             relay_at);
    told(bw_device_open(options, device));
    if (*desktop != NULL) {
        doing("bw_desktop_start");
        told(bw_desktop_start(*desktop));
    }
    if (*device != NULL) {
        doing("bw_device_subscribe");
        told(bw_device_subscribe(*device, "notification.received", received, NULL, NULL, NULL));
        doing("bw_device_start");
        told(bw_device_start(*device));
    }
    return *desktop != NULL && *device != NULL;
}

static int count_in(char *json)
{
    json_t *value = parsed(json);
    int count = (int)json_array_size(value);
    json_decref(value);
    return count;
}

static int is_paired(bw_desktop *desktop, bw_device *device)
{
    char *devices = NULL, *desktops = NULL;
    int count;
    doing("bw_desktop_devices");
    if (!told(bw_desktop_devices(desktop, &devices)) || !told(bw_pairing_list(device, &desktops)))
        return 0;
    count = count_in(devices);
    return count_in(desktops) > 0 && count > 0;
}

static void close_both(bw_desktop *desktop, bw_device *device)
{
    doing("bw_device_close");
    if (device != NULL)
        told(bw_device_close(device));
    doing("bw_desktop_close");
    if (desktop != NULL)
        told(bw_desktop_close(desktop));
    doing("");
}

static void push(bw_desktop *desktop, int number)
{
    char params[64];
    snprintf(params, sizeof params, "{\"title\":\"push %d\",\"body\":\"\"}", number);
    doing("bw_desktop_notify");
    if (told(bw_desktop_notify(desktop, params, 1000, NULL)))
        life->accepted[number] = 1;
}

/* The desktop's first row is marked as read, by a command that waits for the desktop. */
static void queue(bw_desktop *desktop, bw_device *device)
{
    char params[128];
    char *json = NULL;
    json_t *page;
    const char *id;
    doing("bw_desktop_history");
    if (!told(bw_desktop_history(desktop, "{\"sort\":\"oldest\",\"limit\":1}", &json)))
        return;
    page = parsed(json);
    id = json_string_value(
        json_object_get(json_array_get(json_object_get(page, "notifications"), 0), "id"));
    if (id != NULL) {
        snprintf(params, sizeof params, "{\"notificationId\":\"%.80s\"}", id);
        doing("bw_desktop_stop");
        told(bw_desktop_stop(desktop));
        doing("bw_device_stop");
        told(bw_device_stop(device));
        doing("bw_notification_mark_as_read");
        if (told(bw_notification_mark_as_read(device, NULL, params, 1000, NULL)))
            life->queued = 1;
    }
    json_decref(page);
}

static int is_executed(bw_desktop *desktop)
{
    char *json = NULL;
    json_t *page;
    doing("bw_desktop_history");
    if (!told(bw_desktop_history(desktop, "{\"sort\":\"oldest\",\"limit\":1}", &json)))
        return 0;
    page = parsed(json);
    life->executed
        = json_is_true(json_object_get(json_array_get(json_object_get(page, "notifications"), 0), "read"));
    json_decref(page);
    return life->executed;
}

struct both {
    bw_desktop *desktop;
    bw_device *device;
};

static int has_arrived(void *context)
{
    struct both *both = (struct both *)context;
    return has_all(NULL) && (!life->queued || is_executed(both->desktop));
}

/* Poll with a limit: nothing tells this program of the desktop's change. */
static int wait_for(struct both *both, int (*done)(void *context), int32_t ms)
{
    struct dispatched handles;
    int64_t deadline = monotonic_ms() + ms;
    memset(&handles, 0, sizeof handles);
    handles.desktop = both->desktop;
    handles.device = both->device;
    while (!done(both)) {
        if (monotonic_ms() > deadline)
            return 0;
        doing("bw_device_dispatch");
        dispatch_until(handles, done, both, 50);
    }
    return 1;
}

static int live(const char *directory, int last)
{
    struct both both;
    int number;
    char *json = NULL;
    memset(&both, 0, sizeof both);
    alarm(90);
    if (open_both(directory, &both.desktop, &both.device)) {
        if (last) {
            /* What was paired is paired on both sides; what was not can be. */
            if (!life->paired || is_paired(both.desktop, both.device)) {
                number = wait_for(&both, has_arrived, 30000) ? 0 : 4;
                close_both(both.desktop, both.device);
                return number;
            }
            return 5;
        }
        doing("bw_desktop_offer");
        if (told(bw_desktop_offer(both.desktop, 5000, &json))) {
            json_t *offer = parsed(json);
            const char *code = json_string_value(json_object_get(offer, "payload"));
            doing("bw_pairing_scan");
            if (code != NULL && told(bw_pairing_scan(both.device, code, 5000, NULL)))
                life->paired = is_paired(both.desktop, both.device);
            json_decref(offer);
        }
        for (number = 0; life->paired && number < life->pushes; number++) {
            push(both.desktop, number);
            doing("bw_device_dispatch");
            told(bw_device_dispatch(both.device));
        }
        wait_for(&both, has_all, life->paired ? 3000 : 0);
        if (life->paired && life->accepted[0])
            queue(both.desktop, both.device);
    }
    close_both(both.desktop, both.device);
    for (number = 0; number < CALLS; number++)
        life->counts[number] = __atomic_load_n(&counts[number], __ATOMIC_RELAXED);
    return 0;
}

/* ---- in processes of their own ------------------------------------------------------------------------------- */

/* The status of wait() of a process in which that call fails. Not in a mere fork: see outofmemory.c. */
static int lived(const char *directory, int call, int64_t number, int last)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        char file[16], which[16], when[32], at[16], step[16];
        snprintf(file, sizeof file, "%d", shared_file);
        snprintf(which, sizeof which, "%d", call);
        snprintf(when, sizeof when, "%lld", (long long)number);
        snprintf(at, sizeof at, "%d", relay_at);
        snprintf(step, sizeof step, "%d", last);
        execl("/proc/self/exe", "failures", "--life", directory, which, when, file, at, step, (char *)NULL);
        _exit(2);
    }
    if (waitpid(child, &status, 0) != child)
        return -1;
    return status;
}

static int pushes = 20;

/* Starts anew, lets a life be lived, and the one after it. What went wrong; NULL = nothing. */
static const char *one(int call, int64_t number)
{
    static char what[200];
    char directory[128];
    int status;
    path_in(directory, sizeof directory, "life");
    remove_tree(directory);
    memset(life, 0, sizeof *life);
    life->pushes = pushes;
    status = lived(directory, call, number, 0);
    if (WIFSIGNALED(status)) {
        snprintf(what, sizeof what, "the process ended with signal %d in %s", WTERMSIG(status), life->doing);
        return what;
    }
    if (WEXITSTATUS(status) != 0) {
        snprintf(what, sizeof what, "%s gave a status without a name or a reason", life->doing);
        return what;
    }
    status = lived(directory, -1, 0, 1);
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
        snprintf(what, sizeof what, "after the restart: %s (%s, first %s of %s)",
                 WIFSIGNALED(status)         ? "the process ended with a signal"
                     : WEXITSTATUS(status) == 4 ? has_all(NULL) ? "a queued command is lost" : "a push is lost"
                     : WEXITSTATUS(status) == 5 ? "the pairing is lost"
                                                : "it can't be opened",
                 life->doing, life->status, life->where);
        return what;
    }
    for (status = 0; status < TITLES; status++)
        if (life->twice[status])
            return "a push came twice";
    return NULL;
}

static long every = 97;
static long first = 1;
static int chosen[CALLS];

static void lives(void)
{
    int64_t all[CALLS], number;
    int call;
    const char *failure = one(-1, 0);
    CHECK(failure == NULL, failure != NULL ? failure : "a life without a failure");
    CHECK_TEXT(life->where, "");
    CHECK_NUMBER(life->paired, 1);
    CHECK_NUMBER(life->queued, 1);
    memcpy(all, life->counts, sizeof all);
    for (call = 0; call < CALLS; call++) {
        int64_t count = 0, ended = 0, named = 0;
        if (!chosen[call])
            continue;
        CHECK(all[call] > 0, call_names[call]);
        for (number = first; number <= all[call]; number += all[call] < every ? 1 : every) {
            char text[320];
            alarm(300);
            failure = one(call, number);
            count++;
            named += life->status[0] != 0;
            if (failure != NULL) {
                ended++;
                snprintf(text, sizeof text, "%s %lld of %lld: %.200s", call_names[call], (long long)number,
                         (long long)all[call], failure);
                CHECK(0, text);
            }
        }
        printf("%s: %lld calls, %lld failed, %lld lives told it, %lld went wrong\n", call_names[call],
               (long long)all[call], (long long)count, (long long)named, (long long)ended);
        CHECK(ended == 0, call_names[call]);
    }
}

static void failed_calls(void)
{
    bw_relay *relay = NULL;
    CHECK_STATUS(bw_relay_open("{\"listen\":\"127.0.0.1:0\",\"threaded\":true}", &relay), BW_OK);
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    relay_at = relay_port(relay);
    lives();
    bw_relay_close(relay);
}

int main(int argc, char **argv)
{
    int index, call, any = 0;
    if (argc == 8 && strcmp(argv[1], "--life") == 0) {
        shared_file = atoi(argv[5]);
        if (share() != 0)
            return 2;
        failing_call = atoi(argv[3]);
        failing_number = strtoll(argv[4], NULL, 10);
        relay_at = atoi(argv[6]);
        _exit(live(argv[2], atoi(argv[7])));
    }
    for (index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--every") == 0 && index + 1 < argc)
            every = strtol(argv[++index], NULL, 10);
        else if (strcmp(argv[index], "--first") == 0 && index + 1 < argc)
            first = strtol(argv[++index], NULL, 10);
        else if (strcmp(argv[index], "--pushes") == 0 && index + 1 < argc)
            pushes = atoi(argv[++index]);
        for (call = 0; call < CALLS; call++)
            if (strcmp(argv[index], call_names[call]) == 0)
                any = chosen[call] = 1;
    }
    for (call = 0; call < CALLS; call++)
        chosen[call] |= !any;
    if (every < 1 || first < 1 || pushes < 1 || pushes > TITLES) {
        fprintf(stderr, "usage: failures [--every N] [--first N] [--pushes 1 to 64] [CALL...]\n");
        return 2;
    }
    shared_file = memfd_create("life", 0);
    if (ftruncate(shared_file, sizeof *life) != 0 || share() != 0)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    argc = 1;
    RUN(failed_calls);
    return check_end();
}
