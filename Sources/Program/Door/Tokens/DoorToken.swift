import Identity
package import JSON

/// A token, which allows publishing to all devices or to a group, and nothing else.
package struct DoorToken: Sendable, Equatable {
    package let name: String
    /// SHA-256 of the token, in hexadecimal digits. The token itself isn't kept.
    package let digest: String
    /// The only group that it may publish to; `nil` = all devices, and any group.
    package let group: String?
    /// Milliseconds since 1970.
    package let createdAt: Int64
    /// Requests in a minute, on the long run, and at once; 0 = any number.
    package let perMinute: Int64
    /// Of a request's body.
    package let maximumBytes: Int

    package static let defaultPerMinute: Int64 = 300
    /// Of a longer text than ``BodyText/limit`` the middle is left out.
    package static let byteLimit = 262_144
    package static let nameLimit = 64

    package init(
        name: String, token: String, group: String?, createdAt: Int64, perMinute: Int64 = defaultPerMinute,
        maximumBytes: Int = byteLimit
    ) {
        (self.name, self.group, self.createdAt) = (name, group, createdAt)
        digest = Self.digest(of: token)
        self.perMinute = max(0, perMinute)
        self.maximumBytes = min(max(1, maximumBytes), Self.byteLimit)
    }

    package static func digest(of token: String) -> String { ContentHash.hex([Array(token.utf8)]) }

    /// A new token of 140 random bits. It begins as ntfy's do, so that their clients know it from a password.
    package static func fresh() -> String {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        return "tk_" + String((0..<29).map { _ in alphabet[Int(generator.next() & 31)] })
    }

    /// `nil` for something that no version of ours has written.
    init?(json: JSONValue) {
        guard let name = json["name"]?.string, let digest = json["sha256"]?.string, digest.utf8.count == 64,
            let createdAt = json["createdAt"]?.integer, let perMinute = json["perMinute"]?.integer, perMinute >= 0,
            let bytes = json["maxBytes"]?.integer, 1...Int64(Self.byteLimit) ~= bytes
        else { return nil }
        (self.name, self.digest, self.createdAt, self.perMinute) = (name, digest, createdAt, perMinute)
        group = json["group"]?.string
        maximumBytes = Int(bytes)
    }

    /// Without the digest it is for people.
    package func json(withDigest: Bool) -> JSONValue {
        [
            "name": .string(name), "sha256": withDigest ? .string(digest) : nil, "group": group.map(JSONValue.string),
            "createdAt": .integer(createdAt), "perMinute": .integer(perMinute),
            "maxBytes": .integer(Int64(maximumBytes)),
        ]
    }
}
