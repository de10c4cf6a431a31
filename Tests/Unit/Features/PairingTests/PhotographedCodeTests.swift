import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Pairing

/// Somebody has photographed a code and answers it first, at the same time, or after the peer that it is meant for.
///
/// The code's secret proves both. One of them is paired at most, the other one hears that it is not, and no digits are the
/// same.
@Suite struct PhotographedCodeTests {
    static let bystanderIdentity = PairingIdentity(
        did: Fixture.evil, deviceInfo: PairingDeviceInfo(deviceID: "i-2", name: "Phone", platform: "linux"))

    /// Somebody who knows the six digits alone.
    static let guesserIdentity = PairingIdentity(
        did: Fixture.did(4), deviceInfo: PairingDeviceInfo(deviceID: "i-3", name: "Phone", platform: "linux"))

    /// A desktop's code, and two devices that answer it. The relay delivers in any order.
    private struct DesktopRace {
        struct Letter {
            let payload: JSONValue
            let from: PeerID
            let to: PeerID
            let isSealed: Bool
        }

        var desktop = DesktopOfferStateMachine()
        var devices: [PeerID: DeviceScanStateMachine] = [:]
        var random: SeededGenerator
        var now = Fixture.now
        private var letters: [Letter] = []
        private var timers: [PeerID: EpochMilliseconds] = [:]
        private var desktopTimer: EpochMilliseconds?
        /// Each device that the desktop has stored.
        private(set) var stored: [PairedDevice] = []
        /// Whom the desktop has asked about, and since when.
        private(set) var asked: [(device: PairedDevice, at: EpochMilliseconds)] = []

        init(seed: UInt64, confirm: Bool, legacy: LegacyPairing = .qr) {
            random = SeededGenerator(seed: seed)
            var offer = PeerFeatures.sessions.desktopOffer
            offer.seal?.confirm = confirm
            perform(desktop.show(offer, legacy: legacy))
        }

        var offer: DesktopPairingOffer? {
            if case .displaying(let offer, _) = desktop.reported { offer } else { nil }
        }

        mutating func scan(_ offer: DesktopPairingOffer, _ identity: PairingIdentity, _ features: PeerFeatures) {
            var offer = offer
            offer.seal = offer.seal.map(features.reads)
            var device = DeviceScanStateMachine()
            let actions = device.scan(
                offer.serialized(), identity: identity, versions: features.versions, now: now)
            devices[identity.did] = device
            perform(actions, identity.did)
        }

        /// Who knows the digits alone, without the secret.
        mutating func guess(_ identity: PairingIdentity) {
            letters.append(
                Letter(
                    payload: PairAck(
                        code: Fixture.code("012345"), mobileDID: identity.did, deviceInfo: identity.deviceInfo,
                        timestamp: now
                    ).json, from: identity.did, to: Fixture.desktop, isSealed: false))
        }

        var isMoving: Bool { !letters.isEmpty || devices.values.contains { $0.isActive } }

        /// One letter at random, else the next timer.
        mutating func step() {
            guard !letters.isEmpty else {
                let next = (timers.values + [desktopTimer].compactMap(\.self)).min()
                now = max(now, next ?? now)
                return fire()
            }
            let letter = letters.remove(at: Int.random(in: 0..<letters.count, using: &random))
            now += Int64.random(in: 0..<400, using: &random)
            let frame = PairingFrame(reading: letter.payload, from: letter.from, isSealed: letter.isSealed)
            if letter.to == Fixture.desktop {
                perform(desktop.received(frame, now: now))
            } else if let actions = devices[letter.to]?.received(frame, now: now) {
                perform(actions, letter.to)
            }
            fire()
        }

        /// A person says yes to the device that is shown.
        mutating func accept() {
            if case .taken(let actions) = desktop.answer(accept: true, now: now) { perform(actions) }
        }

        private mutating func fire() {
            for (id, due) in timers.sorted(by: { $0.value < $1.value }) where due <= now {
                timers[id] = nil
                if let actions = devices[id]?.timedOut(now: now) { perform(actions, id) }
            }
            guard let due = desktopTimer, due <= now else { return }
            desktopTimer = nil
            perform(desktop.timedOut(now: now))
        }

