import Identity
import JSON
import Wire

@testable import Pairing

struct DesktopOfferFuzz: PairingFuzz {
    var world: PairingWorld
    private var machine = DesktopOfferStateMachine()
    private var storing: PairedDevice?

    init(_ world: PairingWorld) { self.world = world }

    var isActive: Bool { machine.isActive }

    mutating func step() throws {
        switch world.input.choice(10) {
        case 0:
            (storing, world.isAccepted) = (nil, false)
            world.forgetStore()
            let offer = world.desktopOffer()
            let (confirm, legacy) = (world.input.flag(), world.legacy())
            let randoms = (0..<4).compactMap { _ in world.random() }
            try act(machine.show(offer, confirm: confirm, legacy: legacy, randoms: randoms))
        case 1: try act(machine.cancel())
        case 2: try fire()
        case 3:
            let accept = world.input.flag()
            guard case .taken(let actions) = machine.answer(accept: accept, now: world.now) else { return }
            world.isAccepted = accept
            try act(actions)
        case 4: try finishStoring(succeeds: world.input.flag())
        case 5: machine.removed(world.peers.hostile)
        default: try act(machine.received(world.frame(), now: world.now))
        }
    }

    private mutating func act(_ actions: [PairingStep<PairedDevice>]) throws {
        for action in actions {
            switch action {
            case .startTimer(let wait): try world.start(wait)
            case .stopTimer: world.stop()
            case .store(let device):
                try world.store(isSecure: device.isSecure, mayBePlain: world.isAccepted)
                storing = device
            case .send(.confirmation, to: _, sealed: _, _): try world.require(false, .proofForStranger)
            default: break
            }
        }
        world.isAccepted = false
    }

    mutating func fire() throws { if world.fired() { try act(machine.timedOut(now: world.now)) } }

    mutating func finishStoring(succeeds: Bool) throws {
        guard let device = storing, world.stored() else { return }
        storing = nil
        try act(
            succeeds ? machine.stored(device, now: world.now) : machine.storeFailed(device.did, detail: nil))
    }
}

struct DesktopScanFuzz: PairingFuzz {
    var world: PairingWorld
    private var machine = DesktopScanStateMachine()
    private var storing: [PairedDevice] = []

    init(_ world: PairingWorld) { self.world = world }

    var isActive: Bool { machine.isActive }

    mutating func step() throws {
        switch world.input.choice(10) {
        case 0, 1:
            let offer = DevicePairingOffer(
                code: world.code(), did: world.peers.device, deviceInfo: PairingPeers.info, timestamp: world.now,
                seal: world.input.choice(4) > 0 ? PairingSeal(secret: PairingPeers.secretText) : nil)
            let identity = PairingIdentity(did: world.peers.desktop, deviceInfo: PairingPeers.info)
            let legacy = world.legacy()
            guard let random = world.random() else { return }
            try act(
                machine.scan(offer.serialized(), identity: identity, legacy: legacy, random: random, now: world.now))
        case 2:
            let accept = world.input.choice(4) > 0
            guard case .taken(let actions) = machine.answer(accept: accept, now: world.now) else { return }
            if accept { world.isAccepted = true }
            try act(actions)
        case 3: try act(machine.cancel())
        case 4: try act(machine.peerOffline(world.input.element([world.peers.device, world.peers.hostile])))
        case 5: try act(machine.relayRefused(detail: nil))
        case 6: try finishStoring(succeeds: world.input.flag())
        case 7: try fire()
        default: try act(machine.received(world.frame(), now: world.now))
        }
    }

    private mutating func act(_ actions: [PairingStep<PairedDevice>]) throws {
        for action in actions {
            switch action {
            case .startTimer(let wait): try world.start(wait)
            case .stopTimer: world.stop()
            case .store(let device):
                try world.store(isSecure: device.isSecure, mayBePlain: world.isAccepted)
                storing.append(device)
            default: break
            }
        }
        if !machine.isActive { world.isAccepted = false }
        for case .send(.confirmation(let confirmation), to: _, sealed: let isSealed, .everywhere) in actions {
            try world.checkSeal(isSealed, hasProof: confirmation.mac != nil)
            let relays = world.input.choice(3)
            try act(machine.confirmationSent(toRelays: relays, now: world.now))
        }
    }

    mutating func fire() throws { if world.fired() { try act(machine.timedOut(now: world.now)) } }

    mutating func finishStoring(succeeds: Bool) throws {
        guard let device = storing.first else { return }
        storing.removeFirst()
        if storing.isEmpty { world.forgetStore() }
        try act(succeeds ? machine.stored(device, now: world.now) : machine.storeFailed(device, detail: nil))
    }
}

struct DeviceScanFuzz: PairingFuzz {
    var world: PairingWorld
    private var machine = DeviceScanStateMachine()
    private var storing: PairedDesktop?
    private var isPlain = false

    init(_ world: PairingWorld) { self.world = world }

    var isActive: Bool { machine.isActive }

