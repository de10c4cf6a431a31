import Glibc
package import Wire

extension EpochMilliseconds {
    /// The wall clock's time.
    package static var now: EpochMilliseconds {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
