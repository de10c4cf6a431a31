import JSON
import TestSupport
import Testing
import Wire

@testable import Signalling

private let own = PeerID("did:key:zMe")

@Suite struct RegistrationProbeTests {
    private var generator = SeededGenerator(seed: 3)
    private var probe = RegistrationProbe(of: own, registeredAt: 1_000)

    private mutating func send(at now: UInt64) throws -> JSONValue {
        guard case .message(let message) = probe.next(now: now, using: &generator) else {
            throw NoProbe()
        }
        #expect(message.to == own && message.from == own)
        return message.payload
    }

    private struct NoProbe: Error {}

    @Test("2 s after the registration, every 5 s for 70 s, with each ping for 3 min, then with a ping in 4 to 6 min")
    mutating func schedule() throws {
        #expect(probe.deadline(pingedAt: 1_000) == 3_000)
        _ = try send(at: 3_000)
        for now in stride(from: UInt64(8_000), through: 73_000, by: 5_000) {
            #expect(probe.deadline(pingedAt: 1_000) == now)
            _ = try send(at: now)
        }
        for ping in stride(from: UInt64(91_000), through: 181_000, by: 30_000) {
            #expect(probe.deadline(pingedAt: ping - 30_000) == nil, "no wake-up of its own")
            #expect((probe.deadline(pingedAt: ping) ?? .max) <= ping)
            _ = try send(at: ping)
        }
        #expect(probe.deadline(pingedAt: 181_000 + 239_999) == nil, "no wake-up of its own")
        let due = try #require(probe.deadline(pingedAt: 181_000 + 360_000))
        #expect((181_000 + 240_000...181_000 + 360_000).contains(due))
        #expect(probe.deadline(pingedAt: due - 1) == nil)
    }

    @Test("what else comes puts off every probe but the first")
    mutating func heard() throws {
        probe.heard(now: 2_000, using: &generator)
        #expect(probe.deadline(pingedAt: 1_000) == 3_000)
        _ = try send(at: 3_000)
        probe.heard(now: 7_000, using: &generator)
        #expect(probe.deadline(pingedAt: 1_000) == 12_000)
        probe.heard(now: 66_000, using: &generator)
        #expect(probe.deadline(pingedAt: 61_000) == 71_000)
        probe.heard(now: 88_000, using: &generator)
        #expect(probe.deadline(pingedAt: 91_000) == nil)
        #expect(probe.deadline(pingedAt: 121_000) == 93_000)
        probe.heard(now: 300_000, using: &generator)
        #expect(probe.deadline(pingedAt: 300_000 + 239_999) == nil)
        #expect(probe.deadline(pingedAt: 300_000 + 360_000) != nil)
    }

    @Test("only an answer to a probe leads to another registration, once for each finding")
    mutating func registersOnce() throws {
        #expect(probe.reportedAbsent(now: 1_500) == .none, "nothing was asked")
        _ = try send(at: 3_000)
        _ = try send(at: 66_000)
        #expect(probe.reportedAbsent(now: 66_100) == .register)
        // The second probe was answered before the relay had the new registration: it closes who registers twice.
        #expect(probe.reportedAbsent(now: 66_101) == .none)
        #expect(probe.reportedAbsent(now: 66_102) == .none)
        #expect(probe.deadline(pingedAt: 66_000) == 68_100, "has it helped?")
        probe.cameBack(try send(at: 68_100))
        #expect(probe.reportedAbsent(now: 68_200) == .none)
    }

    @Test("a relay that always reports us absent gets three registrations, until a probe comes back")
    mutating func bounded() throws {
        var now: UInt64 = 3_000
        var registrations = 0
        for _ in 0..<100 {
            _ = try send(at: now)
            if probe.reportedAbsent(now: now + 10) == .register { registrations += 1 }
            now = probe.deadline(pingedAt: .max) ?? now
        }
        #expect(registrations == 3)
        probe.cameBack(try send(at: now))
        _ = try send(at: now + 1)
        #expect(probe.reportedAbsent(now: now + 2) == .register)
    }

