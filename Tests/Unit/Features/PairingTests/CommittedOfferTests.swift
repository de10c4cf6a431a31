import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Pairing

/// The device scans a desktop's code of revision 1: it commits to its random bytes, the desktop sends its own, and the
/// device reveals (WirePairing, "The device scans").
@Suite struct CommittedOfferTests {
    private static let now = Fixture.now
    private static let offer = Fixture.desktopOffer(hasRevision: true)
    private var device = DeviceScanStateMachine()
    private var desktop = DesktopOfferStateMachine()

    private mutating func show(confirm: Bool = false) {
        _ = desktop.show(Self.offer, confirm: confirm, randoms: [Fixture.desktopRandom])
    }

    /// The device scans; gives its first ack.
    private mutating func scan(_ offer: DesktopPairingOffer = offer) throws -> PairAck {
        let random = try #require(Fixture.deviceRandom)
        _ = device.scan(offer.serialized(), identity: Fixture.deviceIdentity, random: random, now: Self.now)
        return try #require(ack(device.routeOnline(Fixture.relay.id, now: Self.now)))
    }

    private mutating func ack(_ actions: [PairingStep<PairedDesktop>]) -> PairAck? {
        guard case .send(.ack(let ack), to: _, sealed: true, .over(let route))? = actions.last else { return nil }
        _ = device.ackSent(true, over: route, now: Self.now)
        return ack
    }

    private mutating func told(_ ack: PairAck, from: PeerID = Fixture.device) -> [PairingStep<PairedDevice>] {
        desktop.received(Fixture.sealed(ack.json.object ?? [:], from: from), now: Self.now + 1)
    }

    private mutating func answered(_ payload: JSONValue, delivery: SignallingDelivery = .live) -> [PairingStep<
        PairedDesktop
    >] {
        device.received(Fixture.sealed(payload.object ?? [:], from: Fixture.desktop, delivery: delivery), now: Self.now)
    }

    private func issued(_ actions: [PairingStep<PairedDevice>]) -> PairingChallenge? {
        guard case .send(.challenge(let challenge), to: _, sealed: true, _)? = actions.last else { return nil }
        return challenge
    }

    private func stored(_ actions: [PairingStep<PairedDevice>]) -> PairedDevice? {
        guard case .store(let device)? = actions.last else { return nil }
        return device
    }

    private func confirming(_ actions: [PairingStep<PairedDevice>]) -> PairingConfirmation? {
        guard case .send(.confirmation(let confirmation), to: _, sealed: true, _)? = actions.last else { return nil }
        return confirmation
    }

