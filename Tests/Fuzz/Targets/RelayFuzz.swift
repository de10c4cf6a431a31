import Identity
import JSON

@testable import Relay

extension FuzzTarget {
    /// Any events: a socket owns one id, `from` is true, nobody hears what is not for them, proved ids stay proved, and
    /// the counts add up.
    static let relay = FuzzTarget("relay") { bytes in
        var bench = try RelayFuzz(FuzzInput(bytes))
        try bench.run()
    }
}

private struct RelayFuzz: ~Copyable {
    /// One connection, as a model of the relay knows it.
    private struct Peer {
        let connection: ConnectionID
        var holds: String?
        var isProved = false
        var nonce: String?
        /// It has sent a proof for this id that must hold.
        var proving: String?
    }

    private let keys: [SigningKey]
    private let names: [String]
    private var input: FuzzInput
    private var machine: RelayStateMachine
    private var moment = Moment(monotonic: 1_000, epoch: 1_700_000_000_000)
    private var peers: [Peer] = []
    private var everProved: Set<String> = []
    private var sentTo: Set<[String]> = []
    private var numbers: [String: Int64] = [:]
    private var arrived: [String: Int64] = [:]
    private var probes: [(peer: Int, claim: UInt64)] = []
    private var awaited: [(ConnectionID, peer: Int, through: UInt64)] = []
    private var unsaved: [(name: [UInt8], by: ConnectionID, claim: UInt64)] = []
    private var sent: [(to: ConnectionID, frame: [UInt8])] = []
    private var closed: [ConnectionID] = []
    private var nonces: UInt8 = 0
    private static let origin = "ws://192.0.2.5:9001"

    init(_ input: FuzzInput) throws {
        keys = Array(try FuzzKeys.shared.get().keys.prefix(3))
        names = keys.map(\.did) + ["pc", "phone", "x", "pairing-code:123456", "pairing-code:654321"]
        self.input = input
        var options = RelayOptions()
        options.storage.maximumStoredPerPeer = 4
        options.storage.maximumAbsentPeers = 4
        options.storage.storedFor = 2_000
        options.names.maximumAcquaintancesPerPeer = 4
        options.names.maximumAcquaintances = 10
        options.names.maximumAliasesPerAddress = 2
        options.admission.registerWithin = 500
        options.traffic.maximumFramesPerSecond = self.input.element([0, 200])
        machine = RelayStateMachine(
            limits: options.limits, proved: ProvedIDs(limit: options.names.maximumProvedIDs))
        machine.origins = [Array(Self.origin.utf8)]
    }

    mutating func run() throws {
        while !input.isEmpty {
            try step()
            var rounds = 0
            repeat {
                let frames = sent
                sent = []
                for (to, frame) in frames { try check(frame, to: to) }
                let ended = closed
                closed = []
                for id in ended { close(id) }
                rounds += 1
                try require(rounds < 100, "the relay never comes to rest")
            } while !sent.isEmpty || !closed.isEmpty
            try checkCounts()
        }
    }

    // MARK: Events

