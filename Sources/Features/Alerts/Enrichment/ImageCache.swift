import Glibc
package import Wire

/// The images of alerts, as files that the notification server or the host can read.
///
/// A file has a name of our own making: nothing of the address that it came from. It is whole from the moment at which it
/// has its name. The methods use the disk: they are for a thread that may wait for it.
package struct ImageCache: Sendable {
    /// Milliseconds that a file is kept.
    package static let maximumAge: EpochMilliseconds = 24 * 3_600_000
    /// Files, however small they are.
    package static let maximumCount = 1_000
    /// Bytes of all files together, as the disk counts them.
    package static let maximumBytes: Int64 = 200 << 20
    /// Milliseconds after which a file that was never finished is the rest of a crash.
    private static let unfinishedAge: EpochMilliseconds = 600_000

    /// It is made when the first image is kept; the directories above it must be there.
    package let directory: String

    package init(directory: String) { self.directory = directory }

    /// Writes the image under `name`, lower-case hexadecimal digits of a hash, 16 to 128 of them, with the extension of what
    /// it is. The same name again replaces the file. Returns the file's path.
    package func keep(_ bytes: [UInt8], _ format: ImageFormat, named name: String) throws(EnrichmentError) -> String {
        guard Self.isHash(name.utf8) else { throw EnrichmentError(.notKept, "invalid image file name") }
        let folder = try open(making: true)
        defer { close(folder) }
        let file = "\(name).\(format.fileExtension)"
        let temporary = "\(name).\(UInt64.random(in: 0 ... .max)).new"
        let descriptor = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("cannot create a file") }
        let isWritten = Self.write(bytes, to: descriptor)
        let reason = errno
        guard close(descriptor) == 0, isWritten, renameat(folder, temporary, folder, file) == 0 else {
            let reason = isWritten ? errno : reason
            unlinkat(folder, temporary, 0)
            throw Self.failure("cannot write the image", reason)
        }
        return "\(directory)/\(file)"
    }

    /// Removes expired files, then the oldest until the size limit is met. Returns how many files were removed.
    @discardableResult
    package func sweep(now: EpochMilliseconds) -> Int {
        guard let folder = try? open(making: false) else { return 0 }
        defer { close(folder) }
        var kept: [Entry] = []
        var count = 0
        for entry in Self.entries(of: folder) {
            let age = now &- entry.changedAt
            let limit = entry.isFinished ? Self.maximumAge : Self.unfinishedAge
            // One from the future was written when the clock was wrong.
            if age > limit || age < -limit {
                if unlinkat(folder, entry.name, 0) == 0 { count += 1 }
            } else {
                kept.append(entry)
            }
        }
        var size = kept.reduce(0) { $0 &+ $1.size }
        var number = kept.count
        for entry in kept.sorted(by: { $0.changedAt < $1.changedAt })
        where size > Self.maximumBytes || number > Self.maximumCount {
            if unlinkat(folder, entry.name, 0) == 0 { count += 1 }
            size &-= entry.size
            number -= 1
        }
        return count
    }

    /// Whether there is nothing to be swept, now or later.
    package var isEmpty: Bool {
        guard let folder = try? open(making: false) else { return true }
        defer { close(folder) }
        return Self.entries(of: folder).isEmpty
    }

    // MARK: The directory

    private struct Entry {
        let name: String
        let size: Int64
        let changedAt: EpochMilliseconds
        let isFinished: Bool
    }

    /// Opens the directory, which only its owner may write to, so that others cannot put links or files into it.
    private func open(making: Bool) throws(EnrichmentError) -> CInt {
        if making, mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw Self.failure("cannot create the image directory")
        }
        let folder = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw Self.failure("cannot open the image directory") }
        var status = stat()
        guard fstat(folder, &status) == 0, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0 || fchmod(folder, 0o700) == 0
        else {
            close(folder)
            throw EnrichmentError(.notKept, "the image directory belongs to another user")
        }
        return folder
    }

    /// Only our own files; other files in the directory stay.
    private static func entries(of folder: CInt) -> [Entry] {
        // The stream closes the descriptor that it reads from.
        let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        while let next = readdir(stream) {
            let name = withUnsafePointer(to: &next.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let isFinished = isOurs(name) else { continue }
            var status = stat()
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            let changedAt = Int64(status.st_mtim.tv_sec) &* 1_000 &+ Int64(status.st_mtim.tv_nsec) / 1_000_000
            entries.append(
                Entry(
                    name: name, size: max(Int64(status.st_size), Int64(status.st_blocks) &* 512), changedAt: changedAt,
                    isFinished: isFinished))
        }
        return entries
    }

    /// Whether ``keep(_:_:named:)`` created the name, and the file is complete.
    private static func isOurs(_ name: String) -> Bool? {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let hash = parts.first, isHash(hash), let ending = parts.last.map({ String(Substring($0)) }) else {
            return nil
        }
        switch (parts.count, ending) {
        case (2, "png"), (2, "jpg"), (2, "gif"), (2, "webp"): return true
        case (3, "new"): return false
        default: return nil
        }
    }

    private static func isHash(_ text: some Collection<UInt8>) -> Bool {
        (16...128).contains(text.count)
            && text.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private static func failure(_ what: String, _ reason: CInt = errno) -> EnrichmentError {
        var text = [CChar](repeating: 0, count: 128)
        guard strerror_r(reason, &text, text.count) == 0 else { return EnrichmentError(.notKept, what) }
        let why = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return EnrichmentError(.notKept, "\(what): \(why)")
    }
}
