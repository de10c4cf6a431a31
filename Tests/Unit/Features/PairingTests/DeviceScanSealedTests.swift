import Identity
import JSON
import Testing
import Wire

@testable import Pairing

/// A scan of a Bellwire desktop's code (WirePairing, "The device scans").
@Suite struct DeviceScanSealedTests {
    private static let relay = Fixture.relay
    private var machine = DeviceScanStateMachine()
    private var now = Fixture.now

    private mutating func scan(
        _ offer: DesktopPairingOffer = Fixture.desktopOffer(), legacy: LegacyPairing = .none
    ) -> [PairingStep<PairedDesktop>] {
        machine.scan(offer.serialized(), identity: Fixture.deviceIdentity, legacy: legacy, now: now)
    }

    /// Scans, and takes the ack to where it was written.
    private mutating func sendAck(_ offer: DesktopPairingOffer = Fixture.desktopOffer()) {
        _ = scan(offer)
        _ = machine.routeOnline(Self.relay.id, now: now)
        #expect(machine.ackSent(true, over: Self.relay.id, now: now) == [.startTimer(after: 2_500)])
    }

    private mutating func received(_ frame: PairingFrame) -> [PairingStep<PairedDesktop>] {
        machine.received(frame, now: now)
    }

    private func reason(_ actions: [PairingStep<PairedDesktop>]) -> PairingReason? {
        guard case .report(.deviceScan(.failed(let failure)))? = actions.last else { return nil }
        return failure.reason
    }

