import JSON
import Wire

@testable import Identity
@testable import Sealing

/// The members of a payload in which a changed byte must never go unnoticed.
private func changed(_ payload: JSONObject, _ member: String, _ input: inout FuzzInput) -> JSONObject? {
    guard var inner = payload["payload"]?.object, let text = inner[member]?.string,
        var bytes = PublicBase64URL.decode(text), !bytes.isEmpty
    else { return nil }
    let mask = input.byte()
    guard mask != 0 else { return nil }
    bytes[input.number(0...bytes.count - 1)] ^= mask
    inner[member] = .string(PublicBase64URL.encode(bytes))
    var payload = payload
    payload["payload"] = .object(inner)
    return payload
}

extension FuzzTarget {
    /// Version 1: what is sealed opens once, in any order; a changed byte, another peer and a made-up frame never open.
    static let sealedEnvelope = FuzzTarget("sealed-envelope", limit: 512) { bytes in
        let keys = try FuzzKeys.shared.get().keys
        var input = FuzzInput(bytes)
        let ids = keys.map { PeerID($0.did) }
        let alice = Sealer(key: keys[0], epoch: Int64(input.byte()) + 1)
        let bob = Sealer(key: keys[1], epoch: 1)
        var sent: [(payload: JSONObject, body: JSONObject)] = []
        var opened: Set<Int> = []
        while !input.isEmpty {
            switch input.choice(6) {
            case 0, 1:
                let body: JSONObject = ["n": .integer(Int64(sent.count)), "x": input.json([])]
                guard sent.count < 16 else { continue }
                sent.append((try alice.seal(body, to: ids[1], now: input.integer()), body))
            case 2, 3:
                guard !sent.isEmpty else { continue }
                let index = input.choice(sent.count)
                let isNew = opened.insert(index).inserted
                let result = try? bob.open(sent[index].payload, from: ids[0])
                try require(isNew == (result != nil), "a frame opened \(isNew ? "never" : "twice")")
                try require(result == nil || result?.body == sent[index].body, "it opened as something else")
            case 4:
                guard !sent.isEmpty else { continue }
                let index = input.choice(sent.count)
                let member = input.flag() ? "box" : "nonce"
                guard let other = changed(sent[index].payload, member, &input) else { continue }
                try require((try? bob.open(other, from: ids[0])) == nil, "a changed \(member) opened")
            default:
                guard !sent.isEmpty else { continue }
                let from = input.element(Array(ids[1...]) + ["pairing-code:123456", ""])
                let payload = sent[input.choice(sent.count)].payload
                try require((try? bob.open(payload, from: from)) == nil, "it opened for \(from.text)")
            }
        }
        guard let object = JSONValue(fuzzed: bytes)?.object else { return }
        try require((try? bob.open(object, from: ids[0])) == nil, "a frame that nobody has sealed opened")
    }