    private mutating func step() throws {
        let kind = input.choice(20)
        guard kind > 1, !peers.isEmpty else {
            guard peers.count < 12 else { return }
            let isLoopback = input.flag()
            let address = isLoopback ? "127.0.0.1" : "192.0.2.\(input.choice(3))"
            peers.append(Peer(connection: machine.opened(from: address, isLoopback: isLoopback, at: moment)))
            return
        }
        let index = input.choice(peers.count)
        switch kind {
        case 2, 3: close(peers[index].connection)
        case 4, 5, 6: receive(["type": "register", "peerId": .string(input.element(names))], from: index)
        case 7, 8: receive(claim(input.element(keys)), from: index)
        case 9, 10: prove(index)
        case 11, 12, 13: message(index)
        case 14: receive(["type": .string(input.element(["get-peers", "ping", "pong", "nonsense"]))], from: index)
        case 15:
            let status: JSONObject = ["type": "peer-status-request", "peerId": .string(input.element(names))]
            receive(status, from: index)
        case 16:
            let routed = input.element(["offer", "ice-candidate", "pairing:request", "pairing:confirmation"])
            // Also these bring two together.
            let to = input.element(names)
            if let from = peers[index].holds { sentTo.insert([from, to]) }
            receive(
                ["type": .string(routed), "to": .string(to), "from": "forged", "data": input.json(["to"])], from: index)
        case 17:
            if !probes.isEmpty {
                let probe = probes.remove(at: input.choice(probes.count))
                perform(machine.probeEnded(probe.claim, of: probe.peer, answered: input.flag(), at: moment))
            }
            if !unsaved.isEmpty {
                let (name, id, claim) = unsaved.removeFirst()
                perform(machine.remembered(name, by: id, claim: claim, isSaved: input.flag(), at: moment))
            }
            if !awaited.isEmpty {
                let (id, peer, through) = awaited.remove(at: input.choice(awaited.count))
                machine.written(to: id, peer: peer, through: through)
            }
        case 18:
            let milliseconds = UInt64(input.element([1, 100, 499, 2_001, 10_001, 90_000_000]))
            moment.monotonic += milliseconds
            moment.epoch += Int64(milliseconds)
            if milliseconds > 10_000 { for index in peers.indices { peers[index].nonce = nil } }
            perform(machine.tick(at: moment))
            if input.flag() { machine.sweep(at: moment) }
        default:
            let frame = input.bytes(input.choice(40))
            // Transport lets only whole UTF-8 through.
            guard String(validating: frame, as: UTF8.self) != nil else { return }
            receive(frame, from: index)
        }
    }

    private func claim(_ key: SigningKey) -> JSONObject {
        ["type": "register", "peerId": .string(key.did), "bellwire": 1]
    }

    /// The right nonce or another's, the right origin or not, the right key or not.
    private mutating func prove(_ index: Int) {
        let (key, signer) = (input.element(keys), input.element(keys))
        let nonce = input.element([peers[index].nonce ?? ""] + peers.compactMap(\.nonce))
        let origin = input.choice(4) == 0 ? "ws://192.0.2.6:9001" : Self.origin
        let isGood = nonce == peers[index].nonce && origin == Self.origin && key.did == signer.did
        peers[index].nonce = nil
        peers[index].proving = isGood ? key.did : nil
        let proof = RegistrationProof(signing: nonce, origin: origin, channelBinding: nil, with: signer)
        var frame = claim(key)
        frame["proof"] = [
            "nonce": .string(proof.nonce), "origin": .string(proof.origin), "signature": .string(proof.signature),
        ]
        receive(frame, from: index)
    }

    private mutating func message(_ index: Int) {
        let to = input.element(names)
        let from = peers[index].holds
        let pair = "\(from ?? "-")>\(to)"
        let number = numbers[pair, default: 0]
        if let from {
            numbers[pair] = number + 1
            sentTo.insert([from, to])
        }
        receive(
            [
                "type": "message", "to": .string(to), "from": "forged", "sealed": input.flag() ? true : nil,
                "payload": ["to": .string(to), "n": .integer(number)],
            ], from: index)
    }

    private mutating func close(_ id: ConnectionID) {
        peers.removeAll { $0.connection == id }
        perform(machine.closed(id, at: moment))
    }

    private mutating func receive(_ frame: JSONObject, from index: Int) {
        receive(Array(JSONValue.object(frame).serialized().utf8), from: index)
    }

    private mutating func receive(_ frame: [UInt8], from index: Int) {
        let (id, moment) = (peers[index].connection, moment)
        var action = frame.withUnsafeBytes { machine.received($0, from: id, at: moment, isTargetClosing: false) }
        // Its target may be closing already: then the frame comes again.
        if case .forward = action, input.choice(16) == 0 {
            action = frame.withUnsafeBytes { machine.received($0, from: id, at: moment, isTargetClosing: true) }
        }
        switch action {
        case .none: break
        case .forward(let target, let routed): sent.append((target, frame.withUnsafeBytes { routed.bytes(of: $0) }))
        // There are no other relays.
        case .elsewhere: break
        case .perform(let actions): perform(actions)
        }
    }

