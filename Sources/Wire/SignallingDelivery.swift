/// How a frame came to us.
///
/// It matters to pairing frames only: one that was stored counts only if it was stored after the offer began, and one
/// without a time never does (protocol.md 2).
package enum SignallingDelivery: Sendable, Equatable {
    case live
    /// The relay kept it until we came. A relay that leaves the time out says `nil`.
    case stored(at: EpochMilliseconds?)

    /// Could the sender have known of something that began at `start`?
    package func isSince(_ start: EpochMilliseconds) -> Bool {
        switch self {
        case .live: true
        case .stored(let time): time.map { $0 > start } ?? false
        }
    }
}
