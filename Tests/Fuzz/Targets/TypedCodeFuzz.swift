import Identity
import JSON
import Wire

@testable import Pairing

/// A typed code on the desktop, at whose alias a guesser begins runs, goes on with them in any order, and acknowledges.
struct DesktopCodeFuzz: PairingFuzz {
    var world: PairingWorld
    private var machine = DesktopTypedCodeStateMachine()
    private var storing: PairedDevice?
    private var runs: [CPaceInitiator] = []
    private var keys: [(sid: String, key: CPaceKey)] = []
    /// The runs that the desktop has answered since the code was shown: each is a guess.
    private var answered: Set<String> = []

    init(_ world: PairingWorld) {
        self.world = world
        self.world.codes = [Self.nameplate, "999999"]
    }

    var isActive: Bool { machine.isActive }

    private static let nameplate = "123456"
    private static let password = "789012"

    mutating func step() throws {
        switch world.input.choice(16) {
        case 0:
            (storing, world.isAccepted, runs, keys) = (nil, false, [], [])
            world.forgetStore()
            guard let nameplate = PairingCode(Self.nameplate), let password = PairingCode(Self.password) else { return }
            let identity = PairingIdentity(did: world.peers.desktop, deviceInfo: PairingPeers.info)
            let (confirm, legacy) = (world.input.flag(), world.legacy())
            try act(
                machine.show(
                    nameplate: nameplate, password: password, identity: identity, confirm: confirm, legacy: legacy))
        case 1: try act(machine.cancel())
        case 2: try act(machine.aliasOnline(now: world.now))
        case 3:
            guard let nameplate = PairingCode(Self.nameplate), let password = PairingCode(Self.password) else { return }
            try act(machine.aliasTaken(newNameplate: nameplate, newPassword: password))
        case 4: try act(machine.aliasFailed(detail: nil, isFinal: world.input.flag()))
        case 5, 6, 7: try guess()
        case 8, 9: try confirm()
        case 10: try acknowledge()
        case 11:
            let accept = world.input.flag()
            guard case .taken(let actions) = machine.answer(accept: accept, now: world.now) else { return }
            world.isAccepted = accept
            try act(actions)
        case 12: try finishStoring(succeeds: world.input.flag())
        case 13: if world.input.choice(4) == 0 { try fire() }
        case 14: try act(machine.received(world.frame(), now: world.now))
        default: try atAlias(world.frame())
        }
    }

    private mutating func atAlias(_ frame: PairingFrame) throws {
        var generator = world.generator
        let actions = machine.receivedAtAlias(frame, now: world.now, using: &generator)
        world.generator = generator
        try act(actions)
    }

    private mutating func guess() throws {
        let from = world.input.element([world.peers.hostile, world.peers.device])
        let password = world.input.element(world.digits(unlike: Self.password))
        guard
            let run = try? CPaceInitiator(
                password: password, alias: "pairing-code:\(Self.nameplate)", deviceID: from.text,
                using: &world.generator)
        else { return }
        if runs.count < 16 { runs.append(run) }
        let step = PairingExchange.Step.deviceShare(did: from, share: run.share)
        try atAlias(PairingFrame(PairingExchange(sid: run.sid, step: step).json.object ?? [:], from: from))
    }

    /// Goes on with any run, with its own confirmation, that of another run, or a reflected one.
    private mutating func confirm() throws {
        guard !keys.isEmpty else { return }
        let (run, other) = (world.input.element(keys.map(\.sid)), world.input.choice(keys.count))
        let side = world.input.flag()
        let confirmation = keys[other].key.confirmation(of: side ? .device : .desktop)
        let exchange = PairingExchange(sid: run, step: .deviceConfirm(confirmation))
        let from = world.input.element([world.peers.hostile, world.peers.device])
        try atAlias(PairingFrame(exchange.json.object ?? [:], from: from))
    }

    /// An ack with a proof by the key of a run that went wrong.
    private mutating func acknowledge() throws {
        guard !keys.isEmpty, let code = PairingCode(Self.nameplate) else { return }
        let from = world.input.element([world.peers.hostile, world.peers.device])
        let secret = keys[world.input.choice(keys.count)].key.pairingSecret
        let bond = PairingBond(secret: secret, device: from, desktop: world.peers.desktop, code: code)
        let ack = bond?.ack(of: PairingPeers.info, at: world.now).json.object ?? [:]
        // Only its own key can seal in its name.
        let isSealed = (from == world.peers.hostile || world.fault?.kind == .proofs) && world.input.flag()
        try act(machine.received(PairingFrame(ack, from: from, isSealed: isSealed), now: world.now))
    }

    private mutating func act(_ actions: [PairingStep<PairedDevice>]) throws {
        for action in actions {
            switch action {
            case .startTimer(let wait): try world.start(wait)
            case .stopTimer: world.stop()
            case .openAlias: if world.fault?.kind != .guesses { answered = [] }
            case .store(let device):
                try world.store(isSecure: device.isSecure, mayBePlain: world.isAccepted)
                storing = device
            case .send(.exchange(let exchange), to: _, sealed: false, .alias): try hear(exchange)
            case .send(.confirmation, to: _, sealed: true, _): try world.require(false, .proofForStranger)
            default: break
            }
        }
        world.isAccepted = false
    }

    private mutating func hear(_ exchange: PairingExchange) throws {
        switch exchange.step {
        case .desktopShare(let did, let share):
            answered.insert(exchange.sid)
            try world.require(answered.count <= 3, .fourthGuess)
            guard let run = runs.first(where: { $0.sid == exchange.sid }) else { return }
            if let key = try? run.finish(desktopID: did.text, share: share) { keys.append((run.sid, key)) }
        case .desktopConfirm: try world.require(false, .guessConfirmed)
        case .deviceShare, .deviceConfirm: throw FuzzFinding("a step of the device's")
        }
    }

