import Glibc

/// The terminal that the program was started from.
enum Terminal {
    /// Which of standard input, output and error are terminals at the start.
    private static let descriptors: [Int32] = (0...2).filter { isatty($0) == 1 }

    /// To be called while the terminal is there.
    static func note() { _ = descriptors }

    /// Whether it was closed: that sends a SIGHUP, too.
    static var isGone: Bool {
        descriptors.contains { descriptor in
            var entry = pollfd(fd: descriptor, events: 0, revents: 0)
            return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP | POLLERR) != 0
        }
    }
}
