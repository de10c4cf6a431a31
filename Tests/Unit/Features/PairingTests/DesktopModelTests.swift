import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Pairing

/// Random sequences of events against the desktop's machines: no illegal transition, no trap, every flow ends, and a timer
/// is armed while anything is under way.
@Suite struct DesktopModelTests {
    @Test("the offer: 300 seeds of 300 events", arguments: 0..<300)
    func offer(seed: Int) {
        var model = OfferModel(seed: UInt64(seed))
        for _ in 0..<300 { model.step() }
        model.finish()
    }

    @Test("the scan: 200 seeds of 200 events", arguments: 0..<200)
    func scan(seed: Int) {
        var model = ScanModel(seed: UInt64(seed))
        for _ in 0..<200 { model.step() }
        model.finish()
    }

    @Test("the typed code: 200 seeds of 200 events", arguments: 0..<200)
    func typed(seed: Int) {
        var model = TypedModel(seed: UInt64(seed))
        for _ in 0..<200 { model.step() }
        model.finish()
    }
}

private struct OfferModel {
    private var machine = DesktopOfferStateMachine()
    private var random: SeededGenerator
    private var ledger = ModelLedger()
    private var now = Fixture.now
    private var storing: PairedDevice?

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func carryOut(_ actions: [PairingStep<PairedDevice>]) {
        for action in actions {
            switch action {
            case .store(let device):
                #expect(device.did != Fixture.evil || !device.isSecure)
                storing = device
            case .send(.confirmation(let confirmation), to: let peer, sealed: true, _):
                #expect(peer == Fixture.device)
                #expect(Fixture.bond(code: confirmation.code.digits)?.proves(confirmation) == true)
            default: break
            }
        }
        ledger.take(
            actions, .desktopOffer(machine.reported), isActive: machine.isActive,
            needsTimer: machine.isActive && storing == nil, holds: [])
    }

    mutating func step() {
        now += Int64.random(in: 0...2_000, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            storing = nil
            let code = Bool.random(using: &random) ? "012345" : "999999"
            var offer = Fixture.desktopOffer(confirm: Bool.random(using: &random), code: code, at: now)
            if Bool.random(using: &random) { offer.seal = nil }
            carryOut(
                machine.show(
                    offer, confirm: Bool.random(using: &random),
                    legacy: LegacyPairing.allCases.randomElement(using: &random) ?? .qr))
        case 1: carryOut(machine.cancel())
        case 2: fire()
        case 3, 4:
            let accept = Bool.random(using: &random)
            if case .taken(let actions) = machine.answer(accept: accept, now: now) { carryOut(actions) }
        case 5, 6: finishStoring()
        case 7: machine.removed(Fixture.device)
        default: receive()
        }
    }

    private mutating func receive() {
        let (payload, from): (JSONObject, PeerID) =
            switch Int.random(in: 0..<5, using: &random) {
            case 0: (Fixture.ack(at: now), Fixture.device)
            case 1: (Fixture.ack(code: "999999", at: now), Fixture.device)
            case 2: (Fixture.ack(at: now), Fixture.evil)
            case 3: (Fixture.ack(secret: Fixture.otherSecret, device: Fixture.evil, at: now), Fixture.evil)
            default: ([:], Fixture.device)
            }
        let frame = PairingFrame(
            payload, from: from, isSealed: Bool.random(using: &random),
            isOfSecurePeer: Int.random(in: 0..<6, using: &random) == 0,
            delivery: Int.random(in: 0..<4, using: &random) > 0 ? .live : .stored(at: now - 1_000))
        carryOut(machine.received(frame, now: now))
    }

    private mutating func finishStoring() {
        guard let device = storing else { return }
        storing = nil
        carryOut(
            Bool.random(using: &random)
                ? machine.stored(device, now: now) : machine.storeFailed(device.did, detail: nil))
    }

    private mutating func fire() {
        guard let wait = ledger.fire() else { return }
        now += wait
        carryOut(machine.timedOut(now: now))
    }

    mutating func finish() {
        for _ in 0..<4 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}

private struct ScanModel {
    private var machine = DesktopScanStateMachine()
    private var random: SeededGenerator
    private var ledger = ModelLedger()
    private var now = Fixture.now
    /// What is on its way to the disk, in its order.
    private var storing: [PairedDevice] = []
    /// Who may have taken a sealed confirmation, and was neither paired nor told otherwise.
    private var told: Set<PeerID> = []

