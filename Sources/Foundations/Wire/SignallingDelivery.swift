/// How a frame came to us.
///
/// It matters only to pairing frames: a stored one counts only if it was stored after the code was created, and one
/// without a time never does (WirePairing, "Rules for both sides").
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
