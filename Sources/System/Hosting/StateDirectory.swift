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
    /// The directory itself, whatever its path is called: stable from start to start. `nil` for one in memory.
    package let name: String?
    /// Its resolved path, which need not be UTF-8.
    private let place: [UInt8]
    /// The locked descriptor; -1 once let go.
    private let lock: Mutex<Int32>

    private static let held = Mutex<Set<[UInt8]>>([])

    /// Nothing is kept: no directory, no lock.
    package static func inMemory() -> StateDirectory { StateDirectory(path: nil, place: [], lock: -1) }

    private init(path: String?, place: [UInt8], lock: Int32) {
        (self.path, self.place) = (path, place)
        name = path.map { path in
            String(validating: place, as: UTF8.self)
                ?? place.map { $0 < 0x80 ? String(Unicode.Scalar($0)) : "%" + String($0, radix: 16) }.joined()
        }
        self.lock = Mutex(lock)
    }

    /// Makes the directory (and its parents) if need be, and takes it.
    ///
    /// Errors: `busy` when another handle or process has it, `io` when it cannot be made, read or written.
    package static func open(_ path: String) throws(HostError) -> StateDirectory {
        guard let directory = try openIfFree(path) else {
            let place = try resolved(path)
            throw busy(path, held.withLock { $0.contains(place) } ? "by this program" : "by another program")
        }
        return directory
    }

    /// Like ``open(_:)``, for a directory that programs share: `nil` = another handle or process has it.
    package static func openIfFree(_ path: String) throws(HostError) -> StateDirectory? {
        try make(path)
        let place = try resolved(path)
        guard let canonical = BytePath.text(place) else { throw failure("open", path) }
        // Before the file is opened: closing any descriptor of it would drop this process's lock.
        guard held.withLock({ $0.insert(place).inserted }) else { return nil }
        do throws(HostError) {
            if let descriptor = try lock(canonical + "/lock") {
                return StateDirectory(path: canonical, place: place, lock: descriptor)
            }
        } catch {
            release(place)
            throw error
        }
        release(place)
        return nil
    }

    private static func resolved(_ path: String) throws(HostError) -> [UInt8] {
        guard let resolved = realpath(path, nil) else { throw failure("find", path) }
        defer { free(resolved) }
        return Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
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
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        StateDirectory.release(place)
    }

    deinit { close() }

    /// A role's default state directory: `$XDG_STATE_HOME/bellwire/<role>`, or below the home directory. `nil` if
    /// neither is known.
    package static func standard(role: String) -> String? {
        func variable(_ name: String) -> String? {
            // The XDG Base Directory specification: a relative path is invalid and ignored.
            guard let value = getenv(name), value.pointee == CChar(UInt8(ascii: "/")) else { return nil }
            return BytePath.text(
                Array(UnsafeRawBufferPointer(start: value, count: strlen(value))), makes: name != "HOME")
        }
        if let state = variable("XDG_STATE_HOME") { return "\(state)/bellwire/\(role)" }
        if let home = variable("HOME") { return "\(home)/.local/state/bellwire/\(role)" }
        return nil
    }

    private static func release(_ place: [UInt8]) { held.withLock { _ = $0.remove(place) } }

    /// Creates a directory and missing parents. It must belong to this process's user, or be closed to all other users.
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