    /// Two sides of a session over a wire that reorders, repeats, changes and loses: each body opens at most once, as it
    /// was sent, and a changed frame never.
    static let sessionFrames = FuzzTarget("session-frames", limit: 512) { bytes in
        let keys = try FuzzKeys.shared.get().keys
        var input = FuzzInput(bytes)
        var sides = try [SessionPair.Role.initiator, .responder].map { try SessionSide(keys, $0, limits(&input)) }
        // In flight: to which side, the frame, and its number, if it is one of a session.
        var wire: [(to: Int, payload: JSONObject, number: Int?)] = []
        var bodies: [JSONObject] = []
        var opened: Set<Int> = []

        func perform(_ actions: [SessionStateMachine.Action], by side: Int) {
            for action in actions {
                switch action {
                case .send(let frame): wire.append((1 - side, frame.json, nil))
                case .greet: seal(["type": "bellwire:hello"], by: side)
                }
            }
        }
        func seal(_ body: JSONObject, by side: Int) {
            guard bodies.count < 200 else { return }
            var body = body
            body["n"] = .integer(Int64(bodies.count))
            switch sides[side].seal(body) {
            case .sealed(let frame, let actions):
                wire.append((1 - side, frame.json, bodies.count))
                bodies.append(body)
                perform(actions, by: side)
            case .waiting(let actions): perform(actions, by: side)
            case .refused: break
            }
        }
        func take(_ payload: JSONObject, _ number: Int?, by side: Int, isChanged: Bool) throws {
            if let frame = try? HandshakeFrame(decoding: payload) {
                let actions = (try? sides[side].receive(frame)) ?? []
                perform(actions, by: side)
                return
            }
            guard let frame = try? SessionFrame(decoding: payload) else { return }
            let (result, actions) = sides[side].open(frame)
            if let result {
                guard let number, !isChanged else { throw FuzzFinding("a changed frame opened") }
                try require(opened.insert(number).inserted, "frame \(number) opened twice")
                try require(result == bodies[number], "frame \(number) opened as something else")
            }
            perform(actions, by: side)
        }

        while !input.isEmpty {
            let side = input.choice(2)
            wire.removeFirst(max(0, wire.count - 64))
            switch input.choice(10) {
            case 0: perform(sides[side].registered(), by: side)
            case 1, 2: seal(["x": .string(input.text(40))], by: side)
            case 3, 4:
                guard !wire.isEmpty else { continue }
                let frame = wire.remove(at: input.choice(min(wire.count, 4)))
                try take(frame.payload, frame.number, by: frame.to, isChanged: false)
            case 5:
                guard !wire.isEmpty else { continue }
                let frame = wire[input.choice(wire.count)]
                try take(frame.payload, frame.number, by: frame.to, isChanged: false)
            case 6:
                guard !wire.isEmpty else { continue }
                let frame = wire[input.choice(wire.count)]
                let member = frame.number == nil ? "noise" : "box"
                guard let other = changed(frame.payload, member, &input) else { continue }
                try take(other, frame.number, by: frame.to, isChanged: true)
            case 7:
                guard !wire.isEmpty else { continue }
                // Back to its sender, as a relay may.
                let frame = wire[input.choice(wire.count)]
                try take(frame.payload, frame.number, by: 1 - frame.to, isChanged: true)
            case 8:
                let time = UInt64(input.element([1, 1_000, 5_000, 61_000, 130_000, 3_600_000, 90_000_000]))
                for side in 0...1 {
                    sides[side].now += time
                    perform(sides[side].deadlineReached(), by: side)
                }
            default:
                if input.flag() { wire.removeLast(input.choice(wire.count + 1)) }
                if input.choice(8) == 0 { try sides[side].restart() }
                perform(sides[side].versionOneRefused(), by: side)
            }
            for side in sides {
                try require(side.machine.held <= 3, "\(side.machine.held) sessions are held")
            }
        }
    }

    private static func limits(_ input: inout FuzzInput) -> SessionLimits {
        var limits = SessionLimits()
        limits.frames = input.element([65_536, 3])
        limits.lastCounter = input.element([1 << 20, 6])
        return limits
    }

    /// Pushes that are sealed for push services: a changed byte, another key and another pair never open.
    static let sealedPush = FuzzTarget("sealed-push", limit: 512) { bytes in
        let keys = try FuzzKeys.shared.get().keys
        var input = FuzzInput(bytes)
        guard let prekey = AgreementKey(secret: Array(repeating: 7, count: 32)),
            let ephemeral = AgreementKey(secret: Array(repeating: 9, count: 32)),
            let other = AgreementKey(secret: Array(repeating: 8, count: 32)),
            let psk = PresharedKey(bytes: Array(repeating: 5, count: 32))
        else { throw FuzzFinding("32 bytes are not a key") }
        let pair = SealedPush.Pair(desktop: PeerID(keys[0].did), device: PeerID(keys[1].did), presharedKey: psk)
        let body = input.object([])
        let timestamp = input.integer()
        let sealed = try SealedPush.seal(
            body, timestamp: timestamp, by: AgreementKey(keys[0]), to: prekey.publicKey, ephemeral: ephemeral, pair)
        let opened = try SealedPush(sealed.text).open(with: prekey, pair)
        try require(opened.body == body, "it opened as something else")
        try require((try? sealed.open(with: other, pair)) == nil, "it opened with another prekey")
        let wrong = [
            SealedPush.Pair(desktop: pair.device, device: pair.desktop, presharedKey: psk),
            SealedPush.Pair(desktop: PeerID(keys[2].did), device: pair.device, presharedKey: psk),
            SealedPush.Pair(desktop: pair.desktop, device: pair.device, presharedKey: .none()),
        ]
        let another = wrong[input.choice(wrong.count)]
        try require((try? sealed.open(with: prekey, another)) == nil, "it opened for another pair")
        if var raw = PublicBase64URL.decode(sealed.text) {
            let mask = input.byte()
            raw[input.number(0...raw.count - 1)] ^= mask
            let result = try? SealedPush(PublicBase64URL.encode(raw)).open(with: prekey, pair)
            // The prekey's name is for finding the key. It is covered, too.
            try require(mask == 0 || result == nil, "a changed byte opened")
        }
        let made = try? SealedPush(String(decoding: input.rest(), as: UTF8.self)).open(with: prekey, pair)
        try require(made == nil, "a push that nobody has sealed opened")
        guard let object = JSONValue(fuzzed: bytes)?.object else { return }
        _ = SealedPush.text(in: object)
        if let statement = try? PrekeyStatement(payload: object) {
            let again = try PrekeyStatement(payload: statement.json["payload"]?.object ?? [:])
            try require(again == statement, "a statement of prekeys reads back as another one")
        }
        _ = PrekeyShortage(payload: object)
    }

