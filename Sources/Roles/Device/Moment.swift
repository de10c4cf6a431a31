import Signalling
import Transport
import Wire

/// One moment by both clocks, for units that have no clock of their own.
struct Moment: Sendable {
    /// In the loop's milliseconds: for deadlines.
    let loop: UInt64
    /// Wall-clock time, for stored data and for peers.
    let wall: EpochMilliseconds
    /// For what ends.
    let expiry: ExpiryMoment

    /// - Parameter expiry: `nil` = by the wall clock.
    init(loop: UInt64, wall: EpochMilliseconds, expiry: ExpiryMoment? = nil) {
        (self.loop, self.wall, self.expiry) = (loop, wall, expiry ?? ExpiryMoment(wall))
    }

    @EventLoop static var now: Moment { Moment(loop: EventLoop.now, wall: .now, expiry: .current) }
}
