/// The result of a CPace run. Both sides have the same key if and only if both used the same code and nobody changed
/// their messages (WirePairing, "Agreeing on a key"). Before the other side's ``confirmation(of:)`` it proves nothing.
package struct CPaceKey: Sendable {
    package enum Side: String, Sendable, Hashable {
        case device, desktop

        package var other: Side {
            switch self {
            case .device: .desktop
            case .desktop: .device
            }
        }
    }

    let bytes: SecretBytes
    private let session: String

    init(_ bytes: SecretBytes, session: String) {
        self.bytes = bytes
        self.session = session
    }

    /// The `confirm` that a side sends: HMAC-SHA256(ISK, `bellwire-confirm-v1\n<device|desktop>\n<sid>`), base64url.
    ///
    /// The desktop sends its own only after the device's verified: else it would answer guesses.
    package func confirmation(of side: Side) -> String { TextEncoding.base64url.encode(mac(side)) }

    /// Is this the `confirm` of that side? In constant time.
    package func verifies(_ confirmation: String, of side: Side) -> Bool {
        guard confirmation.utf8.count <= 64, let given = TextEncoding.base64url.decode(confirmation) else {
            return false
        }
        return Identity.constantTimeEqual(given, mac(side))
    }

    /// The secret of the ack, of the confirmation and of the short string that follow.
    package var pairingSecret: PairingSecret { PairingSecret(bytes) }

    private func mac(_ side: Side) -> [UInt8] {
        HMAC.sha256(key: bytes, over: "bellwire-confirm-v1\n\(side.rawValue)\n\(session)")
    }
}
