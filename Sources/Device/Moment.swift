import Signalling
import Transport
import Wire

/// One moment by both clocks, for units that have no clock of their own.
struct Moment: Sendable {
    /// In the loop's milliseconds: for deadlines.
    let loop: UInt64
    /// Wall-clock time, for stored data and for peers.
    let wall: EpochMilliseconds

    @EventLoop static var now: Moment { Moment(loop: EventLoop.now, wall: .now) }
}
