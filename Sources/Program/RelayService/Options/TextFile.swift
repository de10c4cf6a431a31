internal import Glibc

/// A file that an operator writes, as text.
enum TextFile {
    /// - Parameter limit: bytes; a longer file is refused.
    /// - Throws: ``ServiceError/Code/unreadableFile``, for a pipe as well: the relay would wait for its writer, and could not
    ///   read it a second time.
    static func read(_ path: String, limit: Int) throws(ServiceError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable(path, "it is not a regular file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer.prefix(count))
            guard bytes.count <= limit else { throw unreadable(path, "it is larger than \(limit) bytes") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw unreadable(path, "it is not UTF-8") }
        return text
    }

    private static func unreadable(_ path: String, _ reason: String) -> ServiceError {
        ServiceError(.unreadableFile, "cannot read \(path): \(reason)")
    }
}
