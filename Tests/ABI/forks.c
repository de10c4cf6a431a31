/* Forks that use the library, when their parent has only loaded it. */
#include "check.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* ---- what the library asks the kernel for -------------------------------------------------------------------- */

/* Swift's runtime needs the number of each thread for its locks, asks for it by syscall(), and remembers it. */
static __thread int asked;
/* Locks that the kernel refused, because the number was wrong. */
static int refused;

typedef long (*system_call)(long number, ...);

#ifdef __cplusplus
extern "C"
#endif
long counted_syscall(long number, ...) __asm__("syscall");

long counted_syscall(long number, ...)
{
    static system_call next;
    long parameters[6];
    long result;
    int index;
    va_list list;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    va_start(list, number);
    for (index = 0; index < 6; index++)
        parameters[index] = va_arg(list, long);
    va_end(list);
    asked += number == SYS_gettid;
    result = next(number, parameters[0], parameters[1], parameters[2], parameters[3], parameters[4], parameters[5]);
    if (result < 0 && number == SYS_futex && (errno == EPERM || errno == ESRCH || errno == EDEADLK))
        refused++;
    return result;
}

/* ---- lives of a child ---------------------------------------------------------------------------------------- */

/* How often this thread asks for its number while it tries to open a device; -1 = the device opened. */
static int asks(void)
{
    bw_device *device = NULL;
    int before = asked;
    return bw_device_open("{", &device) == BW_E_INVALID ? asked - before : -1;
}

/* What does not make the library this process's own. */
static void calls_without_a_handle(void)
{
    bw_free(bw_last_error());
    (void)bw_version();
    (void)bw_abi_version();
    (void)bw_status_name(BW_E_FORKED);
    (void)bw_device_fd(NULL);
    (void)bw_device_start(NULL);
    (void)bw_device_close(NULL);
    bw_free(bw_last_error());
}

static int both_roles(void)
{
    bw_device *device = NULL;
    bw_desktop *desktop = NULL;
    int good;
    /* A hang ends here. */
    alarm((unsigned)within(20000) / 1000);
    good = bw_device_open("{\"state_dir\":\":memory:\"}", &device) == BW_OK
        && bw_desktop_open("{\"state_dir\":\":memory:\"}", &desktop) == BW_OK
        && bw_device_start(device) == BW_OK && bw_device_close(device) == BW_OK
        && bw_desktop_close(desktop) == BW_OK;
    return good && refused == 0 ? 0 : 1;
}

/* ---- the tests ----------------------------------------------------------------------------------------------- */

/* A child's main thread has another number than its parent's. */
static void a_child_asks_for_its_number_again(void)
{
    int at_load = asked;
    int of_child, of_parent;
    CHECK(at_load > 0, "the number of the thread that loads the library is asked for");
    of_child = WEXITSTATUS(in_child(asks));
    calls_without_a_handle();
    CHECK_NUMBER(WEXITSTATUS(in_child(asks)), of_child);
    of_parent = asks();
    CHECK(of_parent >= 0, "the parent tries as well");
    /* Of what is asked for at load, the runtime's locks alone are used later. */
    CHECK_NUMBER(of_child, of_parent + 1);
}

static void children_open_and_close_handles(void)
{
    int index, failed = 0;
    for (index = 0; index < 40 / check_scale() && failed == 0; index++)
        failed = in_child(both_roles);
    CHECK_NUMBER(failed, 0);
}

static int grandchild(void)
{
    return in_child(both_roles) == 0 ? 0 : 1;
}

static void a_grandchild_opens_and_closes_handles(void)
{
    CHECK_NUMBER(in_child(grandchild), 0);
}

int main(int argc, char **argv)
{
    /* The parent opens nothing before the last test. */
    RUN(children_open_and_close_handles);
    RUN(a_grandchild_opens_and_closes_handles);
    RUN(a_child_asks_for_its_number_again);
    return check_end();
}
