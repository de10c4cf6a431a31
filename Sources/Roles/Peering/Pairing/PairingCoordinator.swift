package import Hosting
import Identity
import Pairing
package import Sealing
package import Signalling
package import Store
package import Transport
package import Wire

/// A role's pairing flows on the loop: performs what ``PairingFlows`` decides.
///
/// ```swift
/// let pairing = PairingCoordinator<PairedDesktop>([
///     DeviceScanStateMachine(), DeviceShowStateMachine(), DeviceTypedCodeStateMachine(),
/// ])
/// pairing.handler = { [weak self] event in self?.carryOut(event) }
/// pairing.wait(for: .scan, timeout, then)
/// pairing.change(DeviceScanStateMachine.self) { $0.scan(text, identity: …, now: .now) }
/// ```
@EventLoop
package final class PairingCoordinator<Known: PairedPeer> {
    package var handler: (@EventLoop (PairingEvent<Known>) -> Void)?
    /// The error for waiters whose deadline has passed.
    package var timeoutError: @EventLoop (PairingFlow) -> HostError = { _ in HostError(PairingFailure(.timeout)) }

    private var flows: PairingFlows<Known>
    private var timers: [PairingFlow: LoopTimer] = [:]
    private lazy var waitTimer = LoopTimer { [weak self] in self?.expire() }

    /// - Parameter machines: in the order in which they receive frames.
    package nonisolated init(_ machines: sending [any PairingMachine<Known>]) { flows = PairingFlows(machines) }

    // MARK: Queries

    /// Whether a pairing is under way, so that an unpaired peer may send sealed frames.
    package var isActive: Bool { flows.isActive }
    /// Pairing frames that were dropped, of all flows.
    package var dropped: Int { flows.dropped }
    package func machine<Machine: PairingMachine>(_ type: Machine.Type) -> Machine where Machine.Known == Known {
        flows.machine(type)
    }
    package func isAwaited(_ flow: PairingFlow) -> Bool { flows.isAwaited(flow) }
    /// The route over which a flow last accepted a frame from this peer.
    package func route(of peer: PeerID) -> RouteID? { flows.route(of: peer) }

    // MARK: The host

    /// Passes an event to one machine, such as a scanned code. Returns whether it caused any action.
    @discardableResult
    package func change<Machine: PairingMachine>(
        _ type: Machine.Type, _ event: (inout Machine) -> [Machine.Action]
    ) -> Bool where Machine.Known == Known {
        let actions = flows.change(type, event)
        perform(actions)
        return !actions.isEmpty
    }

    /// An offer and whatever waits for an answer end by this: a wall clock that is set for a moment ends none of them.
    private var now: EpochMilliseconds { ExpiryMoment.current.now }

    /// A new code, different from the other flows' codes.
    package func newCode(for flow: PairingFlow) -> PairingCode {
        var generator = SecureRandomNumberGenerator()
        return flows.newCode(for: flow, using: &generator)
    }

    /// `then` gets the flow's result, or a timeout after that many milliseconds.
    package func wait(for flow: PairingFlow, _ timeout: UInt64, _ then: @escaping Then) {
        flows.wait(for: flow, until: EventLoop.now &+ timeout, then)
        arm()
    }

    /// Completes a flow's waiters.
    package func finish(_ flow: PairingFlow, _ outcome: Result<HostReply, HostError>) {
        perform(flows.finish(flow, outcome))
    }

    /// - Parameter flow: `nil` = all of them.
    package func cancel(_ flow: PairingFlow? = nil, because reason: PairingReason = .cancelled) {
        perform(flows.cancel(flow, because: reason, now: now))
    }

    /// A person's answer to the peer that a flow has reported; `nil` = the only flow that asks. `then` is called before
    /// any action is performed.
    package func answer(_ flow: PairingFlow?, accept: Bool, _ then: Then) {
        switch flows.answer(flow, accept: accept, now: now) {
        case .nothingWaits:
            then(.failure(HostError(.notFound, "no peer waits for confirmation")))
        case .ambiguous(let asking):
            let names = asking.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            then(.failure(HostError(.invalid, "several flows wait for confirmation; pass one of \(names)")))
        case .taken(let actions):
            then(.success(.done))
            perform(actions)
        }
    }

    package func suspend() { perform(flows.suspend(now: now)) }
    package func resume() { perform(flows.resume(now: now)) }

    /// Stops all timers, for shutdown.
    package func stopTimers() {
        for timer in timers.values { timer.stop() }
        waitTimer.stop()
    }

    // MARK: Links and frames

    /// The state of a requested route.
    package func connected(_ route: RouteID, _ opening: Routes.Opening) {
        switch opening {
        case .online: linkChanged(route, .online)
        case .connecting: break
        case .invalid: perform(flows.linkInvalid(route, now: now))
        }
    }

    package func linkChanged(_ route: RouteID, _ state: LinkState) {
        perform(flows.linkChanged(route, state, now: now))
    }

    package func peerOffline(_ peer: PeerID, over route: RouteID) {
        perform(flows.peerOffline(peer, over: route, now: now))
    }

    package func relayRefused(_ detail: String, over route: RouteID) {
        perform(flows.relayRefused(detail, over: route, now: now))
    }

    package func sent(_ message: PairingMessage, relays: Int) {
        perform(flows.sent(message, relays: relays, now: now))
    }

    /// Holds a frame whose sender's pairing is being stored. `false` = it isn't: process the frame now.
    package func hold(_ message: PeerMessage, over route: RouteID) -> Bool { flows.hold(message, over: route) }

    /// Passes a frame to the flows. `true` = a flow accepted it, and its mark is kept for the pairing.
    ///
    /// - Parameter isRecorded: the role saves the frame's mark itself, because its sender is paired sealed.
    @discardableResult
    package func received(
        _ frame: Incoming, isOfSecurePeer: Bool, isRecorded: Bool = false, over route: RouteID
    ) -> Bool {
        var isTaken = false
        let actions = flows.received(
            frame, isOfSecurePeer: isOfSecurePeer, isRecorded: isRecorded, over: route, isTaken: &isTaken, now: now)
        if !actions.isEmpty { perform(actions) }
        return isTaken
    }

    /// A flow accepted a frame from this peer that came another way: at a typed code's alias.
    package func note(_ peer: PeerID, over route: RouteID) { flows.note(peer, over: route) }

    // MARK: The store

    /// A pairing was stored, or the store failed.
    ///
    /// - Parameter accept: called if it was stored and not unpaired meanwhile, before everything but the greeting. Add the
    ///   peer to the book, and keep its window since the mark.
    package func stored(
        _ record: PairingRecord<Known>, _ result: Result<Known, StoreError>,
        accept: @EventLoop (Known, SealMark?) -> Void
    ) {
        let isVoid = flows.isVoid(record)
        var actions = flows.stored(record, result, now: now)
        // Until the hello that proves the code the desktop takes the device for a stranger, and drops what it says.
        perform(actions.filter(\.isGreeting))
        actions.removeAll(where: \.isGreeting)
        if case .success(let stored) = result, !isVoid { accept(stored, record.marks.newest) }
        perform(actions)
    }

    /// The peer was unpaired.
    package func removed(_ peer: PeerID) { flows.removed(peer) }

    /// All peers were unpaired, including those being stored for the first time.
    package func removedAll(_ peers: [PeerID]) { flows.removedAll(peers) }

    // MARK: Performing actions

    private func perform(_ actions: [PairingFlows<Known>.Action]) {
        for action in actions {
            switch action {
            case .startTimer(let flow, let delay): timer(flow).start(after: delay)
            case .stopTimer(let flow): timers[flow]?.stop()
            case .tell(let waiting, let outcome): for then in waiting { then(outcome) }
            case .emit(let event): handler?(event)
            }
        }
        arm()
    }

    private func timer(_ flow: PairingFlow) -> LoopTimer {
        if let timer = timers[flow] { return timer }
        let timer = LoopTimer { [weak self] in
            guard let self else { return }
            perform(flows.timerFired(flow, now: now))
        }
        timers[flow] = timer
        return timer
    }

    private func arm() { waitTimer.start(at: flows.nextDeadline) }

    private func expire() {
        let errors = timeoutError
        perform(flows.expire(at: EventLoop.now, now: now) { errors($0) })
    }
}
