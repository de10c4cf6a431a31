import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Sealing

/// Handshakes that succeed, repeat, cross and are cut; sessions that are renewed and end (WireSessions, "Handshake").
@Suite struct SessionStateMachineTests {
    private func body(_ number: Int) -> JSONObject { ["type": "x", "payload": ["number": .integer(Int64(number))]] }

    @Test("a handshake takes one round trip; the desktop has no session before the device's first frame")
    func handshake() throws {
        let bench = try SessionBench()
        #expect(bench.device.machine.hasPresharedKey)
        let first = try #require(bench.device.register().first?.frame)
        let second = try #require(try bench.desktop.receive(first).first?.frame)
        #expect(!bench.desktop.machine.hasSession && !bench.device.machine.hasSession)
        #expect(try bench.device.receive(second) == [.greet])
        #expect(bench.device.machine.hasSession && !bench.desktop.machine.hasSession)
        let isWaiting = bench.desktop.seal(body(0)).isWaiting
        #expect(isWaiting)
        try bench.deviceSends(SessionBench.hello)
        #expect(bench.desktop.machine.hasSession)
        #expect(bench.received.desktop == [SessionBench.hello])
        try bench.desktopSends(body(1))
        #expect(bench.received.device == [body(1)])
        #expect(bench.device.machine.held == 1 && bench.desktop.machine.held == 1)
    }

    @Test("the first frame of a session says so, on each side once")
    func firstFrames() throws {
        let bench = try SessionBench()
        try bench.connect()
        for isFirst in [true, false] {
            let frame = try #require(bench.desktop.seal(body(1)).frame)
            #expect(bench.device.open(frame.json).opened?.isFirst == isFirst)
        }
        let later = try #require(bench.device.seal(body(2)).frame)
        #expect(bench.desktop.open(later.json).opened?.isFirst == false)
        #expect(bench.desktop.open(later.json).code == .replayed)
    }

