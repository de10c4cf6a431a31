import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Pairing

/// Random sequences of events against the device's machines: no illegal transition, no trap, every flow ends, and a timer
/// is armed while anything is under way.
@Suite struct DeviceModelTests {
    @Test("the scan: 300 seeds of 300 events", arguments: 0..<300)
    func scan(seed: Int) {
        var model = ScanModel(seed: UInt64(seed))
        for _ in 0..<300 { model.step() }
        model.finish()
    }

    @Test("the code that is shown: 200 seeds of 200 events", arguments: 0..<200)
    func show(seed: Int) {
        var model = ShowModel(seed: UInt64(seed))
        for _ in 0..<200 { model.step() }
        model.finish()
    }

    @Test("the code that is typed: 200 seeds of 200 events", arguments: 0..<200)
    func typed(seed: Int) {
        var model = TypedModel(seed: UInt64(seed))
        for _ in 0..<200 { model.step() }
        model.finish()
    }
}

/// Something that a desktop could say, or somebody who pretends to be one.
private func payload(using random: inout SeededGenerator) -> JSONObject {
    switch Int.random(in: 0..<7, using: &random) {
    case 0: Fixture.reject()
    case 1: Fixture.confirmation()
    case 2: Fixture.confirmation(code: "999999")
    case 3: Fixture.confirmation(secret: Fixture.otherSecret)
    case 4: Fixture.plainConfirmation()
    case 5: Fixture.iceConfig
    default: [:]
    }
}

private struct ScanModel {
    private var machine = DeviceScanStateMachine()
    private var random: SeededGenerator
    private var ledger = ModelLedger()
    private var now = Fixture.now
    private var storing: PairedDesktop?
    private var isAsleep = false

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let offers: [DesktopPairingOffer] = {
        var plain = Fixture.desktopOffer(lan: true, code: "111111")
        plain.seal = nil
        plain.pcPeerID = "pc"
        var onlyLAN = plain
        onlyLAN.relayURL = nil
        var noRelay = plain
        (noRelay.signalingURL, noRelay.relayURL) = (nil, nil)
        return [
            plain, onlyLAN, noRelay, Fixture.desktopOffer(), Fixture.desktopOffer(lan: true),
            Fixture.desktopOffer(confirm: true, lan: true, code: "222222", at: Fixture.now - 290_000),
        ]
    }()

    private mutating func carryOut(_ actions: [PairingStep<PairedDesktop>]) {
        for action in actions {
            if case .store(let desktop) = action { storing = desktop }
        }
        if !machine.isActive { isAsleep = false }
        ledger.take(
            actions, .deviceScan(machine.reported), isActive: machine.isActive,
            needsTimer: machine.isActive && storing == nil && !isAsleep,
            holds: Set(machine.heldRoutes.map(\.id)))
        for action in actions {
            if case .send(.ack(let ack), to: let peer, sealed: let isSealed, .over(let route)) = action {
                #expect(isSealed == (ack.mac != nil))
                #expect(isSealed == (peer == Fixture.desktop))
                #expect(machine.heldRoutes.contains { $0.id == route })
                carryOut(machine.ackSent(Int.random(in: 0..<5, using: &random) > 0, over: route, now: now))
            }
        }
    }

