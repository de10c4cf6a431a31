package import JSON
package import Sealing

/// How the traffic with a peer is sealed, as hosts see it in lists (WireSessions, "Versions" and "Keys").
package struct SealStatus: Sendable, Equatable {
    /// The lowest version that is accepted from the peer.
    package let version: SealVersion
    /// Whether a preshared key from the pairing protects the sessions, beside the identity keys.
    package let hasPresharedKey: Bool
    /// Whether the peer answers handshakes with keys that don't fit. A device's part.
    package let isRefused: Bool

    /// `{"version","psk","problem"?}`
    package var json: JSONObject {
        [
            "version": .integer(version.rawValue), "psk": .bool(hasPresharedKey),
            "problem": isRefused ? "handshake_refused" : nil,
        ]
    }
}
