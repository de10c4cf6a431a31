/* Lets a forked process use the library if its parent has not.
 *
 * Swift's runtime remembers the kernel's number of each thread, and needs it for its locks (FUTEX_LOCK_PI). In a fork,
 * the thread that called fork() has another number; the kernel refuses to unlock with the old one, and threads that wait
 * for the lock wait forever. So the child forgets the number, and the runtime asks for it again. */
#include <pthread.h>
#include <stdint.h>

/* ulock_get_tid()::tid of the runtime (include/swift/Threading/Impl/Linux/ulock.h); 0 = not asked yet. */
extern __thread uint32_t thread_number __asm__("_ZZN5swift14threading_impl5linux13ulock_get_tidEvE3tid");

static void forget_number(void) { thread_number = 0; }

/* Fails only without memory; then a fork is as it would be without this. */
static void __attribute__((constructor)) watch_forks(void) { (void)pthread_atfork(NULL, NULL, forget_number); }
