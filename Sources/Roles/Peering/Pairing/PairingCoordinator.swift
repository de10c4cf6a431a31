package import Hosting
import Identity
package import JSON
package import Pairing
package import Sealing
package import Signalling
package import Store
package import Transport
package import Wire

/// A role's pairing flows on the loop: performs the steps of its machines, over the role's routes.
///
/// ```swift
/// let pairing = PairingCoordinator<PairedDesktop>(
///     [DeviceScanStateMachine(), DeviceShowStateMachine(), DeviceTypedCodeStateMachine()], routes, channel)
/// pairing.role = self
/// pairing.wait(for: .scan, timeout, then)
/// pairing.change(DeviceScanStateMachine.self) { $0.scan(text, identity: …, now: .now) }
/// ```
@EventLoop
package final class PairingCoordinator<Known: PairedPeer> {
    package weak var role: (any PairingRole<Known>)?
    /// The error for waiters whose deadline has passed.
    package var timeoutError: @EventLoop (PairingFlow) -> HostError = { _ in HostError(PairingFailure(.timeout)) }

    private let routes: Routes
    private let channel: PeerChannel
    private var flows: PairingFlows<Known>
    private var timers: [PairingFlow: LoopTimer] = [:]
    private lazy var waitTimer = LoopTimer { [weak self] in self?.expire() }

    /// - Parameter machines: in the order in which they receive frames.
    package nonisolated init(
        _ machines: sending [any PairingMachine<Known>], _ routes: Routes, _ channel: PeerChannel
    ) {
        flows = PairingFlows(machines)
        (self.routes, self.channel) = (routes, channel)
    }

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

    /// Passes an event to one machine, such as a scanned code. Returns whether it caused any step.
    @discardableResult
    package func change<Machine: PairingMachine>(
        _ type: Machine.Type, _ event: (inout Machine) -> [PairingStep<Known>]
    ) -> Bool where Machine.Known == Known {
        let steps = flows.change(type, event)
        perform(steps)
        return !steps.isEmpty
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
        for then in flows.takeWaiters(flow) { then(outcome) }
        arm()
    }

    /// - Parameter flow: `nil` = all of them.
    package func cancel(_ flow: PairingFlow? = nil, because reason: PairingReason = .cancelled) {
        perform(flows.cancel(flow, because: reason))
    }

    /// A person's answer to the peer that a flow has reported; `nil` = the only flow that asks. `then` is called before
    /// any step is performed.
    package func answer(_ flow: PairingFlow?, accept: Bool, _ then: Then) {
        switch flows.answer(flow, accept: accept, now: now) {
        case .nothingWaits:
            then(.failure(HostError(.notFound, "no peer waits for confirmation")))
        case .ambiguous(let asking):
            let names = asking.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            then(.failure(HostError(.invalid, "several flows wait for confirmation; pass one of \(names)")))
        case .taken(let steps):
            then(.success(.done))
            perform(steps)
        }
    }

    package func suspend() { perform(flows.suspend(now: now)) }
    package func resume() { perform(flows.resume(now: now)) }

    /// Stops all timers, for shutdown.
    package func stopTimers() {
        for timer in timers.values { timer.stop() }
        waitTimer.stop()
    }

    // MARK: Routes and frames

    package func linkChanged(_ route: RouteID, _ state: LinkState) {
        perform(flows.linkChanged(route, state, now: now))
    }

    package func peerOffline(_ peer: PeerID, over route: RouteID) {
        perform(flows.peerOffline(peer, over: route, now: now))
    }

    package func relayRefused(_ detail: String, over route: RouteID) {
        perform(flows.relayRefused(detail, over: route, now: now))
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
        let steps = flows.received(
            frame, isOfSecurePeer: isOfSecurePeer, isRecorded: isRecorded, over: route, isTaken: &isTaken, now: now)
        if !steps.isEmpty { perform(steps) }
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
        let (steps, held) = flows.stored(record, result, now: now)
        // Until the hello that proves the code the desktop takes the device for a stranger, and drops what it says.
        perform(steps.filter(\.step.isGreeting))
        if case .success(let stored) = result, !isVoid { accept(stored, record.marks.newest) }
        perform(steps.filter { !$0.step.isGreeting })
        routes.hold(flows.heldAddresses)
        for frame in held { role?.receive(frame.message, over: frame.route) }
    }

    /// The peer was unpaired.
    package func removed(_ peer: PeerID) { flows.removed(peer) }

    /// All peers were unpaired, including those being stored for the first time.
    package func removedAll(_ peers: [PeerID]) { flows.removedAll(peers) }

    // MARK: Steps

    private func perform(_ steps: PairingFlows<Known>.Steps) {
        for (flow, step) in steps { perform(step, of: flow) }
        arm()
    }

    private func perform(_ step: PairingStep<Known>, of flow: PairingFlow) {
        switch step {
        case .startTimer(let delay): timer(flow).start(after: delay)
        case .stopTimer: timers[flow]?.stop()
        case .open(let route):
            routes.hold(flows.heldAddresses)
            opened(route.id, routes.connect(route.id))
        case .close: routes.hold(flows.heldAddresses)
        case .send(_, to: _, sealed: _, .alias), .sendHello, .openAlias, .closeAlias, .withdraw: role?.perform(step)
        case .send(let content, let peer, let isSealed, let path):
            let count = links(path, to: peer).count {
                send(content.json, to: peer, sealed: isSealed, over: $0).isWritten
            }
            perform(flows.sent(flow, path, routes: count, now: now))
        case .store(let peer): role?.store(flows.begin(peer, of: flow))
        case .report(let state):
            role?.perform(step)
            if let outcome = state.outcome {
                finish(flow, outcome.map { HostReply($0) }.mapError { HostError($0) })
            }
        }
    }

    /// Outside any session: the receiver may have lost its state.
    @discardableResult
    package func send(_ payload: JSONValue, to peer: PeerID, sealed: Bool, over link: (any RouteLink)?) -> Sent {
        channel.send(payload, to: peer, sealed: sealed, inSession: false, over: link)
    }

    private func links(_ path: PairingPath, to peer: PeerID) -> [any RouteLink] {
        switch path {
        case .over(let route): [routes.link(route)].compactMap(\.self)
        case .lastHeard(let route): [routes.link(route, orBestOf: peer)].compactMap(\.self)
        case .everywhere: routes.online.map(\.link)
        case .alias: []
        }
    }

    private func opened(_ route: RouteID, _ opening: Routes.Opening) {
        switch opening {
        case .online: linkChanged(route, .online)
        case .connecting: break
        case .invalid: perform(flows.linkInvalid(route, now: now))
        }
    }

    private func timer(_ flow: PairingFlow) -> LoopTimer {
        if let timer = timers[flow] { return timer }
        let timer = LoopTimer { [weak self] in
            guard let self else { return }
            perform(flows.timedOut(flow, now: now))
        }
        timers[flow] = timer
        return timer
    }

    private func arm() { waitTimer.start(at: flows.nextDeadline) }

    private func expire() {
        let (ends, expired) = flows.expire(at: EventLoop.now, now: now)
        perform(ends)
        for (flow, waiters, failure) in expired {
            let error = failure.map { HostError($0) } ?? timeoutError(flow)
            for then in waiters { then(.failure(error)) }
        }
        arm()
    }
}

extension PairingStep {
    fileprivate var isGreeting: Bool { if case .sendHello = self { true } else { false } }
}
