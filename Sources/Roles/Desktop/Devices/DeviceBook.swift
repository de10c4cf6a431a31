import Commands
import Delivery
import History
import JSON
import Pairing
import Peering
import Sealing
import Signalling
import Transport
import Wire

/// The paired devices, each with its one session, and what every command needs to know of all of them.
@EventLoop
final class DeviceBook {
    private struct Candidate: Peer {
        let id: PeerID
    }

    private static let candidateLimit = 64

    private var book: PeerBook<PairedDevice, DeviceSession>
    /// The clocks of the most recent peers that are pairing.
    private var candidates = PeerBook<Candidate, ClockLead>()
    private var cachedRoster: DeviceRoster?
    /// How the traffic with a device is sealed.
    var sealStatus: @EventLoop (PeerID) -> SealStatus? = { _ in nil }
    /// Whether anyone can send in the name of a device, over one of its relays, unless it is sealed.
    var isForgeable: @EventLoop (PeerID) -> Bool = { _ in false }
    /// Those who are not paired any more.
    var reminders: UnpairReminders
    /// When this desktop was opened, by the wall clock and by the loop's.
    private let openedAt = EpochMilliseconds.now
    private lazy var openedAtLoop = EventLoop.now

    /// - Parameter outboxes: the position of each device's outbox in the store.
    nonisolated init(
        _ devices: [PairedDevice], outboxes: [PeerID: Outbox.Position], reminders: UnpairReminders
    ) {
        self.reminders = reminders
        book = PeerBook(devices) { device in
            let position = outboxes[device.did] ?? Outbox.Position(last: 0, acknowledged: 0)
            var session = DeviceSession(DeviceOutbox(position, isSealed: device.isSecure))
            session.acknowledgedEpoch = AcknowledgedEpoch(isNamed: position.namesEpochs)
            return session
        }
    }

    var count: Int { book.count }
    var all: [PairedDevice] { book.peers }
    var ids: [PeerID] { book.ids }

    subscript(id: PeerID) -> PairedDevice? { book.peer(id) }

    /// The unencrypted device whose request this says it is, under the id that Android phones take once they have tried
    /// WebRTC (WireDeployedPeers, "Android").
    func phone(behind id: PeerID, _ request: CommandRequest) -> PairedDevice? {
        guard id.text.hasPrefix("mobile-"), id.text.utf8.count == 15,
            let did = (request.auth?["did"] ?? request.auth?["mobileDid"])?.string,
            let device = self[PeerID(did)], !device.isSecure
        else { return nil }
        return device
    }

    func contains(_ id: PeerID) -> Bool { book.contains(id) }

    func isSecure(_ id: PeerID) -> Bool { book.peer(id)?.isSecure == true }

    func session(_ id: PeerID) -> DeviceSession? { book[id] }

    /// As ``Routes`` knows them: every device may come over every relay of the desktop's.
    var routed: [RoutedPeer] { book.ids.map { RoutedPeer($0, over: []) } }

    /// As ``KeyMoves`` knows them.
    func movable() -> [KeyMoves.Known] {
        book.peers.map { KeyMoves.Known($0.did, name: $0.name, isSecure: $0.isSecure) }
    }

    /// Changes a device's session in place; `nil` for a device that is not paired.
    @discardableResult
    func update<T>(_ id: PeerID, _ change: (inout DeviceSession) -> T) -> T? { book[id]?.apply(change) }

    /// Updates a device's record. A new device starts with an empty outbox.
    func put(_ device: PairedDevice) {
        cachedRoster = nil
        reminders.forget(device.did)
        let clockLead = candidates.forget(device.did)
        let isNew = book.upsert(device) {
            DeviceSession(DeviceOutbox(Outbox.Position(last: 0, acknowledged: 0), isSealed: device.isSecure))
        }
        if isNew, let clockLead { book[device.did]?.clockLead = clockLead }
    }

    /// From now on the device has no rights, and nothing is sent to it.
    func forget(_ id: PeerID) -> DeviceSession? {
        cachedRoster = nil
        return book.forget(id)
    }

    /// A device has another key. What was kept about it goes on; its outbox begins at its place, because pages that are
    /// being read are asked for under the old id.
    func replace(_ old: PeerID, by device: PairedDevice) {
        cachedRoster = nil
        guard var session = book.forget(old) else { return }
        session.outbox = DeviceOutbox(session.outbox.position, isSealed: device.isSecure)
        session.deliveries = PendingDeliveries()
        book.upsert(device) { session }
    }

