import Identity
import Testing

@testable import Sealing

/// A session that is missing is begun, or asked for, until it comes about (WireSessions, "Limits").
@Suite struct SessionSearchTests {
    @Test("a desktop repeats its request after 3 s, 6 s, 12 s and so on, up to an hour, until there is a session")
    func request() throws {
        let bench = try SessionBench()
        #expect(bench.desktop.machine.wanted(now: bench.desktop.now) == [.send(.request)])
        var pause: UInt64 = 3_000
        for _ in 0..<14 {
            #expect(bench.desktop.machine.deadline == bench.desktop.now + pause)
            bench.desktop.now += pause - 1
            #expect(bench.desktop.deadlineReached().isEmpty)
            bench.desktop.now += 1
            #expect(bench.desktop.deadlineReached() == [.send(.request)])
            pause = min(pause * 2, 3_600_000)
        }
        // The device never answers. That is a problem only if it is there.
        #expect(!bench.desktop.machine.isUnanswered)
        #expect(bench.desktop.machine.wanted(now: bench.desktop.now) == [.send(.request)])
        #expect(bench.desktop.machine.isUnanswered)
        #expect(bench.desktop.machine.deadline == bench.desktop.now + 3_000)
        bench.device.now = bench.desktop.now
        try bench.connect()
        #expect(!bench.desktop.machine.isUnanswered)
        #expect(bench.desktop.machine.wanted(now: bench.desktop.now).isEmpty)
        bench.desktop.now += 3_000
        #expect(bench.desktop.deadlineReached().isEmpty)
    }

    @Test("a device whose desktop counts sessions alone begins again when a handshake is over, and says so")
    func handshake() throws {
        let bench = try SessionBench()
        bench.device.machine.isRequired = true
        guard case .send(.initiation(let first)) = bench.device.register().first else {
            Issue.record("no step 1")
            return
        }
        bench.device.now += 119_999
        _ = bench.device.deadlineReached()
        #expect(!bench.device.machine.isUnanswered)
        bench.device.now += 1
        guard case .send(.initiation(let second)) = bench.device.deadlineReached().first else {
            Issue.record("no second handshake")
            return
        }
        #expect(second.id != first.id)
        #expect(bench.device.machine.isUnanswered)
        bench.desktop.now = bench.device.now
        try bench.connect()
        #expect(!bench.device.machine.isUnanswered)
    }

    // MARK: Forged step 1

    /// So many frames of someone who has no key.
    private func flood(_ bench: SessionBench, _ count: Int, isNamed: Bool = false) -> Int {
        let seed = SessionSeed.random()
        var refused = 0
        for number in 0..<count {
            var noise = seed.ephemeral.publicKey.bytes
            noise += [UInt8](repeating: UInt8(number), count: 16)
            let forged = HandshakeFrame.Initiation(id: SessionSeed.random().id, suites: [.x25519], noise: noise)
            do throws(SealError) {
                _ = try bench.desktop.machine.receive(
                    .initiation(forged), isNamed: isNamed, now: bench.desktop.now, seed: SessionSeed.random)
                Issue.record("a forged step 1 was answered")
            } catch {
                if error.code == .tooManyHandshakes { refused += 1 }
            }
        }
        return refused
    }

    @Test("twenty forged frames don't silence a device that a relay with proofs names")
    func named() throws {
        let bench = try SessionBench()
        #expect(flood(bench, 20) == 4)
        guard case .send(let frame) = bench.device.register().first else { return }
        #expect(throws: SealError.self) {
            try bench.desktop.machine.receive(frame, now: bench.desktop.now, seed: SessionSeed.random)
        }
        let answer = try bench.desktop.machine.receive(
            frame, isNamed: true, now: bench.desktop.now, seed: SessionSeed.random)
        #expect(answer.count == 1)
    }

    @Test("a device that is not read proves with a tag that it has the preshared key, and is read at once")
    func tagged() throws {
        let bench = try SessionBench()
        #expect(flood(bench, 20) == 4)
        #expect(flood(bench, 20, isNamed: true) == 4)
        guard case .send(let plain) = bench.device.register().first else { return }
        #expect(bench.desktop.refusal(of: plain.json) == .tooManyHandshakes)
        let nonce = [UInt8](repeating: 5, count: 16)
        let asked = bench.desktop.machine.tooManyCame(nonce: { nonce }, now: bench.desktop.now)
        guard case .send(let challenge) = asked.first else {
            Issue.record("no nonce")
            return
        }
        #expect(try HandshakeFrame(decoding: challenge.json) == .challenge(nonce))
        // Once in half a second, whatever comes.
        #expect(bench.desktop.machine.tooManyCame(nonce: { nonce }, now: bench.desktop.now).isEmpty)
        guard case .send(.initiation(let tagged)) = try bench.device.receive(challenge.json).first else {
            Issue.record("no step 1 with a tag")
            return
        }
        #expect(tagged.tag?.count == 32)
        var wrong = tagged
        wrong.tag = [UInt8](repeating: 0, count: 32)
        #expect(bench.desktop.refusal(of: HandshakeFrame.initiation(wrong).json) == .tooManyHandshakes)
        #expect(flood(bench, 20) == 20)
        #expect(try bench.desktop.receive(HandshakeFrame.initiation(tagged).json).count == 1)
    }
}