    @Test("a relay that answers nothing is asked again, and nothing follows from it")
    mutating func unanswered() throws {
        for now in UInt64(0)..<50 { _ = try send(at: now * 1_000) }
        #expect(probe.reportedAbsent(now: 60_000) == .register)
        for _ in 0..<7 { #expect(probe.reportedAbsent(now: 60_001) == .none) }
    }

    @Test("a probe of an older connection, or of anybody, proves nothing")
    mutating func forged() throws {
        _ = try send(at: 3_000)
        for nonce in ["0", "no number", "ffffffffffffffffffff"] as [JSONValue] {
            probe.cameBack(["type": "bellwire:probe", "payload": ["nonce": nonce]])
        }
        probe.cameBack("bellwire:probe")
        #expect(probe.reportedAbsent(now: 3_100) == .register)
    }
}

@Suite struct AbsenceProbeTests {
    @Test("a relay that reports the absent id within 2 s does so always; one that doesn't is silent")
    func answers() {
        var probe = AbsenceProbe(AbsenceProbe.Memory(target: "nobody"), registeredAt: 500)
        #expect(probe.result == .unknown && probe.deadline == 500)
        guard case .send(.message(let message)) = probe.deadlineReached(from: own, now: 500) else {
            Issue.record("nothing is sent")
            return
        }
        #expect(message.to == "nobody" && probe.deadline == 2_500)
        #expect(probe.deadlineReached(from: own, now: 2_499) == .none)
        #expect(probe.reportedAbsent("somebody", now: 510) == nil)
        var other = probe
        #expect(probe.reportedAbsent("nobody", now: 2_600) == .changed)
        #expect(probe.result == .reports && probe.deadline == nil)
        #expect(probe.reportedAbsent("nobody", now: 2_600) == AbsenceProbe.Action.none)
        #expect(other.deadlineReached(from: own, now: 2_500) == .changed)
        #expect(other.result == .silent && other.deadline == nil)
        #expect(other.reportedAbsent("nobody", now: 2_600) == .changed, "it was only late")
        #expect(other.result == .reports)
    }
}

/// The probes in a session: who sees them, and who doesn't.
@Suite struct ProbingSessionTests: ProbingSession {
    private static let registration = SignallingFrame.Register(peerID: own, deviceType: .mobile)
    var generator = SeededGenerator(seed: 7)
    var machine = RelaySessionStateMachine(registration: registration, proves: true)

    /// The frames that are sent until then, as text.
    private mutating func sent(until end: UInt64) -> [(at: UInt64, frame: JSONValue)] {
        var frames: [(UInt64, JSONValue)] = []
        var now: UInt64 = 0
        while let due = machine.deadline, due <= end {
            now = max(now, due)
            switch machine.deadlineReached(now: now, using: &generator) {
            case .probe(let frame): frames.append((now, frame.json))
            case .sendPing: frames.append((now, ["type": "ping"]))
            case .deliver, .connect, .drop, .none: break
            }
        }
        return frames
    }

    @Test("an idle registration: a probe of absence, then for itself 15, one with each of four pings, then rarely")
    mutating func idle() throws {
        try goOnline(at: 0)
        let frames = sent(until: 1_200_000)
        let probes = frames.filter { $0.frame["type"] == "message" }
        let watched: [UInt64] = stride(from: 2_000, through: 72_000, by: 5_000).map { $0 }
        let expected: [UInt64] = [0] + watched + [90_000, 120_000, 150_000, 180_000]
        let first: [UInt64] = probes.prefix(20).map(\.at)
        #expect(first == expected)
        #expect((3...5).contains(probes.count - 20), "in the next seventeen minutes")
        #expect(probes.dropFirst().allSatisfy { $0.frame["to"] == "did:key:zMe" && $0.frame["from"] == "did:key:zMe" })
        let pings = frames.filter { $0.frame["type"] == "ping" }.map(\.at)
        #expect(pings == (1...40).map { $0 * 30_000 }, "the keepalive is as without probes")
        #expect(probes.dropFirst(16).allSatisfy { pings.contains($0.at) })
    }

    @Test("whenever a relay drops the id, that is found within 5 s at first and 35 s for 3 minutes, also amid traffic")
    mutating func bound() throws {
        let start = machine
        for dropped in stride(from: UInt64(0), through: 120_000, by: 500) {
            for others in [nil, 700, 3_300, 29_000] as [UInt64?] {
                machine = start
                let found = try found(dropped: dropped, others: others)
                let bound = dropped <= 67_000 ? RegistrationProbe.watchInterval : 35_000
                #expect(found >= dropped && found - dropped <= bound, "\(dropped) \(others as Any): \(found)")
            }
        }
    }

