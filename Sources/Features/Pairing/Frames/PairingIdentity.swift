package import Wire

/// The identity of the side that pairs: this side, as it tells the other.
package struct PairingIdentity: Sendable, Equatable {
    /// Where it is addressed: a Bellwire peer's `did:key`.
    package var did: PeerID
    package var deviceInfo: PairingDeviceInfo

    package init(did: PeerID, deviceInfo: PairingDeviceInfo) {
        self.did = did
        self.deviceInfo = deviceInfo
    }
}

/// How peers that cannot prove their identity may pair: the option `legacy` of hosts.
///
/// What counts is whether it seals, never the shape of its id: deployed phones have `did:key` ids too.
package enum LegacyPairing: String, Sendable, CaseIterable {
    /// Pair by a QR code.
    case qr
    /// Pair by a QR code, or by the six digits of a typed one.
    case all
    /// Nothing.
    case none

    var allowsQR: Bool { self != .none }
    var allowsTypedCode: Bool { self == .all }
}
