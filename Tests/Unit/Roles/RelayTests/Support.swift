import Identity
import JSON

@testable import Relay

extension Array where Element == UInt8 {
    init(text: String) { self = Array(text.utf8) }

    var text: String { String(decoding: self, as: UTF8.self) }

    var json: JSONValue? { try? JSONValue(parsing: self) }
}

func scan(_ text: String) throws(EnvelopeScanner.Failure) -> Envelope { try scan(Array(text.utf8)) }

func scan(_ bytes: [UInt8]) throws(EnvelopeScanner.Failure) -> Envelope {
    let result: Result<Envelope, EnvelopeScanner.Failure> = bytes.withUnsafeBytes { buffer in
        do throws(EnvelopeScanner.Failure) {
            return .success(try EnvelopeScanner.scan(buffer))
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

/// A machine with its connections, its clock, and what it has sent.
struct Bench {
    private let box: Box
    var machine: RelayStateMachine {
        _read { yield box.machine }
        _modify { yield &box.machine }
    }
    var moment = Moment(monotonic: 1_000, epoch: 1_700_000_000_000)
    /// Everything sent, in order.
    private(set) var sent: [(to: ConnectionID, frame: [UInt8])] = []
    private(set) var closed: [(ConnectionID, CloseCause)] = []
    private(set) var probes: [(owner: ConnectionID, peer: Int, claim: UInt64)] = []
    private(set) var remembered: [[UInt8]] = []
    private(set) var forgotten = 0
    /// Proofs wait for ``endSaving(isSaved:)``.
    var isDiskSlow = false
    private(set) var unsaved: [(name: [UInt8], by: ConnectionID, claim: UInt64)] = []
    /// What the next challenges are made with; the newest nonce.
    var security = ChannelSecurity.plain
    private(set) var nonce = ""
    private var nextNonce: UInt8 = 0
    private(set) var awaited: [(ConnectionID, peer: Int, through: UInt64)] = []
    /// For other relays: claims that wait for ``answer(_:)``, frames, and what they were told.
    private(set) var claims: [(name: [UInt8], by: ConnectionID, claim: UInt64, isProved: Bool)] = []
    private(set) var transits: [TransitFrame] = []
    private(set) var told: [String] = []

    /// A machine can't be copied, and a value that tests pass around can.
    private final class Box {
        var machine: RelayStateMachine

        init(_ options: RelayOptions, isClustered: Bool) {
            machine = RelayStateMachine(
                limits: options.limits, proved: ProvedIDs(limit: options.names.maximumProvedIDs),
                isClustered: isClustered)
        }
    }

    init(isClustered: Bool = false, _ change: (inout RelayOptions) -> Void = { _ in }) {
        var options = RelayOptions()
        change(&options)
        box = Box(options, isClustered: isClustered)
        machine.origins = [Array("ws://192.0.2.5:9001".utf8)]
    }

    func isOpen(_ id: ConnectionID) -> Bool { machine.isOpen(id) }

    func isWatched(_ name: [UInt8]) -> Bool { machine.isWatched(name) }

    mutating func advance(_ milliseconds: UInt64) {
        moment.monotonic += milliseconds
        moment.epoch += Int64(milliseconds)
    }

    mutating func open(from address: String = "127.0.0.1", isLoopback: Bool = true) -> ConnectionID {
        machine.opened(from: address, isLoopback: isLoopback, at: moment)
    }

    /// Opens a connection and registers it.
    mutating func peer(_ name: String) -> ConnectionID {
        let id = open()
        receive(#"{"type":"register","peerId":"\#(name)"}"#, from: id)
        return id
    }

    mutating func receive(_ frame: String, from id: ConnectionID) { receive(Array(frame.utf8), from: id) }

    mutating func receive(_ frame: [UInt8], from id: ConnectionID, isTargetClosing: Bool = false) {
        let moment = moment
        let action = frame.withUnsafeBytes {
            machine.received($0, from: id, at: moment, isTargetClosing: isTargetClosing)
        }
        switch action {
        case .none: break
        case .forward(let target, let routed):
            sent.append((target, frame.withUnsafeBytes { routed.bytes(of: $0) }))
        case .elsewhere(let transit): transits.append(transit)
        case .perform(let actions): perform(actions)
        }
    }

    mutating func close(_ id: ConnectionID) { perform(machine.closed(id, at: moment)) }

    mutating func tick() { perform(machine.tick(at: moment)) }

    mutating func endProbe(answered: Bool) {
        let probe = probes.removeFirst()
        perform(machine.probeEnded(probe.claim, of: probe.peer, answered: answered, at: moment))
    }

    /// The oldest proof that waits is on disk, or can't be.
    mutating func endSaving(isSaved: Bool = true) {
        let (name, id, claim) = unsaved.removeFirst()
        perform(machine.remembered(name, by: id, claim: claim, isSaved: isSaved, at: moment))
    }

    /// The other relays answer the oldest claim.
    mutating func answer(_ answer: ClaimAnswer) {
        let (name, id, claim, _) = claims.removeFirst()
        perform(machine.claimed(name, by: id, claim: claim, answer, at: moment))
    }

    /// No other relay takes the oldest frame.
    mutating func endTransit() { perform(machine.notElsewhere(transits.removeFirst(), at: moment)) }

    mutating func evict(_ name: String) { perform(machine.evict(Array(name.utf8), at: moment)) }

    mutating func takeTold() -> [String] {
        defer { told = [] }
        return told
    }

    mutating func endWrite() {
        let (id, peer, sequence) = awaited.removeFirst()
        machine.written(to: id, peer: peer, through: sequence)
    }

    /// What was sent to a connection since the last call, as JSON.
    mutating func take(_ id: ConnectionID) -> [JSONValue] {
        let mine = sent.filter { $0.to == id }.compactMap { $0.frame.json }
        sent.removeAll { $0.to == id }
        return mine
    }

    mutating func takeAll() -> [(to: ConnectionID, frame: [UInt8])] {
        defer { sent = [] }
        return sent
    }

    mutating func takeClosed() -> [(ConnectionID, CloseCause)] {
        defer { closed = [] }
        return closed
    }

    private mutating func perform(_ actions: [RelayStateMachine.Action]) {
        for action in actions {
            switch action {
            case .send(let id, let frame): sent.append((id, frame))
            case .close(let id, let cause): closed.append((id, cause))
            case .probe(let id, let peer, let claim): probes.append((id, peer, claim))
            case .awaitWritten(let id, let peer, let sequence): awaited.append((id, peer, sequence))
            case .remember(let name, let id, let claim):
                remembered.append(name)
                guard !isDiskSlow else {
                    unsaved.append((name, id, claim))
                    continue
                }
                perform(machine.remembered(name, by: id, claim: claim, at: moment))
            case .cannotRemember: forgotten += 1
            case .claim(let name, let id, let claim, let isProved): claims.append((name, id, claim, isProved))
            case .came(let name): told.append("came \(name.text)")
            case .left(let name): told.append("left \(name.text)")
            case .kept(let name): told.append("kept \(name.text)")
            case .watch(let name): told.append("watch \(name.text)")
            case .challenge(let id):
                nextNonce += 1
                nonce = TextEncoding.base64url.encode(Array(repeating: nextNonce, count: 32))
                perform(machine.challenge(id, nonce: nonce, security: security, at: moment))
            }
        }
    }
}
