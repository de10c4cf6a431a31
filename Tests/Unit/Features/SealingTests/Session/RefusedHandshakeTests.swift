import Identity
import JSON
import Testing

@testable import Sealing

/// Two sides that keep different preshared keys, as after a restored backup: what a device makes of it (WireSessions,
/// "Limits").
@Suite struct RefusedHandshakeTests {
    private func bench(desktop psk: PresharedKey? = nil) throws -> SessionBench {
        let bench = try SessionBench()
        let other = try #require(PresharedKey(bytes: [UInt8](repeating: 1, count: 32)))
        bench.desktop = try SessionBench.Side(
            key: bench.keys.desktop, peer: bench.device.id, role: .responder, psk: psk ?? other)
        return bench
    }

    /// Delivers these steps 1, and what the desktop answers; gives how many the device refused.
    private func answer(_ actions: [SessionStateMachine.Action], _ bench: SessionBench) -> Int {
        var refused = 0
        for first in actions.compactMap(\.frame) {
            for second in ((try? bench.desktop.receive(first)) ?? []).compactMap(\.frame) {
                refused += bench.device.refusal(of: second) == .forged ? 1 : 0
            }
        }
        return refused
    }

    @Test("a peer whose answers don't fit causes ever fewer handshakes, whatever it asks for; the machine says so")
    func pauses() throws {
        let bench = try bench()
        #expect(!bench.device.machine.isRefused)
        #expect(answer(bench.device.register(), bench) == 1)
        #expect(bench.device.machine.isRefused && !bench.device.machine.hasSession)
        var counts: [Int] = []
        for _ in 0..<6 {
            var sent = 0
            // An hour in which the desktop asks for a handshake every second, and our own traffic waits for one.
            for _ in 0..<3_600 {
                bench.wait(1_000)
                for actions in [
                    bench.device.deadlineReached(), try bench.device.receive(HandshakeFrame.request.json),
                    bench.device.seal(["type": "x"]).actions,
                ] {
                    sent += actions.compactMap(\.frame).count
                    _ = answer(actions, bench)
                }
            }
            counts.append(sent)
        }
        // Every ten minutes one handshake, which is sent six times.
        #expect(counts.allSatisfy { $0 <= 48 }, "\(counts)")
        #expect(counts.allSatisfy { $0 > 0 }, "it doesn't give up: \(counts)")
    }

    @Test("a registration begins a handshake at once; the first answer that fits ends it all")
    func heals() throws {
        let bench = try bench()
        _ = answer(bench.device.register(), bench)
        bench.wait(1_000)
        #expect(try bench.device.receive(HandshakeFrame.request.json).isEmpty)
        try bench.restartDesktop()
        try bench.connect()
        #expect(bench.device.machine.hasSession && !bench.device.machine.isRefused)
        #expect(try bench.desktopSends(["type": "x"]))
        // Nothing is left of the pause.
        try bench.restartDesktop()
        #expect(try bench.device.receive(HandshakeFrame.request.json).count == 1)
    }

    @Test("an answer that the relay forged changes nothing for the right one, which may still come")
    func forgedFirst() throws {
        let bench = try SessionBench()
        let first = try #require(bench.device.register().first?.frame)
        var second = try #require(try bench.desktop.receive(first).first?.frame)
        let right = second
        var payload = try #require(second["payload"]?.object)
        let ephemeral = AgreementKey.generate().publicKey.bytes
        payload["noise"] = .string(TextEncoding.base64url.encode(ephemeral + [UInt8](repeating: 0, count: 16)))
        second["payload"] = .object(payload)
        #expect(bench.device.refusal(of: second) == .forged)
        #expect(bench.device.machine.isRefused)
        #expect(try bench.device.receive(right) == [.greet])
        #expect(!bench.device.machine.isRefused)
    }

    @Test("a pair without a preshared key on one side has no session either, and both kinds of error are named alike")
    func none() throws {
        let bench = try bench(desktop: PresharedKey.none())
        let first = try #require(bench.device.register().first?.frame)
        let second = try #require(try bench.desktop.receive(first).first?.frame)
        do {
            _ = try bench.device.receive(second)
            Issue.record("taken")
        } catch let error as SealError {
            #expect(error.code == .forged && error.message.contains("preshared key"))
            #expect(error.message.contains("pair again"))
        }
    }
}
