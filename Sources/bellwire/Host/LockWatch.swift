import CLinux
import Glibc

/// Who opens and closes the lock file of a state directory.
final class LockWatch {
    struct Events: OptionSet {
        let rawValue: UInt32

        static let opened = Events(rawValue: UInt32(IN_OPEN))
        /// By one that could write: not by ``isFree(_:)``.
        static let closed = Events(rawValue: UInt32(IN_CLOSE_WRITE))
    }

    /// Readable when there are events.
    let descriptor: Int32

    init(_ path: String) throws(Failure) {
        descriptor = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        let wanted = Events([.opened, .closed]).rawValue
        guard descriptor >= 0, inotify_add_watch(descriptor, path, wanted) >= 0 else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { Glibc.close(descriptor) }
            throw Failure(.failed, "cannot watch \(path): \(reason)")
        }
    }

    deinit { Glibc.close(descriptor) }

    /// What has happened since the last call.
    func take() -> Events {
        var found: Events = []
        // Events of a file have no name: they are of one size.
        var events = [inotify_event](repeating: inotify_event(), count: 64)
        while true {
            let count = read(descriptor, &events, events.count &* MemoryLayout<inotify_event>.stride)
            guard count > 0 else { return found }
            for event in events.prefix(count / MemoryLayout<inotify_event>.stride) {
                found.formUnion(Events(rawValue: event.mask))
            }
        }
    }

    /// Whether nobody holds the lock.
    static func isFree(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { Glibc.close(descriptor) }
        var region = flock()
        region.l_type = Int16(F_WRLCK)
        region.l_whence = Int16(SEEK_SET)
        return fcntl(descriptor, F_GETLK, &region) != 0 || region.l_type == Int16(F_UNLCK)
    }
}

/// Makes sure that one agent runs for a state directory: two would step aside for each other forever.
final class AgentLock {
    private let descriptor: Int32

    /// Holds it until it is released. `nil` = the directory is not there.
    init?(in directory: String) throws(Failure) {
        let file = directory + "/agent"
        descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else {
            throw Failure(.failed, "cannot open \(file): \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(.inUse, "another bellwire agent uses \(directory)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