    mutating func fire() throws { if world.fired() { try act(machine.timedOut(now: world.now)) } }

    mutating func finishStoring(succeeds: Bool) throws {
        guard let device = storing, world.stored() else { return }
        storing = nil
        try act(
            succeeds ? machine.stored(device, now: world.now) : machine.storeFailed(device.did, detail: nil))
    }
}

/// A code that was typed on a device, at whose alias somebody answers who doesn't know the last six digits.
struct DeviceCodeFuzz: PairingFuzz {
    var world: PairingWorld
    private var machine = DeviceTypedCodeStateMachine()
    private var storing: PairedDesktop?
    /// The runs that the device has begun, and the desktop's side of them.
    private var asked: [PairingExchange] = []
    private var runs: [(sid: String, desktop: PeerID, run: CPaceResponder)] = []
    private var isPlain = false

    init(_ world: PairingWorld) { self.world = world }

    var isActive: Bool { machine.isActive }

    private static let nameplate = "123456"
    private static let password = "789012"
    private static let alias: PeerID = "pairing-code:123456"

    mutating func step() throws {
        let route = world.input.element(PairingWorld.routes)
        switch world.input.choice(14) {
        case 0, 1:
            let text = world.input.element(["123456-789012", "123456", "x"])
            let identity = PairingIdentity(did: world.peers.device, deviceInfo: PairingPeers.info)
            let legacy = world.legacy()
            var generator = world.generator
            let actions = machine.submit(text, identity: identity, over: route, legacy: legacy, using: &generator)
            world.generator = generator
            if !actions.isEmpty {
                (storing, world.isAsleep, asked, runs) = (nil, false, [], [])
                isPlain = text == "123456" && legacy == .all
                world.forgetStore()
            }
            try act(actions)
        case 2: try act(machine.cancel())
        case 3, 4: try act(machine.routeOnline(route.id, now: world.now))
        case 5: try act(machine.routeFailed(route.id, detail: nil, isFinal: world.input.flag()))
        case 6:
            let peer = world.input.element([Self.alias, world.peers.desktop])
            try act(machine.peerOffline(peer, over: route.id))
        case 7: try act(machine.relayRefused(over: route.id, detail: nil))
        case 8:
            let actions = machine.suspended(now: world.now)
            if !actions.isEmpty { world.isAsleep = true }
            try act(actions)
        case 9: try wake()
        case 10: try finishStoring(succeeds: world.input.flag())
        case 11: if world.input.choice(3) == 0 { try fire() }
        case 12: try answer()
        default: try act(machine.received(world.frame(from: Self.alias), now: world.now))
        }
    }

    /// Takes the part of the desktop, with digits that are guessed. A run that it has begun it also goes on with.
    private mutating func answer() throws {
        guard let exchange = asked.last, case .deviceShare(let did, let share) = exchange.step else { return }
        let isNew = world.input.flag()
        if isNew || !runs.contains(where: { $0.sid == exchange.sid }) {
            let desktop = world.input.element([world.peers.hostile, world.peers.desktop])
            let password = world.input.element(world.digits(unlike: Self.password))
            guard
                let run = try? CPaceResponder(
                    password: password, alias: Self.alias.text, sid: exchange.sid, deviceID: did.text,
                    deviceShare: share, desktopID: desktop.text,
                    using: &world.generator)
            else { return }
            runs.append((exchange.sid, desktop, run))
        }
        guard let (sid, desktop, run) = runs.last else { return }
        let step: PairingExchange.Step
        switch world.input.choice(5) {
        case 0, 1: step = .desktopShare(did: desktop, share: run.share)
        // Its own share, reflected.
        case 2: step = .desktopShare(did: desktop, share: share)
        case 3: step = .desktopConfirm(run.key.confirmation(of: .desktop))
        default: return try confirm(desktop, run.key)
        }
        let payload = PairingExchange(sid: sid, step: step).json.object ?? [:]
        try act(machine.received(PairingFrame(payload, from: Self.alias), now: world.now))
    }

    /// What comes at the end, with a proof by the key of a run.
    private mutating func confirm(_ desktop: PeerID, _ key: CPaceKey) throws {
        guard let code = PairingCode(Self.nameplate) else { return }
        let bond = PairingBond(secret: key.pairingSecret, device: world.peers.device, desktop: desktop, code: code)
        let confirmation = bond?.confirmation(of: PairingPeers.info, at: world.now).json.object ?? [:]
        // Only its own key can seal in its name.
        let isSealed = desktop == world.peers.hostile && world.input.flag()
        try act(machine.received(PairingFrame(confirmation, from: desktop, isSealed: isSealed), now: world.now))
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
            case .send(.exchange(let exchange), to: let peer, sealed: false, _):
                try require(peer == Self.alias, "a step for another than the alias")
                if case .deviceShare = exchange.step { asked.append(exchange) }
            case .send(.ack(_), to: _, sealed: let isSealed, _): try world.require(!isSealed, .proofForStranger)
            default: break
            }
        }
        if !machine.isActive { world.isAsleep = false }
    }

    mutating func fire() throws { if world.fired() { try act(machine.timedOut(now: world.now)) } }

    mutating func finishStoring(succeeds: Bool) throws {
        guard let desktop = storing, world.stored() else { return }
        storing = nil
        try act(succeeds ? machine.stored(desktop) : machine.storeFailed(desktop.id, detail: nil))
    }
}
