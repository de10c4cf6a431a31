import Glibc
import Identity
import JSON
import Hosting

/// The file with a desktop's tokens, which belongs to its user alone. It is replaced as a whole: whoever reads it finds
/// the tokens of before or of after.
package struct TokenFile: Sendable {
    package static let name = "tokens.json"
    /// Tokens at most.
    package static let limit = 256
    private static let byteLimit = 1 << 20

    package struct Failure: Error, Sendable {
        package let message: String
        /// Whether it may pass by itself, such as a lack of descriptors.
        let isTemporary: Bool

        package init(message: String, isTemporary: Bool = false) {
            (self.message, self.isTemporary) = (message, isTemporary)
        }
    }

    /// What tells one version of the file from another. A change of its owner or mode is one, too.
    struct Version: Equatable {
        private let numbers: [Int64]

        fileprivate init(_ status: stat) {
            numbers = [
                Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
                Int64(status.st_size), Int64(status.st_mode), Int64(status.st_uid), Int64(status.st_mtim.tv_sec),
                Int64(status.st_mtim.tv_nsec), Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec),
            ]
        }
    }

    private let path: String

    private let directory: String

    package init(directory: String) {
        self.directory = directory
        path = "\(directory)/\(Self.name)"
    }

    /// `nil`: there is no file.
    func version() throws(Failure) -> Version? {
        var status = stat()
        if lstat(path, &status) == 0 { return Version(status) }
        guard errno == ENOENT else { throw failure("cannot read") }
        return nil
    }

    /// Without a file there are none. One that can't be understood as a whole is an error: no token of it counts.
    package func tokens() throws(Failure) -> [DoorToken] {
        // Not blocking, should the name belong to a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        if descriptor < 0, errno == ENOENT { return [] }
        guard descriptor >= 0 else { throw failure("cannot open") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("cannot read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(message: "\(path) is not a regular file; move it away and create new tokens")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw Failure(message: "\(path) must belong to you, and nobody else may read or write it (chmod 600)")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot read") }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= Self.byteLimit else { throw Failure(message: "\(path) is too large") }
        }
        let damaged = Failure(message: "\(path) is damaged; move it away and create new tokens")
        guard let text = String(validating: bytes, as: UTF8.self),
            let list = (try? JSONValue(parsing: text, depth: 8))?["tokens"]?.array, list.count <= Self.limit
        else { throw damaged }
        var tokens: [DoorToken] = []
        for value in list {
            guard let token = DoorToken(json: value) else { throw damaged }
            tokens.append(token)
        }
        return tokens
    }

    /// Changes the file. Changes of several processes come one after the other.
    package func change<T>(_ change: (inout [DoorToken]) throws(Failure) -> T) throws(Failure) -> T {
        do throws(HostError) { try StateDirectory.make(directory) } catch { throw Failure(message: error.message) }
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            // Created with sudo.
            if errno == EACCES { throw Failure(message: "\(path).lock belongs to another user; delete it") }
            throw failure("cannot lock")
        }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("cannot lock") }
        }
        var tokens = try tokens()
        let result = try change(&tokens)
        guard tokens.count <= Self.limit else { throw Failure(message: "there are \(Self.limit) tokens already") }
        try write(tokens)
        return result
    }

    private func write(_ tokens: [DoorToken]) throws(Failure) {
        let value: JSONValue = ["version": 1, "tokens": .array(tokens.map { $0.json(withDigest: true) })]
        let bytes = Array((value.serialized() + "\n").utf8)
        do throws(IdentityError) { try FileBytes.replace(path, by: bytes) } catch {
            throw Failure(message: error.message)
        }
    }

    private func failure(_ what: String) -> Failure {
        Failure(message: "\(what) \(path): \(String(cString: strerror(errno)))", isTemporary: true)
    }
}
