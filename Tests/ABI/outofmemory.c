/*
 * Fails the Nth allocation of a short life: each life goes on with named statuses, or the process ends as bellwire.h says
 * of the library's own code. No C code, ours or a library's, writes or reads through NULL, and nothing hangs. Swift's
 * runtime, which is C++, does not check all of its allocations: it faults itself, or hands Swift code a type that it
 * could not make. That is one of the ways in which the process ends.
 *
 *     outofmemory [TEST]      with $BELLWIRE_DEBUG_FILE, the debug information of libbellwire.so.1
 *
 * Allocations of the whole process come here: this program's functions stand before libc's.
 */
#include "roles.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

/* ---- allocations --------------------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static int64_t allocations, failing;

/* Whether this one fails. */
static int fails(void)
{
    if (__atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) != __atomic_load_n(&failing, __ATOMIC_RELAXED))
        return 0;
    errno = ENOMEM;
    return 1;
}

/* The library's threads block all signals. One that faults is to say where. */
int pthread_sigmask(int how, const sigset_t *signals, sigset_t *before)
{
    sigset_t others;
    if (signals == NULL)
        return sigprocmask(how, NULL, before) == 0 ? 0 : errno;
    others = *signals;
    if (how != SIG_UNBLOCK) {
        sigdelset(&others, SIGSEGV);
        sigdelset(&others, SIGILL);
        sigdelset(&others, SIGTRAP);
    }
    return sigprocmask(how, &others, before) == 0 ? 0 : errno;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *made = memalign(alignment, size);
    if (made == NULL)
        return ENOMEM;
    *memory = made;
    return 0;
}
#ifdef __cplusplus
}
#endif

/* ---- lives --------------------------------------------------------------------------------------------------- */

static void counted(void *user_data, const char *event, const char *event_json)
{
    (void)event;
    (void)event_json;
    ++*(int *)user_data;
}

/* Ends the life with a status that has no name: 1. */
static void named(bw_status status)
{
    if (status < 0 && strcmp(bw_status_name(status), "BW_E_UNKNOWN") == 0)
        _exit(1);
}

static void device_life(const char *state_dir)
{
    char options[512];
    bw_device *device = NULL;
    char *json = NULL;
    int events = 0;
    snprintf(options, sizeof options, "{\"state_dir\":\"%.300s\"}", state_dir);
    bw_status status = bw_device_open(options, &device);
    named(status);
    if (status < 0)
        return;
    named(bw_device_subscribe(device, "host.test", counted, &events, NULL, NULL));
    named(bw_device_start(device));
    named(bw_device_post(device, "host.test", "{\"text\":\"a\"}"));
    named(bw_device_dispatch(device));
    if (bw_device_state(device, &json) == BW_OK)
        bw_free(json);
    named(bw_notification_mark_as_read(device, NULL, "{\"notificationId\":\"n\"}", 1000, NULL));
    named(bw_pairing_scan(device, "no code", 1000, NULL));
    named(bw_device_close(device));
}

static void desktop_life(const char *state_dir)
{
    char options[512];
    bw_desktop *desktop = NULL;
    char *json = NULL;
    snprintf(options, sizeof options, "{\"state_dir\":\"%.300s\",\"relay\":{\"listen\":\"127.0.0.1:0\"}}", state_dir);
    bw_status status = bw_desktop_open(options, &desktop);
    named(status);
    if (status < 0)
        return;
    named(bw_desktop_start(desktop));
    status = bw_desktop_offer(desktop, 2000, &json);
    named(status);
    if (status >= 0)
        bw_free(json);
    named(bw_desktop_notify(desktop, "{\"title\":\"t\",\"body\":\"b\"}", 2000, NULL));
    named(bw_desktop_dispatch(desktop));
    named(bw_desktop_close(desktop));
}

/* ---- in processes of their own ------------------------------------------------------------------------------- */

/* 0: allocations of a life; 1: where it was when it went through NULL or stopped itself, in libbellwire.so.1. */
static int64_t *shared;

static void faulted(int number, siginfo_t *info, void *context)
{
    const ucontext_t *at = (const ucontext_t *)context;
    Dl_info place;
#ifdef __aarch64__
    char *code = (char *)at->uc_mcontext.pc, *caller = (char *)at->uc_mcontext.regs[30];
#else
    char *code = (char *)at->uc_mcontext.gregs[REG_RIP], *caller = *(char **)at->uc_mcontext.gregs[REG_RSP];
#endif
    (void)info;
    /* A call through NULL: who made it? */
    if ((uintptr_t)code < 4096)
        code = caller;
    if (dladdr(code, &place) != 0 && strstr(place.dli_fname, "libbellwire") != NULL)
        shared[1] = code - (char *)place.dli_fbase;
    signal(number, SIG_DFL);
}

/* The places at which processes have ended, by function. */
static struct {
    char name[160];
    int count;
} ends[256];
static int end_count;

