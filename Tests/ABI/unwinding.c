/* Callbacks that never return: longjmp, a C++ exception (compiled as C++), and hosts that switch between stacks. */
#include "roles.h"

#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

/* ---- a device that gets posts of its own --------------------------------------------------------------------- */

struct host {
    bw_device *device;
    bw_subscription subscription;
    /* 0 = the callback returns; 1 = longjmp; 2 = a C++ exception; 3 = another fiber goes on */
    int leaves;
    int events;
    int destroyed;
    jmp_buf back;
};

static void switch_fiber(void);

static void leave(void *user_data, const char *event, const char *event_json)
{
    struct host *host = (struct host *)user_data;
    (void)event;
    (void)event_json;
    host->events++;
    if (host->leaves == 1)
        longjmp(host->back, 1);
#ifdef __cplusplus
    if (host->leaves == 2)
        throw 7;
#endif
    if (host->leaves == 3 && host->events == 1)
        switch_fiber();
}

static void destroyed(void *user_data)
{
    ((struct host *)user_data)->destroyed++;
}

static void host_begin(struct host *host)
{
    memset(host, 0, sizeof *host);
    CHECK_STATUS(bw_device_open("{\"state_dir\":\":memory:\"}", &host->device), BW_OK);
    CHECK_STATUS(bw_device_subscribe(host->device, "host.test", leave, host, destroyed, &host->subscription), BW_OK);
}

/* Posts an event, and waits until it can be dispatched. */
static void post(struct host *host)
{
    struct pollfd fd;
    fd.fd = bw_device_fd(host->device);
    fd.events = POLLIN;
    CHECK_STATUS(bw_device_post(host->device, "host.test", "{}"), BW_OK);
    CHECK_NUMBER(poll(&fd, 1, within(5000)), 1);
}

/* Dispatches once, as a host does that leaves its callback; true when it was left. */
static int dispatch_left(struct host *host)
{
#ifdef __cplusplus
    if (host->leaves == 2) {
        try {
            bw_device_dispatch(host->device);
        } catch (int number) {
            return number == 7;
        }
        return 0;
    }
#endif
    if (setjmp(host->back) != 0)
        return 1;
    bw_device_dispatch(host->device);
    return 0;
}

static void leaving(int how)
{
    struct host host;
    int round;
    host_begin(&host);
    for (round = 1; round <= 3; round++) {
        host.leaves = how;
        post(&host);
        CHECK(dispatch_left(&host), "the callback was left");
        CHECK_NUMBER(host.events, 2 * round - 1);
        host.leaves = 0;
        post(&host);
        CHECK_STATUS(bw_device_dispatch(host.device), BW_OK);
        CHECK_NUMBER(host.events, 2 * round);
    }
    /* One that is left and ends its subscription afterwards, and one that is open at the close. */
    host.leaves = how;
    post(&host);
    CHECK(dispatch_left(&host), "the callback was left once more");
    CHECK_NUMBER(host.destroyed, 0);
    CHECK_STATUS(bw_device_close(host.device), BW_OK);
    CHECK_NUMBER(host.destroyed, 1);
}

static void after_longjmp(void)
{
    leaving(1);
}

#ifdef __cplusplus
static void after_an_exception(void)
{
    leaving(2);
}
#endif

/* ---- the library's own thread -------------------------------------------------------------------------------- */

/* What a callback of a "threaded" handle does: 1 = end its thread, 2 = throw. */
static int threaded_way;
static sem_t threaded_ran;

static void leave_thread(void *user_data, const char *event, const char *event_json)
{
    (void)user_data, (void)event, (void)event_json;
    sem_post(&threaded_ran);
#ifdef __cplusplus
    if (threaded_way == 2)
        throw 7;
#endif
    pthread_exit(NULL);
}

/* 0 = the process survived, and the handle closed. */
static int child_of_a_threaded_handle(void)
{
    const struct rlimit no_core = {0, 0};
    struct timespec deadline;
    bw_device *device = NULL;
    setrlimit(RLIMIT_CORE, &no_core);
    sem_init(&threaded_ran, 0, 0);
    if (bw_device_open("{\"state_dir\":\":memory:\",\"threaded\":true}", &device) != BW_OK
        || bw_device_subscribe(device, "host.test", leave_thread, NULL, NULL, NULL) != BW_OK
        || bw_device_post(device, "host.test", "{}") != BW_OK)
        return 1;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += within(10000) / 1000;
    if (sem_timedwait(&threaded_ran, &deadline) != 0)
        return 2;
#ifdef __cplusplus
    if (threaded_way == 2)
        /* No call of the program's is on that thread's stack: nobody can catch it. */
        for (;;)
            pause();
#endif
    return bw_device_close(device) == BW_OK ? 0 : 3;
}