    /// Call it once, when the desktop is opened.
    func open() { _ = openedAtLoop }

    /// Whether the device has sealed this frame since the desktop was opened: it is in a session, or comes after a frame that
    /// is proved to be so, or its time says so.
    func isOfThisStart(_ mark: SealMark, _ sealedAt: EpochMilliseconds?) -> Bool {
        if mark.isOfSession || book[mark.peer]?.isProved(mark) == true { return true }
        // The wall clock may have been set back, and the loop's stands still while the machine sleeps.
        let elapsed = EpochMilliseconds(clamping: EventLoop.now - openedAtLoop)
        return sealedAt.map { $0 >= min(openedAt, EpochMilliseconds.now - elapsed) } ?? false
    }

    /// Something that the device sealed then has just come live.
    func noteClock(of id: PeerID, _ sealedAt: EpochMilliseconds?) {
        if let sealedAt { book[id]?.clockLead.note(sealedAt: sealedAt, now: .now) }
    }

    /// The same for a peer that is being paired: its first command may be late already.
    func noteClock(ofCandidate id: PeerID, _ sealedAt: EpochMilliseconds?) {
        guard let sealedAt else { return }
        if candidates.count == Self.candidateLimit, !candidates.contains(id), let oldest = candidates.first {
            candidates.forget(oldest.id)
        }
        candidates.upsert(Candidate(id: id)) { ClockLead() }
        candidates[id]?.note(sealedAt: sealedAt, now: .now)
    }

    /// The device was heard, and wrote in that form: whether the store is to hear so. Now and then, and at once when the
    /// form has changed.
    func isTouchDue(_ device: PairedDevice, _ form: PayloadForm) -> Bool {
        book[device.did]?.lastSeen.isDue(at: EventLoop.now, always: device.payloadForm != form) == true
    }

    /// Built once for each change of the devices, not for each command.
    var roster: DeviceRoster {
        if let cachedRoster { return cachedRoster }
        let roster = DeviceRoster(book)
        cachedRoster = roster
        return roster
    }

    /// As `bw_desktop_devices()` gives them.
    var json: JSONValue {
        .array(
            book.peers.map { device in
                var object = device.json
                if device.isSecure { object["seal"] = sealStatus(device.did).map { .object($0.json) } }
                if !device.isSecure, isForgeable(device.did) { object["forgeable"] = true }
                return .object(object)
            })
    }
}

/// The data about paired devices that transactions need.
struct DeviceRoster: Sendable {
    let devices: [MethodHandler.PairedDevice]
    private let flags: PeerBook<PairedDevice, RevocationFlag>

    init(_ book: PeerBook<PairedDevice, DeviceSession>) {
        devices = book.peers.map { MethodHandler.PairedDevice(peer: $0.did, deviceID: $0.deviceID) }
        var flags = PeerBook<PairedDevice, RevocationFlag>()
        for device in book.peers {
            if let session = book[device.did] { flags.upsert(device) { session.revocation } }
        }
        self.flags = flags
    }

    private init(_ devices: [MethodHandler.PairedDevice], _ flags: PeerBook<PairedDevice, RevocationFlag>) {
        (self.devices, self.flags) = (devices, flags)
    }

    /// The same devices, under the ids that they have now. A device keeps the `deviceId` by which a command names it.
    func following(_ moves: [PeerID: PeerID]) -> DeviceRoster {
        var flags = PeerBook<PairedDevice, RevocationFlag>()
        for var device in self.flags.peers {
            guard let flag = self.flags[device.did] else { continue }
            device.did = moves[device.did] ?? device.did
            flags.upsert(device) { flag }
        }
        let devices = devices.map {
            MethodHandler.PairedDevice(peer: moves[$0.peer] ?? $0.peer, deviceID: $0.deviceID)
        }
        return DeviceRoster(devices, flags)
    }

    /// The outboxes of devices that may still get pushes; a device that has been unpaired in the meantime has none.
    func recipients(_ peers: [PeerID]) -> [Outbox.Recipient] {
        peers.compactMap { peer in
            guard let device = flags.peer(peer), flags[peer]?.isRevoked == false else { return nil }
            return Outbox.Recipient(peer, isSealed: device.isSecure)
        }
    }
}
