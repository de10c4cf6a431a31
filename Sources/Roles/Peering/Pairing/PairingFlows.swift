package import Hosting
import JSON
import Pairing
import Sealing
package import Signalling
package import Store
package import Wire

/// A role's pairing flows, their waiters, and the frames that arrive while a pairing is being stored.
///
/// Pure: each event returns the actions to perform, in order. The next event may come while they are performed. `now` is
/// the wall clock, `moment` the loop's time, both in milliseconds.
package struct PairingFlows<Known: PairedPeer> {
    package indirect enum Action: Sendable {
        /// Call ``timerFired(_:now:)`` in so many milliseconds; replaces that flow's timer before it.
        case startTimer(PairingFlow, after: UInt64)
        case stopTimer(PairingFlow)
        case tell([Then], Result<HostReply, HostError>)
        case emit(PairingEvent<Known>)

        var isGreeting: Bool { if case .emit(.sendHello) = self { true } else { false } }
    }

    /// The result of a person's answer.
    package enum Answered {
        case taken([Action])
        case nothingWaits
        /// More than one flow is asking.
        case ambiguous([PairingFlow])
    }

    private struct Flow {
        var machine: any PairingMachine<Known>
        let name: PairingFlow
        var waiters = Waiters()
        /// The newest code that it has displayed.
        var code: PairingCode?
    }

    /// In the order in which they receive frames.
    private var flows: [Flow]
    private var candidates = PeerBook<NamedPeer, PairingCandidate>()

    package init(_ machines: [any PairingMachine<Known>]) {
        flows = machines.map { Flow(machine: $0, name: type(of: $0).flow) }
    }
}

// MARK: Queries

extension PairingFlows {
    /// Whether a pairing is under way, so that an unpaired peer may send sealed frames.
    package var isActive: Bool { flows.contains { $0.machine.isActive } }
    package var dropped: Int { flows.reduce(0) { $0 &+ $1.machine.dropped.total } }
    package var heldAddresses: [String] { flows.flatMap { $0.machine.heldRoutes.map(\.url) } }
    // In a generic type a key path is made anew on each use, by looking up types by name: 10 us.
    package var nextDeadline: UInt64? { flows.compactMap { $0.waiters.nextDeadline }.min() }
    package var asking: [PairingFlow] { flows.filter { $0.machine.asksPerson }.map(\.name) }

    package func machine<Machine: PairingMachine>(_: Machine.Type) -> Machine where Machine.Known == Known {
        for flow in flows { if let machine = flow.machine as? Machine { return machine } }
        preconditionFailure("this role does not have this flow")
    }

    package func isAwaited(_ name: PairingFlow) -> Bool { flows.contains { $0.name == name && !$0.waiters.isEmpty } }

    /// The route over which a flow last accepted a frame from this peer.
    package func route(of peer: PeerID) -> RouteID? { candidates[peer]?.route }
    package func isStoring(_ peer: PeerID) -> Bool { candidates[peer]?.isStoring == true }

    /// Whether the peer was unpaired after this store began.
    package func isVoid(_ record: PairingRecord<Known>) -> Bool {
        candidates[record.peer.id]?.isVoid(record.number) ?? false
    }
}

// MARK: The host

extension PairingFlows {
    /// Passes an event to one machine, such as a scanned code.
    package mutating func change<Machine: PairingMachine>(
        _: Machine.Type, _ event: (inout Machine) -> [Machine.Action]
    ) -> [Action] where Machine.Known == Known {
        for index in flows.indices {
            guard var machine = flows[index].machine as? Machine else { continue }
            let steps = event(&machine).map(Machine.step)
            flows[index].machine = machine
            return actions(steps, of: flows[index].name)
        }
        preconditionFailure("this role does not have this flow")
    }

    /// A new code, different from the other flows' codes: a peer's ack names its flow only by the code.
    package mutating func newCode(
        for name: PairingFlow, using generator: inout some RandomNumberGenerator
    ) -> PairingCode {
        let others = flows.filter { $0.name != name }.compactMap(\.code)
        var code = PairingCode(using: &generator)
        while others.contains(code) { code = PairingCode(using: &generator) }
        for index in flows.indices where flows[index].name == name { flows[index].code = code }
        return code
    }

    package mutating func wait(for name: PairingFlow, until moment: UInt64, _ then: @escaping Then) {
        for index in flows.indices where flows[index].name == name { flows[index].waiters.add(until: moment, then) }
    }

    /// Completes a flow's waiters.
    package mutating func finish(_ name: PairingFlow, _ outcome: Result<HostReply, HostError>) -> [Action] {
        for index in flows.indices where flows[index].name == name {
            let waiting = flows[index].waiters.takeAll()
            return waiting.isEmpty ? [] : [.tell(waiting, outcome)]
        }
        return []
    }

