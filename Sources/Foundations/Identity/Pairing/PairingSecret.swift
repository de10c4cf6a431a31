import CSodium

/// The secret of one pairing: the 16 bytes of a QR code, or the key from CPace
/// (WirePairingProofs, "The lines of a proof").
///
/// The bytes are kept in protected memory, and wiped with the last reference.
package final class PairingSecret: Sendable, Equatable {
    /// Of a QR's secret.
    package static let byteCount = 16

    let bytes: SecretBytes

    init(_ bytes: SecretBytes) { self.bytes = bytes }

    /// A new secret for a QR.
    package static func random() -> PairingSecret {
        var random = Identity.randomBytes(byteCount)
        defer { Identity.wipe(&random) }
        guard let secret = PairingSecret(bytes: random) else { preconditionFailure("sixteen bytes are a secret") }
        return secret
    }

    /// A QR's secret out of randomness that is handed in; `nil` unless it is 16 bytes. The caller wipes its own copy.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, let secret = SecretBytes(bytes) else { return nil }
        self.bytes = secret
    }

    /// As a QR says it; `nil` unless it is 16 bytes in base64url.
    package convenience init?(base64url text: String) {
        guard text.utf8.count <= 32, var decoded = TextEncoding.base64url.decode(text) else { return nil }
        defer { Identity.wipe(&decoded) }
        self.init(bytes: decoded)
    }

    /// For the QR, and nothing else: a text cannot be wiped.
    package var base64url: String {
        var copy = bytes.withBytes { Array(UnsafeBufferPointer(start: $0, count: bytes.count)) }
        defer { Identity.wipe(&copy) }
        return TextEncoding.base64url.encode(copy)
    }

    /// In constant time.
    package static func == (left: PairingSecret, right: PairingSecret) -> Bool { left.bytes.isEqual(to: right.bytes) }
}

extension PairingSecret: CustomStringConvertible, CustomReflectable {
    /// Never the bytes: for whoever prints what holds a secret.
    package var description: String { "a pairing secret" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