    private func exchange(
        _ commitment: String, device: PeerID = Fixture.device, random: PairingRandom = Fixture.desktopRandom
    ) throws -> CommittedExchange {
        CommittedExchange(
            bond: try #require(Fixture.bond(device: device)), commitment: commitment, desktopRandom: random)
    }

    /// The device's scan, and the exchange up to its second ack.
    private mutating func revealed() throws -> PairAck {
        let first = try scan()
        let challenge = try #require(issued(told(first)))
        return try #require(ack(answered(challenge.json)))
    }

    // MARK: All goes well

    @Test("the ack commits, the next one reveals; both show the same digits, which depend on both sides' random bytes")
    mutating func straight() throws {
        show()
        let first = try scan()
        #expect(first.commitment == Fixture.deviceRandom?.commitment && first.random == nil)
        #expect(first.json["bw"]?["rev"] == 1)
        let challenge = try #require(issued(told(first)))
        #expect(challenge.random == Fixture.desktopRandom.base64url)
        #expect(desktop.reported == .displaying(Self.offer, expiresAt: Self.now + 300_000), "nothing is taken yet")
        let second = try #require(ack(answered(challenge.json)))
        #expect(second.random == Fixture.deviceRandom?.base64url && second.commitment == first.commitment)
        let phone = try #require(stored(told(second)))
        let confirmation = try #require(confirming(desktop.stored(phone, now: Self.now)))
        guard case .store(let desk)? = answered(confirmation.json).last else {
            Issue.record("not paired")
            return
        }
        #expect(desk.shortString == phone.shortString && desk.isSecure && phone.isSecure)
        #expect(desk.shortString != Fixture.bond()?.shortString)
        #expect(device.dropped.total == 0 && desktop.dropped.total == 0)
    }

    @Test("what is repeated gets the same answer again: ack, challenge, reveal")
    mutating func repeated() throws {
        show()
        let first = try scan()
        let one = try #require(issued(told(first)))
        #expect(issued(told(first))?.random == one.random)
        let second = try #require(ack(answered(one.json)))
        #expect(ack(answered(one.json)) == second)
        // No answer in time.
        #expect(ack(device.timedOut(now: Self.now)) == second)
        let phone = try #require(stored(told(second)))
        #expect(told(second) == [] && told(first) == [])
        _ = desktop.stored(phone, now: Self.now)
        #expect(confirming(told(second)) != nil)
        #expect(desktop.dropped.total == 0 && device.dropped.total == 0)
    }

    @Test("a challenge that comes while no relay has the ack is answered by the next one")
    mutating func away() throws {
        show()
        let challenge = try #require(issued(told(try scan())))
        _ = device.routeFailed(Fixture.relay.id, detail: nil, now: Self.now)
        #expect(answered(challenge.json) == [])
        #expect(ack(device.routeOnline(Fixture.relay.id, now: Self.now))?.random == Fixture.deviceRandom?.base64url)
    }

    @Test("a person who is asked sees the digits already; a sealed reveal takes the place of a plain ack")
    mutating func asked() throws {
        show(confirm: true)
        var plain = Fixture.ack(device: Fixture.evil)
        plain["bw"] = nil
        _ = desktop.received(PairingFrame(plain, from: Fixture.evil), now: Self.now)
        let second = try revealed()
        guard case .report(.desktopOffer(.acked(let phone, .some)))? = told(second).last else {
            Issue.record("not asked")
            return
        }
        #expect(phone.did == Fixture.device && phone.shortString != nil)
        #expect(phone.shortString != Fixture.bond()?.shortString)
        guard case .taken(let actions) = desktop.answer(accept: true, now: Self.now + 2_000) else {
            Issue.record("nothing waits")
            return
        }
        #expect(stored(actions) == phone)
    }

    @Test("a device that scans the code anew, after it was paired, gets new digits on both sides")
    mutating func again() throws {
        _ = desktop.show(Self.offer)
        let phone = try #require(stored(told(try revealed())))
        _ = desktop.stored(phone, now: Self.now)
        device = DeviceScanStateMachine()
        _ = device.scan(Self.offer.serialized(), identity: Fixture.deviceIdentity, now: Self.now)
        let first = try #require(ack(device.routeOnline(Fixture.relay.id, now: Self.now)))
        let challenge = try #require(issued(told(first)))
        let second = try #require(ack(answered(challenge.json)))
        let anew = try #require(stored(told(second)))
        #expect(anew.shortString != phone.shortString)
        let confirmation = try #require(confirming(desktop.stored(anew, now: Self.now)))
        guard case .store(let desk)? = answered(confirmation.json).last else {
            Issue.record("not paired")
            return
        }
        #expect(desk.shortString == anew.shortString)
    }

    // MARK: Peers without a revision

    @Test("a device before revision 1 pairs with a desktop of today, which has no digits to compare, and says so")
    mutating func oldDevice() throws {
        show()
        let ack = try PairAck(decoding: Fixture.ack())
        let phone = try #require(stored(told(ack)))
        #expect(phone.isSecure)
        #expect(phone.shortString == nil, "whoever has the secret could search for a key with the same digits")
        #expect(phone.json["sas"] == nil && phone.json["sasMissing"] == "older_peer")
        let confirmation = try #require(confirming(desktop.stored(phone, now: Self.now)))
        #expect(confirmation.json["bw"]?["rev"] == nil && Fixture.bond()?.proves(confirmation) == true)
    }

    @Test("a desktop before revision 1 pairs with a device of today, by the digits of before")
    mutating func oldDesktop() throws {
        let ack = try scan(Fixture.desktopOffer())
        #expect(ack.json["bw"]?["rev"] == nil && Fixture.bond()?.proves(ack) == true)
        guard case .store(let desk)? = answered(.object(Fixture.confirmation())).last else {
            Issue.record("not paired")
            return
        }
        #expect(desk.shortString == Fixture.bond()?.shortString)
    }

    @Test("there is no way back: a desktop whose code has a revision cannot confirm without its random bytes")
    mutating func noDowngradeOfTheDesktop() throws {
        show()
        _ = try scan()
        #expect(answered(.object(Fixture.confirmation())) == [])
        let commitment = try #require(Fixture.deviceRandom).commitment
        let bond = try #require(Fixture.bond())
        let ofScans = bond.confirmation(
            of: Fixture.desktopIdentity.deviceInfo, to: commitment, random: Fixture.desktopRandom, at: Self.now)
        #expect(answered(ofScans.json) == [])
        #expect(device.dropped.wrongProof == 2)
        #expect(ack(answered(try exchange(commitment).challenge(at: Self.now).json)) != nil)
        #expect(answered(.object(Fixture.confirmation())) == [] && answered(ofScans.json) == [])
        #expect(device.dropped.wrongProof == 4 && device.isActive)
    }

    @Test("nobody takes the revision out of an ack, and a device that has revealed gets no older confirmation")
    mutating func noDowngradeOfTheDevice() throws {
        show()
        var stripped = try scan()
        stripped.commitment = nil
        #expect(told(stripped) == [])
        #expect(desktop.dropped.wrongProof == 1)
        device = DeviceScanStateMachine()
        let phone = try #require(stored(told(try revealed())))
        _ = desktop.stored(phone, now: Self.now)
        #expect(told(try PairAck(decoding: Fixture.ack())) == [])
    }

    // MARK: Bad frames

    @Test("a challenge that is forged, plain, of before, of another code or cut is dropped and counted")
    mutating func badChallenges() throws {
        show()
        let right = try #require(issued(told(try scan())))
        let commitment = try #require(Fixture.deviceRandom).commitment
        let forged = [
            PairingChallenge(
                code: right.code, timestamp: right.timestamp, mac: right.mac,
                random: PairingRandom.random().base64url),
            PairingChallenge(
                code: right.code, timestamp: right.timestamp + 1, mac: right.mac, random: right.random),
            PairingChallenge(code: right.code, timestamp: right.timestamp, mac: right.mac, random: "short"),
            try exchange(PairingRandom.random().commitment).challenge(at: Self.now),
        ]
        for challenge in forged { #expect(answered(challenge.json) == []) }
        #expect(device.dropped.wrongProof == 4)
        #expect(device.received(PairingFrame(right.json.object ?? [:], from: Fixture.desktop), now: Self.now) == [])
        #expect(device.dropped.notSecure == 1)
        #expect(answered(right.json, delivery: .stored(at: Self.now - 1)) == [])
        #expect(device.dropped.stored == 1)
        let other = PairingChallenge(
            code: Fixture.code("999999"), timestamp: right.timestamp, mac: right.mac, random: right.random)
        #expect(answered(other.json) == [])
        #expect(device.dropped.wrongCode == 1)
        for member in ["v", "pairingCode", "timestamp", "bw"] {
            var payload = try #require(right.json["payload"]?.object)
            payload[member] = nil
            #expect(answered(["type": "bellwire:challenge", "payload": .object(payload)]) == [])
        }
        #expect(answered(["type": "bellwire:challenge", "payload": 7]) == [])
        #expect(device.dropped.malformed == 5)
        let anybody = Fixture.sealed(right.json.object ?? [:], from: Fixture.evil)
        #expect(device.received(anybody, now: Self.now) == [])
        #expect(ack(answered(right.json))?.random != nil)
        #expect(try exchange(commitment).proves(right))
    }

    @Test("a desktop whose code has no revision gets no reveal")
    mutating func unasked() throws {
        _ = try scan(Fixture.desktopOffer())
        let commitment = try #require(Fixture.deviceRandom).commitment
        #expect(answered(try exchange(commitment).challenge(at: Self.now).json) == [])
        #expect(device.dropped.wrongProof == 1)
    }

    @Test("a reveal without an exchange, of another one's, or without the right proof is dropped and counted")
    mutating func badReveals() throws {
        show()
        let own = try #require(Fixture.deviceRandom)
        let begun = try exchange(own.commitment)
        let info = Fixture.deviceIdentity.deviceInfo
        let right = RevealedExchange(begun, deviceRandom: own).ack(of: info, at: Self.now)
        #expect(told(right) == [], "nothing was begun")
        _ = told(try scan())
        var late = right
        late.timestamp = Self.now + 5
        var unproved = right
        unproved.mac = nil
        var other = right
        other.random = PairingRandom.random().base64url
        var split = right
        split.random = "a\nb"
        let guessed = RevealedExchange(try exchange(own.commitment, random: .random()), deviceRandom: own)
        for ack in [late, unproved, other, split, guessed.ack(of: info, at: Self.now)] { #expect(told(ack) == []) }
        let evil = RevealedExchange(try exchange(own.commitment, device: Fixture.evil), deviceRandom: own)
        #expect(told(evil.ack(of: info, at: Self.now), from: Fixture.evil) == [])
        #expect(desktop.dropped.wrongProof == 7)
        #expect(stored(told(right)) != nil)
    }

    @Test("whoever knows the secret and reveals other bytes than those committed to is refused, and ends the code")
    mutating func mismatch() throws {
        show()
        let first = try scan()
        _ = told(first)
        let forged = RevealedExchange(try exchange(first.commitment ?? ""), deviceRandom: .random())
            .ack(of: Fixture.deviceIdentity.deviceInfo, at: Self.now)
        let actions = told(forged)
        guard case .report(.desktopOffer(.failed(let failure)))? = actions.last else {
            Issue.record("not refused")
            return
        }
        #expect(failure.reason == .notSecure)
        #expect(
            actions.dropLast() == [
                .stopTimer,
                .send(.reject(PairingReject(code: Self.offer.code)), to: Fixture.device, sealed: true, .lastHeard()),
            ])
        #expect(desktop.dropped.wrongProof == 1 && !desktop.isActive)
        #expect(told(first) == [] && told(forged) == [])
        #expect(desktop.dropped.notOpen == 2)
    }

    @Test("the exchanges of an offer are few; those that have begun go on")
    mutating func limit() throws {
        _ = desktop.show(Self.offer)
        let bond = try #require(Fixture.bond())
        let info = Fixture.deviceIdentity.deviceInfo
        let randoms = (0..<20).map { _ in PairingRandom.random() }
        var challenges: [PairingChallenge] = []
        for random in randoms {
            let ack = bond.ack(of: info, committingTo: random.commitment, at: Self.now)
            if let challenge = issued(told(ack)) { challenges.append(challenge) }
        }
        #expect(challenges.count == 5)
        #expect(Set(challenges.map(\.random)).count == 5, "each has bytes of its own")
        #expect(desktop.dropped.refused == 15)
        let theirs = try #require(PairingRandom(base64url: challenges[0].random))
        let first = RevealedExchange(try exchange(randoms[0].commitment, random: theirs), deviceRandom: randoms[0])
        #expect(stored(told(first.ack(of: info, at: Self.now))) != nil)
    }

    @Test("after five minutes a commitment is not answered")
    mutating func expired() throws {
        show()
        let first = try scan()
        let late = Fixture.sealed(first.json.object ?? [:], from: Fixture.device)
        #expect(desktop.received(late, now: Self.now + 300_001) == [.stopTimer, .report(.desktopOffer(.expired))])
    }

    // MARK: Who is in the middle

    /// An attacker who has the secret wants the desktop to show digits that a device shows elsewhere. The search is cut to
    /// the first 8 of their 20 bits.
    private static func agree(_ left: ShortAuthenticationString?, _ right: ShortAuthenticationString) -> Bool {
        (left?.bits ?? 0) >> 12 == right.bits >> 12
    }

    @Test("without a commitment, who knows the secret finds a key with the digits of another pairing")
    func grindingKeys() throws {
        let wanted = try #require(Fixture.bond()).shortString
        var tries = 0
        repeat {
            tries += 1
            let half = TextEncoding.base64url.decode(PairingRandom.random().base64url) ?? []
            let key = try SigningKey(seed: half + half)
            if Self.agree(Fixture.bond(device: PeerID(key.did))?.shortString, wanted) { return }
        } while tries < 8_192
        Issue.record("no key in \(tries) tries, where one of 256 is expected to do")
    }

    @Test("with one, who knows the secret finds bytes with those digits as well, and cannot reveal them any more")
    mutating func grindingBytes() throws {
        show()
        let wanted = try #require(Fixture.bond()).shortString
        let first = try scan()
        let challenge = try #require(issued(told(first)))
        let theirs = try #require(PairingRandom(base64url: challenge.random))
        let begun = try exchange(first.commitment ?? "", random: theirs)
        var chosen = RevealedExchange(begun, deviceRandom: .random())
        for _ in 0..<8_192 where !Self.agree(chosen.shortString, wanted) {
            chosen = RevealedExchange(begun, deviceRandom: .random())
        }
        #expect(Self.agree(chosen.shortString, wanted), "now the bytes are known that would do")
        let actions = told(chosen.ack(of: Fixture.deviceIdentity.deviceInfo, at: Self.now))
        #expect(stored(actions) == nil && !desktop.isActive)
    }

    @Test("a desktop in the middle gets no second challenge answered, once it has seen the device's bytes")
    mutating func secondChallenge() throws {
        let first = try scan()
        let commitment = first.commitment ?? ""
        let one = try exchange(commitment)
        #expect(ack(answered(one.challenge(at: Self.now).json))?.random != nil)
        let other = try exchange(commitment, random: .random())
        #expect(answered(other.challenge(at: Self.now).json) == [])
        let own = try #require(Fixture.deviceRandom)
        let info = Fixture.desktopIdentity.deviceInfo
        let wrong = RevealedExchange(other, deviceRandom: own).confirmation(of: info, at: Self.now)
        #expect(answered(wrong.json) == [])
        #expect(device.dropped.wrongProof == 2)
        let right = RevealedExchange(one, deviceRandom: own).confirmation(of: info, at: Self.now)
        guard case .store(let desk)? = answered(right.json).last else {
            Issue.record("not paired")
            return
        }
        #expect(desk.shortString == RevealedExchange(one, deviceRandom: own).shortString)
    }
}