    mutating func step() throws {
        let route = world.input.element(PairingWorld.routes)
        switch world.input.choice(14) {
        case 0, 1:
            let offer = world.desktopOffer()
            let identity = PairingIdentity(did: world.peers.device, deviceInfo: PairingPeers.info)
            let own = world.input.flag() ? PairingWorld.routes[2].url : nil
            let legacy = world.legacy()
            guard let random = world.random() else { return }
            let actions = machine.scan(
                offer.serialized(), identity: identity, relayURL: own, legacy: legacy, random: random, now: world.now)
            if !actions.isEmpty {
                (storing, world.isAsleep, isPlain) = (nil, false, offer.seal == nil)
                world.forgetStore()
            }
            try act(actions)
        case 2: try act(machine.cancel())
        case 3, 4: try act(machine.routeOnline(route.id, now: world.now))
        case 5:
            let isFinal = world.input.flag()
            try act(machine.routeFailed(route.id, detail: nil, isFinal: isFinal, now: world.now))
        case 6: try act(machine.peerOffline(world.peers.desktop, over: route.id, now: world.now))
        case 7: try act(machine.relayRefused(over: route.id, detail: nil, now: world.now))
        case 8:
            let actions = machine.suspended()
            if !actions.isEmpty { world.isAsleep = true }
            try act(actions)
        case 9: try wake()
        case 10: try finishStoring(succeeds: world.input.flag())
        case 11: try fire()
        default: try act(machine.received(world.frame(), now: world.now))
        }
    }

    mutating func wake() throws {
        guard world.isAsleep else { return }
        world.isAsleep = false
        try act(machine.resumed(now: world.now))
    }

    private mutating func act(_ actions: [PairingStep<PairedDesktop>]) throws {
        for action in actions {
            switch action {
            case .startTimer(let wait): try world.start(wait)
            case .stopTimer: world.stop()
            case .store(let desktop):
                try world.store(isSecure: desktop.isSecure, mayBePlain: isPlain)
                storing = desktop
            default: break
            }
        }
        if !machine.isActive { world.isAsleep = false }
        for case .send(.ack(let ack), to: _, sealed: let isSealed, .over(let route)) in actions {
            try world.checkSeal(isSealed, hasProof: ack.mac != nil)
            let isWritten = world.input.choice(4) > 0
            try act(machine.ackSent(isWritten, over: route, now: world.now))
        }
    }

    mutating func fire() throws { if world.fired() { try act(machine.timedOut(now: world.now)) } }

    mutating func finishStoring(succeeds: Bool) throws {
        guard let desktop = storing, world.stored() else { return }
        storing = nil
        try act(succeeds ? machine.stored(desktop) : machine.storeFailed(desktop.id, detail: nil))
    }
}

struct DeviceShowFuzz: PairingFuzz {
    var world: PairingWorld
    private var machine = DeviceShowStateMachine()
    private var storing: PairedDesktop?

    init(_ world: PairingWorld) { self.world = world }

    var isActive: Bool { machine.isActive }

    mutating func step() throws {
        let route = world.input.element(PairingWorld.routes)
        switch world.input.choice(12) {
        case 0:
            (storing, world.isAsleep, world.isAccepted) = (nil, false, false)
            world.forgetStore()
            let code = world.code()
            let identity = PairingIdentity(did: world.peers.device, deviceInfo: PairingPeers.info)
            let random = world.input.flag() ? world.random() : nil
            let legacy = world.legacy()
            try act(
                machine.show(
                    code, secret: world.peers.secret, random: random, identity: identity, over: route, legacy: legacy))
        case 1: try act(machine.cancel())
        case 2, 3: try act(machine.routeOnline(route.id, now: world.now))
        case 4:
            let isFinal = world.input.flag()
            try act(machine.routeFailed(route.id, detail: nil, isFinal: isFinal))
        case 5:
            let actions = machine.suspended()
            if !actions.isEmpty { world.isAsleep = true }
            try act(actions)
        case 6: try wake()
        case 7: try finishStoring(succeeds: world.input.flag())
        case 8:
            let accept = world.input.flag()
            guard case .taken(let actions) = machine.answer(accept: accept, now: world.now) else { return }
            world.isAccepted = accept
            try act(actions)
        case 9: try fire()
        default: try act(machine.received(world.frame(), now: world.now))
        }
    }

    mutating func wake() throws {
        guard world.isAsleep else { return }
        world.isAsleep = false
        try act(machine.resumed(now: world.now))
    }

    private mutating func act(_ actions: [PairingStep<PairedDesktop>]) throws {
        for action in actions {
            switch action {
            case .startTimer(let wait): try world.start(wait)
            case .stopTimer: world.stop()
            case .store(let desktop):
                try world.store(isSecure: desktop.isSecure, mayBePlain: world.isAccepted)
                storing = desktop
            case .sendHello: try world.require(false, .proofForStranger)
            default: break
            }
        }
        world.isAccepted = false
        if !machine.isActive { world.isAsleep = false }
    }

    mutating func fire() throws { if world.fired() { try act(machine.timedOut(now: world.now)) } }

    mutating func finishStoring(succeeds: Bool) throws {
        guard let desktop = storing, world.stored() else { return }
        storing = nil
        try act(succeeds ? machine.stored(desktop) : machine.storeFailed(desktop.id, detail: nil))
    }
}
