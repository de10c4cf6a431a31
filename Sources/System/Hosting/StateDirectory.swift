import Glibc
import Identity
import JSON
import Synchronization

/// A role's own directory: made with mode 0700, held by one handle of one process at a time.
///
/// The hold is an `fcntl` lock on a file of its own, which nothing else opens: closing any descriptor of a locked file
/// would drop the lock. Locks of that kind do not exclude the process that has them, hence the table beside it.
package final class StateDirectory: Sendable {
    /// `nil` for a directory in memory.
    package let path: String?
    /// The locked descriptor; -1 once let go.
    private let lock: Mutex<Int32>

    private static let held = Mutex<Set<String>>([])

    /// Nothing is kept: no directory, no lock.
    package static func inMemory() -> StateDirectory { StateDirectory(path: nil, lock: -1) }

    private init(path: String?, lock: Int32) {
        self.path = path
        self.lock = Mutex(lock)
    }

    /// Makes the directory (and its parents) if need be, and takes it.
    ///
    /// Errors: `busy` when another handle or process has it, `io` when it cannot be made, read or written.
    package static func open(_ path: String) throws(HostError) -> StateDirectory {
        guard let directory = try openIfFree(path) else {
            let canonical = try canonical(path)
            throw busy(path, held.withLock { $0.contains(canonical) } ? "by this program" : "by another program")
        }
        return directory
    }

    /// Like ``open(_:)``, for a directory that programs share: `nil` = another handle or process has it.
    package static func openIfFree(_ path: String) throws(HostError) -> StateDirectory? {
        try make(path)
        let canonical = try canonical(path)
        // Before the file is opened: closing any descriptor of it would drop this process's lock.
        guard held.withLock({ $0.insert(canonical).inserted }) else { return nil }
        do throws(HostError) {
            if let descriptor = try lock(canonical + "/lock") {
                return StateDirectory(path: canonical, lock: descriptor)
            }
        } catch {
            release(canonical)
            throw error
        }
        release(canonical)
        return nil
    }

    private static func canonical(_ path: String) throws(HostError) -> String {
        guard let resolved = realpath(path, nil) else { throw failure("find", path) }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The locked descriptor; `nil` = another process has the lock.
    private static func lock(_ file: String) throws(HostError) -> Int32? {
        let descriptor = Glibc.open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("write", file) }
        var region = flock()
        region.l_type = Int16(F_WRLCK)
        region.l_whence = Int16(SEEK_SET)
        if fcntl(descriptor, F_SETLK, &region) == 0 { return descriptor }
        defer { Glibc.close(descriptor) }
        guard errno == EACCES || errno == EAGAIN else { throw failure("lock", file) }
        return nil
    }

    /// The path of a file in it; `nil` in memory.
    package func file(_ name: String) -> String? { path.map { "\($0)/\(name)" } }

    /// Lets the directory go. Idempotent.
    package func close() {
        let descriptor = lock.withLock { lock in
            defer { lock = -1 }
            return lock
        }
        guard descriptor >= 0, let path else { return }
        Glibc.close(descriptor)
        StateDirectory.release(path)
    }

    deinit { close() }

    /// A role's default state directory: `$XDG_STATE_HOME/bellwire/<role>`, or below the home directory. `nil` if
    /// neither is known.
    package static func standard(role: String) -> String? {
        func variable(_ name: String) -> String? {
            guard let value = getenv(name) else { return nil }
            let text = String(cString: value)
            // The XDG Base Directory specification: a relative path is invalid and ignored.
            return text.hasPrefix("/") ? text : nil
        }
        if let state = variable("XDG_STATE_HOME") { return "\(state)/bellwire/\(role)" }
        if let home = variable("HOME") { return "\(home)/.local/state/bellwire/\(role)" }
        return nil
    }

    private static func release(_ path: String) { held.withLock { _ = $0.remove(path) } }

    /// Makes a directory, and its parents, if need be. It must belong to this process's user, or be open to nobody else.
    ///
    /// Root makes nothing in the directory of another user, who could not use it.
    package static func make(_ path: String) throws(HostError) {
        guard !path.isEmpty else { throw HostError(.invalid, "\"state_dir\" is empty; pass a directory") }
        var current = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            let parent = current.isEmpty ? "." : current
            current += current.isEmpty || current.hasSuffix("/") ? String(part) : "/\(part)"
            var owner = stat()
            if geteuid() == 0, access(current, F_OK) != 0, errno == ENOENT, stat(parent, &owner) == 0, owner.st_uid != 0
            {
                throw another(parent)
            }
            if mkdir(current, 0o700) == 0 {
                // Else a loss of power can take the directory away with all that it has. Best effort: not every folder can
                // be opened.
                try? FileBytes.syncFolder(of: current)
            } else if errno != EEXIST {
                throw failure("create", current)
            }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw HostError(
                .io, "\(path) is not a directory; use another \"state_dir\"", detail: ["path": .string(path)])
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw failure("read and write", path) }
        try requireOwn(path, status)
    }

    /// Whoever may write into it may put another database in the place of ours.
    private static func requireOwn(_ path: String, _ status: stat) throws(HostError) {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw another(path)
        }
        // In a sticky directory, users cannot replace each other's files.
        let isOpen = status.st_mode & (S_IWGRP | S_IWOTH) != 0
        guard !isOpen || status.st_mode & S_ISVTX != 0 else {
            throw HostError(
                .denied, "others can write to \(path); run chmod go-w \(path), or use another \"state_dir\"",
                detail: ["path": .string(path)])
        }
    }

    private static func another(_ path: String) -> HostError {
        HostError(
            .denied, "\(path) belongs to another user; use another \"state_dir\"", detail: ["path": .string(path)])
    }

    package static func busy(_ path: String, _ holder: String) -> HostError {
        HostError(
            .busy, "\(path) is in use \(holder); stop that, or use another \"state_dir\"",
            detail: ["path": .string(path)])
    }

    private static func failure(_ verb: String, _ path: String) -> HostError {
        let reason = String(cString: strerror(errno))
        return HostError(
            .io, "cannot \(verb) \(path): \(reason); check its permissions, or use another \"state_dir\"",
            detail: ["path": .string(path)])
    }
}
