import Identity
import JSON
import Testing
import Wire

@testable import Pairing

/// Which pairings give a preshared key, and that nobody takes it away unnoticed (WirePairingProofs, "Versions of the
/// seal").
@Suite struct OfferedVersionsTests {
    private static let combinations = PeerFeatures.allCases.flatMap { one in PeerFeatures.allCases.map { (one, $0) } }

    /// The key of this test's secret and peers.
    private var expected: PresharedKey? {
        PresharedKey(Fixture.secret, deviceID: Fixture.device.text, desktopID: Fixture.desktop.text)
    }

    private func expectSame(
        _ device: PresharedKey??, _ desktop: PresharedKey??, isThere: Bool,
        _ location: SourceLocation = #_sourceLocation
    ) {
        guard case .some(let device) = device, case .some(let desktop) = desktop else {
            Issue.record("not paired on both sides", sourceLocation: location)
            return
        }
        #expect(device == desktop, sourceLocation: location)
        #expect((device != nil) == isThere, sourceLocation: location)
        #expect(device?.isFromPairing != false, sourceLocation: location)
    }

    private func changing(
        _ letter: PairingTable.Letter, _ member: String, _ change: (inout JSONObject) -> Void
    ) -> PairingTable.Letter {
        var letter = letter
        var payload = letter.payload.object ?? [:]
        var inner = payload[member]?.object ?? [:]
        change(&inner)
        payload[member] = .object(inner)
        letter.payload = .object(payload)
        return letter
    }

    // MARK: Old and new peers