    mutating func step() {
        now += Int64.random(in: 0...1_000, using: &random)
        let routes = [Fixture.lan, Fixture.relay, Fixture.own]
        let route = routes.randomElement(using: &random) ?? Fixture.lan
        let peers: [PeerID] = ["pc", Fixture.desktop, Fixture.evil]
        let peer = peers.randomElement(using: &random) ?? "pc"
        switch Int.random(in: 0..<28, using: &random) {
        case 0, 1:
            guard let offer = Self.offers.randomElement(using: &random) else { return }
            scan(offer.serialized())
        case 2: scan(["", "{}", "[", #"{"type":"desktop-pairing"}"#].randomElement(using: &random) ?? "")
        case 3: carryOut(machine.cancel())
        case 4...10: carryOut(machine.routeOnline(route.id, now: now))
        case 11, 12: carryOut(machine.routeFailed(route.id, detail: nil, now: now))
        case 13:
            let actions = machine.routeFailed(route.id, detail: nil, isFinal: true, now: now)
            if !machine.heldRoutes.contains(route) { ledger.lost(route.id) }
            carryOut(actions)
        case 14, 15: carryOut(machine.peerOffline(peer, over: route.id, now: now))
        case 16: carryOut(machine.relayRefused(over: route.id, detail: nil, now: now))
        case 17, 18, 19: receive(from: peer)
        case 20: machine.removed(peer)
        case 21: sleep()
        case 22: wake()
        case 23, 24: finishStoring()
        default: fire()
        }
    }

    private mutating func scan(_ text: String) {
        let actions = machine.scan(
            text, identity: Fixture.deviceIdentity, relayURL: Bool.random(using: &random) ? Fixture.own.url : nil,
            now: now)
        if !actions.isEmpty {
            storing = nil
            isAsleep = false
        }
        carryOut(actions)
    }

    private mutating func receive(from peer: PeerID) {
        let frame = PairingFrame(
            payload(using: &random), from: peer, isSealed: Bool.random(using: &random),
            delivery: Bool.random(using: &random) ? .live : .stored(at: now))
        carryOut(machine.received(frame, now: now))
    }

    private mutating func sleep() {
        let actions = machine.suspended()
        if !actions.isEmpty { isAsleep = true }
        carryOut(actions)
    }

    private mutating func wake() {
        guard isAsleep else { return }
        isAsleep = false
        carryOut(machine.resumed(now: now))
    }

    private mutating func finishStoring() {
        guard let desktop = storing else { return }
        storing = nil
        carryOut(
            Bool.random(using: &random) ? machine.stored(desktop) : machine.storeFailed(desktop.id, detail: nil))
    }

    private mutating func fire() {
        guard let wait = ledger.fire() else { return }
        now += wait
        carryOut(machine.timedOut(now: now))
    }

    /// With no help at all, only its own timers and the store, each scan comes to its end.
    mutating func finish() {
        wake()
        for _ in 0..<60 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}

private struct ShowModel {
    private var machine = DeviceShowStateMachine()
    private var random: SeededGenerator
    private var ledger = ModelLedger()
    private var now = Fixture.now
    private var storing: PairedDesktop?
    private var isAsleep = false
    private var isAsking = false

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func carryOut(_ actions: [PairingStep<PairedDesktop>]) {
        let wasAsking = isAsking
        isAsking = if case .confirming = machine.reported { true } else { false }
        for action in actions {
            switch action {
            case .store(let desktop):
                storing = desktop
                #expect(desktop.isSecure || wasAsking, "nobody was asked about a desktop that proves nothing")
                // The desktop that is played here has no `rev`: digits only where our code commits to nothing.
                var commits = false
                if case .storing(_, _, let shown) = machine.state { commits = shown.show.random != nil }
                #expect((desktop.isSecure && !commits) == (desktop.shortString != nil))
            case .sendHello(let peer, _, _): #expect(peer == Fixture.desktop)
            default: break
            }
        }
        if !machine.isActive { isAsleep = false }
        ledger.take(
            actions, .deviceShow(machine.reported), isActive: machine.isActive,
            needsTimer: machine.isActive && storing == nil && !isAsleep,
            holds: Set([machine.heldRoute?.id].compactMap { $0 }))
    }

    mutating func step() {
        now += Int64.random(in: 0...2_000, using: &random)
        let route = [Fixture.lan, Fixture.relay].randomElement(using: &random) ?? Fixture.lan
        switch Int.random(in: 0..<22, using: &random) {
        case 0, 1:
            storing = nil
            isAsleep = false
            carryOut(
                machine.show(
                    Fixture.code("012345"), secret: Fixture.secret,
                    random: Bool.random(using: &random) ? Fixture.deviceRandom : nil,
                    identity: Int.random(in: 0..<9, using: &random) > 0 ? Fixture.deviceIdentity : nil,
                    over: Int.random(in: 0..<9, using: &random) > 0 ? route : nil,
                    legacy: LegacyPairing.allCases.randomElement(using: &random) ?? .qr))
        case 2: carryOut(machine.cancel())
        case 3...6: carryOut(machine.routeOnline(route.id, now: now))
        case 7: carryOut(machine.routeFailed(route.id, detail: "x", isFinal: Bool.random(using: &random)))
        case 8...13:
            let peers: [PeerID] = [Fixture.desktop, Fixture.evil, "pc"]
            let peer = peers.randomElement(using: &random) ?? "pc"
            let frame = PairingFrame(
                payload(using: &random), from: peer, isSealed: Bool.random(using: &random),
                isOfSecurePeer: Int.random(in: 0..<6, using: &random) == 0,
                delivery: Bool.random(using: &random) ? .live : .stored(at: now))
            carryOut(machine.received(frame, now: now))
        case 14:
            let actions = machine.suspended()
            if !actions.isEmpty { isAsleep = true }
            carryOut(actions)
        case 15: wake()
        case 16, 17: finishStoring()
        case 18: machine.removed(Fixture.desktop)
        case 19, 20:
            let isAsked = if case .confirming = machine.reported { true } else { false }
            switch machine.answer(accept: Bool.random(using: &random), now: now) {
            case .taken(let actions):
                #expect(isAsked)
                carryOut(actions)
            case .nothingWaits: #expect(!isAsked)
            }
        default: fire()
        }
    }

    private mutating func wake() {
        guard isAsleep else { return }
        isAsleep = false
        carryOut(machine.resumed(now: now))
    }

    private mutating func finishStoring() {
        guard let desktop = storing else { return }
        storing = nil
        carryOut(
            Bool.random(using: &random) ? machine.stored(desktop) : machine.storeFailed(desktop.id, detail: nil))
    }

    private mutating func fire() {
        guard let wait = ledger.fire() else { return }
        now += wait
        carryOut(machine.timedOut(now: now))
    }

    mutating func finish() {
        wake()
        for _ in 0..<4 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}

private struct TypedModel {
    private var machine = DeviceTypedCodeStateMachine()
    private var random: SeededGenerator
    private var ledger = ModelLedger()
    private var now = Fixture.now
    private var storing: PairedDesktop?
    private var isAsleep = false
    /// The desktop's answer to what was sent last, if it heard it.
    private var answer: PairingFrame?
    private var key: CPaceKey?

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func carryOut(_ actions: [PairingStep<PairedDesktop>]) {
        for action in actions {
            switch action {
            case .store(let desktop):
                storing = desktop
                #expect(desktop.isSecure == (desktop.shortString != nil))
            case .send(.exchange(let exchange), to: let alias, sealed: false, _): hear(exchange, at: alias)
            case .send(.ack(let ack), to: let peer, sealed: let isSealed, _): hear(ack, at: peer, isSealed)
            default: break
            }
        }
        if !machine.isActive { isAsleep = false }
        ledger.take(
            actions, .deviceCode(machine.reported), isActive: machine.isActive,
            needsTimer: machine.isActive && storing == nil && !isAsleep,
            holds: Set([machine.heldRoute?.id].compactMap { $0 }))
    }

    /// An honest desktop that shows 123456-789012.
    private mutating func hear(_ exchange: PairingExchange, at alias: PeerID) {
        #expect(alias == "pairing-code:123456")
        let step: PairingExchange.Step
        switch exchange.step {
        case .deviceShare(let did, let share):
            guard
                let responder = try? CPaceResponder(
                    password: "789012", alias: alias.text, sid: exchange.sid, deviceID: did.text, deviceShare: share,
                    desktopID: Fixture.desktop.text, using: &random)
            else { return }
            key = responder.key
            step = .desktopShare(did: Fixture.desktop, share: responder.share)
        case .deviceConfirm(let confirm):
            guard let key, key.verifies(confirm, of: .device) else { return }
            step = .desktopConfirm(key.confirmation(of: .desktop))
        case .desktopShare, .desktopConfirm:
            Issue.record("a step of the desktop")
            return
        }
        answer = PairingFrame(PairingExchange(sid: exchange.sid, step: step).json.object ?? [:], from: alias)
    }

    private mutating func hear(_ ack: PairAck, at peer: PeerID, _ isSealed: Bool) {
        guard isSealed else {
            #expect(peer == "pairing-code:123456" && ack.mac == nil)
            answer = PairingFrame(Fixture.iceConfig, from: "pc")
            return
        }
        guard let secret = key?.pairingSecret, let bond = Fixture.bond(secret: secret, code: "123456"),
            bond.proves(ack)
        else { return }
        let confirmation = bond.confirmation(of: Fixture.desktopIdentity.deviceInfo, at: now)
        answer = Fixture.sealed(confirmation.json.object ?? [:], from: Fixture.desktop)
    }

    mutating func step() {
        now += Int64.random(in: 0...1_000, using: &random)
        let route = [Fixture.relay, Fixture.own].randomElement(using: &random) ?? Fixture.own
        let alias: PeerID = "pairing-code:123456"
        switch Int.random(in: 0..<26, using: &random) {
        case 0, 1:
            let text = ["123456-789012", "123456 789012", "123456", "x"].randomElement(using: &random) ?? ""
            let actions = machine.submit(
                text, identity: Fixture.deviceIdentity, over: route, legacy: .all, using: &random)
            if !actions.isEmpty {
                storing = nil
                isAsleep = false
            }
            carryOut(actions)
        case 2: carryOut(machine.cancel())
        case 3...6: carryOut(machine.routeOnline(route.id, now: now))
        case 7:
            carryOut(machine.routeFailed(route.id, detail: nil, isFinal: Int.random(in: 0..<4, using: &random) == 0))
        case 8:
            carryOut(machine.peerOffline(Bool.random(using: &random) ? alias : Fixture.desktop, over: route.id))
        case 9: carryOut(machine.relayRefused(over: route.id, detail: nil))
        case 10: receiveNonsense(from: [alias, Fixture.desktop, Fixture.evil].randomElement(using: &random) ?? alias)
        case 11...18:
            guard let frame = answer else { return }
            if Bool.random(using: &random) { answer = nil }
            carryOut(machine.received(frame, now: now))
        case 19:
            let actions = machine.suspended(now: now)
            if !actions.isEmpty { isAsleep = true }
            carryOut(actions)
        case 20: wake()
        case 21, 22: finishStoring()
        default: fire()
        }
    }

    private mutating func receiveNonsense(from peer: PeerID) {
        let bytes = String(repeating: "A", count: 43)
        let sid = String(repeating: "A", count: 22)
        let payloads: [JSONObject] = [
            [:], Fixture.reject("123456"), Fixture.confirmation(code: "123456"), Fixture.iceConfig,
            PairingExchange(sid: sid, step: .desktopShare(did: Fixture.evil, share: bytes)).json.object ?? [:],
            PairingExchange(sid: sid, step: .desktopConfirm(bytes)).json.object ?? [:],
        ]
        let frame = PairingFrame(
            payloads.randomElement(using: &random) ?? [:], from: peer, isSealed: Bool.random(using: &random),
            delivery: Bool.random(using: &random) ? .live : .stored(at: now))
        carryOut(machine.received(frame, now: now))
    }

    private mutating func wake() {
        guard isAsleep else { return }
        isAsleep = false
        carryOut(machine.resumed(now: now))
    }

    private mutating func finishStoring() {
        guard let desktop = storing else { return }
        storing = nil
        carryOut(
            Bool.random(using: &random) ? machine.stored(desktop) : machine.storeFailed(desktop.id, detail: nil))
    }

    private mutating func fire() {
        guard let wait = ledger.fire() else { return }
        now += wait
        carryOut(machine.timedOut(now: now))
    }

    mutating func finish() {
        wake()
        for _ in 0..<40 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}
