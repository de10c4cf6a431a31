import Glibc
import Hosting

/// A file in a state directory that is locked by the one `bellwire agent`, or the one `bellwire desktop`, that runs there.
///
/// Such a program acts on events, which every program that shares the directory gets: two would ask the person twice.
/// The lock is the process's, and ends with it.
final class ProgramLock {
    enum Program: String {
        case agent
        case desktop
    }

    private let descriptor: Int32

    /// Takes the lock and holds it until it is released. Another user's directory is refused before a file is made in it.
    init(_ program: Program, in directory: String) throws(Failure) {
        do throws(HostError) { try StateDirectory.make(directory) } catch {
            throw Failure(error.code == .invalid ? .usage : .failed, LibraryWords.text(error.message))
        }
        let file = "\(directory)/\(program.rawValue)"
        descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ProgramLock.failure("open", file) }
        var lock = ProgramLock.whole
        guard fcntl(descriptor, F_SETLK, &lock) == 0 else {
            guard errno == EACCES || errno == EAGAIN else { throw ProgramLock.failure("lock", file) }
            throw Failure(.inUse, "another bellwire \(program.rawValue) uses \(directory)")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The process that holds the lock; `nil` = none. It must not be called by a process that may hold it: closing the
    /// file releases it.
    static func holder(_ program: Program, in directory: String) throws(Failure) -> pid_t? {
        try holder(of: program.rawValue, in: directory)
    }

    /// Whether any program has the device or desktop open.
    static func isOpen(_ directory: String) throws(Failure) -> Bool { try holder(of: "lock", in: directory) != nil }

    private static func holder(of name: String, in directory: String) throws(Failure) -> pid_t? {
        let file = "\(directory)/\(name)"
        let descriptor = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure("open", file) }
        defer { close(descriptor) }
        var lock = whole
        guard fcntl(descriptor, F_GETLK, &lock) == 0 else { throw failure("read the lock of", file) }
        return lock.l_type == Int16(F_UNLCK) ? nil : lock.l_pid
    }

    private static var whole: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }

    private static func failure(_ action: String, _ file: String) -> Failure {
        Failure(.failed, "cannot \(action) \(file): \(String(cString: strerror(errno)))")
    }
}
