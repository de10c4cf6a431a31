import Glibc
import Synchronization

/// That a child has ended, as something to poll for.
enum ChildSignal {
    private static let writeEnd = Atomic<Int32>(-1)
    private static let readEnd = Atomic<Int32>(-1)

    static var descriptor: Int32 { readEnd.load(ordering: .relaxed) }

    /// Once; later calls do nothing.
    static func install() throws(Failure) {
        guard descriptor < 0 else { return }
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
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            let saved = errno
            var byte: UInt8 = 0
            _ = write(ChildSignal.writeEnd.load(ordering: .relaxed), &byte, 1)
            errno = saved
        }
        action.sa_flags = SA_NOCLDSTOP | SA_RESTART
        // Also where our parent ignores it: then no child's exit code could be had.
        sigaction(SIGCHLD, &action, nil)
    }

    static func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
}
