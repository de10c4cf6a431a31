package import Identity
package import Pairing
package import Signalling
package import Wire

/// A way to pair, as hosts call it.
package enum PairingFlow: String, Sendable, CaseIterable {
    /// Scans the other side's code.
    case scan
    /// A device shows a code.
    case show
    /// A desktop shows a code.
    case offer
    /// A code that is typed.
    case code
}

/// The common interface of Pairing's six state machines, for ``PairingCoordinator``.
package protocol PairingMachine<Known>: Sendable {
    /// The type of peer that it pairs with.
    associatedtype Known: PairedPeer
    typealias Steps = [PairingStep<Known>]

    static var flow: PairingFlow { get }

    /// Whether it can still lead to a pairing.
    var isActive: Bool { get }
    var dropped: DroppedFrames { get }
    /// The addresses at which it needs to be reached now.
    var heldRoutes: [PairingRoute] { get }
    /// Whether a person is being asked.
    var asksPerson: Bool { get }
    /// Whether it ends when its last waiter is gone.
    var endsUnawaited: Bool { get }
    /// Of the sessions with the peer that it has asked to store; `nil` = one of the two doesn't use sessions.
    var presharedKey: PresharedKey? { get }
    /// Whether the frame is for this machine.
    ///
    /// - Parameter code: the newest code that this flow has displayed.
    func interest(in frame: PairingFrame, code: PairingCode?) -> PairingInterest

    mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> Steps
    /// The time of the last ``PairingStep/startTimer(after:)`` is over.
    mutating func timedOut(now: EpochMilliseconds) -> Steps
    mutating func cancel(_ reason: PairingReason) -> Steps
    mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<Known>
    mutating func stored(_ peer: Known, now: EpochMilliseconds) -> Steps
    mutating func storeFailed(_ peer: Known, detail: String?) -> Steps
    /// The peer was unpaired.
    mutating func removed(_ id: PeerID)
    mutating func suspended(now: EpochMilliseconds) -> Steps
    mutating func resumed(now: EpochMilliseconds) -> Steps
    mutating func linkChanged(_ route: RouteID, _ state: LinkState, now: EpochMilliseconds) -> Steps
    /// A route that it requested has an invalid address.
    mutating func linkInvalid(_ route: RouteID, now: EpochMilliseconds) -> Steps
    mutating func peerOffline(_ peer: PeerID, over route: RouteID, now: EpochMilliseconds) -> Steps
    mutating func relayRefused(over route: RouteID, detail: String?, now: EpochMilliseconds) -> Steps
    /// Its frame was written to so many routes.
    mutating func sent(_ path: PairingPath, routes: Int, now: EpochMilliseconds) -> Steps
}

/// Whether a machine handles a frame.
package enum PairingInterest: Sendable {
    case none
    /// Passed to it, and to the flows after it.
    case shared
    /// Passed to it, and to no flow after it.
    case sole
}

// Events that only some flows handle.
extension PairingMachine {
    package var heldRoutes: [PairingRoute] { [] }
    package var asksPerson: Bool { false }
    package var endsUnawaited: Bool { false }
    package var presharedKey: PresharedKey? { nil }
    package func interest(in frame: PairingFrame, code: PairingCode?) -> PairingInterest { .shared }
    package mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<Known> { .nothingWaits }
    package mutating func suspended(now: EpochMilliseconds) -> Steps { [] }
    package mutating func resumed(now: EpochMilliseconds) -> Steps { [] }
    package mutating func linkChanged(_ route: RouteID, _ state: LinkState, now: EpochMilliseconds) -> Steps { [] }
    package mutating func linkInvalid(_ route: RouteID, now: EpochMilliseconds) -> Steps { [] }
    package mutating func peerOffline(_ peer: PeerID, over route: RouteID, now: EpochMilliseconds) -> Steps { [] }
    package mutating func relayRefused(over route: RouteID, detail: String?, now: EpochMilliseconds) -> Steps { [] }
    package mutating func sent(_ path: PairingPath, routes: Int, now: EpochMilliseconds) -> Steps { [] }

    func holds(_ route: RouteID) -> Bool { heldRoutes.contains { $0.id == route } }
}
