import JSON
import TestSupport
import Testing
import Wire

@testable import Signalling

@Suite struct SendBudgetTests {
    @Test("whatever is sent when, a relay with a limit gets at most 110 frames and 4 MiB in any 10 s", arguments: 1...4)
    func bound(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var budget = SendBudget()
        budget.refused("OVERLOADED")
        var sent: [(at: UInt64, bytes: Int)] = []
        var now: UInt64 = 1_000
        for _ in 0..<20_000 {
            now += UInt64.random(in: 0...5, using: &generator) * UInt64.random(in: 0...40, using: &generator)
            let bytes = Bool.random(using: &generator) ? 300 : Int.random(in: 0...(256 << 10), using: &generator)
            guard budget.take(bytes, isUndecided: false, now: now) else { continue }
            sent.append((now, bytes))
            let recent = sent.reversed().prefix { $0.at + 10_000 > now }
            #expect(recent.count <= 110)
            #expect(recent.reduce(0) { $0 + $1.bytes } < 4 << 20)
        }
        #expect(sent.count > 1_000)
    }

    /// How many of that many frames may leave at once.
    private func taken(
        _ count: Int, _ bytes: Int = 300, from budget: inout SendBudget, isUndecided: Bool, at now: UInt64
    )
        -> Int
    { (0..<count).count { _ in budget.take(bytes, isUndecided: isUndecided, now: now) } }

    @Test("a relay without the limit gets everything at once; one that may have it gets a burst")
    func unlimited() {
        var budget = SendBudget()
        let first = taken(61, from: &budget, isUndecided: true, at: 1_000)
        let known = taken(10_000, from: &budget, isUndecided: false, at: 1_000)
        #expect(first == 60 && known == 10_000)
        // It has the limit, after all: what has left counts, as far as a burst.
        budget.refused("OVERLOADED")
        let later = [1_100, 1_200].map { taken(2, from: &budget, isUndecided: false, at: $0) }
        #expect(later == [0, 1])
        let long = taken(2, 1 << 20, from: &budget, isUndecided: false, at: 13_200)
        #expect(long == 1, "also what costs more than a second's worth")
    }

    @Test("only the codes of version 0.2 show the limit", arguments: [nil, "id_taken", "unauthorized"] as [String?])
    func otherCodes(code: String?) {
        var budget = SendBudget()
        budget.refused(code)
        #expect(!budget.isLimited)
    }
}

/// A session with version 0.2, as literal frames.
@Suite struct LimitedSessionTests: ProbingSession {
    private static let registration = SignallingFrame.Register(peerID: "did:key:zMe", deviceType: .mobile)
    var generator = SeededGenerator(seed: 9)
    var machine = RelaySessionStateMachine(registration: registration, proves: true)

    /// How many of 200 frames may leave at once.
    private mutating func burst(at now: UInt64) -> Int { (0..<200).count { _ in machine.take(300, now: now) } }

    @Test("its refusal of a stranger shows the limit at once, for as long as the finding holds")
    mutating func stranger() throws {
        try goOnline(at: 0)
        guard case .message(let probe)? = machine.senderProbe(now: 0, using: &generator) else { throw NoProbe() }
        #expect(burst(at: 10) == 60, "it may have the limit")
        let back = SignallingFrame.message(.init(to: "", from: "did:key:zMe", payload: probe.payload))
        var message = back.json.object ?? [:]
        message["to"] = nil
        guard case .sendAsStranger = try received(JSONValue.object(message).serialized(), at: 20) else {
            throw NoProbe()
        }
        _ = machine.strangerRefused("REGISTRATION_REQUIRED", now: 30)
        #expect(burst(at: 10_010) == 50)
        #expect(machine.reconnectNow() == .replaceConnection)
        _ = machine.opened(now: 40_000)
        _ = try received(#"{"type":"registered","peerId":"did:key:zMe"}"#, at: 40_000)
        #expect(burst(at: 40_000) == 60)
    }

    @Test("its refusal because of too many frames shows it, too")
    mutating func overloaded() throws {
        try goOnline(at: 0)
        _ = machine.senderProbe(now: 0, using: &generator)
        _ = machine.deadlineReached(now: 2_000, using: &generator)
        _ = machine.deadlineReached(now: 2_000, using: &generator)
        let overload = """
            {"type":"error","error":"Signaling server is overloaded","code":"OVERLOADED",\
            "reason":"PEER_MESSAGE_LIMIT","retryAfterMs":1000,"timestamp":1795308854765}
            """
        #expect(try received(overload, at: 20_000) == .deliver(.refused("Signaling server is overloaded")))
        #expect(burst(at: 20_000) == 60)
    }

    private struct NoProbe: Error {}
}
