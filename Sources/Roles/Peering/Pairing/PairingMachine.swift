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
///
/// The conformances map each event to the machine's own.
package protocol PairingMachine<Known>: Sendable {
    /// The type of peer that it pairs with.
    associatedtype Known: PairedPeer
    associatedtype Action: Sendable & Equatable

    static var flow: PairingFlow { get }
    static func step(_ action: Action) -> PairingStep<Known>

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

    mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [Action]
    mutating func timerFired(now: EpochMilliseconds) -> [Action]
    mutating func cancel(because reason: PairingReason) -> [Action]
    mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<Action>
    mutating func stored(_ peer: Known, now: EpochMilliseconds) -> [Action]
    mutating func storeFailed(_ peer: Known, detail: String?) -> [Action]
    /// The peer was unpaired.
    mutating func removed(_ id: PeerID)
    mutating func suspended(now: EpochMilliseconds) -> [Action]
    mutating func resumed(now: EpochMilliseconds) -> [Action]
    mutating func linkChanged(_ route: RouteID, _ state: LinkState, now: EpochMilliseconds) -> [Action]
    /// A route that it requested has an invalid address.
    mutating func linkInvalid(_ route: RouteID, now: EpochMilliseconds) -> [Action]
    mutating func peerOffline(_ peer: PeerID, over route: RouteID, now: EpochMilliseconds) -> [Action]
    mutating func relayRefused(over route: RouteID, detail: String?, now: EpochMilliseconds) -> [Action]
    /// Its message was written to this many relays.
    mutating func sent(_ message: PairingMessage, relays: Int, now: EpochMilliseconds) -> [Action]
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
    package mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<Action> { .nothingWaits }
    package mutating func suspended(now: EpochMilliseconds) -> [Action] { [] }
    package mutating func resumed(now: EpochMilliseconds) -> [Action] { [] }
    package mutating func linkChanged(
        _ route: RouteID, _ state: LinkState, now: EpochMilliseconds
    ) -> [Action] { [] }
    package mutating func linkInvalid(_ route: RouteID, now: EpochMilliseconds) -> [Action] { [] }
    package mutating func peerOffline(_ peer: PeerID, over route: RouteID, now: EpochMilliseconds) -> [Action] { [] }
    package mutating func relayRefused(
        over route: RouteID, detail: String?, now: EpochMilliseconds
    ) -> [Action] { [] }
    package mutating func sent(_ message: PairingMessage, relays: Int, now: EpochMilliseconds) -> [Action] { [] }
}

/// An event for any machine.
indirect enum PairingMachineEvent<Known: PairedPeer>: Sendable {
    case received(PairingFrame)
    case timerFired
    case cancel(PairingReason)
    case stored(Known)
    case storeFailed(Known, String)
    case suspended
    case resumed
    case linkChanged(RouteID, LinkState)
    case linkInvalid(RouteID)
    case peerOffline(PeerID, over: RouteID)
    case relayRefused(String, over: RouteID)
    case sent(PairingMessage, relays: Int)
}

extension PairingMachine {
    mutating func handle(_ event: PairingMachineEvent<Known>, now: EpochMilliseconds) -> [Action] {
        switch event {
        case .received(let frame): received(frame, now: now)
        case .timerFired: timerFired(now: now)
        case .cancel(let reason): cancel(because: reason)
        case .stored(let peer): stored(peer, now: now)
        case .storeFailed(let peer, let detail): storeFailed(peer, detail: detail)
        case .suspended: suspended(now: now)
        case .resumed: resumed(now: now)
        case .linkChanged(let route, let state): linkChanged(route, state, now: now)
        case .linkInvalid(let route): linkInvalid(route, now: now)
        case .peerOffline(let peer, let route): peerOffline(peer, over: route, now: now)
        case .relayRefused(let detail, let route): relayRefused(over: route, detail: detail, now: now)
        case .sent(let message, let relays): sent(message, relays: relays, now: now)
        }
    }

    func holds(_ route: RouteID) -> Bool { heldRoutes.contains { $0.id == route } }
}