    /// A move to another key: what was signed verifies for its peer alone, with nothing changed.
    static let moveStatement = FuzzTarget("move-statement", limit: 512) { bytes in
        let keys = try FuzzKeys.shared.get().keys
        var input = FuzzInput(bytes)
        let peer = PeerID(keys[2].did)
        let statement = MoveStatement(from: keys[0], to: keys[1], for: peer, at: Int64(input.byte()) + 1)
        let read = try MoveStatement(decoding: statement.fields)
        try require(read == statement, "a statement reads back as another one")
        try read.verify(for: [peer])
        try require((try? read.verify(for: [PeerID(keys[3].did)])) == nil, "it verifies for another peer")
        var fields = statement.fields
        let member = input.element(["old", "new", "peer", "timestamp", "oldSignature", "newSignature"])
        let value = input.flag() ? JSONValue.string(input.element(keys).did) : input.json([])
        let isSame = fields[member] == value
        fields[member] = value
        if !isSame, let other = try? MoveStatement(decoding: fields), other != statement {
            let own = [peer] + (input.flag() ? [PeerID(keys[3].did)] : [])
            try require((try? other.verify(for: own)) == nil, "it verifies with another \(member)")
        }
        guard let object = JSONValue(fuzzed: bytes)?.object, let other = try? MoveStatement(decoding: object) else {
            return
        }
        try require((try? other.verify(for: [peer])) == nil, "a statement that nobody has signed verifies")
    }

    /// Typed codes: both sides agree exactly if code, alias, ids and messages are the same.
    static let pake = FuzzTarget("pake", limit: 256) { bytes in
        _ = try FuzzKeys.shared.get()
        var input = FuzzInput(bytes)
        func code() -> String {
            String(decoding: (0..<6).map { _ in UInt8(ascii: "0") + input.byte() % 10 }, as: UTF8.self)
        }
        let password = code()
        let typed = input.flag() ? password : code()
        let alias = "pairing-code:\(code())"
        let heard = input.flag() ? alias : "pairing-code:\(code())"
        var generator = FuzzGenerator(UInt64(input.byte()))
        let device = try CPaceInitiator(password: typed, alias: alias, deviceID: "A", using: &generator)
        var (share, sid) = (device.share, device.sid)
        // What the relay makes of step 1.
        let change = input.choice(4)
        if change == 1 { share = input.text(64) }
        if change == 2 { sid = input.text(40) }
        if change == 3, var raw = PublicBase64URL.decode(share) {
            raw[input.choice(raw.count)] ^= input.byte()
            share = PublicBase64URL.encode(raw)
        }
        guard
            let desktop = try? CPaceResponder(
                password: password, alias: heard, sid: sid, deviceID: "A", deviceShare: share, desktopID: "B",
                using: &generator)
        else {
            try require(share != device.share || sid != device.sid, "an honest step 1 is refused")
            return
        }
        let answer = input.choice(4) == 0 ? input.text(64) : desktop.share
        let isHonest =
            typed == password && alias == heard && share == device.share && sid == device.sid && answer == desktop.share
        guard let key = try? device.finish(desktopID: "B", share: answer) else {
            try require(!isHonest, "an honest step 2 is refused")
            return
        }
        let agrees =
            desktop.key.verifies(key.confirmation(of: .device), of: .device)
            || key.verifies(desktop.key.confirmation(of: .desktop), of: .desktop)
        try require(agrees == isHonest, "they \(agrees ? "agree" : "disagree"): \(typed) and \(password)")
        try require(!key.verifies(key.confirmation(of: .device), of: .desktop), "a confirmation is its own answer")
        try require(!desktop.key.verifies(input.text(64), of: .device), "a confirmation that nobody has made")
    }

