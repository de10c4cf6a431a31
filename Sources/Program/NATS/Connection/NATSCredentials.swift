import Identity

/// What a server asks for besides a login in the URL: a key that signs its nonce, with or without a user's JWT.
package struct NATSCredentials: Sendable {
    /// A user's token of a server with accounts; `nil` = the server has the public key in its configuration.
    let jwt: String?
    /// The public key as NATS writes it: `U…`.
    package let publicKey: String
    private let key: SigningKey

    /// Reads a `.creds` file (JWT and seed), or a file with nothing but a seed (`SU…`).
    ///
    /// - Throws: ``NATSError/Code/invalidOption``. The message doesn't contain any of it.
    package init(parsing text: String) throws(NATSError) {
        jwt = Self.block("NATS USER JWT", in: text)
        let written = Self.block("USER NKEY SEED", in: text) ?? text
        let seed = written.filter { !$0.isWhitespace }
        guard var bytes = NKey.seed(seed) else {
            throw NATSError(
                .invalidOption, "the NATS credentials contain no user's seed; use the .creds file of a user")
        }
        defer { for index in bytes.indices { bytes[index] = 0 } }
        do throws(IdentityError) { key = try SigningKey(seed: bytes) } catch {
            throw NATSError(.invalidOption, "cannot use the seed of the NATS credentials: \(error.message)")
        }
        publicKey = NKey.user(key.publicKey)
    }

    /// What proves the key for this connection.
    func signature(of nonce: String) -> String { PublicBase64URL.encode(key.sign(nonce)) }

    private static func block(_ name: String, in text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmed }
        guard let begin = lines.firstIndex(where: { $0.hasPrefix("---") && $0.contains("BEGIN \(name)") }) else {
            return nil
        }
        return lines[(begin + 1)...].first { !$0.isEmpty && !$0.hasPrefix("---") }.map(String.init)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
