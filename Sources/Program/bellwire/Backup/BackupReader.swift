import Glibc
import Identity
import JSON

/// Unpacks the file of `bellwire backup`, and checks each file in it.
///
/// The file can come from anywhere: only names that a backup has are unpacked, and nothing outside of the given folder.
struct BackupReader {
    private let path: String
    private let descriptor: Int32

    /// - Returns: the description of the archive.
    static func unpack(_ path: String, to folder: String, _ wanted: (String) -> Bool) throws(Failure) -> JSONValue {
        let descriptor = open(Word.terminated(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure(.usage, "cannot open \(path): \(Failure.systemError)") }
        defer { close(descriptor) }
        return try BackupReader(path: path, descriptor: descriptor).unpack(to: folder, wanted)
    }

    private func unpack(to folder: String, _ wanted: (String) -> Bool) throws(Failure) -> JSONValue {
        var found: [String: JSONValue] = [:]
        while let (name, size) = BackupFormat.file(try bytes(BackupFormat.blockSize)) {
            if name == BackupFormat.description {
                guard size <= BackupFormat.descriptionLimit else { break }
                return try check(try bytes(size), found)
            }
            guard StateFiles.isKnown(name), found[name] == nil else { throw damaged("it contains \(name)") }
            let hash = try copy(size, to: wanted(name) ? "\(folder)/\(name)" : nil)
            found[name] = ["name": .string(name), "size": .integer(Int64(size)), "sha256": .string(hash)]
            _ = try bytes(BackupFormat.padding(size))
        }
        throw damaged("it is incomplete, or no backup")
    }

    private func check(_ text: [UInt8], _ found: [String: JSONValue]) throws(Failure) -> JSONValue {
        guard let text = String(validating: text, as: UTF8.self), let description = try? JSONValue(parsing: text) else {
            throw damaged("its description cannot be read")
        }
        guard let format = description["format"]?.integer, format == BackupFormat.version else {
            throw Failure(.failed, "\(path) was written by a newer version of bellwire; restore it with that")
        }
        var files: [String: JSONValue] = [:]
        for file in description["files"]?.array ?? [] { files[file["name"]?.string ?? ""] = file }
        guard files == found else { throw damaged("its files are not those that were saved") }
        return description
    }

    /// - Returns: the SHA-256 of the next bytes, which are written to a new file.
    private func copy(_ size: Int, to path: String?) throws(Failure) -> String {
        var output: Int32 = -1
        if let path {
            // A part of the name may be a folder's.
            if let slash = path.lastIndex(of: "/") { mkdir(String(path[..<slash]), 0o700) }
            output = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard output >= 0 else { throw Failure(.failed, "cannot create \(path): \(Failure.systemError)") }
        }
        defer { if output >= 0 { close(output) } }
        var hash = RunningHash()
        var left = size
        while left > 0 {
            if let signal = Interrupt.take() { throw .interrupted(signal) }
            let part = try bytes(min(left, 1 << 20))
            part.withUnsafeBytes { hash.add($0) }
            left -= part.count
            guard output < 0 || FileBytes.write(output, part[...]) else {
                throw Failure(.failed, "cannot write \(path ?? ""): \(Failure.systemError)")
            }
        }
        guard output < 0 || fsync(output) == 0 else {
            throw Failure(.failed, "cannot write \(path ?? ""): \(Failure.systemError)")
        }
        return hash.end()
    }

    private func bytes(_ count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let isWhole = bytes.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { FileBytes.read(descriptor, into: $0, count: buffer.count) } ?? true
        }
        guard isWhole else { throw damaged("it is incomplete, or no backup") }
        return bytes
    }

    private func damaged(_ why: String) -> Failure {
        Failure(.failed, "\(path) cannot be restored: \(Printable.line(why)). Use another backup")
    }
}
