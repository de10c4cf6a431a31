package import Identity

/// Names a prekey: the first 12 bytes of SHA-256 of its public key (WirePrekeys, "Sealed pushes").
package struct PrekeyID: Hashable, Sendable {
    package static let byteCount = 12

    package let bytes: [UInt8]

    package init(_ key: AgreementPublicKey) { bytes = Array(key.digest.prefix(Self.byteCount)) }

    /// `nil` unless these are 12 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
