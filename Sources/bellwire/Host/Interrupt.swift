import Glibc
import Synchronization

/// Ctrl-C and its like, as something to poll for: the handler writes one byte into a pipe and does nothing else.
///
/// The first signal asks; the second ends the program at once, wherever it is.
enum Interrupt {
    private static let writeEnd = Atomic<Int32>(-1)
    private static let readEnd = Atomic<Int32>(-1)

    /// Readable after a signal.
    static var descriptor: Int32 { readEnd.load(ordering: .relaxed) }

    static func install() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(.failed, "cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd.store(ends[0], ordering: .relaxed)
        writeEnd.store(ends[1], ordering: .relaxed)
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            var before = sigaction()
            sigaction(signal, nil, &before)
            // nohup and background shells start programs with these ignored: so they stay.
            if unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == ignored { continue }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { signal in
                let saved = errno
                var byte = UInt8(truncatingIfNeeded: signal)
                _ = write(Interrupt.writeEnd.load(ordering: .relaxed), &byte, 1)
                errno = saved
            }
            action.sa_flags = Int32(truncatingIfNeeded: SA_RESETHAND)
            sigaction(signal, &action, nil)
        }
    }

    /// `SIG_IGN`, which is a cast in C and does not come over.
    private static let ignored = 1

    /// The signal that came, once.
    static func take() -> Int32? {
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
    }
}
