package import Hosting
import JSON
package import Pairing
import Sealing
package import Signalling
package import Store
package import Wire

/// A role's pairing flows, their waiters, and the frames that arrive while a pairing is being stored.
///
/// Pure: each event returns the steps to perform, in order. The next event may come while they are performed. `now` is
/// the wall clock, `moment` the loop's time, both in milliseconds.
package struct PairingFlows<Known: PairedPeer> {
    /// What machines ask for, each by its flow.
    package typealias Steps = [(flow: PairingFlow, step: PairingStep<Known>)]

    /// The result of a person's answer.
    package enum Answered {
        case taken(Steps)
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
    /// Whether a pairing is under way, so that an unpaired peer may send sealed frames.
    package private(set) var isActive = false

    package init(_ machines: [any PairingMachine<Known>]) {
        flows = machines.map { Flow(machine: $0, name: type(of: $0).flow) }
    }
}

// MARK: Queries

extension PairingFlows {
    package var dropped: Int { flows.reduce(0) { $0 &+ $1.machine.dropped.total } }
    package var heldAddresses: [String] { flows.flatMap { $0.machine.heldRoutes.map(\.url) } }
    // In a generic type a key path is made anew on each use, by looking up types by name: 10 us.
    package var nextDeadline: UInt64? { flows.compactMap { $0.waiters.nextDeadline }.min() }
    package var asking: [PairingFlow] { flows.filter { $0.machine.asksPerson }.map { $0.name } }

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
        _: Machine.Type, _ event: (inout Machine) -> [PairingStep<Known>]
    ) -> Steps where Machine.Known == Known {
        for index in flows.indices {
            guard var machine = flows[index].machine as? Machine else { continue }
            let steps = event(&machine)
            flows[index].machine = machine
            return changed(index, steps)
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

    /// Those who wait for a flow, and are told its result now.
    package mutating func takeWaiters(_ name: PairingFlow) -> [Then] {
        for index in flows.indices where flows[index].name == name { return flows[index].waiters.takeAll() }
        return []
    }

    /// Waiters of a flow whose time is over, and why the flow failed, if it knows more than that.
    package typealias Expired = (flow: PairingFlow, waiters: [Then], failure: PairingFailure?)

    /// Takes expired waiters. A flow that loses its last waiter may end; it does so before they are told.
    package mutating func expire(
        at moment: UInt64, now: EpochMilliseconds
    ) -> (ends: Steps, expired: [Expired]) {
        var ends: Steps = []
        var all: [Expired] = []
        for index in flows.indices {
            let expired = flows[index].waiters.takeExpired(now: moment)
            guard !expired.isEmpty else { continue }
            var failure: PairingFailure?
            if flows[index].waiters.isEmpty, flows[index].machine.endsUnawaited {
                let steps = changed(index, flows[index].machine.cancel(.timeout))
                for case (_, .report(let state)) in steps {
                    if case .failure(let known) = state.outcome, known.reason != .timeout { failure = known }
                }
                ends += steps
            }
            all.append((flows[index].name, expired, failure))
        }
        return (ends, all)
    }

    /// - Parameter name: `nil` = all of them.
    package mutating func cancel(_ name: PairingFlow?, because reason: PairingReason) -> Steps {
        each(name) { $0.cancel(reason) }
    }

    /// A person's answer to the peer that a flow has reported; `nil` = the only flow that asks.
    package mutating func answer(_ name: PairingFlow?, accept: Bool, now: EpochMilliseconds) -> Answered {
        let asking = asking
        if name == nil, asking.count > 1 { return .ambiguous(asking) }
        guard let name = name ?? asking.first, let index = flows.firstIndex(where: { $0.name == name }) else {
            return .nothingWaits
        }
        switch flows[index].machine.answer(accept: accept, now: now) {
        case .taken(let steps): return .taken(changed(index, steps))
        case .nothingWaits: return .nothingWaits
        }
    }

    package mutating func suspend(now: EpochMilliseconds) -> Steps { each { $0.suspended(now: now) } }

    package mutating func resume(now: EpochMilliseconds) -> Steps { each { $0.resumed(now: now) } }
}

// MARK: Routes and frames

extension PairingFlows {
    package mutating func timedOut(_ name: PairingFlow, now: EpochMilliseconds) -> Steps {
        each(name) { $0.timedOut(now: now) }
    }

    package mutating func linkChanged(_ route: RouteID, _ state: LinkState, now: EpochMilliseconds) -> Steps {
        each { $0.linkChanged(route, state, now: now) }
    }

    package mutating func linkInvalid(_ route: RouteID, now: EpochMilliseconds) -> Steps {
        each { $0.linkInvalid(route, now: now) }
    }

    package mutating func peerOffline(_ peer: PeerID, over route: RouteID, now: EpochMilliseconds) -> Steps {
        each { $0.peerOffline(peer, over: route, now: now) }
    }

    package mutating func relayRefused(_ detail: String, over route: RouteID, now: EpochMilliseconds) -> Steps {
        each { $0.relayRefused(over: route, detail: detail, now: now) }
    }

    /// A flow's frame was written to so many routes.
    package mutating func sent(
        _ name: PairingFlow, _ path: PairingPath, routes: Int, now: EpochMilliseconds
    ) -> Steps {
        each(name) { $0.sent(path, routes: routes, now: now) }
    }

    /// Holds a frame whose sender's pairing is being stored. `false` = it isn't: process the frame now.
    package mutating func hold(_ message: PeerMessage, over route: RouteID) -> Bool {
        guard isStoring(message.from) else { return false }
        candidates[message.from]?.hold(HeldFrame(message: message, route: route))
        return true
    }

    /// Passes a frame to the flows. Outside a pairing they are asked only about what belongs to one: a peer that has
    /// missed the answer repeats its frame.
    ///
    /// - Parameters:
    ///   - isRecorded: the role saves the frame's mark itself, because its sender is paired sealed.
    ///   - isTaken: whether a flow accepted it. Anybody can send a pairing frame; only senders of accepted ones are
    ///     remembered.
    package mutating func received(
        _ frame: Incoming, isOfSecurePeer: Bool, isRecorded: Bool, over route: RouteID, isTaken: inout Bool,
        now: EpochMilliseconds
    ) -> Steps {
        isTaken = false
        guard isActive || frame.isOfPairing else { return [] }
        forgetStrangers()
        let pairing = PairingFrame(
            reading: frame.payload, from: frame.from, isSealed: frame.isSealed, isStale: frame.mark?.isStale == true,
            isOfSecurePeer: isOfSecurePeer, delivery: frame.delivery)
        var taken: [(index: Int, steps: [PairingStep<Known>])] = []
        flows: for index in flows.indices {
            let interest = flows[index].machine.interest(in: pairing, code: flows[index].code)
            switch interest {
            case .none: continue
            case .shared, .sole:
                let steps = flows[index].machine.received(pairing, now: now)
                if !steps.isEmpty { taken.append((index, steps)) }
                if case .sole = interest { break flows }
            }
        }
        isTaken = !taken.isEmpty
        guard isTaken else { return [] }
        note(frame.from, over: route)
        candidates[frame.from]?.take(frame.mark, isRecorded: isRecorded, by: taken.map { flows[$0.index].name })
        return taken.flatMap { changed($0.index, $0.steps) }
    }

    /// A flow accepted a frame from this peer that came another way: at a typed code's alias.
    package mutating func note(_ peer: PeerID, over route: RouteID) {
        candidates.upsert(NamedPeer(id: peer)) { PairingCandidate() }
        candidates[peer]?.route = route
    }
}

// MARK: The store

extension PairingFlows {
    /// A flow asks to store this peer.
    package mutating func begin(_ peer: Known, of name: PairingFlow) -> PairingRecord<Known> {
        candidates.upsert(NamedPeer(id: peer.id)) { PairingCandidate() }
        let number = candidates[peer.id]?.begin() ?? 1
        let marks = candidates[peer.id]?.takeMarks(for: name) ?? PairingMarks()
        let presharedKey = flows.first { $0.name == name }?.machine.presharedKey
        return PairingRecord(
            flow: name, peer: peer, marks: marks, route: route(of: peer.id), presharedKey: presharedKey, number: number)
    }

    /// A pairing was stored, or the store failed. A peer that was unpaired meanwhile counts as not stored. Also gives the
    /// frames that were held for it.
    package mutating func stored(
        _ record: PairingRecord<Known>, _ result: Result<Known, StoreError>, now: EpochMilliseconds
    ) -> (steps: Steps, held: [HeldFrame]) {
        let isVoid = isVoid(record)
        let steps = each(record.flow) { machine in
            switch result {
            case .success(let stored) where !isVoid: machine.stored(stored, now: now)
            case .success: machine.storeFailed(record.peer, detail: "it was unpaired in the meantime")
            case .failure(let error): machine.storeFailed(record.peer, detail: error.message)
            }
        }
        let held = candidates[record.peer.id]?.end() ?? []
        forgetStrangers()
        return (steps, held)
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

// MARK: Machines

extension PairingFlows {
    /// - Parameter name: `nil` = to all of them.
    private mutating func each(
        _ name: PairingFlow? = nil, _ event: (inout any PairingMachine<Known>) -> [PairingStep<Known>]
    ) -> Steps {
        var all: Steps = []
        for index in flows.indices where name == nil || flows[index].name == name {
            all += changed(index, event(&flows[index].machine))
            forgetStrangers()
        }
        return all
    }

    /// A machine has had an event.
    private mutating func changed(_ index: Int, _ steps: [PairingStep<Known>]) -> Steps {
        isActive = flows.contains { $0.machine.isActive }
        return steps.map { step in
            // A peer may be forgotten by the time at which the step is performed.
            guard case .send(let content, let peer, let isSealed, .lastHeard) = step else {
                return (flows[index].name, step)
            }
            return (flows[index].name, .send(content, to: peer, sealed: isSealed, .lastHeard(route(of: peer))))
        }
    }
}

extension Incoming {
    /// Whether a flow that has ended may still answer it, or counts it.
    fileprivate var isOfPairing: Bool {
        switch payload["type"]?.string {
        case PayloadType.pairAck, PairingConfirmation.type, PairingReject.type: true
        // Deployed phones may send it as a text.
        case nil: payload.string != nil
        default: false
        }
    }
}
