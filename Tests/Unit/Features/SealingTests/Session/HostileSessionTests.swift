import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Sealing

/// A relay that does what it wants with the frames of a session (WireSessions, "Rejections").
@Suite struct HostileSessionTests {
    private func body(_ number: Int) -> JSONObject { ["type": "x", "payload": ["number": .integer(Int64(number))]] }

    @Test("a million frames of unknown sessions cost no memory, and four requests at once and then one in five seconds")
    func unknownSessions() throws {
        let bench = try SessionBench()
        try bench.connect()
        let held = bench.desktop.machine.held
        let box = [UInt8](repeating: 7, count: 272)
        var requests = 0
        for number: UInt64 in 0..<1_000_000 {
            bench.desktop.now += 1
            let bytes = withUnsafeBytes(of: (number, number)) { Array($0) }
            let frame = SessionFrame(id: try #require(SessionID(bytes: bytes)), counter: number & 4_095, box: box)
            guard
                case .refused(let error, let actions) = bench.desktop.machine.open(
                    frame, now: bench.desktop.now, seed: { .random() })
            else { fatalError("it was opened") }
            if error.code != .unknownSession { Issue.record("\(error.code.name)") }
            requests += actions.count
        }
        // Four at once, then one in five seconds.
        #expect(requests == 203)
        #expect(bench.desktop.machine.held == held)
        // The session that was there still works.
        #expect(try bench.deviceSends(body(1)))
    }

    @Test(
        "a device that gets frames of unknown sessions or requests sends step 1 four times at once and then once in five seconds at most"
    )
    func requestFlood() throws {
        let bench = try SessionBench()
        try bench.connect()
        var frames: Set<String> = []
        var sent = 0
        for _ in 0..<60_000 {
            bench.device.now += 1
            for action in try bench.device.receive(HandshakeFrame.request.json) {
                sent += 1
                frames.insert(JSONValue.object(action.frame ?? [:]).serialized())
            }
        }
        #expect(sent == 15)
        #expect(frames.count == 1)
        #expect(bench.device.machine.held == 2)
        #expect(try bench.deviceSends(body(1)))
    }

    @Test("a desktop reads 16 handshakes of a peer in a minute; the rest cost nothing, and time heals it")
    func handshakeFlood() throws {
        let bench = try SessionBench()
        try bench.connect()
        var refusals: [SealError.Code: Int] = [:]
        let first = try HandshakeFrame(decoding: #require(bench.device.register().first?.frame))
        guard case .initiation(let initiation) = first else { return }
        for number: UInt64 in 0..<1_000 {
            let id = try #require(SessionID(bytes: withUnsafeBytes(of: (number, number)) { Array($0) }))
            let frame = HandshakeFrame.initiation(
                .init(id: id, suites: initiation.suites, noise: initiation.noise))
            refusals[try #require(bench.desktop.refusal(of: frame.json)), default: 0] += 1
        }
        #expect(refusals == [.forged: 15, .tooManyHandshakes: 985])
        #expect(try bench.desktopSends(body(1)))
        bench.wait(4_000)
        try bench.run(fromDevice: [.send(first)])
        #expect(try bench.deviceSends(body(2)))
    }

    @Test("handshakes that are played back change nothing: the session goes on, and nobody learns its keys")
    func replayedHandshakes() throws {
        let bench = try SessionBench()
        var recorded: [JSONObject] = []
        for _ in 0..<3 {
            let first = try #require(bench.device.register().first?.frame)
            recorded.append(first)
            try bench.run(fromDevice: [.send(HandshakeFrame(decoding: first))])
            bench.wait(70_000)
        }
        let hello = try #require(bench.device.seal(SessionBench.hello).frame).json
        // The newest is known, the others are answered and never confirmed.
        for frame in recorded.dropLast() {
            #expect(try bench.desktop.receive(frame).count == 1)
            #expect(bench.desktop.machine.hasSession)
            #expect(try bench.desktopSends(body(1)))
        }
        #expect(bench.desktop.machine.held == 2)
        #expect(bench.desktop.open(hello).opened != nil)
        #expect(bench.desktop.open(hello).code == .replayed)
        bench.wait(120_000)
        _ = bench.desktop.deadlineReached()
        #expect(bench.desktop.machine.held == 1)
    }

    @Test("after a restart, or a restored backup, nothing that was recorded before has any effect")
    func rollback() throws {
        let bench = try SessionBench()
        let first = try #require(bench.device.register().first?.frame)
        let second = try #require(try bench.desktop.receive(first).first?.frame)
        _ = try bench.device.receive(second)
        let frames = try (0..<20).map { _ in try #require(bench.device.seal(SessionBench.hello).frame).json }
        for frame in frames { #expect(bench.desktop.open(frame).opened != nil) }
        try bench.restartDesktop()
        for frame in frames { #expect(bench.desktop.open(frame).code == .unknownSession) }
        // The recorded step 1 gets a new answer with new keys: the recorded frames don't confirm those.
        let other = try #require(try bench.desktop.receive(first).first?.frame)
        #expect(other != second)
        for frame in frames { #expect(bench.desktop.open(frame).code == .forged) }
        #expect(!bench.desktop.machine.hasSession)
        // A device that lost its memory: the recorded step 2 answers nothing.
        try bench.restartDevice()
        _ = bench.device.register()
        #expect(bench.device.refusal(of: second) == .unexpectedStep)
    }

    @Test("frames for another peer, from another peer, and one's own are not opened")
    func redirected() throws {
        let (bench, other) = (try SessionBench(), try SessionBench())
        try bench.connect()
        try other.connect()
        let frame = try #require(bench.device.seal(body(1)).frame)
        #expect(other.desktop.open(frame.json).code == .unknownSession)
        #expect(bench.device.open(frame.json).code == .forged)
        let foreign = try #require(other.device.seal(body(2)).frame)
        let renamed = SessionFrame(id: frame.id, counter: foreign.counter, box: foreign.box)
        #expect(bench.desktop.open(renamed.json).code == .forged)
        let first = try #require(other.device.register().first?.frame)
        #expect(bench.desktop.refusal(of: first) == .forged)
        #expect(bench.desktop.open(frame.json).opened?.body == body(1))
    }

    @Test("counters may jump within a session, open once each, and old ones don't come back")
    func counters() throws {
        let bench = try SessionBench()
        try bench.connect()
        let frames = try (0..<6_000).map { try #require(bench.device.seal(body($0)).frame).json }
        #expect(bench.desktop.open(frames[5_999]).opened?.body == body(5_999))
        #expect(bench.desktop.open(frames[5_999]).code == .replayed)
        // The hello had the counter 0.
        #expect(bench.desktop.open(frames[5_999 - 4_096]).code == .replayed)
        #expect(bench.desktop.open(frames[5_999 - 4_095]).opened != nil)
        #expect(bench.desktop.open(frames[5_999 - 4_095]).code == .replayed)
        for number in [5_000, 4_000, 5_001] {
            #expect(bench.desktop.open(frames[number]).opened?.body == body(number))
        }
    }

    @Test("two copies of one state directory: frames never cross, and whoever is heard last has the session")
    func twoCopies() throws {
        let bench = try SessionBench()
        try bench.connect()
        let copy = try SessionBench.Side(
            key: bench.keys.device, peer: bench.desktop.id, role: .initiator, psk: bench.psk)
        var recorded: [JSONObject] = []
        for round in 0..<4 {
            // The copy registers, and the desktop's answer goes to it.
            let first = try #require(copy.register().first?.frame)
            let second = try #require(try bench.desktop.receive(first).first?.frame)
            #expect(bench.device.refusal(of: second) == .unexpectedStep)
            #expect(try copy.receive(second) == [.greet])
            let hello = try #require(copy.seal(SessionBench.hello).frame).json
            #expect(bench.desktop.open(hello).opened?.isFirst == true)
            let push = try #require(bench.desktop.seal(body(round)).frame).json
            recorded.append(push)
            #expect(bench.device.open(push).code == .unknownSession)
            #expect(copy.open(push).opened?.body == body(round))
            // Then the first one does.
            bench.wait(10_000)
            copy.now += 10_000
            try bench.connect()
            #expect(try bench.desktopSends(body(100 + round)))
            bench.wait(10_000)
            copy.now += 10_000
        }
        #expect(bench.device.machine.held <= 3 && copy.machine.held <= 3 && bench.desktop.machine.held <= 3)
        for push in recorded { #expect(bench.device.open(push).code == .unknownSession) }
    }

    @Test("another preshared key, or none on one side, gives no session")
    func wrongPresharedKey() throws {
        let other = try #require(PresharedKey(bytes: [UInt8](repeating: 1, count: 32)))
        for psk in [PresharedKey.none(), other] {
            let bench = try SessionBench()
            bench.desktop = try SessionBench.Side(
                key: bench.keys.desktop, peer: bench.device.id, role: .responder, psk: psk)
            let first = try #require(bench.device.register().first?.frame)
            let second = try #require(try bench.desktop.receive(first).first?.frame)
            #expect(bench.device.refusal(of: second) == .forged)
            #expect(!bench.device.machine.hasSession)
        }
    }

    @Test("an error says nothing of what was sealed, nor of the peers")
    func discretion() throws {
        let bench = try SessionBench()
        try bench.connect()
        let frame = try #require(bench.device.seal(["type": "swordfish"]).frame).json
        _ = bench.desktop.open(frame)
        guard case .refused(let error, _) = bench.desktop.open(frame) else { return }
        #expect(!"\(error)".contains("swordfish") && !"\(error)".contains("did:key"))
    }

    @Test("whatever a relay loses, repeats and delays, each payload is opened once, and the peers find a session again")
    func model() throws {
        var total = 0
        for seed: UInt64 in 0..<30 {
            var generator = SeededGenerator(seed: seed)
            var limits = SessionLimits()
            limits.frames = 40
            limits.lastCounter = 200
            let bench = try SessionBench(limits: limits)
            var wire: [(toDesktop: Bool, frame: JSONObject)] = []
            var opened: [String: Int] = [:]
            var number = 0

            func put(_ actions: [SessionStateMachine.Action], toDesktop: Bool) {
                for action in actions {
                    if let frame = action.frame { wire.append((toDesktop, frame)) }
                    guard action == .greet else { continue }
                    let sealing = bench.device.seal(SessionBench.hello)
                    if let frame = sealing.frame { wire.append((true, frame.json)) }
                }
            }

            for _ in 0..<1_500 {
                switch Int.random(in: 0..<12, using: &generator) {
                case 0: put(bench.device.register(), toDesktop: true)
                case 1, 2:
                    number += 1
                    let sealing = bench.device.seal(body(number))
                    if let frame = sealing.frame { wire.append((true, frame.json)) }
                    put(sealing.actions, toDesktop: true)
                case 3, 4:
                    number += 1
                    let sealing = bench.desktop.seal(body(number))
                    if let frame = sealing.frame { wire.append((false, frame.json)) }
                    put(sealing.actions, toDesktop: false)
                case 5:
                    bench.wait(UInt64.random(in: 0..<20_000, using: &generator))
                    put(bench.device.deadlineReached(), toDesktop: true)
                    put(bench.desktop.deadlineReached(), toDesktop: false)
                case 6 where Int.random(in: 0..<20, using: &generator) == 0: try bench.restartDesktop(limits: limits)
                case 7 where Int.random(in: 0..<20, using: &generator) == 0: try bench.restartDevice(limits: limits)
                default:
                    guard let index = wire.indices.randomElement(using: &generator) else { continue }
                    let item = wire[index]
                    // Delivered, and most of the time taken away.
                    if Int.random(in: 0..<4, using: &generator) > 0 { wire.remove(at: index) }
                    if wire.count > 60 { wire.removeFirst(30) }
                    if item.frame["type"] == "bellwire:hs" {
                        let actions =
                            (item.toDesktop
                                ? try? bench.desktop.receive(item.frame) : try? bench.device.receive(item.frame))
                            ?? []
                        put(actions, toDesktop: !item.toDesktop)
                    } else {
                        let opening = item.toDesktop ? bench.desktop.open(item.frame) : bench.device.open(item.frame)
                        if let body = opening.opened?.body, body["type"] == "x" {
                            opened[JSONValue.object(body).serialized(), default: 0] += 1
                        }
                        put(opening.actions, toDesktop: !item.toDesktop)
                    }
                }
                #expect(bench.device.machine.held <= 3 && bench.desktop.machine.held <= 3)
            }
            #expect(opened.values.allSatisfy { $0 == 1 }, "seed \(seed)")
            total += opened.count
            // A relay that behaves: whatever the peers remember, they find a session.
            for _ in 0..<3 {
                bench.wait(130_000)
                _ = bench.device.deadlineReached()
                _ = bench.desktop.deadlineReached()
                try bench.connect()
            }
            #expect(try bench.deviceSends(body(-1)) && bench.desktopSends(body(-2)), "seed \(seed)")
        }
        #expect(total > 1_000)
    }
}
