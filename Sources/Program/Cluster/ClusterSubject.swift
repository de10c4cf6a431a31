import Identity

/// The subjects under which the relays of a cluster reach each other: two for each id, by a hash of it, because an id may
/// have any characters.
enum ClusterSubject {
    /// Of the relay that holds the id, or wants to.
    static func holder(of name: [UInt8]) -> String { "bw.p.\(token(of: name))" }

    /// For all that wait for the id: it has come.
    static func status(of name: [UInt8]) -> String { "bw.s.\(token(of: name))" }

    /// The key of a proved id.
    static func key(of name: [UInt8]) -> String { token(of: name) }

    /// The first byte by itself, so that an operator can divide subjects and permissions into 256 parts.
    private static func token(of name: [UInt8]) -> String {
        let hash = ContentHash.short(name)
        return "\(TextEncoding.hex.encode([hash[0]])).\(PublicBase64URL.encode(hash))"
    }
}
