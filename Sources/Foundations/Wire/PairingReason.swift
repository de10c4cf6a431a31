/// The reason why pairing failed: the fixed list that both sides share, and `store_failed` (WirePairing, "States and
/// reasons").
package enum PairingReason: String, Sendable, CaseIterable {
    case notJSON = "not_json"
    case wrongType = "wrong_type"
    case badCode = "bad_code"
    case missingPeerID = "missing_peer_id"
    case badField = "bad_field"
    case expired
    case noIdentity = "no_identity"
    case noRelay = "no_relay"
    case relayUnreachable = "relay_unreachable"
    case desktopOffline = "desktop_offline"
    case typedCodeUnavailable = "typed_code_unavailable"
    case rejected
    case notSecure = "not_secure"
    case timeout
    case cancelled
    /// The other side could not store the pairing.
    case peerStoreFailed = "peer_store_failed"
    /// Not of the wire: the peer was paired, but could not be written down here.
    case storeFailed = "store_failed"
}

extension PairingReason {
    /// What failed and what to do about it, in English, for people.
    package var message: String {
        switch self {
        case .notJSON: "The text is not a pairing code. Scan the complete QR code of the other side."
        case .wrongType:
            "This QR code is for something else. Open \"pair a device\" on the desktop and scan that code."
        case .badCode:
            "Invalid pairing code: it must have twelve digits when typed, six in a QR code. Show a new one on the other side."
        case .missingPeerID:
            "The pairing code lacks the id of its owner. Show a new code on the other side and scan it."
        case .badField: "A field of the pairing code is missing or malformed. Show a new code and scan it."
        case .expired: "The pairing code is older than five minutes. Show a new one; check both clocks if it is new."
        case .noIdentity:
            "This side has no identity yet. Check the key file in the state directory, then retry."
        case .noRelay: "No relay is configured. Set relay_url, or scan a code that contains a relay."
        case .relayUnreachable: "No relay could be reached. Check the network on both sides, then retry."
        case .desktopOffline: "The other side is not connected to its relay. Wake it, show a new code and scan it."
        case .typedCodeUnavailable:
            "This desktop does not accept typed codes, or the code is wrong. Scan its QR code instead."
        case .rejected: "The other side declined. Pair again and accept it there."
        case .notSecure:
            "The other side cannot prove its identity. Update it, or allow unencrypted pairing: legacy \"qr\" for QR codes, \"all\" for six digits."
        case .timeout:
            "The other side did not answer in time. Check that it is still open and that its code was not used before, then pair again."
        case .cancelled: "Pairing was cancelled. Start it again when ready."
        case .peerStoreFailed:
            "The other side accepted, but could not save the pairing. Check its disk, then pair again."
        case .storeFailed: "The pairing could not be saved. Check the disk of the state directory, then pair again."
        }
    }
}

/// A pairing that did not come about: the reason, and where it is known, what exactly.
package struct PairingFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: PairingReason
    /// The name of the field or the relay's own words; never a code, a key or a payload.
    package let detail: String?

    package init(_ reason: PairingReason, detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    /// The failure of a flow that has not reached its relay. `detail` is the relay's last failure.
    package static func unreached(_ detail: String?) -> PairingFailure {
        PairingFailure(.relayUnreachable, detail: detail ?? "no answer in time")
    }

    package var message: String { detail.map { "\(reason.message) (\($0))" } ?? reason.message }
    package var description: String { message }
}
