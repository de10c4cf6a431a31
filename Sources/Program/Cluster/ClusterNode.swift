package import NATS
package import Relay
package import Transport

/// One relay of a cluster: the others are reached over NATS, which knows where each id is held.
///
/// A relay holds an id by subscribing to the id's own subject; a message to an id that is not held here is a request to
/// that subject. Without NATS a relay works alone.
@EventLoop
package final class ClusterNode: RelayCluster {
    package struct Options: Sendable {
        package var nats: NATSClient.Options
        /// This relay's, 1 to 64 bytes; no other one of the cluster may have it.
        package var name: String
        /// Of the bucket of proved ids.
        package var replicas: Int

        package init(nats: NATSClient.Options, name: String, replicas: Int) {
            (self.nats, self.name, self.replicas) = (nats, name, replicas)
        }
    }

    package struct Counters: Sendable {
        /// Frames that other relays took, and those that none took.
        package var sent: UInt64 = 0
        package var notTaken: UInt64 = 0
        /// Frames of other relays that went to connections here.
        package var received: UInt64 = 0
        /// Messages that no relay sends, or that belong to another id.
        package var ignored: UInt64 = 0
        /// Ids that went to connections at other relays.
        package var yielded: UInt64 = 0
        package var disconnections: UInt64 = 0
    }

    package typealias Log = @EventLoop (_ isWarning: Bool, _ event: String, _ text: String) -> Void

    /// In which each id that is held is compared with what other relays hold, in milliseconds.
    private static let comparisonInterval: UInt64 = 300_000

    private struct Newcomer {
        let number: UInt64
        let claim: Claim
        let then: @EventLoop (ClaimAnswer) -> Void
    }

    /// An id that is held here, or that connections here want.
    private struct Interest {
        let subscription: UInt64
        var hold: Claim?
        var newcomers: [Newcomer] = []
    }

    private let options: Options
    private let log: Log
    private let client: NATSClient
    private let others: OtherRelays
    private let proofs: ProofBucket
    private weak var relay: Relay?
    private var kept: KeptFrames?
    private var contacts: Contacts?
    private var batches: FrameBatches?
    private var rounds: PacedRounds?
    private var interests: [[UInt8]: Interest] = [:]
    private var nextNumber: UInt64 = 1
    package private(set) var counters = Counters()

    /// Whether the other relays can be reached.
    package var isConnected: Bool { client.isUp }
    /// Ids that could not be looked up or stored in the bucket of proved ids.
    package var proofFailures: UInt64 { proofs.failures }
    /// Peers that frames are kept here for.
    package var waiting: Int { kept?.count ?? 0 }

    /// Give it to the relay's hooks, then call ``start(_:)``.
    package init(_ options: Options, log: @escaping Log) {
        self.options = options
        self.log = log
        let reports = Reports()
        var nats = options.nats
        // A relay never asks itself.
        nats.connection.echoes = false
        client = NATSClient(nats) { reports.node?.report($0) }
        others = OtherRelays(client)
        proofs = ProofBucket(client, replicas: options.replicas) { reports.node?.report($0) }
        reports.node = self
    }

    /// For the client, which exists before the node does.
    private final class Reports {
        weak var node: ClusterNode?
    }

    package func start(_ relay: Relay) {
        self.relay = relay
        kept = KeptFrames(others, relay)
        contacts = Contacts(others, relay)
        batches = FrameBatches(others, relay) { [weak self] in self?.ended($0, isTaken: $1, keeps: $2) }
        rounds = PacedRounds(every: Self.comparisonInterval) { [weak self] name in self?.compare(name) }
        for name in relay.held { came(name) }
        client.start()
    }

    package func stop() { client.stop() }

    private func report(_ event: NATSClient.Event) {
        switch event {
        case .up(let info, let server):
            log(false, "nats_connected", "connected to the NATS server \(server)")
            if let needed = relay?.maximumFrame, info.maximumPayload < needed + 1_024 {
                log(
                    true, "nats_max_payload",
                    "the NATS server takes messages of \(info.maximumPayload) bytes, so that larger frames cannot reach "
                        + "other relays; set its max_payload to at least \(needed + 1_024)")
            }
            proofs.connected()
            compareAll()
            kept?.connected()
            contacts?.connected()
        case .down(let error):
            counters.disconnections += 1
            log(true, "nats_disconnected", "\(error.message); peers of other relays are unreachable")
        case .problem(let error): log(true, "nats_problem", error.message)
        }
    }

    private func report(_ event: ProofBucket.Event) {
        switch event {
        case .replaced:
            log(true, "nats_proofs_lost", "the list of proved ids was deleted; ids that are not online are unprotected")
            compareAll()
        case .usable: log(false, "nats_proofs_usable", "the list of proved ids can be used")
        case .incomplete: compareAll()
        case .problem(let error) where error.code == .unsuitable:
            log(true, "nats_proofs", "proved ids are not protected at all relays: \(error.message)")
        case .problem(let error):
            log(
                true, "nats_proofs",
                "proved ids cannot be stored for all relays, and unproved registrations of did:key ids are refused: "
                    + error.message)
        }
    }

    private func compareAll() {
        for name in interests.keys { rounds?.hurry(name) }
    }

    // MARK: The relay's own ids

    private func makeClaim(stamp: Int64, isProved: Bool) -> Claim {
        Claim(stamp: stamp, node: Array(options.name.utf8), isProved: isProved)
    }

    package func claim(_ name: [UInt8], isProved: Bool, then: @escaping @EventLoop (ClaimAnswer) -> Void) {
        guard client.isUp else {
            // Nobody knows whether another relay has a proof of it.
            let mayHold = isProved || !ProofBucket.canBeProved(name)
            return EventLoop.post { then(mayHold ? .free : .proofRequired) }
        }
        let number = nextNumber
        nextNumber += 1
        let claim = makeClaim(stamp: relay?.epoch ?? 0, isProved: isProved)
        // Other relays can reach this one before they are asked.
        interest(in: name) { $0.newcomers.append(Newcomer(number: number, claim: claim, then: then)) }
        if isProved {
            proofs.keep(name) { [weak self] in self?.ask(for: name, claim, number) }
        } else {
            proofs.mayBeUnproved(name) { [weak self] mayBe in
                if mayBe { self?.ask(for: name, claim, number) } else { self?.decide(name, number, .proofRequired) }
            }
        }
    }

    /// - Parameter times: how often other newcomers may give way before this one does.
    private func ask(for name: [UInt8], _ claim: Claim, _ number: UInt64, times: Int = 8) {
        let timeout = OtherRelays.answerTime + (claim.isProved ? 0 : relay?.probeTime ?? 0)
        // A relay that was stopped for a while may still have the id, and says so when it continues.
        let late: @EventLoop () -> Void = { [weak self] in self?.compare(name) }
        others.ask(.claim(claim), about: name, timeout: timeout, late: late) { [weak self] reply in
            switch reply.answer {
            case .yielded: self?.decide(name, number, .left)
            case .stays: self?.decide(name, number, .taken)
            case .proved: self?.decide(name, number, .proofRequired)
            // Only the first answer comes here, and a holder's may still be on its way.
            case .gaveWay where times > 0: self?.ask(for: name, claim, number, times: times - 1)
            case .gaveWay: self?.decide(name, number, .taken)
            case .taken, .absent, nil: self?.decide(name, number, .free)
            }
        }
    }

    private func decide(_ name: [UInt8], _ number: UInt64, _ answer: ClaimAnswer) {
        guard let place = interests[name]?.newcomers.firstIndex(where: { $0.number == number }),
            let newcomer = interests[name]?.newcomers.remove(at: place)
        else { return }
        newcomer.then(answer)
        forgetIfIdle(name)
    }

    package func came(_ name: [UInt8]) {
        guard let hold = relay?.hold(of: name) else { return }
        interest(in: name) { $0.hold = makeClaim(stamp: hold.whereabouts.registeredAt, isProved: hold.isProved) }
        rounds?.add(name)
        // Another relay may have granted it at the same moment.
        rounds?.hurry(name)
        kept?.forget(name)
        contacts?.forget(name)
        others.tell(.here(isProved: hold.isProved, hold.whereabouts), about: name)
    }

    package func left(_ name: [UInt8]) {
        guard let interest = interests[name] else { return }
        if interest.hold != nil {
            interests[name]?.hold = nil
            rounds?.remove(name)
            others.tell(.left, about: name)
        }
        forgetIfIdle(name)
        if relay?.isKeeping(for: name) == true { kept?.wait(for: name) }
        if relay?.isWatched(name) == true { contacts?.watch(name) }
    }

    package func watch(_ name: [UInt8]) { contacts?.watch(name) }

    package func kept(_ name: [UInt8]) { kept?.wait(for: name) }

    private func interest(in name: [UInt8], _ change: (inout Interest) -> Void) {
        if interests[name] == nil {
            let subscription = others.serve(name) { [weak self] message in self?.take(message, about: name) }
            guard let subscription else { return }
            interests[name] = Interest(subscription: subscription)
        }
        if var interest = interests[name] {
            change(&interest)
            interests[name] = interest
        }
    }

    private func forgetIfIdle(_ name: [UInt8]) {
        guard let interest = interests[name], interest.hold == nil, interest.newcomers.isEmpty else { return }
        interests[name] = nil
        others.stop(interest.subscription)
    }

    /// Says that the id is here, and finds another holder of it, after a time in which the relays were apart.
    private func compare(_ name: [UInt8]) {
        guard client.isUp, let hold = interests[name]?.hold, let held = relay?.hold(of: name) else { return }
        if held.isProved { proofs.keep(name) }
        // For relays that could not be told when it came.
        others.tell(.here(isProved: held.isProved, held.whereabouts), about: name)
        others.ask(.holds(hold), about: name) { [weak self] reply in
            guard let self, reply.answer == .stays || reply.answer == .proved, interests[name]?.hold == hold else {
                return
            }
            yield(name)
        }
    }

    private func yield(_ name: [UInt8]) {
        counters.yielded += 1
        relay?.evict(name)
    }

    // MARK: Frames

    package func send(_ frame: TransitFrame) {
        if frame.isMutual { contacts?.watch(frame.target) }
        batches?.send(frame)
    }

    private func ended(_ frame: TransitFrame, isTaken: Bool, keeps: Bool) {
        if isTaken {
            counters.sent += 1
        } else {
            counters.notTaken += 1
            relay?.notTaken(frame, keeps: keeps)
        }
    }

    // MARK: What other relays say

    // The first answer counts, so a relay that only wants the id does not answer what is for its holder.

    private func take(_ message: NATSMessage, about name: [UInt8]) {
        guard case (name, let said)? = ClusterMessage.read(message.payload), let relay else {
            counters.ignored += 1
            return
        }
        func answer(_ answer: ClusterAnswer) { self.answer(message, answer) }
        let hold = interests[name]?.hold
        switch said {
        case .frames(let frames):
            guard hold != nil else { return }
            others.answer(message, FramesAnswer.bytes(frames.map { deliver($0, to: name) }))
        case .kept(let frame):
            guard relay.hold(of: name) != nil else { return }
            relay.deliver(frame, to: name) { [weak self] isWritten in
                self?.answer(message, isWritten ? .taken : .absent)
            }
        case .ask:
            guard let held = relay.hold(of: name) else { return }
            others.answer(message, ClusterMessage.here(isProved: held.isProved, held.whereabouts).bytes(about: name))
        case .claim(let theirs): judge(theirs, about: name, message)
        case .holds(let theirs):
            switch hold?.asHolder(against: theirs) {
            case nil: break
            case .theirs:
                // First the answer: what follows from yielding must come after it.
                answer(.yielded)
                yield(name)
            case .ours, .oursIfAlive: answer(.stays)
            case .oursByProof: answer(.proved)
            }
        case .compare: rounds?.hurry(name)
        case .here, .left: counters.ignored += 1
        }
    }

    /// Whether it is with the peer's connection.
    private func deliver(_ frame: ClusterMessage.Frame, to name: [UInt8]) -> Bool {
        guard
            case .taken(let isMutual)? = relay?.deliver(
                frame.bytes, from: frame.sender, to: name, isSealed: frame.isSealed)
        else { return false }
        counters.received += 1
        if isMutual { contacts?.watch(frame.sender) }
        return true
    }

    private func answer(_ message: NATSMessage, _ answer: ClusterAnswer) {
        others.answer(message, [answer.rawValue])
    }

    private func judge(_ theirs: Claim, about name: [UInt8], _ message: NATSMessage) {
        if let hold = interests[name]?.hold {
            switch hold.asHeld(against: theirs) {
            case .theirs:
                answer(message, .yielded)
                yield(name)
            case .oursByProof: answer(message, .proved)
            case .ours, .oursIfAlive:
                relay?.probe(name) { [weak self] isAlive in
                    guard let self else { return }
                    // Another connection may have it by now.
                    guard interests[name]?.hold == hold else { return judge(theirs, about: name, message) }
                    answer(message, isAlive ? .stays : .yielded)
                    if !isAlive { yield(name) }
                }
            }
            return
        }
        let newcomers = interests[name]?.newcomers ?? []
        guard let first = newcomers.first(where: \.claim.isProved) ?? newcomers.first else {
            // It has just left. Asking again finds the next holder, or none.
            return answer(message, .gaveWay)
        }
        switch first.claim.asNewcomer(against: theirs) {
        case .theirs:
            for newcomer in newcomers {
                let isOutdone = theirs.isProved && !newcomer.claim.isProved
                decide(name, newcomer.number, isOutdone ? .proofRequired : .taken)
            }
            answer(message, .gaveWay)
        case .ours, .oursIfAlive: answer(message, .stays)
        case .oursByProof: answer(message, .proved)
        }
    }
}