static void pthread_exit_on_the_librarys_thread(void)
{
    threaded_way = 1;
    CHECK_NUMBER(in_child(child_of_a_threaded_handle), 0);
}

#ifdef __cplusplus
static void an_exception_on_the_librarys_thread_ends_the_process(void)
{
    int status;
    threaded_way = 2;
    status = in_child(child_of_a_threaded_handle);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "std::terminate() has ended it");
}
#endif

/* ---- fibers -------------------------------------------------------------------------------------------------- */

/* Two fibers on one thread, with stacks of their own far apart. The first dispatches; inside its callback the second
 * one goes on, and dispatches the same handle. */
#define FIBER_STACK (256 * 1024)
#define FIBER_DISTANCE (8 * 1024 * 1024)

static ucontext_t fiber_main, fibers[2];
static int fiber_first;
static struct host *fiber_host;
static bw_status fiber_inside, fiber_after;

static void switch_fiber(void)
{
    swapcontext(&fibers[fiber_first], &fibers[1 - fiber_first]);
}

static void first_fiber(void)
{
    fiber_after = bw_device_dispatch(fiber_host->device);
}

static void second_fiber(void)
{
    fiber_inside = bw_device_dispatch(fiber_host->device);
    fiber_host->leaves = 0;
    swapcontext(&fibers[1 - fiber_first], &fibers[fiber_first]);
}

static void *run_fibers(void *context)
{
    char *memory = (char *)context;
    int number;
    for (number = 0; number < 2; number++) {
        getcontext(&fibers[number]);
        fibers[number].uc_stack.ss_sp = memory + (size_t)number * FIBER_DISTANCE;
        fibers[number].uc_stack.ss_size = FIBER_STACK;
        fibers[number].uc_link = &fiber_main;
    }
    makecontext(&fibers[fiber_first], first_fiber, 0);
    makecontext(&fibers[1 - fiber_first], second_fiber, 0);
    swapcontext(&fiber_main, &fibers[fiber_first]);
    return NULL;
}

/* A dispatch on the thread's own stack, whose callback lets a fiber dispatch. */
static void *run_thread_and_fiber(void *context)
{
    fiber_first = 0;
    getcontext(&fibers[1]);
    fibers[1].uc_stack.ss_sp = context;
    fibers[1].uc_stack.ss_size = FIBER_STACK;
    fibers[1].uc_link = &fiber_main;
    makecontext(&fibers[1], second_fiber, 0);
    fiber_after = bw_device_dispatch(fiber_host->device);
    return NULL;
}

static void fibers_are_busy(void *(*body)(void *context), int first, int is_thread, size_t offset)
{
    struct host host;
    size_t size = 2 * FIBER_DISTANCE;
    char *memory = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(memory != (char *)MAP_FAILED, "memory for stacks"))
        return;
    host_begin(&host);
    fiber_first = first;
    fiber_host = &host;
    fiber_inside = fiber_after = BW_E_CLOSED;
    host.leaves = 3;
    post(&host);
    /* Whatever a second dispatch would deliver. */
    CHECK_STATUS(bw_device_post(host.device, "host.test", "{}"), BW_OK);
    if (is_thread) {
        pthread_t thread;
        CHECK_NUMBER(pthread_create(&thread, NULL, body, memory + offset), 0);
        pthread_join(thread, NULL);
    } else {
        body(memory + offset);
    }
    CHECK_NUMBER(fiber_inside, BW_E_BUSY);
    CHECK_NUMBER(fiber_after, BW_OK);
    CHECK(host.events >= 1, "the callback returned");
    CHECK_STATUS(bw_device_dispatch(host.device), BW_OK);
    CHECK_NUMBER(host.events, 2);
    CHECK_STATUS(bw_device_close(host.device), BW_OK);
    CHECK_NUMBER(host.destroyed, 1);
    munmap(memory, size);
}

static void a_fiber_is_not_taken_for_one_that_left(void)
{
    int first;
    for (first = 0; first < 2; first++) {
        fibers_are_busy(run_fibers, first, 0, 0);
        fibers_are_busy(run_fibers, first, 1, 0);
    }
    /* The thread's stack may be above or below that of the fiber. */
    fibers_are_busy(run_thread_and_fiber, 0, 0, 0);
    fibers_are_busy(run_thread_and_fiber, 0, 1, FIBER_DISTANCE);
}

int main(int argc, char **argv)
{
    /* First: a process that has started the library's threads can't use them in a child. */
    RUN(pthread_exit_on_the_librarys_thread);
#ifdef __cplusplus
    RUN(an_exception_on_the_librarys_thread_ends_the_process);
#endif
    RUN(after_longjmp);
#ifdef __cplusplus
    RUN(after_an_exception);
#endif
    RUN(a_fiber_is_not_taken_for_one_that_left);
    return check_end();
}
