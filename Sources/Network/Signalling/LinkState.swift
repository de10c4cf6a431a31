/// The state of one ``RouteLink``.
package enum LinkState: Sendable, Equatable {
    /// Not connected. Unless the reason is `stopped` or `suspended`, the next attempt is on its way.
    case offline(OfflineReason)
    case connecting
    /// Connected, and waiting for the relay to accept our id.
    case registering
    /// Frames can be sent: registered at the relay, or connected to the peer.
    case online

    package var isOnline: Bool { self == .online }

    /// For hosts.
    package var name: String {
        switch self {
        case .offline: "offline"
        case .connecting: "connecting"
        case .registering: "registering"
        case .online: "online"
        }
    }

    /// What is wrong, for people; `nil` = nothing.
    package var problem: String? {
        switch self {
        case .offline(let reason): reason == .stopped || reason == .suspended ? nil : reason.message
        case .connecting, .registering, .online: nil
        }
    }
}

/// The reason why a relay connection is down.
package struct OfflineReason: Error, Sendable, Equatable, CustomStringConvertible {
    /// What happened, as one of an open list. Transport's codes (`resolve_failed`, `tls_failed`, …) pass through.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// Not started, or stopped by its owner.
        package static let stopped = Code("stopped")
        /// At rest until it is resumed: the machine sleeps.
        package static let suspended = Code("suspended")
        /// The connection ended, without an error that would say why.
        package static let closed = Code("closed")
        /// The relay answered our registration with an error, or with another id.
        package static let registrationRefused = Code("registration_refused")
        /// Another connection holds our id at the relay, and is alive. For the alias of a typed code: take a new code.
        package static let idTaken = Code("id_taken")
        /// The relay refused the proof of our id, or asked for one that cannot be made.
        package static let proofRefused = Code("proof_refused")
        /// The relay did not answer our registration in time.
        package static let registrationTimedOut = Code("registration_timed_out")
        /// The relay said that it is going down.
        package static let serverShutdown = Code("server_shutdown")
    }

    package let code: Code
    /// For people, in English.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    package static let stopped = OfflineReason(.stopped, "the connection to the relay is disabled")
    package static let suspended = OfflineReason(.suspended, "the connection to the relay is suspended")
}