    private var isStoring: Bool { if case .storing = machine.state { true } else { false } }

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func carryOut(_ actions: [PairingStep<PairedDevice>]) {
        for action in actions {
            switch action {
            case .store(let device): storing.append(device)
            case .withdraw(let peer): told.remove(peer)
            case .report(.desktopScan(.paired(let device))): told.remove(device.did)
            // It has said no.
            case .report(.desktopScan(.failed(let failure))) where failure.reason == .rejected: told = []
            default: break
            }
        }
        // A device that may believe it is paired is, or hears that it is not.
        if !machine.isActive, storing.isEmpty { #expect(told.isEmpty) }
        ledger.take(
            actions, .desktopScan(machine.reported), isActive: machine.isActive,
            needsTimer: machine.isActive && !isStoring, holds: [])
        for action in actions {
            if case .send(.confirmation(let confirmation), to: let peer, sealed: let isSealed, .everywhere) = action {
                #expect(isSealed == (confirmation.mac != nil))
                let relays = Int.random(in: 0...2, using: &random)
                if relays > 0, isSealed { told.insert(peer) }
                carryOut(machine.confirmationSent(toRelays: relays, now: now))
            }
        }
    }

    mutating func step() {
        now += Int64.random(in: 0...500, using: &random)
        let peer = [Fixture.device, Fixture.evil].randomElement(using: &random) ?? Fixture.device
        switch Int.random(in: 0..<18, using: &random) {
        case 0, 1:
            let offers = [
                Fixture.deviceOffer().serialized(), Fixture.deviceOffer(sealed: false).serialized(),
                Fixture.deviceOffer(code: "999999", at: now - 250_000).serialized(), "{}",
            ]
            let actions = machine.scan(
                offers.randomElement(using: &random) ?? "", identity: Fixture.desktopIdentity, now: now)
            carryOut(actions)
        case 2...5:
            let accept = Int.random(in: 0..<4, using: &random) > 0
            if case .taken(let actions) = machine.answer(accept: accept, now: now) { carryOut(actions) }
        case 6: carryOut(machine.cancel())
        case 7, 8: carryOut(machine.peerOffline(peer))
        case 9: carryOut(machine.relayRefused(detail: nil))
        case 10, 11:
            let payloads: [JSONObject] = [Fixture.hello, Fixture.reject(), [:]]
            let payload = payloads.randomElement(using: &random) ?? [:]
            let frame = PairingFrame(payload, from: peer, isSealed: Bool.random(using: &random))
            carryOut(machine.received(frame, now: now))
        case 12, 13: finishStoring()
        case 14: machine.removed(peer)
        default: fire()
        }
    }

    private mutating func finishStoring() {
        guard !storing.isEmpty else { return }
        let device = storing.removeFirst()
        carryOut(
            Bool.random(using: &random)
                ? machine.stored(device, now: now) : machine.storeFailed(device, detail: nil))
    }

    private mutating func fire() {
        guard let wait = ledger.fire() else { return }
        now += wait
        carryOut(machine.timedOut(now: now))
    }

    mutating func finish() {
        for _ in 0..<40 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}

private struct TypedModel {
    private var machine = DesktopTypedCodeStateMachine()
    private var random: SeededGenerator
    private var ledger = ModelLedger()
    private var now = Fixture.now
    private var storing: PairedDevice?
    private var device: CPaceInitiator?
    private var key: CPaceKey?
    private var answered = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func carryOut(_ actions: [PairingStep<PairedDevice>]) {
        for action in actions {
            switch action {
            case .store(let device): storing = device
            case .openAlias: answered = 0
            case .send(.exchange(let exchange), to: let peer, sealed: false, .alias): hear(exchange, peer)
            default: break
            }
        }
        ledger.take(
            actions, .desktopCode(machine.reported), isActive: machine.isActive,
            needsTimer: machine.isActive && storing == nil,
            holds: Set(machine.heldAlias.map { [RouteID($0.text)] } ?? []))
    }

    private mutating func hear(_ exchange: PairingExchange, _ peer: PeerID) {
        guard case .desktopShare(let did, let share) = exchange.step, peer == Fixture.device,
            device?.sid == exchange.sid
        else { return }
        #expect(did == Fixture.desktop)
        key = try? device?.finish(desktopID: did.text, share: share)
    }

    mutating func step() {
        now += Int64.random(in: 0...1_000, using: &random)
        switch Int.random(in: 0..<26, using: &random) {
        case 0:
            storing = nil
            carryOut(
                machine.show(
                    nameplate: Fixture.code("123456"), password: Fixture.code("789012"),
                    identity: Fixture.desktopIdentity, confirm: Bool.random(using: &random),
                    legacy: LegacyPairing.allCases.randomElement(using: &random) ?? .qr))
        case 1: carryOut(machine.cancel())
        case 2...5: carryOut(machine.aliasOnline(now: now))
        case 6:
            guard Int.random(in: 0..<3, using: &random) == 0 else { return }
            carryOut(
                machine.aliasTaken(newNameplate: Fixture.code("123456"), newPassword: Fixture.code("789012")))
        case 7: carryOut(machine.aliasFailed(detail: nil, isFinal: Int.random(in: 0..<4, using: &random) == 0))
        case 8...11: begin()
        case 12...14: confirm()
        case 15...17: acknowledge()
        case 18: receiveNonsense()
        case 19, 20:
            let accept = Bool.random(using: &random)
            if case .taken(let actions) = machine.answer(accept: accept, now: now) { carryOut(actions) }
        case 21, 22: finishStoring()
        case 23: machine.removed(Fixture.device)
        default: if Int.random(in: 0..<6, using: &random) == 0 { fire() }
        }
    }

    private mutating func atAlias(_ payload: JSONValue, from: PeerID, isSealed: Bool = false) {
        let frame = PairingFrame(
            payload.object ?? [:], from: from, isSealed: isSealed,
            delivery: Int.random(in: 0..<8, using: &random) > 0 ? .live : .stored(at: now))
        carryOut(machine.receivedAtAlias(frame, now: now, using: &random))
    }

    private mutating func begin() {
        let password = Bool.random(using: &random) ? "789012" : "000000"
        let from = Int.random(in: 0..<4, using: &random) > 0 ? Fixture.device : Fixture.evil
        guard
            let run = try? CPaceInitiator(
                password: password, alias: "pairing-code:123456", deviceID: from.text, using: &random)
        else { return }
        if from == Fixture.device { device = run }
        atAlias(
            PairingExchange(sid: run.sid, step: .deviceShare(did: from, share: run.share)).json,
            from: Int.random(in: 0..<6, using: &random) > 0 ? from : "stranger")
    }

    private mutating func confirm() {
        guard let key, let device else { return }
        atAlias(
            PairingExchange(sid: device.sid, step: .deviceConfirm(key.confirmation(of: .device))).json,
            from: Fixture.device)
    }

    private mutating func acknowledge() {
        guard let secret = key?.pairingSecret,
            let bond = Fixture.bond(secret: secret, code: "123456")
        else { return }
        let ack = bond.ack(of: Fixture.deviceIdentity.deviceInfo, at: now).json.object ?? [:]
        let isSealed = Int.random(in: 0..<4, using: &random) > 0
        carryOut(machine.received(PairingFrame(ack, from: Fixture.device, isSealed: isSealed), now: now))
    }

    private mutating func receiveNonsense() {
        let bytes = String(repeating: "A", count: 43)
        let sid = String(repeating: "A", count: 22)
        let payloads: [JSONValue] = [
            [:], PairingExchange(sid: sid, step: .desktopShare(did: Fixture.evil, share: bytes)).json,
            PairingExchange(sid: sid, step: .deviceShare(did: Fixture.evil, share: bytes)).json,
            PairingExchange(sid: sid, step: .deviceConfirm(bytes)).json,
            .object(Fixture.ack(device: Fixture.evil, code: "123456", at: now)),
        ]
        let payload = payloads.randomElement(using: &random) ?? [:]
        if Bool.random(using: &random) {
            atAlias(payload, from: Fixture.evil, isSealed: Bool.random(using: &random))
        } else {
            let frame = PairingFrame(payload.object ?? [:], from: Fixture.evil, isSealed: Bool.random(using: &random))
            carryOut(machine.received(frame, now: now))
        }
    }

    private mutating func finishStoring() {
        guard let device = storing else { return }
        storing = nil
        carryOut(
            Bool.random(using: &random)
                ? machine.stored(device, now: now) : machine.storeFailed(device.did, detail: nil))
    }

    private mutating func fire() {
        guard let wait = ledger.fire() else { return }
        now += wait
        carryOut(machine.timedOut(now: now))
    }

    mutating func finish() {
        for _ in 0..<6 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}
