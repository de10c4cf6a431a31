import CSodium

/// An Ed25519 public key, and the `did:key` that is made of it.
package struct PublicKey: Hashable, Sendable {
    package static let byteCount = 32
    package static let signatureByteCount = 64

    package let bytes: [UInt8]

    /// `nil` unless these are the 32 bytes of a point that a key can be.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, MainSubgroup.contains(bytes) else { return nil }
        self.bytes = bytes
    }

    /// The key in an Ed25519 `did:key`.
    ///
    /// `nil` for anything that isn't written exactly so: another method or key type, a fragment, spaces, a wrong
    /// length, a point that is no key. Some deployed phones write such ids (WireDeployedPeers, "Android").
    package init?(did: String) {
        let prefix = "did:key:z"
        guard did.utf8.count <= 64, did.utf8.starts(with: prefix.utf8),
            let decoded = Base58.decode(did.utf8.dropFirst(prefix.utf8.count)),
            decoded.count == Self.byteCount + 2, decoded[0] == 0xed, decoded[1] == 0x01
        else { return nil }
        self.init(bytes: Array(decoded.dropFirst(2)))
    }

    /// `did:key:z…`: multibase base58btc of the multicodec 0xed 0x01 and the key.
    package var did: String { "did:key:z" + Base58.encode([0xed, 0x01] + bytes) }

    /// Did the owner of this key sign these bytes?
    package func verifies(signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureByteCount else { return false }
        return crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), bytes) == 0
    }

    package func verifies(signature: [UInt8], for text: String) -> Bool {
        verifies(signature: signature, for: Array(text.utf8))
    }
}
