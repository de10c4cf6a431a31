import Glibc

/// A moment of the monotonic clock, in nanoseconds.
struct MonotonicTime: Sendable, Hashable, Comparable {
    let nanoseconds: UInt64

    static var now: MonotonicTime {
        var time = Glibc.timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    /// As the system's waits take it.
    var systemTime: timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// At most a day later.
    static func + (time: MonotonicTime, milliseconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: time.nanoseconds &+ min(milliseconds, 86_400_000) &* 1_000_000)
    }
}
