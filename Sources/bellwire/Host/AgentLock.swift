import Glibc

/// Makes sure that one agent runs for a state directory: two would ask the person twice.
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
