import Identity
import JSON
import Testing
import Wire

@testable import Pairing

/// A frame that the replay window refuses counts only where its MAC proves it, for a pairing that nobody has taken yet
/// (WireSealing, "Replay protection").
@Suite struct StaleFrameTests {
    private static let now = Fixture.now

    private static func stale(_ payload: JSONObject, from: PeerID) -> PairingFrame {
        Fixture.sealed(payload, from: from, isStale: true)
    }

    /// The desktop has scanned a device's code, and its user has accepted it.
    private static func sending(_ offer: DevicePairingOffer) -> DesktopScanStateMachine {
        var machine = DesktopScanStateMachine()
        _ = machine.scan(
            offer.serialized(), identity: Fixture.desktopIdentity, random: Fixture.desktopRandom, now: now)
        _ = machine.answer(accept: true, now: now)
        _ = machine.confirmationSent(toRelays: 1, now: now)
        return machine
    }

    @Test("a kept hello, with whatever proof, completes no scan of a code without a commitment; a fresh one does")
    func desktopScan() throws {
        var machine = Self.sending(Fixture.deviceOffer())
        let bond = try #require(Fixture.bond())
        let proof = bond.helloProof(
            try #require(Fixture.deviceRandom), desktopRandom: Fixture.desktopRandom, at: Self.now)
        let kept = PairingHello(lastPushSeq: 0, proof: proof).json.object ?? [:]
        for payload in [kept, Fixture.hello, Fixture.reject()] {
            #expect(machine.received(Self.stale(payload, from: Fixture.device), now: Self.now) == [])
        }
        #expect(machine.isActive && machine.dropped.stale == 3)
        #expect(machine.received(Fixture.sealed(Fixture.hello, from: Fixture.device), now: Self.now) != [])
    }

    @Test("with a commitment the hello that proves it completes the scan, although the window refuses it")
    func desktopScanProved() throws {
        let random = try #require(Fixture.deviceRandom)
        let offer = DevicePairingOffer(
            code: Fixture.code("012345"), did: Fixture.device, deviceInfo: Fixture.deviceIdentity.deviceInfo,
            timestamp: Self.now, seal: PairingSeal(secret: Fixture.secretText, commitment: random.commitment))
        var machine = Self.sending(offer)
        let bond = try #require(Fixture.bond())
        let proof = bond.helloProof(random, desktopRandom: Fixture.desktopRandom, at: Self.now)
        let hello = Self.stale(PairingHello(lastPushSeq: 0, proof: proof).json.object ?? [:], from: Fixture.device)
        guard case .store? = machine.received(hello, now: Self.now).last else {
            Issue.record("not paired")
            return
        }
    }

    @Test("a device that scanned a code without a secret takes no sealed frame that was kept")
    func deviceScanPlain() throws {
        var machine = DeviceScanStateMachine()
        let offer = DesktopPairingOffer(
            code: Fixture.code("012345"), pcPeerID: Fixture.desktop, deviceInfo: Fixture.desktopIdentity.deviceInfo,
            timestamp: Self.now, relayURL: Fixture.relay.url)
        _ = machine.scan(offer.serialized(), identity: Fixture.deviceIdentity, now: Self.now)
        _ = machine.routeOnline(Fixture.relay.id, now: Self.now)
        _ = machine.ackSent(true, over: Fixture.relay.id, now: Self.now)
        for payload in [Fixture.confirmation(), Fixture.reject()] {
            #expect(machine.received(Self.stale(payload, from: Fixture.desktop), now: Self.now) == [])
        }
        #expect(machine.isActive && machine.dropped.stale == 2)
    }

    @Test("a device that scanned a code with a secret takes a kept confirmation by its proof alone, and no rejection")
    func deviceScanSealed() throws {
        var machine = DeviceScanStateMachine()
        _ = machine.scan(Fixture.desktopOffer().serialized(), identity: Fixture.deviceIdentity, now: Self.now)
        _ = machine.routeOnline(Fixture.relay.id, now: Self.now)
        _ = machine.ackSent(true, over: Fixture.relay.id, now: Self.now)
        let other = Fixture.confirmation(secret: Fixture.otherSecret)
        for payload in [Fixture.reject(), other] {
            #expect(machine.received(Self.stale(payload, from: Fixture.desktop), now: Self.now) == [])
        }
        #expect(machine.isActive && machine.dropped.stale == 1)
        let right = machine.received(Self.stale(Fixture.confirmation(), from: Fixture.desktop), now: Self.now)
        guard case .store? = right.last else {
            Issue.record("not paired")
            return
        }
    }

    @Test("a code that a desktop has taken answers no kept confirmation, and no kept rejection ends one that is open")
    func deviceShow() throws {
        var machine = DeviceShowStateMachine()
        _ = machine.show(
            Fixture.code("012345"), secret: Fixture.secret, random: Fixture.deviceRandom,
            identity: Fixture.deviceIdentity, over: Fixture.relay)
        _ = machine.routeOnline(Fixture.relay.id, now: Self.now)
        #expect(machine.received(Self.stale(Fixture.reject(), from: Fixture.desktop), now: Self.now) == [])
        #expect(machine.isActive && machine.dropped.stale == 1)
        let confirmation = Self.stale(Fixture.confirmation(), from: Fixture.desktop)
        guard case .store(let desktop)? = machine.received(confirmation, now: Self.now).last else {
            Issue.record("not paired")
            return
        }
        #expect(machine.received(confirmation, now: Self.now) == [])
        _ = machine.stored(desktop)
        #expect(machine.received(confirmation, now: Self.now) == [])
        #expect(machine.received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop), now: Self.now) != [])
    }

    @Test("a paired offer answers no kept ack; an open one takes the ack that proves it")
    func desktopOffer() throws {
        var machine = DesktopOfferStateMachine()
        _ = machine.show(Fixture.desktopOffer())
        let ack = Self.stale(Fixture.ack(), from: Fixture.device)
        guard case .store(let device)? = machine.received(ack, now: Self.now).last else {
            Issue.record("not paired")
            return
        }
        _ = machine.stored(device, now: Self.now)
        #expect(machine.received(ack, now: Self.now) == [])
        #expect(machine.received(Fixture.sealed(Fixture.ack(), from: Fixture.device), now: Self.now) != [])
    }
}
