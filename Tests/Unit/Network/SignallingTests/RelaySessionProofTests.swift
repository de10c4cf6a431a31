import JSON
import TestSupport
import Testing
import Wire

@testable import Signalling

@Suite("A session proves its id where it is asked, and signs nothing else")
struct RelaySessionProofTests {
    private static let nonce = String(repeating: "A", count: 43)
    private var generator = SeededGenerator(seed: 5)
    private var machine = RelaySessionStateMachine(registration: .init(peerID: "did:key:zMe"), proves: true)

    private mutating func received(_ frame: SignallingFrame) -> RelaySessionStateMachine.ReceivedAction {
        machine.received(frame, now: 10, using: &generator)
    }

    private mutating func register() {
        _ = machine.start()
        #expect(machine.opened(now: 0) == .register(.init(peerID: "did:key:zMe", bellwire: 1)))
    }

    private func code(_ action: RelaySessionStateMachine.ReceivedAction) -> OfflineReason.Code? {
        if case .drop(let reason) = action { reason.code } else { nil }
    }

    @Test("challenge, proof, registered: proved until the connection ends")
    mutating func proves() {
        register()
        #expect(received(.challenge(nonce: Self.nonce)) == .prove(nonce: Self.nonce))
        #expect(machine.connectionState == .registering && !machine.isProved)
        #expect(machine.deadline == RelaySessionStateMachine.registrationTimeout, "one limit for all of it")
        #expect(received(.registered(.init(peerID: nil))) == .online)
        #expect(machine.isProved)
        _ = machine.deadlineReached(now: 40_000, using: &generator)
        #expect(machine.isProved, "a ping changes nothing")
        _ = machine.closed(OfflineReason(.closed, "x"), now: 40_000, using: &generator)
        #expect(!machine.isProved)
    }

    @Test("behind a proxy that ends TLS the proof leaves out the exporter, if the relay says so")
    mutating func proxied() {
        register()
        let action = received(.challenge(nonce: Self.nonce, isBound: false))
        #expect(action == .prove(nonce: Self.nonce, isBound: false) && action != .prove(nonce: Self.nonce))
    }

    @Test("a relay that knows no challenge registers at once: online, not proved")
    mutating func deployedRelay() {
        register()
        #expect(received(.registered(.init(peerID: "did:key:zMe"))) == .online)
        #expect(!machine.isProved)
    }

    @Test("a challenge to a plain registration, before the register, or once online, is not answered")
    mutating func unexpected() {
        var plain = RelaySessionStateMachine(registration: .init(peerID: "pairing-code:123456", bellwire: 1))
        #expect(plain.registration.bellwire == nil)
        #expect(plain.received(.challenge(nonce: Self.nonce), now: 0, using: &generator) == .ignore)
        _ = plain.start()
        #expect(plain.received(.challenge(nonce: Self.nonce), now: 0, using: &generator) == .ignore)
        _ = plain.opened(now: 0)
        #expect(plain.received(.challenge(nonce: Self.nonce), now: 0, using: &generator) == .ignore)
        #expect(plain.connectionState == .registering)

        register()
        _ = received(.registered(.init(peerID: nil)))
        #expect(received(.challenge(nonce: Self.nonce)) == .ignore)
        #expect(machine.connectionState == .online && !machine.isProved)
    }

    @Test("a second challenge on one connection ends it; the next connection may be asked again")
    mutating func twice() {
        register()
        _ = received(.challenge(nonce: Self.nonce))
        #expect(code(received(.challenge(nonce: String(repeating: "B", count: 43)))) == .proofRefused)
        #expect(received(.challenge(nonce: Self.nonce)) == .ignore)
        _ = machine.deadlineReached(now: 20_000, using: &generator)
        _ = machine.opened(now: 20_000)
        #expect(received(.challenge(nonce: Self.nonce)) == .prove(nonce: Self.nonce))
    }

    @Test(
        "a nonce that is not 32 bytes in base64url is not signed",
        arguments: [
            "", "A", String(repeating: "A", count: 42), String(repeating: "A", count: 44),
            String(repeating: "A", count: 42) + "\n", String(repeating: "A", count: 42) + "+",
            String(repeating: "A", count: 42) + "=", String(repeating: "A", count: 42) + "B",
            String(repeating: "A", count: 100_000), "x\ndid:key:zOther\n" + String(repeating: "A", count: 43),
        ])
    mutating func malformed(nonce: String) {
        register()
        #expect(code(received(.challenge(nonce: nonce))) == .proofRefused)
    }

    @Test("a relay's refusal is told by its kind")
    mutating func refusals() {
        for (name, expected) in [
            ("id_taken", OfflineReason.Code.idTaken), ("bad_proof", .proofRefused), ("bad_origin", .proofRefused),
            ("bad_nonce", .proofRefused), ("unprovable", .proofRefused), ("proof_required", .proofRefused),
            ("too_many_aliases", .registrationRefused), (nil, .registrationRefused),
        ] as [(String?, OfflineReason.Code)] {
            _ = machine.stop()
            register()
            #expect(code(received(.error(.init("no", code: name)))) == expected)
        }
    }

    @Test("where no proof can be made, the connection ends and is tried again")
    mutating func cannotProve() {
        register()
        _ = received(.challenge(nonce: Self.nonce))
        let action = machine.cannotProve("no exporter", now: 10, using: &generator)
        #expect(code(action) == .proofRefused)
        #expect(machine.deadline != nil)
    }

    @Test("sealed is told with the message")
    mutating func sealed() {
        register()
        _ = received(.registered(.init(peerID: nil)))
        for isSealed in [true, false] {
            let message = SignallingFrame.Message(from: "pc", payload: [:], isSealed: isSealed)
            let expected = PeerMessage(
                from: "pc", payload: [:], timestamp: nil, delivery: .live, isSealed: isSealed)
            #expect(received(.message(message)) == .deliver(.message(expected)))
        }
    }
}
