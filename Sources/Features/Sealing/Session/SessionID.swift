package import Identity

/// Identifies a session of two peers: 16 random bytes, chosen by the device (WireSessions, "Handshake").
package struct SessionID: Hashable, Sendable {
    package static let byteCount = 16

    package let bytes: [UInt8]

    /// `nil` unless these are 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// As it stands in a frame: base64url of exactly 16 bytes.
    package init?(_ text: String) {
        guard text.utf8.count == 22, let bytes = PublicBase64URL.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    package var text: String { PublicBase64URL.encode(bytes) }
}

/// The random values of a handshake. Made by the carrier: the state machine has no randomness.
package struct SessionSeed {
    package let id: SessionID
    package let ephemeral: AgreementKey

    package init(id: SessionID, ephemeral: AgreementKey) {
        self.id = id
        self.ephemeral = ephemeral
    }

    package static func random() -> SessionSeed {
        guard let id = SessionID(bytes: Identity.randomBytes(SessionID.byteCount)) else {
            preconditionFailure("16 bytes are a session id")
        }
        return SessionSeed(id: id, ephemeral: .generate())
    }
}
