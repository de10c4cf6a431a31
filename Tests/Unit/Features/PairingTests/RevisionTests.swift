import Identity
import JSON
import Testing
import Wire

@testable import Pairing

/// The desktop scans, between peers of revision 1 and those before it (WirePairingProofs, "What a revision adds").
@Suite struct RevisionTests {
    private static let now = Fixture.now
    private var device = DeviceShowStateMachine()
    private var desktop = DesktopScanStateMachine()

    /// The device shows its code, and the desktop's user has accepted it; gives the desktop's confirmation.
    private mutating func confirmed(
        random: PairingRandom? = Fixture.deviceRandom, secret: PairingSecret = Fixture.secret
    ) throws -> PairingConfirmation {
        _ = device.show(
            Fixture.code("012345"), secret: secret, random: random, identity: Fixture.deviceIdentity,
            over: Fixture.relay)
        _ = device.routeOnline(Fixture.relay.id, now: Self.now)
        guard case .displaying(let offer, _) = device.reported else { throw PairingFailure(.noRelay) }
        _ = desktop.scan(
            offer.serialized(), identity: Fixture.desktopIdentity, random: Fixture.desktopRandom, now: Self.now)
        guard case .taken(let actions) = desktop.answer(accept: true, now: Self.now),
            case .send(.confirmation(let confirmation), to: _, sealed: true, .everywhere)? = actions.last
        else { throw PairingFailure(.rejected) }
        _ = desktop.confirmationSent(toRelays: 1, now: Self.now)
        return confirmation
    }

    /// The device stores the desktop; gives both.
    private mutating func taken(
        _ payload: JSONObject, from: PeerID = Fixture.desktop
    ) throws -> (desktop: PairedDesktop, proof: PairingHello.Proof?) {
        let frame = Fixture.sealed(payload, from: from)
        guard case .store(let stored)? = device.received(frame, now: Self.now + 1).last,
            case .sendHello(_, _, let proof)? = device.stored(stored).last
        else { throw PairingFailure(.rejected) }
        return (stored, proof)
    }

    private mutating func hello(_ proof: PairingHello.Proof?) -> [PairingStep<PairedDevice>] {
        let payload = PairingHello(lastPushSeq: 0, proof: proof).json.object ?? [:]
        return desktop.received(Fixture.sealed(payload, from: Fixture.device), now: Self.now + 2)
    }

    private func paired(_ actions: [PairingStep<PairedDevice>]) -> PairedDevice? {
        guard case .store(let device)? = actions.last else { return nil }
        return device
    }

