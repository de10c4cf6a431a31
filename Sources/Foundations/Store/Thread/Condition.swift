import Glibc

/// A lock with a condition: what a thread waits on.
final class Condition: @unchecked Sendable {
    // At an address of their own: a pthread lock must never be moved.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func withLock<T>(_ body: () -> T) -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Only under the lock. May return early: check again.
    ///
    /// - Parameter time: returns then at the latest; `nil` = waits until it is woken.
    func wait(until time: MonotonicTime? = nil) {
        guard var deadline = time?.systemTime else {
            pthread_cond_wait(condition, mutex)
            return
        }
        pthread_cond_timedwait(condition, mutex, &deadline)
    }

    /// Wakes everyone who waits. Outside the lock: a thread that is woken under it waits again, for the lock.
    func broadcast() { pthread_cond_broadcast(condition) }
}