    /// The window over plain sets, also from its stored bytes.
    static let replayWindow = FuzzTarget("replay-window") { bytes in
        var input = FuzzInput(bytes)
        if input.choice(4) == 0 {
            let raw = input.rest()
            if let window = ReplayWindow(bytes: raw) { try require(window.bytes == raw, "one window has two texts") }
            return
        }
        var window = ReplayWindow()
        var seen: [Int64: Set<Int64>] = [:]
        var (epoch, seq): (Int64, Int64) = (1, 1)
        while !input.isEmpty {
            switch input.choice(16) {
            case 0: epoch &+= Int64(input.choice(3))
            case 1: seq &+= 4_090 + Int64(input.choice(12))
            case 2: (epoch, seq) = (input.integer(), input.integer())
            case 3: window = ReplayWindow(bytes: window.bytes) ?? ReplayWindow()
            default: seq &+= Int64(input.choice(4)) - 1
            }
            let asked = (epoch: epoch &- Int64(input.element([0, 0, 0, 1, 2])), seq: seq)
            let accepts = window.accepts(epoch: asked.epoch, seq: asked.seq)
            let isNew = window.record(epoch: asked.epoch, seq: asked.seq)
            try require(accepts == isNew, "what it accepts it does not record")
            var expected = asked.epoch > 0 && asked.seq > 0
            let newest = seen.keys.sorted(by: >).prefix(2)
            if newest.count == 2, asked.epoch < newest[1] { expected = false }
            let known = seen[asked.epoch] ?? []
            if known.contains(asked.seq) { expected = false }
            if expected, let highest = known.max(), highest - asked.seq >= 4_096 { expected = false }
            if expected { seen[asked.epoch, default: []].insert(asked.seq) }
            try require(isNew == expected, "epoch \(asked.epoch), seq \(asked.seq): \(isNew)")
        }
    }
}

/// One side of a session, with its clock.
private struct SessionSide {
    private let pair: SessionPair
    private let limits: SessionLimits
    private(set) var machine: SessionStateMachine
    private var generator: FuzzGenerator
    var now: UInt64 = 1_000_000

    init(_ keys: [SigningKey], _ role: SessionPair.Role, _ limits: SessionLimits) throws {
        let (own, peer) = role == .initiator ? (keys[0], keys[1]) : (keys[1], keys[0])
        guard let psk = PresharedKey(bytes: Array(repeating: 3, count: 32)) else { throw FuzzFinding("no key") }
        pair = try SessionPair(
            role: role, ownID: PeerID(own.did), own: AgreementKey(own), peerID: PeerID(peer.did), presharedKey: psk)
        self.limits = limits
        machine = SessionStateMachine(pair, limits: limits)
        generator = FuzzGenerator(role == .initiator ? 1 : 2)
    }

    mutating func restart() throws { machine = SessionStateMachine(pair, limits: limits) }

    private mutating func with<T>(
        _ body: (inout SessionStateMachine, UInt64, () -> SessionSeed) throws -> T
    ) rethrows -> T {
        var generator = generator
        defer { self.generator = generator }
        return try body(&machine, now) {
            var bytes: [UInt8] { (0..<32).map { _ in UInt8(truncatingIfNeeded: generator.next()) } }
            guard let id = SessionID(bytes: Array(bytes.prefix(16))), let key = AgreementKey(secret: bytes) else {
                return .random()
            }
            return SessionSeed(id: id, ephemeral: key)
        }
    }

    mutating func registered() -> [SessionStateMachine.Action] { with { $0.registered(now: $1, seed: $2) } }

    mutating func deadlineReached() -> [SessionStateMachine.Action] { with { $0.deadlineReached(now: $1, seed: $2) } }

    mutating func versionOneRefused() -> [SessionStateMachine.Action] {
        with { $0.versionOneRefused(now: $1, seed: $2) }
    }

    mutating func receive(_ frame: HandshakeFrame) throws -> [SessionStateMachine.Action] {
        try with { try $0.receive(frame, now: $1, seed: $2) }
    }

    mutating func open(_ frame: SessionFrame) -> (body: JSONObject?, [SessionStateMachine.Action]) {
        switch with({ $0.open(frame, now: $1, seed: $2) }) {
        case .opened(let opened, let actions): (opened.body, actions)
        case .refused(_, let actions): (nil, actions)
        }
    }

    mutating func seal(_ body: JSONObject) -> SessionStateMachine.Sealing {
        with { $0.seal(body, timestamp: 7, now: $1, seed: $2) }
    }
}