    @Test("a repeated step 1 gets the same answer, one of another content none, and a complete one none")
    func repeatedSteps() throws {
        let bench = try SessionBench()
        let first = try #require(bench.device.register().first?.frame)
        let second = try bench.desktop.receive(first)
        #expect(try bench.desktop.receive(first) == second)
        bench.wait(20_000)
        #expect(try bench.desktop.receive(first) == second)
        let other = try SessionBench()
        let foreign = try HandshakeFrame(decoding: try #require(other.device.register().first?.frame))
        guard case .initiation(let mine) = try HandshakeFrame(decoding: first), case .initiation(let theirs) = foreign
        else {
            Issue.record("these are step 1")
            return
        }
        let mixed = HandshakeFrame.initiation(.init(id: mine.id, suites: mine.suites, noise: theirs.noise))
        #expect(bench.desktop.refusal(of: mixed.json) == .conflictingStep)
        let answer = try #require(second.first?.frame)
        #expect(try bench.device.receive(answer) == [.greet])
        #expect(bench.device.refusal(of: answer) == .unexpectedStep)
        try bench.deviceSends(SessionBench.hello)
        #expect(bench.desktop.refusal(of: first) == .unexpectedStep)
        // Also while it drains.
        try bench.connect()
        #expect(bench.desktop.refusal(of: first) == .unexpectedStep)
        #expect(try bench.desktopSends(body(1)))
    }

    @Test("step 1 is sent again after 3 s, 6 s, 12 s, 24 s and 48 s, byte by byte; after two minutes it is over")
    func repetition() throws {
        let bench = try SessionBench()
        let first = bench.device.register()
        for delay: UInt64 in [3_000, 6_000, 12_000, 24_000, 48_000] {
            #expect(bench.device.machine.deadline == bench.device.now + delay)
            bench.wait(delay - 1)
            #expect(bench.device.deadlineReached() == [])
            bench.wait(1)
            #expect(bench.device.deadlineReached() == first)
        }
        bench.wait(27_000)
        #expect(bench.device.machine.deadline == bench.device.now)
        #expect(bench.device.deadlineReached() == [])
        #expect(bench.device.machine.held == 0 && bench.device.machine.deadline == nil)
        // The next registration begins anew, and so does the next payload.
        #expect(bench.device.register() != first)
    }

    @Test("a registration while step 1 is under way sends the same one over the new connection")
    func secondRegistration() throws {
        let bench = try SessionBench()
        let first = bench.device.register()
        #expect(bench.device.register() == first)
        try bench.run(fromDevice: first)
        #expect(bench.desktop.machine.hasSession)
    }

    @Test("whatever is lost, the next registration connects, and what was under way is over in time")
    func cutAtEveryStep() throws {
        for cut in 0..<6 {
            let bench = try SessionBench()
            try bench.connect()
            bench.wait(10_000)
            // A second handshake, cut after so many frames.
            var frames = 0
            if let first = bench.device.register().first?.frame {
                frames += 1
                if frames <= cut, let second = try bench.desktop.receive(first).first?.frame {
                    frames += 1
                    if frames <= cut {
                        #expect(try bench.device.receive(second) == [.greet])
                        frames += 1
                        if frames <= cut { try bench.deviceSends(SessionBench.hello) }
                    }
                }
            }
            // What is on its way in the old session still arrives, and the desktop's side never breaks.
            #expect(try bench.desktopSends(body(cut)), "cut \(cut)")
            bench.wait(200_000)
            try bench.connect()
            #expect(try bench.desktopSends(body(1)) && bench.deviceSends(body(2)), "cut \(cut)")
            bench.wait(60_000)
            _ = bench.device.deadlineReached()
            _ = bench.desktop.deadlineReached()
            #expect(bench.device.machine.held == 1 && bench.desktop.machine.held == 1, "cut \(cut)")
        }
    }

    @Test("an old session opens frames for 60 s after it was replaced, then its frames are unknown")
    func draining() throws {
        let bench = try SessionBench()
        try bench.connect()
        let old = try (0..<3).map { try #require(bench.desktop.seal(body($0)).frame).json }
        let stale = try #require(bench.device.seal(body(9)).frame).json
        try bench.connect()
        #expect(bench.device.machine.held == 2 && bench.desktop.machine.held == 2)
        #expect(bench.device.machine.deadline == bench.device.now + 60_000)
        #expect(bench.device.open(old[0]).opened?.isFirst == false)
        bench.wait(59_999)
        #expect(bench.device.open(old[1]).opened?.body == body(1))
        bench.wait(1)
        #expect(bench.device.open(old[2]).code == .unknownSession)
        #expect(bench.desktop.open(stale).code == .unknownSession)
        #expect(bench.device.machine.held <= 2)
    }

    @Test("when the hello is lost, the desktop's frames in the ended session make the device begin again")
    func lostHello() throws {
        let bench = try SessionBench()
        try bench.connect()
        let first = try #require(bench.device.register().first?.frame)
        let second = try #require(try bench.desktop.receive(first).first?.frame)
        #expect(try bench.device.receive(second) == [.greet])
        #expect(try bench.desktopSends(body(1)))
        bench.wait(61_000)
        #expect(try !bench.desktopSends(body(2)))
        #expect(try bench.desktopSends(body(3)))
        #expect(bench.received.device == [body(1), body(3)])
    }

    @Test("a desktop that was restarted drops what comes, asks for a handshake, and gets what is sent again")
    func restart() throws {
        let bench = try SessionBench()
        try bench.connect()
        bench.wait(60_000)
        try bench.restartDesktop()
        #expect(try !bench.deviceSends(body(1)))
        #expect(bench.desktop.machine.hasSession)
        #expect(try bench.deviceSends(body(1)))
        #expect(bench.received.desktop == [SessionBench.hello, SessionBench.hello, body(1)])
        // A restarted device registers, and so begins by itself.
        bench.wait(60_000)
        try bench.restartDevice()
        #expect(try !bench.desktopSends(body(2)))
        #expect(try bench.desktopSends(body(2)))
        #expect(bench.received.device == [body(2)])
    }

    @Test("a payload without a session waits; the device begins a handshake for it, the desktop asks for one")
    func waiting() throws {
        let bench = try SessionBench()
        for _ in 0..<4 { #expect(bench.desktop.seal(body(1)).actions == [.send(.request)]) }
        #expect(bench.desktop.seal(body(1)).actions == [])
        bench.wait(5_000)
        let request = bench.desktop.seal(body(1)).actions
        try bench.run(fromDesktop: request)
        #expect(try bench.desktopSends(body(1)))
        #expect(try bench.deviceSends(body(2)))
    }

    @Test("requests that cross a handshake, and answers that cross a new one, do no harm")
    func crossed() throws {
        let bench = try SessionBench()
        let first = try #require(bench.device.register().first?.frame)
        let answer = try #require(try bench.desktop.receive(first).first?.frame)
        // A request while step 1 is under way brings the same step 1.
        #expect(try bench.device.receive(HandshakeFrame.request.json).first?.frame == first)
        // The handshake times out; the late answer meets the next one.
        bench.wait(120_000)
        let next = try #require(bench.device.register().first?.frame)
        #expect(bench.device.refusal(of: answer) == .unexpectedStep)
        try bench.run(fromDevice: [.send(HandshakeFrame(decoding: next))])
        #expect(try bench.desktopSends(body(1)))
        // Frames of the wrong direction.
        #expect(bench.device.refusal(of: next) == .unexpectedStep)
        #expect(bench.desktop.refusal(of: answer) == .unexpectedStep)
        #expect(bench.desktop.refusal(of: HandshakeFrame.request.json) == .unexpectedStep)
    }

    @Test("after 24 h the device begins a new session; without one the old ends an hour later")
    func age() throws {
        let bench = try SessionBench()
        try bench.connect()
        bench.wait(60_000)
        _ = bench.device.deadlineReached()
        #expect(bench.device.machine.deadline == bench.device.now - 60_000 + 24 * 3_600_000)
        bench.wait(24 * 3_600_000 - 60_000)
        let renewal = bench.device.deadlineReached()
        #expect(renewal.count == 1)
        try bench.run(fromDevice: renewal)
        #expect(bench.device.machine.held == 2)
        #expect(try bench.desktopSends(body(1)))
        bench.wait(25 * 3_600_000)
        #expect(bench.desktop.seal(body(2)).isWaiting)
        #expect(bench.device.seal(body(2)).isWaiting)
    }

    @Test("after 65,536 frames in one direction the device begins a new session, whoever sent them")
    func frames() throws {
        var limits = SessionLimits()
        limits.frames = 50
        for isFromDevice in [true, false] {
            let bench = try SessionBench(limits: limits)
            try bench.connect()
            bench.wait(10_000)
            var renewals = 0
            for number in 0..<49 {
                let sealing = isFromDevice ? bench.device.seal(body(number)) : bench.desktop.seal(body(number))
                let frame = try #require(sealing.frame)
                let opening = isFromDevice ? bench.desktop.open(frame.json) : bench.device.open(frame.json)
                #expect(opening.opened != nil)
                renewals += sealing.actions.count + opening.actions.count
            }
            // The hello was the device's first one.
            #expect(renewals == (isFromDevice ? 1 : 0))
            if !isFromDevice {
                let frame = try #require(bench.desktop.seal(body(49)).frame)
                #expect(bench.device.open(frame.json).actions.count == 1)
            }
        }
        #expect(SessionLimits().frames == 65_536)
    }

    @Test("a session that no handshake replaces ends with its last counter, and its nonces never repeat")
    func exhaustion() throws {
        var limits = SessionLimits()
        limits.frames = 5
        limits.lastCounter = 9
        let bench = try SessionBench(limits: limits)
        try bench.connect()
        var counters: [UInt64] = []
        while let frame = bench.device.seal(body(1)).frame { counters.append(frame.counter) }
        #expect(counters == Array(1...9))
        #expect(!bench.device.machine.hasSession)
    }

    @Test("what fits into no frame is refused, and spends nothing")
    func tooLarge() throws {
        let bench = try SessionBench()
        try bench.connect()
        let limit = SessionFrame.plaintextLimit - SessionPlaintext(timestamp: 7, body: ["x": ""]).bytes.count
        let largest: JSONObject = ["x": .string(String(repeating: "y", count: limit - 1))]
        let larger: JSONObject = ["x": .string(String(repeating: "y", count: limit))]
        guard case .refused(let error) = bench.device.seal(larger) else {
            Issue.record("it was sealed")
            return
        }
        #expect(error.code == .tooLarge)
        let frame = try #require(bench.device.seal(largest).frame)
        #expect(frame.counter == 1)
        #expect(JSONValue.object(frame.json).serialized().utf8.count < 1_000_000)
        #expect(bench.desktop.open(frame.json).opened?.body == largest)
    }

    @Test("a pair needs two different ids that are keys")
    func pairs() throws {
        let key = try SigningKey.generate()
        for peer: PeerID in [PeerID(key.did), "", "desktop-4f1c", "pairing-code:123456"] {
            #expect(throws: SealError.self) {
                try SessionPair(
                    role: .initiator, ownID: PeerID(key.did), own: AgreementKey(key), peerID: peer,
                    presharedKey: .none())
            }
        }
    }
}
