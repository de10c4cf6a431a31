package import JSON
package import Sealing

/// How the traffic with a peer is sealed, as hosts see it in lists (WireSessions, "Versions" and "Keys").
package struct SealStatus: Sendable, Equatable {
    package enum Problem: String, Sendable {
        /// The peer answers handshakes with keys that don't fit. A device's part.
        case refused = "handshake_refused"
        /// Handshakes, or requests for one, get no answer, although nothing says that the peer is away.
        case unanswered = "no_session"
        /// The peer says that it is not paired with this one, and can't prove that it is the peer's decision: it has lost
        /// its pairings, or somebody else has its identity key.
        case denied = "not_paired"

        init?(_ machine: SessionStateMachine, isDenied: Bool) {
            if machine.isRefused {
                self = .refused
            } else if isDenied {
                self = .denied
            } else if machine.isUnanswered {
                self = .unanswered
            } else {
                return nil
            }
        }
    }

    /// The lowest version that is accepted from the peer.
    package let version: SealVersion
    /// Whether a preshared key from the pairing protects the sessions, beside the identity keys.
    package let hasPresharedKey: Bool
    package var problem: Problem?

    /// `{"version","psk","problem"?}`
    package var json: JSONObject {
        [
            "version": .integer(version.rawValue), "psk": .bool(hasPresharedKey),
            "problem": problem.map { .string($0.rawValue) },
        ]
    }
}