    /// Fails expired waiters. A flow that loses its last waiter may end; it does so before they are told.
    package mutating func expire(
        at moment: UInt64, now: EpochMilliseconds, error: (PairingFlow) -> HostError
    ) -> [Action] {
        var ends: [Action] = []
        var told: [Action] = []
        for index in flows.indices {
            let expired = flows[index].waiters.takeExpired(now: moment)
            guard !expired.isEmpty else { continue }
            told.append(.tell(expired, .failure(error(flows[index].name))))
            guard flows[index].waiters.isEmpty, flows[index].machine.endsUnawaited else { continue }
            ends += run(index, .cancel(.timeout), now: now)
        }
        return ends + told
    }

    /// - Parameter name: `nil` = all of them.
    package mutating func cancel(
        _ name: PairingFlow?, because reason: PairingReason, now: EpochMilliseconds
    ) -> [Action] {
        each(name, .cancel(reason), now: now)
    }

    /// A person's answer to the peer that a flow has reported; `nil` = the only flow that asks.
    package mutating func answer(_ name: PairingFlow?, accept: Bool, now: EpochMilliseconds) -> Answered {
        let asking = asking
        if name == nil, asking.count > 1 { return .ambiguous(asking) }
        guard let name = name ?? asking.first, let index = flows.firstIndex(where: { $0.name == name }) else {
            return .nothingWaits
        }
        guard let steps = Self.answer(&flows[index].machine, accept: accept, now: now) else { return .nothingWaits }
        return .taken(actions(steps, of: name))
    }

    package mutating func suspend(now: EpochMilliseconds) -> [Action] {
        each(nil, .suspended, now: now)
    }

    package mutating func resume(now: EpochMilliseconds) -> [Action] {
        each(nil, .resumed, now: now)
    }
}

// MARK: Links and frames

extension PairingFlows {
    package mutating func timerFired(_ name: PairingFlow, now: EpochMilliseconds) -> [Action] {
        each(name, .timerFired, now: now)
    }

    package mutating func linkChanged(
        _ route: RouteID, _ state: LinkState, now: EpochMilliseconds
    ) -> [Action] {
        each(nil, .linkChanged(route, state), now: now)
    }

    package mutating func linkInvalid(_ route: RouteID, now: EpochMilliseconds) -> [Action] {
        each(nil, .linkInvalid(route), now: now)
    }

    package mutating func peerOffline(_ peer: PeerID, over route: RouteID, now: EpochMilliseconds) -> [Action] {
        each(nil, .peerOffline(peer, over: route), now: now)
    }

    package mutating func relayRefused(_ detail: String, over route: RouteID, now: EpochMilliseconds) -> [Action] {
        each(nil, .relayRefused(detail, over: route), now: now)
    }

    package mutating func sent(_ message: PairingMessage, relays: Int, now: EpochMilliseconds) -> [Action] {
        each(message.flow, .sent(message, relays: relays), now: now)
    }

    /// Holds a frame whose sender's pairing is being stored. `false` = it isn't: process the frame now.
    package mutating func hold(_ message: PeerMessage, over route: RouteID) -> Bool {
        guard isStoring(message.from) else { return false }
        candidates[message.from]?.hold(HeldFrame(message: message, route: route))
        return true
    }

    /// Passes a frame to the flows.
    ///
    /// - Parameters:
    ///   - isRecorded: the role saves the frame's mark itself, because its sender is paired sealed.
    ///   - isTaken: whether a flow accepted it. Anybody can send a pairing frame; only senders of accepted ones are
    ///     remembered.
    package mutating func received(
        _ frame: Incoming, isOfSecurePeer: Bool, isRecorded: Bool, over route: RouteID, isTaken: inout Bool,
        now: EpochMilliseconds
    ) -> [Action] {
        guard isActive || frame.payload["type"]?.string != PayloadType.event else {
            // Pushes: outside a pairing no flow takes an event.
            isTaken = false
            return []
        }
        forgetStrangers()
        let pairing = PairingFrame(
            reading: frame.payload, from: frame.from, isSealed: frame.isSealed, isStale: frame.mark?.isStale == true,
            isOfSecurePeer: isOfSecurePeer, delivery: frame.delivery)
        var steps: [(PairingFlow, [PairingStep<Known>])] = []
        flows: for index in flows.indices {
            let interest = flows[index].machine.interest(in: pairing, code: flows[index].code)
            switch interest {
            case .none: continue
            case .shared, .sole:
                let taken = Self.handle(&flows[index].machine, .received(pairing), now: now)
                if !taken.isEmpty { steps.append((flows[index].name, taken)) }
                if case .sole = interest { break flows }
            }
        }
        isTaken = !steps.isEmpty
        guard isTaken else { return [] }
        note(frame.from, over: route)
        candidates[frame.from]?.take(frame.mark, isRecorded: isRecorded, by: steps.map { $0.0 })
        return steps.flatMap { actions($1, of: $0) }
    }

    /// A flow accepted a frame from this peer that came another way: at a typed code's alias.
    package mutating func note(_ peer: PeerID, over route: RouteID) {
        candidates.upsert(NamedPeer(id: peer)) { PairingCandidate() }
        candidates[peer]?.route = route
    }
}

