import Glibc
import Synchronization
package import Wire

/// One for the process: a role that is opened later does not start to doubt the clock again.
private let clock = Mutex(ExpiryClock())

extension ExpiryMoment {
    /// By the process's clocks. From any thread.
    package static var current: ExpiryMoment {
        clock.withLock { clock in
            var boot = timespec()
            clock_gettime(CLOCK_BOOTTIME, &boot)
            return clock.read(
                wall: .now, boot: Int64(boot.tv_sec) &* 1_000 &+ Int64(boot.tv_nsec) / 1_000_000)
        }
    }
}
