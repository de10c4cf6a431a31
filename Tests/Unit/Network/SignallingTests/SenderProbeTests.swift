import JSON
import TestSupport
import Testing
import Wire

@testable import Signalling

private let own = PeerID("did:key:zMe")

@Suite struct SenderProbeTests: ProbingSession {
    var generator = SeededGenerator(seed: 5)
    var machine = RelaySessionStateMachine(
        registration: SignallingFrame.Register(peerID: own, deviceType: .mobile), proves: true)

    /// The sender that the probe invents, and its nonce.
    private func read(_ frame: SignallingFrame?) throws -> (sender: String, nonce: String) {
        let json = try #require(frame).json
        #expect(json["type"] == "message" && json["to"] == "did:key:zMe")
        #expect(json["payload"]?["type"] == "bellwire:sender-probe")
        let sender = try #require(json["from"]?.string)
        #expect(sender.hasPrefix("bellwire-probe:"))
        return (sender, try #require(json["payload"]?["payload"]?["nonce"]?.string))
    }

    private mutating func begin(at now: UInt64) throws -> (sender: String, nonce: String) {
        try read(machine.senderProbe(now: now, using: &generator))
    }

    private func back(_ nonce: String, from sender: String?) -> String {
        let from = sender.map { #""from":"\#($0)","# } ?? ""
        return #"{"type":"message",\#(from)"payload":{"type":"bellwire:sender-probe","payload":{"nonce":"\#(nonce)"}}}"#
    }

    private func asStranger(
        _ action: RelaySessionStateMachine.ReceivedAction
    ) throws -> (sender: String, nonce: String) {
        guard case .sendAsStranger(let frame) = action else {
            Issue.record("no stranger asks: \(action)")
            throw NoProbe()
        }
        return try read(frame)
    }

    private struct NoProbe: Error {}

    @Test("a relay that gives back the invented name believes senders, and nobody else sees the probe")
    mutating func believes() throws {
        try goOnline(at: 0)
        #expect(machine.senderNaming == .unknown)
        let (sender, nonce) = try begin(at: 0)
        #expect(machine.senderProbe(now: 1, using: &generator) == nil, "once")
        #expect(try received(back(nonce, from: sender), at: 5) == .deliver(.senderNaming(.bySender)))
        #expect(machine.senderNaming == .bySender && !machine.needsStranger)
        #expect(try received(back(nonce, from: sender), at: 6) == .ignore)
    }

    @Test("a relay that writes the sender is asked as a stranger: then it believes, overwrites, leaves out or refuses")
    mutating func strangers() throws {
        for answer in ["forged", "overwritten", "left out", "refused", "silent"] {
            machine = RelaySessionStateMachine(
                registration: SignallingFrame.Register(peerID: own, deviceType: .mobile), proves: true)
            try goOnline(at: 0)
            let (sender, nonce) = try begin(at: 0)
            let asked = try asStranger(try received(back(nonce, from: "did:key:zMe"), at: 5))
            #expect(asked.sender == sender && asked.nonce != nonce)
            #expect(machine.senderNaming == .unknown && machine.needsStranger)
            let found: SenderNaming = answer == "forged" ? .bySender : .byRelay
            switch answer {
            case "forged":
                #expect(
                    try received(back(asked.nonce, from: sender), at: 9) == .deliver(.senderNaming(.bySender)))
            case "overwritten":
                #expect(
                    try received(back(asked.nonce, from: "10.0.0.7:4711"), at: 9) == .deliver(.senderNaming(.byRelay)))
            case "left out":
                #expect(try received(back(asked.nonce, from: nil), at: 9) == .deliver(.senderNaming(.byRelay)))
            case "refused":
                #expect(machine.strangerRefused(now: 9) == .deliver(.senderNaming(.byRelay)))
                #expect(machine.strangerRefused(now: 10) == .ignore)
            default:
                _ = machine.deadlineReached(now: 0, using: &generator)
                _ = machine.deadlineReached(now: 2_000, using: &generator)
                #expect(machine.senderNaming == .unknown)
                for now in [2_005, 2_005, 2_005] as [UInt64] {
                    _ = machine.deadlineReached(now: now, using: &generator)
                }
            }
            #expect(machine.senderNaming == found && !machine.needsStranger)
        }
    }