    /// When a session that registers at 0 registers again, with a relay that forgets it at `dropped`.
    ///
    /// - Parameter others: how often others send us something, which arrives until then.
    private mutating func found(dropped: UInt64, others: UInt64?) throws -> UInt64 {
        try goOnline(at: 0)
        var next = others ?? .max
        while let due = machine.deadline {
            if next < dropped, next <= due {
                _ = try received(#"{"type":"message","from":"pc-1","payload":{}}"#, at: next)
                next += others ?? 0
                continue
            }
            guard case .probe(let frame) = machine.deadlineReached(now: due, using: &generator) else { continue }
            guard frame.json["to"] == "did:key:zMe" else { continue }
            if due < dropped {
                var back = frame.json.object ?? [:]
                back["to"] = nil
                _ = try received(JSONValue.object(back).serialized(), at: due)
            } else if case .registerAgain = try received(#"{"type":"peer-offline","peerId":"did:key:zMe"}"#, at: due) {
                return due
            }
        }
        return .max
    }

    @Test("where the relay has lost us, the session registers again and goes on; nobody else hears of it")
    mutating func lost() throws {
        try goOnline(at: 0)
        _ = sent(until: 2_000)
        let lost = #"{"type":"peer-offline","peerId":"did:key:zMe","messageId":"9a7b3c1d-0000","timestamp":5}"#
        #expect(try received(lost, at: 2_010) == .registerAgain(machine.registration))
        #expect(machine.connectionState == .online)
        #expect(try received(#"{"type":"registered","peerId":"did:key:zMe"}"#, at: 2_020) == .ignore)
        #expect(try received(lost, at: 2_030) == .ignore)
        // The probe was stored, and follows the registration.
        let stored = """
            {"type":"offline-message","originalMessage":{"type":"message","from":"did:key:zMe","payload":\
            {"type":"bellwire:probe","payload":{"nonce":"1f"}},"timestamp":4},"storedAt":4,"deliveredAt":5}
            """
        #expect(try received(stored, at: 2_040) == .ignore)
    }

    @Test("a probe that comes back is seen by nobody, also from a relay that leaves `from` out; others' are no probes")
    mutating func cameBack() throws {
        try goOnline(at: 0)
        let back =
            #"{"type":"message","from":"did:key:zMe","payload":{"type":"bellwire:probe","payload":{"nonce":"1"}}}"#
        let bare = #"{"type":"message","payload":{"type":"bellwire:probe","payload":{"nonce":"1"}}}"#
        #expect(try received(back, at: 1) == .ignore)
        #expect(try received(bare, at: 1) == .ignore)
        let other = #"{"type":"message","from":"thief","payload":{"type":"bellwire:probe","payload":{"nonce":"1"}}}"#
        guard case .deliver(.message(let message)) = try received(other, at: 1) else {
            Issue.record("a stranger's message was swallowed")
            return
        }
        #expect(message.from == "thief")
        #expect(try received(#"{"type":"peer-offline","peerId":"did:key:zMe"}"#, at: 2) == .ignore)
    }

    @Test("whether a relay reports absent peers is told once it is known, for each registration")
    mutating func absence() throws {
        try goOnline(at: 0)
        #expect(machine.absenceReporting == .unknown)
        guard case .probe(let frame) = machine.deadlineReached(now: 0, using: &generator),
            let nobody = frame.json["to"]?.string
        else {
            Issue.record("nothing was asked")
            return
        }
        let answer = #"{"type":"peer-offline","peerId":"\#(nobody)","messageType":"message","timestamp":5}"#
        #expect(try received(answer, at: 20) == .deliver(.absenceReporting(.reports)))
        #expect(machine.absenceReporting == .reports)
        #expect(try received(answer, at: 21) == .ignore)
        // Connected again soon: it still holds. Later the same id is asked for, so that relays don't store ever more.
        #expect(machine.reconnectNow() == .replaceConnection)
        _ = machine.opened(now: 100)
        _ = try received(#"{"type":"registered","peerId":"did:key:zMe"}"#, at: 100)
        #expect(machine.absenceReporting == .reports && machine.deadline == 2_100)
        let now = 21 + AbsenceProbe.reportLifetime
        #expect(machine.reconnectNow() == .replaceConnection)
        _ = machine.opened(now: now)
        _ = try received(#"{"type":"registered","peerId":"did:key:zMe"}"#, at: now)
        #expect(machine.absenceReporting == .unknown)
        guard case .probe(let again) = machine.deadlineReached(now: now, using: &generator) else {
            Issue.record("nothing was asked")
            return
        }
        #expect(again.json["to"]?.string == nobody)
        #expect(machine.deadlineReached(now: now + 2_000, using: &generator) == .deliver(.absenceReporting(.silent)))
        #expect(machine.absenceReporting == .silent)
    }

    @Test("a relay that asks for a proof is not probed, nor is a plain registration")
    mutating func proved() throws {
        _ = machine.start()
        _ = machine.opened(now: 0)
        let nonce = String(repeating: "A", count: 43)
        #expect(try received(#"{"type":"challenge","nonce":"\#(nonce)"}"#, at: 1) == .prove(nonce: nonce))
        #expect(try received(#"{"type":"registered","peerId":"did:key:zMe"}"#, at: 2) == .online)
        #expect(machine.absenceReporting == .reports)
        #expect(sent(until: 600_000).allSatisfy { $0.frame["type"] == "ping" })
        machine = RelaySessionStateMachine(registration: Self.registration)
        try goOnline(at: 0)
        #expect(sent(until: 600_000).allSatisfy { $0.frame["type"] == "ping" })
    }
}