    @Test("the hello proves the code, and both show the same digits, which depend on both sides' random bytes")
    mutating func straight() throws {
        let confirmation = try confirmed()
        #expect(confirmation.random == Fixture.desktopRandom.base64url)
        let payload = try #require(confirmation.json.object)
        #expect(payload["bw"]?["rev"] == 1)
        let (stored, proof) = try taken(payload)
        #expect(proof?.random == Fixture.deviceRandom?.base64url)
        let device = try #require(paired(hello(proof)))
        #expect(device.shortString == stored.shortString && device.isSecure)
        #expect(stored.shortString != Fixture.bond()?.shortString)
        let other = try #require(Fixture.bond()).shortString(
            deviceRandom: Fixture.desktopRandom, desktopRandom: Fixture.desktopRandom)
        #expect(other != stored.shortString)
    }

    @Test("a sealed hello that was played back completes nothing: without a proof, or with that of another code")
    mutating func replayed() throws {
        let old = try taken(try #require(try confirmed(secret: Fixture.otherSecret).json.object)).proof
        #expect(old != nil)
        desktop = DesktopScanStateMachine()
        let confirmation = try confirmed()
        for proof in [nil, old] { #expect(hello(proof) == []) }
        #expect(desktop.dropped.wrongProof == 1)
        let (_, proof) = try taken(try #require(confirmation.json.object))
        #expect(paired(hello(proof)) != nil)
    }

    @Test("who reveals other bytes than those committed to, or answers other ones of the desktop, proves nothing")
    mutating func forged() throws {
        _ = try confirmed()
        let bond = try #require(Fixture.bond()).offering(OfferedVersions(code: .own, answer: .own))
        let own = try #require(Fixture.deviceRandom)
        let right = bond.helloProof(own, desktopRandom: Fixture.desktopRandom, at: Self.now)
        let wrong = [
            bond.helloProof(.random(), desktopRandom: Fixture.desktopRandom, at: Self.now),
            bond.helloProof(own, desktopRandom: .random(), at: Self.now),
            .init(timestamp: right.timestamp + 1, mac: right.mac, random: right.random),
            .init(timestamp: right.timestamp, mac: right.mac, random: PairingRandom.random().base64url),
            .init(timestamp: right.timestamp, mac: "", random: ""),
        ]
        for proof in wrong { #expect(hello(proof) == []) }
        #expect(desktop.dropped.wrongProof == 5)
        let plain = PairingHello(lastPushSeq: 0, proof: right).json.object ?? [:]
        #expect(desktop.received(PairingFrame(plain, from: Fixture.device), now: Self.now) == [])
        #expect(paired(hello(right)) != nil)
    }

    @Test("a confirmation whose random bytes were changed, or that knows another commitment, pairs nothing")
    mutating func forgedConfirmation() throws {
        let right = try confirmed()
        var changed = right
        changed.random = PairingRandom.random().base64url
        var stripped = right
        stripped.random = nil
        let bond = try #require(Fixture.bond())
        let other = bond.confirmation(
            of: Fixture.desktopIdentity.deviceInfo, to: PairingRandom.random().commitment,
            random: Fixture.desktopRandom, at: Self.now)
        for confirmation in [changed, stripped, other] {
            let frame = Fixture.sealed(confirmation.json.object ?? [:], from: Fixture.desktop)
            #expect(device.received(frame, now: Self.now) == [])
        }
        #expect(device.dropped.wrongProof == 3)
        _ = try taken(right.json.object ?? [:])
    }

    @Test("a device before revision 1 pairs with a desktop of today, by the digits of before")
    mutating func oldDevice() throws {
        let confirmation = try confirmed(random: nil)
        #expect(confirmation.random == nil && confirmation.json["bw"]?["rev"] == nil)
        let (stored, proof) = try taken(try #require(confirmation.json.object))
        #expect(proof == nil && stored.shortString == Fixture.bond()?.shortString)
        #expect(paired(hello(nil))?.shortString == stored.shortString)
    }

    @Test("a desktop before revision 1 pairs with a device of today, which has no digits to compare, and says so")
    mutating func oldDesktop() throws {
        _ = try confirmed()
        let (stored, proof) = try taken(Fixture.confirmation())
        #expect(proof == nil && stored.isSecure)
        #expect(stored.shortString == nil, "whoever has the secret could search for a key with the same digits")
        #expect(stored.json["sas"] == nil && stored.json["sasMissing"] == "older_peer")
    }

    @Test("a sealed confirmation that names another than its sender is dropped")
    mutating func otherName() throws {
        var confirmation = try confirmed()
        for name in [Fixture.evil, nil] as [PeerID?] {
            confirmation.pcPeerID = name
            let frame = Fixture.sealed(confirmation.json.object ?? [:], from: Fixture.desktop)
            #expect(device.received(frame, now: Self.now) == [])
        }
        #expect(device.dropped.wrongSender == 2 && device.isActive)
        var scan = DeviceScanStateMachine()
        _ = scan.scan(Fixture.desktopOffer().serialized(), identity: Fixture.deviceIdentity, now: Self.now)
        _ = scan.routeOnline(Fixture.relay.id, now: Self.now)
        _ = scan.ackSent(true, over: Fixture.relay.id, now: Self.now)
        var scanned = Fixture.confirmation()
        scanned["pcPeerId"] = .string(Fixture.evil.text)
        #expect(scan.received(Fixture.sealed(scanned, from: Fixture.desktop), now: Self.now) == [])
        #expect(scan.dropped.wrongSender == 1)
        #expect(scan.received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop), now: Self.now).count == 2)
    }

    @Test("a code whose revision cannot be read is refused, never taken for an older one")
    func codes() throws {
        func parsed(_ more: JSONObject) throws -> PairingSeal? {
            var json = try #require(JSONValue(parsing: Fixture.deviceOffer(at: Self.now).serialized()).object)
            var bw = json["bw"]?.object ?? [:]
            bw.merge(more)
            json["bw"] = .object(bw)
            return try DevicePairingOffer(parsing: JSONValue.object(json).serialized(), now: Self.now).seal
        }
        let commitment = PairingRandom.random().commitment
        #expect(try parsed(["rev": 1, "commit": .string(commitment)])?.commitment == commitment)
        #expect(try parsed(["rev": 2, "commit": .string(commitment)])?.commitment == commitment, "a later one")
        #expect(try parsed([:])?.commitment == nil)
        for more in [
            ["rev": 1], ["rev": 0, "commit": .string(commitment)], ["rev": "1", "commit": .string(commitment)],
            ["rev": 1, "commit": "short"], ["rev": 1, "commit": 7],
        ] as [JSONObject] {
            #expect(throws: PairingFailure.self) { try parsed(more) }
        }
    }
}