    @Test(
        "a device scans: any two peers pair, and have a preshared key if both offer sessions",
        arguments: combinations)
    func offers(desktop: PeerFeatures, device: PeerFeatures) {
        var flow = OfferTable()
        flow.run(desktop: desktop, device: device)
        expectSame(flow.deviceKey, flow.desktopKey, isThere: desktop == .sessions && device == .sessions)
        if flow.deviceKey != .some(nil) { #expect(flow.deviceKey == .some(expected)) }
        #expect(flow.device.dropped.total == 0 && flow.desktop.dropped.total == 0)
        #expect(flow.device.presharedKey == nil && flow.desktop.presharedKey == nil, "handed out with the store alone")
    }

    @Test("a desktop scans: the same", arguments: combinations)
    func shows(device: PeerFeatures, desktop: PeerFeatures) {
        var flow = ShowTable()
        flow.run(device: device, desktop: desktop)
        expectSame(flow.deviceKey, flow.desktopKey, isThere: desktop == .sessions && device == .sessions)
        if flow.deviceKey != .some(nil) { #expect(flow.deviceKey == .some(expected)) }
        #expect(flow.device.dropped.total == 0 && flow.desktop.dropped.total == 0)
    }

    @Test("typed codes: the same; the key is another for each run", arguments: combinations)
    func typed(device: PeerFeatures, desktop: PeerFeatures) {
        var keys: [PresharedKey] = []
        for seed: UInt64 in 1...2 {
            var flow = TypedCodeTable(seed: seed)
            flow.show(versions: desktop.versions)
            flow.type(versions: device.versions)
            flow.run()
            expectSame(flow.deviceKey, flow.desktopKey, isThere: desktop == .sessions && device == .sessions)
            #expect(flow.device.dropped.total == 0 && flow.desktop.dropped.total == 0)
            if case .some(.some(let key)) = flow.deviceKey { keys.append(key) }
        }
        #expect(keys.count < 2 || keys[0] != keys[1])
    }

    @Test(
        "an offer of versions that are unknown here is covered as it was made; without sessions in it there is no key")
    func unknownVersions() throws {
        for (list, isThere) in [([1, 2, 3], true), ([3, 2], true), ([1], false), ([7, 1], false)] as [(JSONValue, Bool)]
        {
            let versions = try #require(SealVersions(list))
            var offer = PeerFeatures.sessions.desktopOffer
            offer.seal?.versions = versions
            var flow = OfferTable()
            flow.show(offer)
            flow.scan(offer)
            expectSame(flow.deviceKey, flow.desktopKey, isThere: isThere)
            var typed = TypedCodeTable()
            typed.show(versions: versions)
            typed.type()
            typed.run()
            expectSame(typed.deviceKey, typed.desktopKey, isThere: isThere)
            typed = TypedCodeTable()
            typed.show()
            typed.type(versions: versions)
            typed.run()
            expectSame(typed.deviceKey, typed.desktopKey, isThere: isThere)
        }
    }

    @Test("a device that lost its state scans the same code again: the same key; another code gives another one")
    func again() {
        var flow = OfferTable()
        flow.run(desktop: .sessions)
        let first = flow.deviceKey
        flow.scan(PeerFeatures.sessions.desktopOffer)
        expectSame(flow.deviceKey, flow.desktopKey, isThere: true)
        #expect(flow.deviceKey == first)
        var other = PeerFeatures.sessions.desktopOffer
        other.seal?.secret = PairingSecret.random().base64url
        flow.show(other)
        flow.scan(other)
        expectSame(flow.deviceKey, flow.desktopKey, isThere: true)
        #expect(flow.deviceKey != first)
    }

    // MARK: Somebody takes an offer away

    @Test(
        "a code whose versions were taken out on the way pairs nobody, and the desktop's user hears why",
        arguments: [PeerFeatures.plain, .revision])
    func strippedOffer(to features: PeerFeatures) {
        var flow = OfferTable()
        flow.run(desktop: .sessions) { features.reads($0) }
        #expect(flow.deviceKey == nil && flow.desktopKey == nil)
        #expect(flow.desktop.dropped.downgraded == 1)
        guard case .failed(let failure) = flow.desktop.reported else {
            Issue.record("the code is still open")
            return
        }
        #expect(failure.reason == .notSecure && failure.message.contains("changed on its way"))
        #expect(flow.device.reported == .failed(PairingFailure(.rejected)))
    }

    @Test(
        "a device's code whose versions were taken out on the way pairs nobody, and the device's user hears why",
        arguments: [PeerFeatures.plain, .revision])
    func strippedShow(to features: PeerFeatures) {
        var flow = ShowTable()
        flow.run { features.reads($0) }
        #expect(flow.deviceKey == nil && flow.desktopKey == nil)
        #expect(flow.device.dropped.downgraded == 1)
        guard case .failed(let failure) = flow.device.reported else {
            Issue.record("the code is still open")
            return
        }
        #expect(failure.reason == .notSecure && failure.message.contains("changed on its way"))
        #expect(flow.desktop.reported == .failed(PairingFailure(.timeout)) && flow.isWithdrawn)
    }

    @Test(
        "a relay that takes the versions out of step 2, or with an identity key out of the ack too, pairs nobody",
        arguments: [false, true])
    func strippedStep(hasKey: Bool) {
        var flow = TypedCodeTable()
        flow.table.carry = { letter in
            let stripped = changing(letter, "payload") { $0["seal"] = nil }
            return [hasKey ? changing(stripped, "bw") { $0["seal"] = nil } : stripped]
        }
        flow.show()
        flow.type()
        flow.run()
        #expect(flow.deviceKey == nil && flow.desktopKey == nil)
        #expect(flow.desktop.dropped.downgraded == 1)
        guard case .failed(let failure) = flow.desktop.reported else {
            Issue.record("the code is still open")
            return
        }
        #expect(failure.reason == .notSecure)
        #expect(flow.device.reported == .failed(PairingFailure(.rejected)))
    }

    @Test(
        "changed versions pair nobody: in step 2, in an ack, in a confirmation",
        arguments: [[1], [2, 1], [1, 2, 3], nil, []])
    func changed(to list: [Int64]?) {
        let versions = list.map { JSONValue.array($0.map(JSONValue.integer)) }
        var typed = TypedCodeTable()
        typed.table.carry = { letter in
            guard letter.payload["payload"]?["seal"] != nil else { return [letter] }
            return [changing(letter, "payload") { $0["seal"] = versions }]
        }
        typed.show()
        typed.type()
        typed.run()
        #expect(typed.deviceKey == nil && typed.desktopKey == nil)

        // As somebody who could seal for the peer, but has not seen the code.
        for kind in ["pair-ack", "pairing:confirmation"] {
            let carry: (PairingTable.Letter) -> [PairingTable.Letter] = { letter in
                guard letter.payload["type"]?.string == kind, letter.payload["bw"]?["seal"] != nil else {
                    return [letter]
                }
                return [changing(letter, "bw") { $0["seal"] = versions }]
            }
            var offer = OfferTable()
            offer.table.carry = carry
            offer.run(desktop: .sessions)
            var show = ShowTable()
            show.table.carry = carry
            show.run()
            typed = TypedCodeTable()
            typed.table.carry = carry
            typed.show()
            typed.type()
            typed.run()
            if kind == "pair-ack" {
                #expect(offer.deviceKey == nil && offer.desktopKey == nil)
                #expect(typed.deviceKey == nil && typed.desktopKey == nil)
                #expect(offer.desktop.dropped.total > 0 && typed.desktop.dropped.total > 0)
            } else {
                #expect(show.deviceKey == nil && show.desktopKey == nil)
                #expect(show.device.dropped.total > 0)
            }
        }
    }

    @Test("an offer that a peer never made pairs nobody, and no key is kept on one side alone")
    func added() {
        // The desktop makes no offer; someone writes versions into its code, or into its step 2.
        var offer = OfferTable()
        offer.run(desktop: .revision) { seal in
            var seal = seal
            seal.versions = .own
            return seal
        }
        #expect(offer.deviceKey == nil && offer.desktopKey == nil && offer.desktop.dropped.wrongProof > 0)
        var show = ShowTable()
        show.run(device: .revision) { seal in
            var seal = seal
            seal.versions = .own
            return seal
        }
        #expect(show.deviceKey == nil && show.desktopKey == nil && show.device.dropped.wrongProof > 0)
        var typed = TypedCodeTable()
        typed.table.carry = { letter in
            guard letter.payload["payload"]?["step"] == 2 else { return [letter] }
            return [changing(letter, "payload") { $0["seal"] = [1, 2] }]
        }
        typed.show(versions: nil)
        typed.type()
        typed.run()
        #expect(typed.deviceKey == nil && typed.desktopKey == nil)
    }

    @Test("a proof of one exchange is none of another: with and without the line, and with the sides exchanged")
    func lines() throws {
        let plain = try #require(Fixture.bond())
        let one = try #require(SealVersions([1]))
        let both = try #require(OfferedVersions(code: .own, answer: one))
        let exchanged = try #require(OfferedVersions(code: one, answer: .own))
        let bonds = [plain, plain.offering(both), plain.offering(exchanged)]
        for (index, bond) in bonds.enumerated() {
            let ack = bond.ack(of: Fixture.deviceIdentity.deviceInfo, at: Fixture.now)
            for (other, judge) in bonds.enumerated() { #expect(judge.proves(ack) == (index == other)) }
        }
        #expect(both.line == "seal 1,2 1")
        #expect(OfferedVersions(code: nil, answer: .own) == nil && OfferedVersions(code: .own, answer: nil) == nil)
    }

    @Test(
        "a code whose revision was taken out, but not its versions: paired with the key, and without digits on that side"
    )
    func withoutRevision() {
        func strip(_ seal: PairingSeal) -> PairingSeal {
            var seal = seal
            (seal.hasRevision, seal.commitment) = (false, nil)
            return seal
        }
        var offer = OfferTable()
        offer.run(desktop: .sessions, reading: strip)
        expectSame(offer.deviceKey, offer.desktopKey, isThere: true)
        var show = ShowTable()
        show.run(reading: strip)
        expectSame(show.deviceKey, show.desktopKey, isThere: true)
        if case .completed(let desktop) = show.device.reported { #expect(desktop.shortString == nil) }
        if case .paired(let device) = offer.desktop.reported { #expect(device.shortString == nil) }
    }

    @Test("a code whose versions can't be read is refused")
    func badCodes() throws {
        func parsed(_ change: (inout JSONObject) -> Void) throws -> PairingSeal? {
            var json = try #require(JSONValue(parsing: PeerFeatures.sessions.desktopOffer.serialized()).object)
            var bw = json["bw"]?.object ?? [:]
            change(&bw)
            json["bw"] = .object(bw)
            return try DesktopPairingOffer(parsing: JSONValue.object(json).serialized(), now: Fixture.now).seal
        }
        #expect(try parsed { _ in }?.versions == .own)
        #expect(try parsed { $0["seal"] = nil }?.versions == nil)
        let wrong: [JSONValue] = [
            true, 1, 1.5, "1", "1,2", [], [0], [-1], [1.0], ["1"], [1, 1], [nil], [:], [1, [2]],
            .array((1...17).map { .integer($0) }), [1, .integer(.min)],
        ]
        for value in wrong {
            #expect(throws: PairingFailure.self, "\(value)") { try parsed { $0["seal"] = value } }
            var ack = Fixture.ack()
            ack["bw"] = ["mac": "", "seal": value]
            #expect(throws: PairingFailure.self, "\(value)") { try PairAck(decoding: ack) }
            var confirmation = Fixture.confirmation()
            confirmation["bw"] = ["mac": "", "seal": value]
            #expect(throws: PairingFailure.self, "\(value)") { try PairingConfirmation(decoding: confirmation) }
        }
        #expect(try parsed { $0["rev"] = nil }?.versions == .own)
    }
}
