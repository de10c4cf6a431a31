internal import Glibc
internal import Hosting
internal import Identity
internal import Store
internal import Synchronization

/// A second copy of the proved ids, in a text file beside the database: a line `<epoch ms> <id>` for each. It grows by a
/// line with each new id, and is read at each start.
final class ProvedCopy: Sendable {
    typealias Name = (name: [UInt8], since: Int64)

    /// A million ids.
    private static let maximumBytes = 128 << 20

    /// Appends; -1 = closed, or it cannot be written.
    private let descriptor: Mutex<CInt>

    /// Brings the file up to date with the database, if something is missing in it.
    ///
    /// - Throws: ``StoreError/Code/ioError``: a relay without its second copy does not start.
    init(_ path: String, of names: [Name]) throws(StoreError) {
        let lines = names.lazy.map { Self.line($0.name, $0.since) }
        var status = stat()
        let size = stat(path, &status) == 0 ? Int(status.st_size) : -1
        if size != lines.reduce(0, { $0 &+ $1.count }) {
            do throws(IdentityError) { try FileBytes.replace(path, by: Array(lines.joined())) } catch {
                throw StoreError(.ioError, "the copy of the proved ids: \(error.message)")
            }
        }
        descriptor = Mutex(open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
    }

    /// The bytes of a copy; none if there is no file.
    ///
    /// - Throws: `io`: there is a file, and it cannot be read.
    static func contents(of path: String) throws(HostError) -> [UInt8] {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG || status.st_size > maximumBytes {
            throw unreadable(path, "it is not a regular file of at most \(maximumBytes >> 20) MiB")
        }
        do throws(IdentityError) { return try FileBytes.contents(of: path, limit: maximumBytes) ?? [] } catch {
            throw unreadable(path, error.message)
        }
    }

    /// The ids in a copy besides those that are known. Damaged lines, which a crash or a full disk can leave, are skipped.
    static func names(in bytes: [UInt8], besides known: Set<[UInt8]>) -> [Name] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
            let id = Array(line[(space + 1)...])
            guard !known.contains(id), let since = Int64(String(decoding: line[..<space], as: UTF8.self)), since >= 0,
                let name = String(validating: id, as: UTF8.self), PublicKey(did: name) != nil
            else { return nil }
            return (id, since)
        }
    }

    private static func unreadable(_ path: String, _ reason: String) -> HostError {
        HostError(
            .io,
            "cannot read the second copy of the proved ids: \(reason). Make \(path) readable; or remove it, and ids that "
                + "only it has are no longer protected")
    }

    /// Ids are DIDs; one that could not be told from two lines is left out.
    private static func line(_ name: [UInt8], _ since: Int64) -> [UInt8] {
        name.contains(UInt8(ascii: "\n")) ? [] : Array("\(since) ".utf8) + name + [UInt8(ascii: "\n")]
    }

    /// The database has it. A line that cannot be written is written at the next start.
    func add(_ name: [UInt8], since: Int64) {
        let line = Self.line(name, since)
        descriptor.withLock { if $0 >= 0 { _ = write($0, line, line.count) } }
    }

    func close() {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            fsync(descriptor)
            Glibc.close(descriptor)
            descriptor = -1
        }
    }
}