    @Test("silence shows nothing: 2 s later the relay counts as one that writes senders, until a name comes back")
    mutating func late() throws {
        try goOnline(at: 0)
        let (sender, nonce) = try begin(at: 0)
        var events: [RelaySessionStateMachine.DeadlineAction] = []
        while let due = machine.deadline, due <= 2_000 {
            events.append(machine.deadlineReached(now: due, using: &generator))
        }
        #expect(events.contains(.deliver(.senderNaming(.byRelay))))
        #expect(try received(back(nonce, from: "did:key:zMe"), at: 2_100) == .ignore)
        #expect(try received(back(nonce, from: sender), at: 9_000) == .deliver(.senderNaming(.bySender)))
    }

    @Test("others' probes, and names that nobody has invented, prove nothing and reach nobody")
    mutating func forged() throws {
        try goOnline(at: 0)
        let (sender, nonce) = try begin(at: 0)
        #expect(try received(back("0", from: "bellwire-probe:1:2"), at: 1) == .ignore)
        #expect(try received(back("no number", from: nil), at: 1) == .ignore)
        #expect(machine.senderNaming == .unknown && !machine.needsStranger)
        // Whoever writes another name than ours is no forger: only ours shows that the relay believes senders.
        _ = try asStranger(try received(back(nonce, from: "thief"), at: 2))
        #expect(sender != "thief" && machine.senderNaming == .unknown)
    }

    @Test("a finding holds for half an hour of registrations; a believing relay is believed to be one until it isn't")
    mutating func memory() throws {
        try goOnline(at: 0)
        let (sender, nonce) = try begin(at: 0)
        // The relay had lost us, and stored it.
        let stored = """
            {"type":"offline-message","originalMessage":\(back(nonce, from: sender)),"storedAt":4,"deliveredAt":5}
            """
        #expect(try received(stored, at: 10) == .deliver(.senderNaming(.bySender)))
        #expect(machine.reconnectNow() == .replaceConnection)
        try goOnline(at: 20)
        #expect(machine.senderNaming == .bySender && machine.senderProbe(now: 20, using: &generator) == nil)
        let later = 10 + SenderProbe.findingLifetime
        #expect(machine.reconnectNow() == .replaceConnection)
        try goOnline(at: later)
        #expect(machine.senderNaming == .bySender)
        let again = try begin(at: later)
        #expect(again.sender == sender)
        let asked = try asStranger(try received(back(again.nonce, from: "did:key:zMe"), at: later + 1))
        #expect(
            try received(back(asked.nonce, from: nil), at: later + 2) == .deliver(.senderNaming(.byRelay)),
            "the relay was replaced by a better one")
        #expect(machine.reconnectNow() == .replaceConnection)
        try goOnline(at: later + 2 + SenderProbe.findingLifetime)
        #expect(machine.senderNaming == .unknown)
    }

    @Test("a relay that asks for a proof writes senders, and is not probed; nor is a plain registration")
    mutating func proved() throws {
        _ = machine.start()
        _ = machine.opened(now: 0)
        let nonce = String(repeating: "A", count: 43)
        #expect(try received(#"{"type":"challenge","nonce":"\#(nonce)"}"#, at: 1) == .prove(nonce: nonce))
        #expect(try received(#"{"type":"registered","peerId":"did:key:zMe"}"#, at: 2) == .online)
        #expect(machine.senderNaming == .byRelay && machine.senderProbe(now: 2, using: &generator) == nil)
        machine = RelaySessionStateMachine(registration: SignallingFrame.Register(peerID: own, deviceType: .mobile))
        try goOnline(at: 0)
        #expect(machine.senderNaming == .unknown && machine.senderProbe(now: 0, using: &generator) == nil)
    }
}
