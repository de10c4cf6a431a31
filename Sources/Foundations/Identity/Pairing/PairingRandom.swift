import CSodium

/// One side's contribution to the digits that two users compare: 16 random bytes (WirePairingProofs, "The digits").
///
/// The device publishes its ``commitment`` first and the bytes last, so that neither side can choose its own to fit.
package struct PairingRandom: Sendable, Equatable {
    package static let byteCount = 16

    private let bytes: [UInt8]

    package static func random() -> PairingRandom { PairingRandom(bytes: Identity.randomBytes(byteCount)) }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// As a frame has it; `nil` unless it is 16 bytes in base64url.
    package init?(base64url text: String) {
        guard text.utf8.count <= 32, let decoded = TextEncoding.base64url.decode(text), decoded.count == Self.byteCount
        else { return nil }
        bytes = decoded
    }

    package var base64url: String { TextEncoding.base64url.encode(bytes) }

    /// SHA-256 of the bytes, in base64url.
    package var commitment: String {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
        return TextEncoding.base64url.encode(digest)
    }
}