        private mutating func perform(_ actions: [PairingStep<PairedDesktop>], _ id: PeerID) {
            for action in actions {
                switch action {
                case .open(let route):
                    if let next = devices[id]?.routeOnline(route.id, now: now) { perform(next, id) }
                case .send(.ack(let ack), to: let peer, sealed: let isSealed, .over(let route)):
                    letters.append(Letter(payload: ack.json, from: id, to: peer, isSealed: isSealed))
                    if let next = devices[id]?.ackSent(true, over: route, now: now) { perform(next, id) }
                case .startTimer(let wait): timers[id] = now + Int64(wait)
                case .stopTimer: timers[id] = nil
                case .store(let desktop):
                    if let next = devices[id]?.stored(desktop) { perform(next, id) }
                default: break
                }
            }
        }

        private mutating func perform(_ actions: [PairingStep<PairedDevice>]) {
            func letter(_ payload: JSONValue, _ peer: PeerID, _ isSealed: Bool = true) -> Letter {
                Letter(payload: payload, from: Fixture.desktop, to: peer, isSealed: isSealed)
            }
            for action in actions {
                switch action {
                case .startTimer(let wait): desktopTimer = now + Int64(wait)
                case .stopTimer: desktopTimer = nil
                case .report(.desktopOffer(.acked(let device, .some))): asked.append((device, now))
                case .store(let device):
                    stored.append(device)
                    perform(desktop.stored(device, now: now))
                case .send(.challenge(let challenge), to: let peer, sealed: true, _):
                    letters.append(letter(challenge.json, peer))
                case .send(.confirmation(let confirmation), to: let peer, sealed: true, _):
                    letters.append(letter(confirmation.json, peer))
                case .send(.reject(let reject), to: let peer, sealed: let isSealed, _):
                    letters.append(letter(reject.json, peer, isSealed))
                default: break
                }
            }
        }
    }

    /// What must hold when both have ended.
    private func expectOneWinner(_ race: DesktopRace, _ said: Comment) {
        #expect(Set(race.stored.map(\.did)).count <= 1, said)
        var winners = 0
        for (id, device) in race.devices {
            guard case .success(let desktop) = device.reported else {
                guard case .failed = device.reported else {
                    Issue.record("a device hears nothing: \(device.reported), \(said)")
                    continue
                }
                continue
            }
            winners += 1
            #expect(race.stored.last?.did == id && desktop.isSecure, said)
            #expect(desktop.shortString == race.stored.last?.shortString, said)
        }
        #expect(winners <= 1, said)
        if let one = race.stored.last {
            // A person may have accepted one that has proved nothing.
            #expect(winners == (one.isSecure ? 1 : 0), said)
            #expect(race.desktop.reported == .paired(one), said)
        }
        let secure = race.asked.filter { $0.device.isSecure }
        for (index, one) in secure.enumerated() {
            for other in secure[..<index] where other.device.did != one.device.did {
                #expect(one.device.shortString != other.device.shortString || one.device.shortString == nil, said)
            }
        }
    }

    @Test(
        "a desktop's code answered by two, in any order, with any features: one is paired at most, and the other one told",
        arguments: 0..<150 as Range<UInt64>)
    func offer(seed: UInt64) throws {
        for bystander in PeerFeatures.allCases where bystander != .plain || seed.isMultiple(of: 3) {
            var race = DesktopRace(seed: seed, confirm: false)
            let offer = try #require(race.offer)
            let isFirst = Bool.random(using: &race.random)
            let lead = Int.random(in: 0..<8, using: &race.random)
            let identities = [Fixture.deviceIdentity, Self.bystanderIdentity]
            let peers: [PeerFeatures] = [.sessions, bystander == .plain ? .revision : bystander]
            let order = isFirst ? [0, 1] : [1, 0]
            race.scan(offer, identities[order[0]], peers[order[0]])
            for _ in 0..<lead where race.isMoving { race.step() }
            race.scan(offer, identities[order[1]], peers[order[1]])
            for _ in 0..<400 where race.isMoving { race.step() }
            expectOneWinner(race, "seed \(seed), the bystander has the features \(bystander)")
        }
    }

