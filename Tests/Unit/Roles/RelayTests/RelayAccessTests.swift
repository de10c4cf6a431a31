import JSON
import Testing

@testable import Relay

@Suite("Limits and lists that change while the relay runs")
struct RelayAccessTests {
    @Test("only ids on the list register, and typed codes; whoever is struck off is closed")
    func allowedIDs() {
        var bench = Bench { $0.allowedIDs = [Array("pc".utf8), Array("phone".utf8)] }
        let pc = bench.peer("pc")
        let stranger = bench.peer("stranger")
        let code = bench.peer("pairing-code:123456")
        #expect(bench.take(pc).first?["type"] == "registered")
        #expect(bench.take(stranger).first?["code"] == "not_allowed")
        #expect(bench.take(code).first?["type"] == "registered")
        #expect(bench.machine.counters.refusals[Refusal.notAllowed.rawValue] == 1)

        var options = RelayOptions()
        options.allowedIDs = [Array("phone".utf8)]
        bench.machine.change(options.limits)
        guard case .close(let closed, .notAllowed)? = bench.machine.expelDisallowed().first else {
            Issue.record("pc stays")
            return
        }
        #expect(closed == pc && bench.machine.expelDisallowed().count == 1)
        options.allowedIDs = nil
        bench.machine.change(options.limits)
        #expect(bench.machine.expelDisallowed().isEmpty)
        bench.receive(#"{"type":"register","peerId":"stranger"}"#, from: stranger)
        #expect(bench.take(stranger).first?["type"] == "registered")
    }

    @Test("smaller limits hold for what comes; what is over them stays")
    func smallerLimits() {
        var bench = Bench()
        let alice = bench.peer("alice")
        for number in 0..<5 { bench.receive(#"{"type":"message","to":"bob","payload":\#(number)}"#, from: alice) }
        #expect(bench.machine.absent.frameCount == 5)
        var options = RelayOptions()
        options.storage.maximumStoredPerPeer = 2
        options.admission.maximumUnregistered = 1
        bench.machine.change(options.limits)
        #expect(bench.machine.absent.frameCount == 5)
        bench.receive(#"{"type":"message","to":"bob","payload":5}"#, from: alice)
        #expect(bench.machine.absent.frameCount == 2)
        _ = bench.open()
        #expect(bench.machine.doorkeeper.admission(of: "192.0.2.1", isLoopback: false) == .full)
    }
}
