import TestSupport
import Identity
import JSON
import Wire

@testable import Pairing

/// Both sides of one sealed pairing, and the relay between them, which may lose or change what it carries.
///
/// Timers fire when nothing is on its way; both stores work. A seal is what it is in the library: it tells who sealed, and
/// nobody can change what is in it.
struct PairingTable {
    struct Letter {
        var payload: JSONValue
        var from: PeerID
        var to: PeerID
        var isSealed: Bool
    }

    /// What becomes of a letter: the letters that arrive.
    var carry: (Letter) -> [Letter] = { [$0] }
    var random: SeededGenerator
    var now = Fixture.now
    private(set) var letters: [Letter] = []
    private var sent = 0
    /// So much may happen before the table gives up.
    private let limit = 2_000

    init(seed: UInt64 = 1) { random = SeededGenerator(seed: seed) }

    mutating func send(_ payload: JSONValue, from: PeerID, to: PeerID, sealed isSealed: Bool) {
        sent += 1
        guard sent < limit else { return }
        letters += carry(Letter(payload: payload, from: from, to: to, isSealed: isSealed))
    }

    mutating func next() -> Letter? { letters.isEmpty ? nil : letters.removeFirst() }

    func frame(_ letter: Letter) -> PairingFrame {
        PairingFrame(reading: letter.payload, from: letter.from, isSealed: letter.isSealed)
    }
}

/// A typed code, from both sides.
struct TypedCodeTable {
    var table: PairingTable
    var device = DeviceTypedCodeStateMachine()
    var desktop = DesktopTypedCodeStateMachine()
    /// The desktop's disk is full.
    var fails = false
    private(set) var deviceTimer: UInt64?
    private(set) var desktopTimer: UInt64?
    private(set) var exchanges = 0
    /// What each side stored for its sessions; `nil` = it stored nothing.
    private(set) var deviceKey: PresharedKey??
    private(set) var desktopKey: PresharedKey??
    let alias: PeerID = "pairing-code:123456"

    init(seed: UInt64 = 1) { table = PairingTable(seed: seed) }

    mutating func show(
        confirm: Bool = false, legacy: LegacyPairing = .none, versions: SealVersions? = .own
    ) {
        perform(
            desktop.show(
                nameplate: Fixture.code("123456"), password: Fixture.code("789012"),
                identity: Fixture.desktopIdentity, confirm: confirm, legacy: legacy,
                versions: versions))
    }

    mutating func type(_ text: String = "123456-789012", versions: SealVersions? = .own) {
        perform(
            device.submit(
                text, identity: Fixture.deviceIdentity, over: Fixture.relay, legacy: .all, versions: versions,
                using: &table.random))
    }

    /// Carries what is on its way; fires the device's timer when nothing is, until the device has ended.
    mutating func run() {
        for _ in 0..<500 where device.isActive {
            deliver()
            guard device.isActive, let wait = deviceTimer else { continue }
            deviceTimer = nil
            table.now += Int64(wait)
            perform(device.timedOut(now: table.now))
        }
        deliver()
    }

    mutating func deliver() {
        while let letter = table.next() {
            let frame = table.frame(letter)
            switch letter.to {
            case alias: perform(desktop.receivedAtAlias(frame, now: table.now, using: &table.random))
            case Fixture.desktop: perform(desktop.received(frame, now: table.now))
            case Fixture.device: perform(device.received(frame, now: table.now))
            default: break
            }
        }
    }

    private mutating func perform(_ actions: [PairingStep<PairedDesktop>]) {
        for action in actions {
            switch action {
            case .open(let route): perform(device.routeOnline(route.id, now: table.now))
            case .send(.exchange(let exchange), to: let peer, sealed: false, _):
                exchanges += 1
                table.send(exchange.json, from: Fixture.device, to: peer, sealed: false)
            case .send(.ack(let ack), to: let peer, sealed: let isSealed, _):
                table.send(ack.json, from: Fixture.device, to: peer, sealed: isSealed)
            case .startTimer(let wait): deviceTimer = wait
            case .stopTimer: deviceTimer = nil
            case .store(let desktop):
                deviceKey = .some(device.presharedKey)
                perform(device.stored(desktop))
            default: break
            }
        }
    }

    mutating func perform(_ actions: [PairingStep<PairedDevice>]) {
        for action in actions {
            switch action {
            case .openAlias: perform(desktop.aliasOnline(now: table.now))
            case .send(.exchange(let exchange), to: let peer, sealed: false, .alias):
                table.send(exchange.json, from: alias, to: peer, sealed: false)
            case .send(.reject(let reject), to: let peer, sealed: false, .alias):
                table.send(reject.json, from: alias, to: peer, sealed: false)
            case .send(.confirmation(let confirmation), to: let peer, sealed: true, _):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: true)
            case .send(.confirmation(let confirmation), to: let peer, sealed: false, _):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: false)
            case .send(.reject(let reject), to: let peer, sealed: let isSealed, _):
                table.send(reject.json, from: Fixture.desktop, to: peer, sealed: isSealed)
            case .send(.iceConfig, to: let peer, sealed: false, _):
                let config = ICEConfig(pcPeerID: Fixture.desktop, iceServersJSON: "[]")
                table.send(config.json, from: Fixture.desktop, to: peer, sealed: false)
            case .startTimer(let wait): desktopTimer = wait
            case .stopTimer: desktopTimer = nil
            case .store(let device):
                desktopKey = .some(desktop.presharedKey)
                guard !fails else {
                    perform(desktop.storeFailed(device.did, detail: "disk full"))
                    continue
                }
                perform(desktop.stored(device, now: table.now))
            default: break
            }
        }
    }

    var pairedDesktop: PairedDesktop? {
        if case .success(let desktop) = device.reported { desktop } else { nil }
    }

    var pairedDevice: PairedDevice? {
        if case .paired(let device) = desktop.reported { device } else { nil }
    }
}
