package import Wire

/// How a desktop's offer stands, for hosts (protocol.md 2).
package enum DesktopOfferState: Sendable, Equatable {
    case idle
    /// Shown until `expiresAt`, in epoch milliseconds.
    case displaying(DesktopPairingOffer, expiresAt: EpochMilliseconds)
    /// A device has answered with the right code. Where a person has to confirm it, the offer waits for that.
    case acked(PairedDevice)
    case paired(PairedDevice)
    case expired
    case cancelled
    case failed(PairingFailure)
}

/// What the owner of a ``DesktopOfferStateMachine`` does for it, in this order.
///
/// The next event may be given while an action is carried out: what can cause one at once comes last.
package enum DesktopOfferAction: Sendable, Equatable {
    /// Call `timedOut` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    /// Write it to the store, then say `stored` or `storeFailed`.
    case store(PairedDevice)
    /// Tell the device that it was declined.
    case sendReject(PairingReject, to: PeerID)
    /// Tell the host.
    case report(DesktopOfferState)
}

/// Acks that were dropped, by what was wrong with them.
package struct DroppedAcks: Sendable, Equatable {
    /// No ack, or a field that does not hold.
    package var malformed = 0
    package var wrongCode = 0
    /// The relay's `from` is not the ack's `mobileDid`.
    package var wrongSender = 0
    /// Stored by a relay before the offer began, or at no known time.
    package var stored = 0
    /// No offer is open, or another device has taken it.
    package var notOpen = 0

    package init() {}

    package var total: Int { malformed + wrongCode + wrongSender + stored + notOpen }
}
