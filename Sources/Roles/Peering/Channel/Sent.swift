package import Hosting
import JSON
package import Sealing
package import Signalling

/// The result of sending something to a peer.
package enum Sent: Sendable, Equatable {
    /// Handed to the link. Only an answer can confirm delivery.
    case written
    /// It is written when a session with the peer begins, or dropped after 10 s (WireSessions, "Limits").
    case waiting
    /// No link is up: nothing was sent and nothing is kept.
    case offline
    /// The relay doesn't read fast enough, or limits what is sent. Try again later.
    case congested
    /// Longer than the frame limit. Retrying can't help.
    case tooLarge
    /// Sealing failed. Retrying can't help.
    case unsealable(SealError)

    package init(_ result: SendResult) {
        switch result {
        case .written: self = .written
        case .offline: self = .offline
        case .congested: self = .congested
        case .tooLarge: self = .tooLarge
        }
    }

    package var isWritten: Bool { self == .written || self == .waiting }

    /// Whether its size was the problem.
    package var isTooLarge: Bool {
        switch self {
        case .tooLarge: true
        case .unsealable(let error): error.code == .tooLarge
        case .written, .waiting, .offline, .congested: false
        }
    }

    /// The error for the host whose request could not be sent; `nil` = it was written.
    ///
    /// - Parameters:
    ///   - what: the subject of the message: `the command`.
    ///   - peer: the recipient's name.
    package func failure(of what: String, to peer: String) -> HostError? {
        switch self {
        case .written, .waiting: nil
        case .offline: HostError(.offline, "the connection to \(peer) just ended")
        case .congested: HostError(.offline, "too much data is waiting for the relay; try again later")
        case .tooLarge: HostError(.limit, "\(what) is larger than 1 MiB")
        case .unsealable(let error) where error.code == .tooLarge:
            HostError(.limit, "\(what) is too large: \(error.message)")
        case .unsealable(let error):
            HostError(
                .unsupported, "cannot seal \(what) for \(peer): \(error.message)",
                detail: ["reason": .string(error.code.name)])
        }
    }
}
