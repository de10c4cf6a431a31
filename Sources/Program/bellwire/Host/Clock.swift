import Glibc

/// Monotonic time, for deadlines.
enum Clock {
    /// Milliseconds since some moment.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
    }

    /// A moment of the wire's (milliseconds since 1970) as local date and time.
    static func text(ofEpochMilliseconds milliseconds: Int64) -> String {
        // The zone may have changed while the program runs.
        tzset()
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "????-??-?? ??:??:??" }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress, strftime(base, 64, "%Y-%m-%d %H:%M:%S", &parts) > 0 else { return "" }
            return String(cString: base)
        }
    }
}
