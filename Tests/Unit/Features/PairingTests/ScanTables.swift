import Identity
import JSON
import Wire

@testable import Pairing

/// What a peer says in a code or a frame that it can do.
enum PeerFeatures: CaseIterable {
    /// Neither a revision nor versions of the seal.
    case plain
    /// A revision, but no sessions.
    case revision
    /// A revision, and sessions.
    case sessions

    var versions: SealVersions? { self == .sessions ? .own : nil }

    /// What it sees of a code: nothing of what it doesn't know.
    func reads(_ seal: PairingSeal) -> PairingSeal {
        var seal = seal
        if self != .sessions { seal.versions = nil }
        if self == .plain { (seal.hasRevision, seal.commitment) = (false, nil) }
        return seal
    }

    /// A desktop's code.
    var desktopOffer: DesktopPairingOffer {
        var offer = Fixture.desktopOffer(hasRevision: self != .plain)
        offer.seal?.versions = versions
        return offer
    }
}

/// A desktop's code that a device scans, from both sides.
struct OfferTable {
    var table: PairingTable
    var device = DeviceScanStateMachine()
    var desktop = DesktopOfferStateMachine()
    /// What each side stored for its sessions; `nil` = it stored nothing.
    private(set) var deviceKey: PresharedKey??
    private(set) var desktopKey: PresharedKey??
    /// The desktop's user accepts a device that seals, and no other.
    var acceptsSecure = false
    private var timer: UInt64?

    init(seed: UInt64 = 1) { table = PairingTable(seed: seed) }

    /// - Parameter read: what the device reads, where that is another code.
    mutating func run(
        desktop features: PeerFeatures = .plain, device other: PeerFeatures = .sessions,
        reading read: ((PairingSeal) -> PairingSeal)? = nil
    ) {
        let offer = features.desktopOffer
        show(offer)
        var scanned = offer
        scanned.seal = offer.seal.map(read ?? other.reads)
        scan(scanned, as: other)
    }

    mutating func show(_ offer: DesktopPairingOffer) { perform(desktop.show(offer)) }

    /// The device scans a code, and does what follows.
    mutating func scan(_ offer: DesktopPairingOffer, as features: PeerFeatures = .sessions) {
        device = DeviceScanStateMachine()
        perform(
            device.scan(
                offer.serialized(), identity: Fixture.deviceIdentity, versions: features.versions, now: table.now))
        for _ in 0..<100 where device.isActive {
            deliver()
            guard device.isActive, let wait = timer else { continue }
            timer = nil
            table.now += Int64(wait)
            perform(device.timedOut(now: table.now))
        }
    }

    private mutating func deliver() {
        while let letter = table.next() {
            if letter.to == Fixture.desktop {
                perform(desktop.received(table.frame(letter), now: table.now))
            } else {
                perform(device.received(table.frame(letter), now: table.now))
            }
        }
    }

    private mutating func perform(_ actions: [PairingStep<PairedDesktop>]) {
        for action in actions {
            switch action {
            case .open(let route): perform(device.routeOnline(route.id, now: table.now))
            case .send(.ack(let ack), to: let peer, sealed: let isSealed, .over(let route)):
                table.send(ack.json, from: Fixture.device, to: peer, sealed: isSealed)
                perform(device.ackSent(true, over: route, now: table.now))
            case .startTimer(let wait): timer = wait
            case .stopTimer: timer = nil
            case .store(let desktop):
                deviceKey = .some(device.presharedKey)
                perform(device.stored(desktop))
            default: break
            }
        }
    }

    private mutating func perform(_ actions: [PairingStep<PairedDevice>]) {
        for action in actions {
            switch action {
            case .report(.desktopOffer(.acked(let device, .some))) where acceptsSecure && device.isSecure:
                if case .taken(let actions) = desktop.answer(accept: true, now: table.now) { perform(actions) }
            case .store(let device):
                desktopKey = .some(desktop.presharedKey)
                perform(desktop.stored(device, now: table.now))
            case .send(.challenge(let challenge), to: let peer, sealed: true, _):
                table.send(challenge.json, from: Fixture.desktop, to: peer, sealed: true)
            case .send(.confirmation(let confirmation), to: let peer, sealed: true, _):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: true)
            case .send(.reject(let reject), to: let peer, sealed: let isSealed, _):
                table.send(reject.json, from: Fixture.desktop, to: peer, sealed: isSealed)
            case .send(.iceConfig, to: let peer, sealed: false, _):
                let config = ICEConfig(pcPeerID: Fixture.desktop, iceServersJSON: "[]")
                table.send(config.json, from: Fixture.desktop, to: peer, sealed: false)
            default: break
            }
        }
    }
}

