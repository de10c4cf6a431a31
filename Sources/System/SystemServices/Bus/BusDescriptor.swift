import Glibc

/// A file descriptor that came in a message: a copy of our own, closed with the last reference to it.
package final class BusDescriptor: Sendable, Equatable {
    package let number: CInt

    /// Takes a copy, which programs that are started do not inherit. `nil` when the process has no descriptor left.
    init?(copying descriptor: CInt) {
        number = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        if number < 0 { return nil }
    }

    deinit {
        if number >= 0 { close(number) }
    }

    package static func == (left: BusDescriptor, right: BusDescriptor) -> Bool { left === right }
}
