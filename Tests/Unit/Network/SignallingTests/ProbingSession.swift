import JSON
import TestSupport
import Testing
import Wire

@testable import Signalling

/// A session of `did:key:zMe`, which sends probes.
protocol ProbingSession {
    var generator: SeededGenerator { get set }
    var machine: RelaySessionStateMachine { get set }
}

extension ProbingSession {
    mutating func received(_ text: String, at now: UInt64) throws -> RelaySessionStateMachine.ReceivedAction {
        var generator = generator
        defer { self.generator = generator }
        return machine.received(
            try SignallingFrame(decoding: try JSONValue(parsing: text)), now: now, using: &generator)
    }

    mutating func goOnline(at now: UInt64) throws {
        _ = machine.start()
        _ = machine.opened(now: now)
        #expect(try received(#"{"type":"registered","peerId":"did:key:zMe","serverTime":1}"#, at: now) == .online)
    }
}