/// A device's code that a desktop scans, from both sides.
struct ShowTable {
    var table: PairingTable
    var device = DeviceShowStateMachine()
    var desktop = DesktopScanStateMachine()
    /// The device is told that it is not paired.
    private(set) var isWithdrawn = false
    /// What each side stored for its sessions; `nil` = it stored nothing.
    private(set) var deviceKey: PresharedKey??
    private(set) var desktopKey: PresharedKey??
    private var scanned: DevicePairingOffer?
    private var timer: UInt64?

    init(seed: UInt64 = 1) { table = PairingTable(seed: seed) }

    /// - Parameter read: what the desktop reads, where that is another code.
    mutating func run(
        device features: PeerFeatures = .sessions, desktop other: PeerFeatures = .sessions,
        reading read: ((PairingSeal) -> PairingSeal)? = nil
    ) {
        perform(
            device.show(
                Fixture.code("012345"), secret: Fixture.secret,
                random: features == .plain ? nil : Fixture.deviceRandom, versions: features.versions,
                identity: Fixture.deviceIdentity, over: Fixture.relay))
        guard case .displaying(var offer, _) = device.reported else { return }
        offer.seal = offer.seal.map(read ?? other.reads)
        scan(offer, as: other)
    }

    /// The desktop has forgotten its scan, and begins another one of the same code.
    mutating func scanAgain() {
        guard let scanned else { return }
        desktop = DesktopScanStateMachine()
        scan(scanned, as: .sessions)
    }

    private mutating func scan(_ offer: DevicePairingOffer, as features: PeerFeatures) {
        scanned = offer
        perform(
            desktop.scan(
                offer.serialized(), identity: Fixture.desktopIdentity, versions: features.versions, now: table.now))
        if case .taken(let actions) = desktop.answer(accept: true, now: table.now) { perform(actions) }
        for _ in 0..<100 where desktop.isActive {
            deliver()
            guard desktop.isActive, let wait = timer else { continue }
            timer = nil
            table.now += Int64(wait)
            perform(desktop.timedOut(now: table.now))
        }
    }

    private mutating func deliver() {
        while let letter = table.next() {
            if letter.to == Fixture.desktop {
                perform(desktop.received(table.frame(letter), now: table.now))
            } else {
                perform(device.received(table.frame(letter), now: table.now))
            }
        }
    }

    private mutating func perform(_ actions: [PairingStep<PairedDesktop>]) {
        for action in actions {
            switch action {
            case .open(let route): perform(device.routeOnline(route.id, now: table.now))
            case .sendHello(let peer, _, let proof):
                table.send(
                    PairingHello(lastPushSeq: 0, proof: proof).json, from: Fixture.device, to: peer, sealed: true)
            case .store(let desktop):
                deviceKey = .some(device.presharedKey)
                perform(device.stored(desktop))
            default: break
            }
        }
    }

    private mutating func perform(_ actions: [PairingStep<PairedDevice>]) {
        for action in actions {
            switch action {
            case .startTimer(let wait): timer = wait
            case .stopTimer: timer = nil
            case .send(.confirmation(let confirmation), to: let peer, sealed: let isSealed, .everywhere):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: isSealed)
                perform(desktop.confirmationSent(toRelays: 1, now: table.now))
            case .send(.confirmation(let confirmation), to: let peer, sealed: true, _):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: true)
            case .withdraw: isWithdrawn = true
            case .store(let device):
                desktopKey = .some(desktop.presharedKey)
                perform(desktop.stored(device, now: table.now))
            default: break
            }
        }
    }
}
