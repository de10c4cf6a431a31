import Glibc
import Identity
import JSON

/// Writes the file of `bellwire backup`. It is the user's alone, and none is written over.
final class BackupWriter {
    private let path: String
    private let descriptor: Int32
    private let time = WallClock.milliseconds
    private var files: [JSONValue] = []
    private(set) var size = 0
    private var isDone = false

    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = open(Word.terminated(path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw Failure(
                errno == EEXIST ? .usage : .failed,
                errno == EEXIST
                    ? "\(path) exists; choose another name, or remove it"
                    : "cannot create \(path): \(Failure.systemError)")
        }
        // Whatever the umask is.
        fchmod(descriptor, 0o600)
    }

    deinit {
        // Also called when `init` has thrown: the file that is there is then not this one's.
        guard descriptor >= 0 else { return }
        close(descriptor)
        if !isDone { unlink(Word.terminated(path)) }
    }

    /// A file that stays as it is meanwhile.
    ///
    /// - Returns: `false` if the file does not exist.
    func add(_ name: String, from source: String) throws(Failure) -> Bool {
        let input = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard input >= 0 else {
            if errno == ENOENT { return false }
            throw Failure(.failed, "cannot read \(source): \(Failure.systemError)")
        }
        defer { close(input) }
        var status = stat()
        guard fstat(input, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.failed, "cannot read \(source): it is not a regular file")
        }
        var left = Int(status.st_size)
        try write(BackupFormat.header(name, size: left, time: time / 1_000)[...])
        var hash = RunningHash()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while left > 0 {
            if let signal = Interrupt.take() { throw .interrupted(signal) }
            let count = Glibc.read(input, &buffer, min(buffer.count, left))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw Failure(.failed, "cannot read \(source): it has changed; run the command again")
            }
            buffer.withUnsafeBytes { hash.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            try write(buffer[..<count])
            left -= count
        }
        try write([UInt8](repeating: 0, count: BackupFormat.padding(Int(status.st_size)))[...])
        files.append(
            ["name": .string(name), "size": .integer(Int64(status.st_size)), "sha256": .string(hash.end())])
        return true
    }

    /// Adds the description, and brings everything to the disk.
    func finish(version: String) throws(Failure) {
        let description: JSONValue = [
            "format": .integer(BackupFormat.version), "createdAt": .integer(time), "version": .string(version),
            "files": .array(files),
        ]
        let text = Array((description.serialized() + "\n").utf8)
        try write(BackupFormat.header(BackupFormat.description, size: text.count, time: time / 1_000)[...])
        try write(text[...])
        // Two empty blocks end an archive.
        try write([UInt8](repeating: 0, count: BackupFormat.padding(text.count) + 2 * BackupFormat.blockSize)[...])
        guard fsync(descriptor) == 0 else { throw failure() }
        isDone = true
    }

    private func write(_ bytes: ArraySlice<UInt8>) throws(Failure) {
        guard FileBytes.write(descriptor, bytes) else { throw failure() }
        size += bytes.count
    }

    private func failure() -> Failure { Failure(.failed, "cannot write \(path): \(Failure.systemError)") }
}
