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

    @Test("2 s and 65 s after the registration, then every four to six minutes together with a ping")
    mutating func schedule() throws {
        #expect(probe.deadline(pingedAt: 1_000) == 3_000)
        _ = try send(at: 3_000)
        #expect(probe.deadline(pingedAt: 1_000) == 66_000)
        _ = try send(at: 66_000)
        #expect(probe.deadline(pingedAt: 66_000 + 239_999) == nil, "no wake-up of its own")
        let due = try #require(probe.deadline(pingedAt: 66_000 + 360_000))
        #expect((66_000 + 240_000...66_000 + 360_000).contains(due))
        #expect(probe.deadline(pingedAt: due - 1) == nil)
    }

    @Test("what else comes puts off later probes, and neither of the first two")
    mutating func heard() throws {
        probe.heard(now: 2_000, using: &generator)
        #expect(probe.deadline(pingedAt: 1_000) == 3_000)
        _ = try send(at: 3_000)
        probe.heard(now: 60_000, using: &generator)
        #expect(probe.deadline(pingedAt: 1_000) == 66_000)
        _ = try send(at: 66_000)
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
        for _ in 0..<3 { #expect(probe.reportedAbsent(now: 60_001) == .none) }
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
@Suite struct ProbingSessionTests {
    private static let registration = SignallingFrame.Register(peerID: own, deviceType: .mobile)
    private var generator = SeededGenerator(seed: 7)
    private var machine = RelaySessionStateMachine(registration: registration, proves: true)

    private mutating func received(
        _ text: String, at now: UInt64
    ) throws -> RelaySessionStateMachine.ReceivedAction {
        machine.received(try SignallingFrame(decoding: try JSONValue(parsing: text)), now: now, using: &generator)
    }

    private mutating func goOnline(at now: UInt64) throws {
        _ = machine.start()
        _ = machine.opened(now: now)
        #expect(try received(#"{"type":"registered","peerId":"did:key:zMe","serverTime":1}"#, at: now) == .online)
    }

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

    @Test("an idle registration: a probe of absence, two for itself, then one every few minutes with a ping")
    mutating func idle() throws {
        try goOnline(at: 0)
        let frames = sent(until: 1_200_000)
        let probes = frames.filter { $0.frame["type"] == "message" }
        #expect(probes.map(\.at).prefix(3) == [0, 2_000, 65_000])
        #expect((4...6).contains(probes.count - 2), "in twenty minutes")
        #expect(probes.dropFirst().allSatisfy { $0.frame["to"] == "did:key:zMe" && $0.frame["from"] == "did:key:zMe" })
        let pings = frames.filter { $0.frame["type"] == "ping" }.map(\.at)
        #expect(pings == (1...40).map { $0 * 30_000 }, "the keepalive is as without probes")
        #expect(probes.dropFirst(3).allSatisfy { pings.contains($0.at) })
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