    private mutating func perform(_ actions: [RelayStateMachine.Action]) {
        for action in actions {
            switch action {
            case .send(let id, let frame): sent.append((id, frame))
            case .close(let id, _): closed.append(id)
            case .probe(_, let peer, let claim): probes.append((peer, claim))
            case .awaitWritten(let id, let peer, let through): awaited.append((id, peer, through))
            case .remember(let name, let id, let claim):
                everProved.insert(String(decoding: name, as: UTF8.self))
                // Or the disk is slow.
                guard input.choice(4) == 0 else {
                    perform(machine.remembered(name, by: id, claim: claim, at: moment))
                    continue
                }
                unsaved.append((name, id, claim))
            case .cannotRemember, .claim, .came, .left, .kept, .watch: break
            case .challenge(let id):
                nonces &+= 1
                let nonce = TextEncoding.base64url.encode(Array(repeating: nonces, count: 32))
                perform(machine.challenge(id, nonce: nonce, security: .plain, at: moment))
            }
        }
    }

    // MARK: What the relay says

    private mutating func check(_ frame: [UInt8], to id: ConnectionID) throws {
        guard let json = try? JSONValue(parsing: frame), let type = json["type"]?.string else {
            throw FuzzFinding("the relay sends what is not a frame: \(String(decoding: frame, as: UTF8.self))")
        }
        guard let index = peers.firstIndex(where: { $0.connection == id }) else {
            // It may have been closed by an event that came after the frame.
            return try require(!machine.isOpen(id), "a \(type) to a connection that nobody knows")
        }
        let holds = peers[index].holds
        switch type {
        case "challenge": peers[index].nonce = json["nonce"]?.string
        case "registered":
            guard let name = json["peerId"]?.string else { throw FuzzFinding("registered as nobody") }
            let isProved = peers[index].proving == name || (holds == name && peers[index].isProved)
            peers[index].proving = nil
            try require(isProved || !everProved.contains(name), "a proved id without a proof")
            for other in peers.indices where peers[other].holds == name { peers[other].holds = nil }
            peers[index].holds = name
            peers[index].isProved = isProved
        case "message", "offline-message":
            let message = type == "message" ? json : json["originalMessage"]
            guard let from = message?["from"]?.string, let to = message?["payload"]?["to"]?.string,
                let number = message?["payload"]?["n"]?.integer
            else { return }
            try require(from != "forged", "the sender names itself")
            try require(holds == to, "a message for \(to) went to \(holds ?? "nobody")")
            try require(number < numbers["\(from)>\(to)", default: 0], "a message that \(from) never sent")
            if message?["sealed"] == true {
                try require(peers[index].isProved || !to.hasPrefix("did:"), "a sealed message without a proof")
            }
            guard type == "message" else { return }
            try require(number >= arrived["\(from)>\(to)", default: 0], "\(from) to \(to): out of order")
            arrived["\(from)>\(to)"] = number + 1
        case "peer-status":
            guard let about = json["peerId"]?.string, let holds else { throw FuzzFinding("presence to nobody") }
            // Who asks about a peer that it doesn't know hears the same for present and absent ones.
            guard json["status"] == "online" else { return }
            try require(haveTalked(about, holds), "\(holds) hears that \(about) is there")
        case "peers-list":
            for entry in json["peers"]?.array ?? [] {
                guard let about = entry["peerId"]?.string, let holds else { continue }
                try require(haveTalked(about, holds), "\(holds) is told of \(about)")
            }
        default:
            guard let from = json["from"]?.string else { return }
            try require(from != "forged", "a \(type) names its sender itself")
            try require(json["to"]?.string == holds, "a \(type) for another")
        }
    }

    private func haveTalked(_ one: String, _ other: String) -> Bool {
        sentTo.contains([one, other]) && sentTo.contains([other, one])
    }

    private func checkCounts() throws {
        let held = peers.compactMap(\.holds)
        try require(machine.connectionCount == peers.count, "\(machine.connectionCount) connections of \(peers.count)")
        try require(machine.registeredCount == held.count, "\(machine.registeredCount) ids of \(held.count)")
        try require(Set(held).count == held.count, "one id has two owners")
        try require(machine.doorkeeper.unregistered == peers.count - held.count, "the unregistered don't add up")
        try require(machine.absent.peerCount <= 4 && machine.absent.frameCount <= 16, "too much is stored")
        try require(machine.acquaintances.count <= 10, "too many acquaintances")
        try require(machine.aliases.count == held.count { $0.hasPrefix("pairing-code:") }, "the aliases don't add up")
    }
}