// MARK: The store

extension PairingFlows {
    /// A pairing was stored, or the store failed. A peer that was unpaired meanwhile counts as not stored.
    package mutating func stored(
        _ record: PairingRecord<Known>, _ result: Result<Known, StoreError>, now: EpochMilliseconds
    ) -> [Action] {
        let isVoid = isVoid(record)
        let event: PairingMachineEvent<Known> =
            switch result {
            case .success(let stored) where !isVoid: .stored(stored)
            case .success: .storeFailed(record.peer, "it was unpaired in the meantime")
            case .failure(let error): .storeFailed(record.peer, error.message)
            }
        var actions = each(record.flow, event, now: now)
        let held = candidates[record.peer.id]?.end() ?? []
        actions.append(.emit(.hold(heldAddresses)))
        actions += held.map { .emit(.receiveAgain($0.message, over: $0.route)) }
        forgetStrangers()
        return actions
    }

    /// The peer was unpaired: stores under way are void, and its old frames aren't answered any more.
    package mutating func removed(_ peer: PeerID) {
        candidates[peer]?.unpair()
        for index in flows.indices { flows[index].machine.removed(peer) }
    }

    /// All peers were unpaired, including those being stored for the first time.
    package mutating func removedAll(_ peers: [PeerID]) {
        for peer in Set(peers).union(candidates.ids) { removed(peer) }
    }

    /// Forgets peers that weren't paired once no flow is open.
    private mutating func forgetStrangers() {
        guard !isActive else { return }
        for peer in candidates.ids where !isStoring(peer) { candidates.forget(peer) }
    }
}

// MARK: Steps

extension PairingFlows {
    /// - Parameter name: `nil` = to all of them.
    private mutating func each(
        _ name: PairingFlow?, _ event: PairingMachineEvent<Known>, now: EpochMilliseconds
    ) -> [Action] {
        var all: [Action] = []
        for index in flows.indices where name == nil || flows[index].name == name {
            all += run(index, event, now: now)
        }
        return all
    }

    private mutating func run(
        _ index: Int, _ event: PairingMachineEvent<Known>, now: EpochMilliseconds
    ) -> [Action] {
        let steps = Self.handle(&flows[index].machine, event, now: now)
        defer { forgetStrangers() }
        return actions(steps, of: flows[index].name)
    }

    private static func handle<Machine: PairingMachine>(
        _ machine: inout Machine, _ event: PairingMachineEvent<Known>, now: EpochMilliseconds
    ) -> [PairingStep<Known>] where Machine.Known == Known {
        machine.handle(event, now: now).map(Machine.step)
    }

    private static func answer<Machine: PairingMachine>(
        _ machine: inout Machine, accept: Bool, now: EpochMilliseconds
    ) -> [PairingStep<Known>]? where Machine.Known == Known {
        switch machine.answer(accept: accept, now: now) {
        case .taken(let actions): actions.map(Machine.step)
        case .nothingWaits: nil
        }
    }

    private mutating func actions(_ steps: [PairingStep<Known>], of name: PairingFlow) -> [Action] {
        steps.flatMap { actions($0, of: name) }
    }

    private mutating func actions(_ step: PairingStep<Known>, of name: PairingFlow) -> [Action] {
        switch step {
        case .connect(let route): return [.emit(.hold(heldAddresses)), .emit(.connect(route.id))]
        case .release: return [.emit(.hold(heldAddresses))]
        case .send(var message):
            if case .lastHeard = message.path { message.path = .lastHeard(route(of: message.peer)) }
            return [.emit(.send(message))]
        case .sendHello(let peer, let route, let proof):
            return [.emit(.sendHello(to: peer, over: route, proof))]
        case .sendICEConfig(let peer): return [.emit(.sendICEConfig(to: peer, over: route(of: peer)))]
        case .openAlias(let id): return [.emit(.openAlias(id))]
        case .closeAlias: return [.emit(.closeAlias)]
        case .withdraw(let peer): return [.emit(.withdraw(peer))]
        case .startTimer(let delay): return [.startTimer(name, after: delay)]
        case .stopTimer: return [.stopTimer(name)]
        case .store(let peer): return [.emit(.store(begin(peer, of: name)))]
        case .report(let report):
            let reported = Action.emit(.report(report.data))
            guard let outcome = report.outcome else { return [reported] }
            return [reported] + finish(name, outcome.map { HostReply($0) }.mapError { HostError($0) })
        }
    }

    private mutating func begin(_ peer: Known, of name: PairingFlow) -> PairingRecord<Known> {
        candidates.upsert(NamedPeer(id: peer.id)) { PairingCandidate() }
        let number = candidates[peer.id]?.begin() ?? 1
        let marks = candidates[peer.id]?.takeMarks(for: name) ?? PairingMarks()
        let presharedKey = flows.first { $0.name == name }?.machine.presharedKey
        return PairingRecord(
            flow: name, peer: peer, marks: marks, route: route(of: peer.id), presharedKey: presharedKey, number: number)
    }
}
