import CSodium
import Glibc

extension SigningKey {
    /// The key in the file, or a new one written there.
    ///
    /// The file holds 64 bytes, the seed and the public key, and belongs to its owner alone (0600). A new one is written
    /// under another name, brought to the disk, and linked: it is never seen half written, and of two processes that
    /// begin at once both get the same key. The folder must exist.
    ///
    /// Throws `key_file_exposed` if others can read the file or own it, `key_file_damaged` if it is no key file,
    /// `key_file_unreadable` for any other trouble. Nothing is ever overwritten.
    package static func loadOrCreate(path: String) throws(IdentityError) -> SigningKey {
        try Identity.start()
        if let key = try load(path: path) { return key }
        let key = try generate()
        if try key.create(path: path) { return key }
        // Another process was first; its key is the one.
        guard let key = try load(path: path) else {
            throw IdentityError(.keyFileUnreadable, "the key file \(path) was removed while it was being created")
        }
        return key
    }

    /// Puts the key file at `next` in the place of the one at `path`. At every moment, also after a crash, `path` holds one
    /// of the two. Throws `key_file_unreadable`.
    package static func replace(path: String, by next: String) throws(IdentityError) {
        guard rename(next, path) == 0 else { throw IdentityError(cannot: "rename", next) }
        try FileBytes.syncFolder(of: path)
    }

    /// Deletes a key file; succeeds if there is none. Throws `key_file_unreadable`.
    package static func remove(path: String) throws(IdentityError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw IdentityError(cannot: "delete", path) }
    }

    /// `nil` if there is no such file.
    package static func load(path: String) throws(IdentityError) -> SigningKey? {
        // Not blocking, should the name belong to a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw IdentityError(cannot: "open", path)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw IdentityError(cannot: "examine", path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw IdentityError(.keyFileDamaged, "\(path) is not a regular file; move it away to get a new key")
        }
        guard status.st_uid == geteuid() else {
            throw IdentityError(
                .keyFileExposed, "the key file \(path) belongs to another user; run: chown \(geteuid()) \(path)")
        }
        guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw IdentityError(
                .keyFileExposed, "other users can open the key file \(path); run: chmod 600 \(path)")
        }
        guard status.st_size == secretByteCount else {
            throw IdentityError(
                .keyFileDamaged,
                """
                the key file \(path) has \(status.st_size) bytes instead of \(secretByteCount); restore it from a \
                backup, or move it away to get a new key, which is a new identity that must be paired again
                """)
        }
        var readError: CInt = 0
        do {
            return try SigningKey { secret, publicKey in
                guard FileBytes.read(descriptor, into: secret, count: secretByteCount) else {
                    readError = errno
                    return false
                }
                // The public half is stored twice over: in the file, and in what the seed makes.
                guard let made = sodium_malloc(secretByteCount) else { return false }
                defer { sodium_free(made) }
                let bytes = made.assumingMemoryBound(to: UInt8.self)
                return crypto_sign_ed25519_seed_keypair(publicKey, bytes, secret) == 0
                    && sodium_memcmp(made, secret, secretByteCount) == 0
            }
        } catch {
            if readError != 0 {
                errno = readError
                throw IdentityError(cannot: "read", path)
            }
            guard error.code == .keyFileDamaged else { throw error }
            throw IdentityError(
                .keyFileDamaged,
                """
                the key file \(path) does not hold a key; restore it from a backup, or move it away to get a new \
                key, which is a new identity that must be paired again
                """)
        }
    }

    /// Writes the key under a name of its own, then gives it its name. `false` if the name was taken meanwhile.
    private func create(path: String) throws(IdentityError) -> Bool {
        let temporary = "\(path).\(TextEncoding.hex.encode(Identity.randomBytes(8)))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw IdentityError(cannot: "create", temporary) }
        defer {
            close(descriptor)
            unlink(temporary)
        }
        guard fchmod(descriptor, 0o600) == 0,
            FileBytes.write(descriptor, from: secret, count: Self.secretByteCount),
            fsync(descriptor) == 0
        else { throw IdentityError(cannot: "write", temporary) }
        // A link fails where a rename would replace.
        guard link(temporary, path) == 0 else {
            if errno == EEXIST { return false }
            throw IdentityError(cannot: "create", path)
        }
        try FileBytes.syncFolder(of: path)
        return true
    }
}

extension IdentityError {
    /// For a call that has just failed; reads `errno`.
    init(cannot what: String, _ path: String) {
        let code = errno
        self.init(.keyFileUnreadable, "cannot \(what) \(path): \(String(cString: strerror(code))) (errno \(code))")
    }
}
