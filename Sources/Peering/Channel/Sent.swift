package import Hosting
import JSON
package import Sealing
package import Signalling

/// What became of something that was to be sent to a peer.
package enum Sent: Sendable, Equatable {
    /// Handed to the link. Whether it arrives, only an answer can tell.
    case written
    /// No link is up: nothing was sent and nothing is kept.
    case offline
    /// The relay does not read fast enough. Try again later.
    case congested
    /// Longer than a frame may be. Sending it again cannot help.
    case tooLarge
    /// It could not be sealed, for the reason that this says. Sending it again cannot help.
    case unsealable(SealError)

    package init(_ result: SendResult) {
        switch result {
        case .written: self = .written
        case .offline: self = .offline
        case .congested: self = .congested
        case .tooLarge: self = .tooLarge
        }
    }

    package var isWritten: Bool { self == .written }

    /// Would it be refused whenever it is sent, because of its size?
    package var isTooLarge: Bool {
        switch self {
        case .tooLarge: true
        case .unsealable(let error): error.code == .tooLarge
        case .written, .offline, .congested: false
        }
    }

    /// Why a host's request could not be sent; `nil` = it was.
    ///
    /// - Parameters:
    ///   - what: what was to be sent, as the subject of a sentence: `the command`.
    ///   - peer: whom it was for, for people.
    package func failure(of what: String, to peer: String) -> HostError? {
        switch self {
        case .written: nil
        case .offline: HostError(.offline, "the connection to \(peer) has just ended")
        case .congested: HostError(.offline, "the relay does not read fast enough; try again later")
        case .tooLarge: HostError(.limit, "\(what) is larger than 1 MiB")
        case .unsealable(let error) where error.code == .tooLarge:
            HostError(.limit, "\(what) is too large: \(error.message)")
        case .unsealable(let error):
            HostError(
                .unsupported, "\(what) cannot be sealed to \(peer): \(error.message)",
                detail: ["reason": .string(error.code.name)])
        }
    }
}