    @Test("the sealed ack proves that its sender has seen the code; the confirmation's proof makes the desktop paired")
    mutating func straight() throws {
        _ = scan()
        let actions = machine.routeOnline(Self.relay.id, now: now)
        guard case .send(.ack(let ack), to: Fixture.desktop, sealed: true, .over(Self.relay.id))? = actions.last else {
            Issue.record("no sealed ack")
            return
        }
        #expect(Fixture.bond()?.proves(ack) == true)
        #expect(Fixture.bond(secret: Fixture.otherSecret)?.proves(ack) == false)
        #expect(Fixture.bond(desktop: Fixture.evil)?.proves(ack) == false)
        _ = machine.ackSent(true, over: Self.relay.id, now: now)
        let paired = received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop))
        guard case .store(let desktop)? = paired.last else {
            Issue.record("not paired")
            return
        }
        #expect(paired.first == .stopTimer)
        #expect(desktop.isSecure)
        #expect(desktop.address == Fixture.desktop)
        #expect(desktop.relayWorkedAt == now)
        #expect(desktop.shortString == Fixture.bond()?.shortString)
        #expect(machine.stored(desktop) == [.report(.deviceScan(.success(desktop)))])
        let sas = try #require(machine.reported.data["desktop"]?["sas"])
        #expect(sas["digits"]?.string?.utf8.count == 6)
        #expect(sas["words"]?.array?.count == 2)
        #expect(machine.dropped.total == 0)
    }

    @Test("nothing plain counts: no confirmation, no rejection, no other frame of the desktop")
    mutating func plain() {
        sendAck()
        #expect(received(PairingFrame(Fixture.confirmation(), from: Fixture.desktop)) == [])
        #expect(received(PairingFrame(Fixture.reject(), from: Fixture.desktop)) == [])
        #expect(machine.dropped.notSecure == 2)
        #expect(received(PairingFrame(Fixture.iceConfig, from: Fixture.desktop)) == [])
        #expect(received(Fixture.sealed(Fixture.iceConfig, from: Fixture.desktop)) == [])
        #expect(machine.dropped.total == 2)
    }

    @Test("a confirmation of anybody else, with a wrong code or without the right proof is dropped and counted")
    mutating func forged() {
        sendAck()
        let other = Fixture.confirmation(desktop: Fixture.evil)
        #expect(received(Fixture.sealed(other, from: Fixture.evil)) == [])
        #expect(machine.dropped.total == 0, "of no concern")
        #expect(received(Fixture.sealed(Fixture.confirmation(code: "999999"), from: Fixture.desktop)) == [])
        #expect(machine.dropped.wrongCode == 1)
        #expect(
            received(Fixture.sealed(Fixture.confirmation(secret: Fixture.otherSecret), from: Fixture.desktop)) == [])
        #expect(received(Fixture.sealed(Fixture.plainConfirmation(), from: Fixture.desktop)) == [])
        // Our own ack, reflected, is no confirmation.
        var reflected = Fixture.ack()
        reflected["type"] = "pairing:confirmation"
        #expect(received(Fixture.sealed(reflected, from: Fixture.desktop)) == [])
        var late = Fixture.confirmation()
        late["timestamp"] = .integer(now + 1)
        #expect(received(Fixture.sealed(late, from: Fixture.desktop)) == [])
        #expect(machine.dropped.wrongProof == 4)
        #expect(received(Fixture.sealed(["type": "pairing:confirmation"], from: Fixture.desktop)) == [])
        #expect(machine.dropped.malformed == 1)
        let early = Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop, delivery: .stored(at: now))
        #expect(received(early) == [])
        #expect(machine.dropped.stored == 1)
        #expect(received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop)).count == 2)
    }

    @Test("a sealed rejection of the right code ends it")
    mutating func rejected() {
        sendAck()
        #expect(received(Fixture.sealed(Fixture.reject("999999"), from: Fixture.desktop)) == [])
        #expect(reason(received(Fixture.sealed(Fixture.reject(), from: Fixture.desktop))) == .rejected)
    }

    @Test(
        "ten seconds without a confirmation are too long, forty where the desktop's user is asked",
        arguments: [false, true])
    mutating func waits(confirm: Bool) {
        sendAck(Fixture.desktopOffer(confirm: confirm))
        var waited: UInt64 = 2_500
        while reason(machine.timedOut(now: now)) == nil {
            // The ack is repeated, with a proof of its own.
            now += 2_500
            #expect(machine.ackSent(true, over: Self.relay.id, now: now) == [.startTimer(after: 2_500)])
            waited += 2_500
        }
        #expect(waited == (confirm ? 40_000 : 10_000))
        #expect(machine.reported == .failed(PairingFailure(.timeout)))
    }

    @Test("an ack that came back everywhere is tried twice more: the desktop may be on its way back")
    mutating func comesBack() {
        sendAck()
        for _ in 0..<2 {
            #expect(machine.peerOffline(Fixture.desktop, over: Self.relay.id, now: now) == [.startTimer(after: 1_000)])
            #expect(machine.timedOut(now: now).count == 2)
            _ = machine.ackSent(true, over: Self.relay.id, now: now)
        }
        #expect(reason(machine.peerOffline(Fixture.desktop, over: Self.relay.id, now: now)) == .desktopOffline)
    }

    @Test("a confirmation counts as well while the route of its ack is away")
    mutating func crosses() {
        sendAck()
        _ = machine.routeFailed(Self.relay.id, detail: nil, now: now)
        #expect(received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop)).count == 2)
    }

    @Test("a code whose desktop is no key, or whose secret is none, is refused")
    mutating func noKey() {
        var offer = Fixture.desktopOffer()
        offer.pcPeerID = "pc"
        #expect(scan(offer).last == .report(.deviceScan(.failed(PairingFailure(.badField, detail: "pcPeerId")))))
        offer = Fixture.desktopOffer()
        // Sixteen bytes have four bits to spare in their last character.
        offer.seal = PairingSeal(secret: String(repeating: "_", count: 22))
        #expect(scan(offer).last == .report(.deviceScan(.failed(PairingFailure(.badField, detail: "bw.secret")))))
    }

    @Test("a relay that gives the code's desktop another key is not believed: what it seals is not from the code's key")
    mutating func swappedKey() {
        sendAck()
        // The seal is the relay's own, so its sender is.
        #expect(received(Fixture.sealed(Fixture.confirmation(), from: Fixture.evil)) == [])
        #expect(machine.isActive)
    }
}