    @Test(
        "a desktop that asks: a yes to the device that a person saw never accepts another one, whoever comes meanwhile",
        arguments: 0..<150 as Range<UInt64>)
    func confirmed(seed: UInt64) throws {
        var race = DesktopRace(seed: seed, confirm: true)
        let offer = try #require(race.offer)
        if Bool.random(using: &race.random) { race.guess(Self.guesserIdentity) }
        if Bool.random(using: &race.random) { race.scan(offer, Self.bystanderIdentity, .sessions) }
        for _ in 0..<Int.random(in: 0..<8, using: &race.random) where race.isMoving { race.step() }
        race.scan(offer, Fixture.deviceIdentity, .sessions)
        var meant: PeerID?
        for _ in 0..<400 where race.isMoving || meant == nil {
            guard race.isMoving else { break }
            race.step()
            guard meant == nil, Int.random(in: 0..<3, using: &race.random) == 0 else { continue }
            // The person answers what was on the screen a moment ago.
            let seenAt = race.now - Int64.random(in: 0..<1_000, using: &race.random)
            guard let seen = race.asked.last(where: { $0.at <= seenAt })?.device else { continue }
            race.accept()
            if let stored = race.stored.first {
                meant = seen.did
                #expect(stored.did == seen.did && stored.shortString == seen.shortString, "seed \(seed)")
            }
        }
        for _ in 0..<400 where race.isMoving { race.step() }
        expectOneWinner(race, "seed \(seed)")
    }

    @Test(
        "a device's code taken by the desktop of a bystander: the other one is not paired, and says so",
        arguments: [true, false])
    func show(isFirst: Bool) throws {
        var device = DeviceShowStateMachine()
        _ = device.show(
            Fixture.code("012345"), secret: Fixture.secret, random: Fixture.deviceRandom,
            identity: Fixture.deviceIdentity, over: Fixture.relay)
        _ = device.routeOnline(Fixture.relay.id, now: Fixture.now)
        guard case .displaying(let offer, _) = device.reported else {
            Issue.record("no code")
            return
        }
        var scans: [PeerID: DesktopScanStateMachine] = [:]
        var confirmations: [PeerID: PairingConfirmation] = [:]
        let identities = [Fixture.desktopIdentity, Self.bystanderIdentity]
        for identity in identities {
            var scan = DesktopScanStateMachine()
            _ = scan.scan(offer.serialized(), identity: identity, now: Fixture.now)
            guard case .taken(let actions) = scan.answer(accept: true, now: Fixture.now),
                case .send(.confirmation(let confirmation), to: _, sealed: true, .everywhere)? = actions.last
            else {
                Issue.record("nothing is sent")
                return
            }
            _ = scan.confirmationSent(toRelays: 1, now: Fixture.now)
            (scans[identity.did], confirmations[identity.did]) = (scan, confirmation)
        }
        let order = (isFirst ? identities : identities.reversed()).map(\.did)
        var hello: PairingHello?
        for did in order {
            let payload = try #require(confirmations[did]).json.object ?? [:]
            let actions = device.received(Fixture.sealed(payload, from: did), now: Fixture.now)
            guard did == order[0] else {
                #expect(actions == [] && device.dropped.notOpen == 1)
                continue
            }
            guard case .store(let desktop)? = actions.last else {
                Issue.record("not stored")
                return
            }
            for action in device.stored(desktop) {
                guard case .sendHello(let peer, _, let proof) = action else { continue }
                #expect(peer == did)
                hello = PairingHello(lastPushSeq: 0, proof: proof)
            }
        }
        let answer = try #require(hello).json.object ?? [:]
        for did in order {
            let frame = Fixture.sealed(answer, from: Fixture.device)
            let actions = scans[did]?.received(frame, now: Fixture.now) ?? []
            if did == order[0] {
                guard case .store(let stored)? = actions.last, case .completed(let desktop) = device.reported else {
                    Issue.record("not paired")
                    return
                }
                #expect(stored.shortString != nil && stored.shortString == desktop.shortString)
            } else {
                // Even if it gets the hello of the other one.
                #expect(actions == [] && scans[did]?.dropped.wrongProof == 1)
                var now = Fixture.now
                var last: [PairingStep<PairedDevice>] = []
                for _ in 0..<40 where scans[did]?.isActive == true {
                    now += Int64(DesktopScanStateMachine.repeatTime)
                    last = scans[did]?.timedOut(now: now) ?? []
                    _ = scans[did]?.confirmationSent(toRelays: 1, now: now)
                }
                #expect(scans[did]?.reported == .failed(PairingFailure(.timeout)))
                #expect(last.contains(.withdraw(Fixture.device)))
            }
        }
    }
}