static void ended_in(const char *name)
{
    int index = 0;
    while (index < end_count && strncmp(ends[index].name, name, sizeof ends[0].name - 1) != 0)
        index++;
    if (index == 256)
        return;
    if (index == end_count)
        snprintf(ends[end_count++].name, sizeof ends[0].name, "%s", name);
    ends[index].count++;
}

/* Whether a place in the library is in Swift's runtime, by the names of C++ and its entries, or in Swift code. */
static int is_swift(int64_t offset)
{
    char command[1024], name[512];
    const char *file = getenv("BELLWIRE_DEBUG_FILE");
    FILE *output;
    name[0] = 0;
    snprintf(command, sizeof command, "addr2line -f -e '%.700s' 0x%llx", file ? file : "", (unsigned long long)offset);
    output = popen(command, "r");
    if (output == NULL || fgets(name, sizeof name, output) == NULL)
        name[0] = 0;
    if (output != NULL)
        pclose(output);
    name[strcspn(name, "\n")] = 0;
    ended_in(name);
    if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "swift_", 6) == 0 || strncmp(name, "$s", 2) == 0)
        return 1;
    printf("not of Swift: %s\n", name);
    return 0;
}

/* What the processes of the lives share with this one. */
static int shared_file = -1;

static int share(void)
{
    shared = (int64_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
    return shared == (int64_t *)MAP_FAILED;
}

/* One life, in a process of its own. */
static int live(const char *name, int64_t fail)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = faulted;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGTRAP, &action, NULL);
    /* A hang ends here, as a signal that is not allowed. */
    alarm(20);
    __atomic_store_n(&allocations, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&failing, fail, __ATOMIC_RELAXED);
    if (strcmp(name, "device") == 0)
        device_life(":memory:");
    else
        desktop_life(":memory:");
    *shared = __atomic_load_n(&allocations, __ATOMIC_RELAXED);
    return 0;
}

/* The status of wait() of a life in which that allocation fails; 0 = none. Not in a mere fork: Swift's runtime keeps the
 * number of the thread that loaded it, and a fork's has another, so that two threads can wait for each other there. */
static int lived(const char *name, int64_t fail)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        char number[32], file[32];
        snprintf(number, sizeof number, "%lld", (long long)fail);
        snprintf(file, sizeof file, "%d", shared_file);
        dup2(quiet, 2);
        execl("/proc/self/exe", "outofmemory", "--life", name, number, file, (char *)NULL);
        _exit(2);
    }
    if (waitpid(child, &status, 0) != child)
        return -1;
    return status;
}

/* The first ones, in which the most is made, and then a sample. */
static void every(const char *name)
{
    int64_t count, number, survived = 0, ended = 0;
    CHECK_NUMBER(lived(name, 0), 0);
    count = *shared;
    CHECK(count > 500, "the life allocates");
    for (number = 1; number <= count; number += number < 200 ? 1 : 1 + count / 200) {
        int status;
        /* Each life has its own time, however many there are. */
        alarm((unsigned)(60 * check_scale()));
        shared[1] = 0;
        status = lived(name, number);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            survived++;
        } else if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP
                                           || WTERMSIG(status) == SIGABRT)) {
            /* The library's own code. */
            if (shared[1] == 0)
                ended_in(WTERMSIG(status) == SIGABRT ? "abort()" : "a trap elsewhere");
            else
                is_swift(shared[1]);
            ended++;
        } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV && shared[1] != 0 && is_swift(shared[1])) {
            ended++;
        } else {
            char what[128];
            snprintf(what, sizeof what, "%s: allocation %lld of %lld: status %d, signal %d", name, (long long)number,
                     (long long)count, WEXITSTATUS(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
            CHECK(0, what);
        }
    }
    CHECK(survived > 0, "some are told as a status");
    printf("%s: %lld allocations, %lld lives went on, %lld ended\n", name, (long long)count, (long long)survived,
           (long long)ended);
}

static void a_device(void)
{
    every("device");
}

static void a_desktop(void)
{
    every("desktop");
}

/* Where processes end; fewer is better. */
static void list_ends(void)
{
    int index, done, most;
    for (done = 0; done < end_count; done++) {
        most = 0;
        for (index = 1; index < end_count; index++)
            if (ends[index].count > ends[most].count)
                most = index;
        printf("ends %4d times in %s\n", ends[most].count, ends[most].name);
        ends[most].count = 0;
    }
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--life") == 0) {
        shared_file = atoi(argv[4]);
        if (share() != 0)
            return 2;
        /* Threads that still run are not waited for. */
        _exit(live(argv[2], strtoll(argv[3], NULL, 10)));
    }
    shared_file = memfd_create("lives", 0);
    if (ftruncate(shared_file, 4096) != 0 || share() != 0)
        return 2;
    RUN(a_device);
    RUN(a_desktop);
    list_ends();
    return check_end();
}
