import Glibc

/// Small files, whole or not at all.
package enum FileBytes {
    /// What a regular file holds: nothing if it has more than `limit` bytes; `nil` if there is none. Throws
    /// `key_file_unreadable`.
    package static func contents(of path: String, limit: Int) throws(IdentityError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw IdentityError(cannot: "open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw IdentityError(cannot: "examine", path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { return [] }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let isWhole = bytes.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { read(descriptor, into: $0, count: buffer.count) } ?? true
        }
        guard isWhole else { throw IdentityError(cannot: "read", path) }
        return bytes
    }

    /// Puts a file with this content, for its owner alone, in the place of the one at `path`. At every moment, also
    /// after a crash, `path` holds one of the two; when this returns, the new one is on the disk. Throws
    /// `key_file_unreadable`.
    package static func replace(_ path: String, by bytes: [UInt8]) throws(IdentityError) {
        let new = path + ".new"
        // Not blocking, should the name belong to a pipe.
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let descriptor = open(new, flags, 0o600)
        guard descriptor >= 0 else { throw IdentityError(cannot: "create", new) }
        let isWritten = bytes.withUnsafeBytes { buffer in
            buffer.baseAddress.map { write(descriptor, from: $0, count: buffer.count) } ?? true
        }
        let isSaved = isWritten && fsync(descriptor) == 0
        let failure = errno
        close(descriptor)
        errno = failure
        guard isSaved else { throw IdentityError(cannot: "write", new) }
        guard rename(new, path) == 0 else { throw IdentityError(cannot: "rename", new) }
        try syncFolder(of: path)
    }

    /// Brings the file's name to the disk.
    package static func syncFolder(of path: String) throws(IdentityError) {
        let folder: String
        switch path.lastIndex(of: "/") {
        case .some(let slash) where slash > path.startIndex: folder = String(path[..<slash])
        case .some: folder = "/"
        case nil: folder = "."
        }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw IdentityError(cannot: "open", folder) }
        defer { close(descriptor) }
        // Some file systems have nothing to do for a folder and say so with EINVAL.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw IdentityError(cannot: "save", folder) }
    }

    /// `false` with `errno` set; an end that comes too early is `EIO`.
    package static func read(_ descriptor: CInt, into target: UnsafeMutableRawPointer, count: Int) -> Bool {
        var done = 0
        while done < count {
            let taken = Glibc.read(descriptor, target + done, count - done)
            if taken > 0 {
                done += taken
            } else if taken == 0 {
                errno = EIO
                return false
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// `false` with `errno` set.
    package static func write(_ descriptor: CInt, from source: UnsafeRawPointer, count: Int) -> Bool {
        var done = 0
        while done < count {
            let given = Glibc.write(descriptor, source + done, count - done)
            if given >= 0 {
                done += given
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
