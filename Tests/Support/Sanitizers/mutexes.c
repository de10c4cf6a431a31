/*
 * Preloaded by Tests/sanitize.sh thread: tells ThreadSanitizer about the slow paths of Swift's Mutex.
 *
 * Synchronization.Mutex takes a free lock with an atomic operation that is compiled into the calling code, where
 * ThreadSanitizer sees it. When threads compete, the lock is handed over inside libswiftSynchronization, which isn't
 * instrumented: without these functions, everything that a contended Mutex protects is reported as a race. They add
 * exactly the missing order, from the unlock to the next lock of the same Mutex, and hide nothing else.
 *
 * Swift passes self in the context register.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

/* Weak: what starts the tests also loads this, and has no ThreadSanitizer. */
#define WEAK __attribute__((weak))
WEAK void __tsan_acquire(void *address);
WEAK void __tsan_release(void *address);

/* _MutexHandle._lockSlow(UInt32) */
SWIFT void $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF(uint32_t thread, SELF self);
/* _MutexHandle._tryLockSlow() -> Bool */
SWIFT bool $s15Synchronization12_MutexHandleV12_tryLockSlowSbyF(SELF self);
/* _MutexHandle._unlockSlow() */
SWIFT void $s15Synchronization12_MutexHandleV11_unlockSlowyyF(SELF self);

static SWIFT void (*next_lock)(uint32_t, SELF);
static SWIFT bool (*next_try)(SELF);
static SWIFT void (*next_unlock)(SELF);

__attribute__((constructor)) static void find_next(void)
{
    *(void **)&next_lock = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    *(void **)&next_try = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
    *(void **)&next_unlock = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
}

SWIFT void $s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF(uint32_t thread, SELF self)
{
    next_lock(thread, self);
    if (__tsan_acquire != NULL)
        __tsan_acquire(self);
}

SWIFT bool $s15Synchronization12_MutexHandleV12_tryLockSlowSbyF(SELF self)
{
    bool taken = next_try(self);
    if (taken && __tsan_acquire != NULL)
        __tsan_acquire(self);
    return taken;
}

SWIFT void $s15Synchronization12_MutexHandleV11_unlockSlowyyF(SELF self)
{
    if (__tsan_release != NULL)
        __tsan_release(self);
    next_unlock(self);
}
