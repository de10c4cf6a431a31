import Glibc

/// State behind a lock, with a condition to wait for.
///
/// For the host's threads; the two threads of the library never wait on it.
package final class Monitor<State>: @unchecked Sendable {
    // Protected by `mutex`; the two pthread objects need addresses that stay.
    private var state: State
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ state: sending State) {
        self.state = state
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

    /// Changes the state and wakes everyone who waits.
    package func update<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_mutex_unlock(mutex)
            // Outside the lock: a thread that is woken under it waits again, for the lock.
            pthread_cond_broadcast(condition)
        }
        return try body(&state)
    }

    /// Looks at the state, or changes what nobody waits for.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Waits until `body` gives a result.
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// The same, for at most so many milliseconds; then `nil`.
    private func wait<Result>(atMost milliseconds: Int, _ body: (inout State) -> Result?) -> Result? {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_nsec += milliseconds % 1_000 * 1_000_000
        end.tv_sec += milliseconds / 1_000 + end.tv_nsec / 1_000_000_000
        end.tv_nsec %= 1_000_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            guard pthread_cond_timedwait(condition, mutex, &end) != ETIMEDOUT else { return nil }
        }
    }

    /// Waits until `body` gives a result, and calls `check` after every 50 ms without one, for changes that don't wake
    /// those who wait.
    package func wait<Result>(checking check: () -> Void, _ body: (inout State) -> Result?) -> Result {
        while true {
            if let result = wait(atMost: 50, body) { return result }
            check()
        }
    }
}
