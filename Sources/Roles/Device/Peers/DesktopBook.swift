import Alerts
import Delivery
import Hosting
import Inbox
import JSON
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The paired desktops with their sessions, as the units share them; and what changes in their rows of the store.
@EventLoop
final class DesktopBook {
    enum Action {
        /// These desktops are no longer paired; `isTold` = they must be notified. End everything in progress with them,
        /// then forget them.
        case leaving([PairedDesktop], isTold: Bool)
        /// The list, or something in it, has changed.
        case changed
        /// A frame's mark is in the store already.
        case replayed
    }

    var peers: PeerBook<PairedDesktop, DesktopSession>
    var emit: (@EventLoop (Action) -> Void)?
    private let context: DeviceContext
    private let channel: PeerChannel
    private var forgeryWarnings = ForgeryWarnings()

    nonisolated init(
        _ peers: PeerBook<PairedDesktop, DesktopSession>, _ context: DeviceContext, _ channel: PeerChannel
    ) {
        self.peers = peers
        self.context = context
        self.channel = channel
    }

    func isSecure(_ id: PeerID) -> Bool { peers.peer(id)?.isSecure == true }

    /// As ``KeyMoves`` knows them.
    func movable() -> [KeyMoves.Known] {
        peers.peers.map { KeyMoves.Known($0.id, name: $0.name, isSecure: $0.isSecure) }
    }

    /// The desktop of that id, or with `nil` the only one.
    func pick(_ name: String?) -> Result<PairedDesktop, HostError> {
        if let name { return peers.peer(PeerID(name)).map(Result.success) ?? .failure(.noSuchDesktop) }
        guard let first = peers.first else {
            return .failure(HostError(.notFound, "no desktop is paired; pair with one first"))
        }
        guard peers.count == 1 else {
            return .failure(
                HostError(.invalid, "several desktops are paired; pass the id of one", detail: ["field": "desktop"]))
        }
        return .success(first)
    }

    /// As ``Routes`` knows them.
    var routed: [RoutedPeer] { peers.peers.map { RoutedPeer($0, ownRelay: context.options.common.relayURL) } }

    /// The list, or something in it, has changed.
    func tell(_ routes: Routes) {
        let desktops = list(routes)
        context.channel.post(HostEvent(.peersChanged, data: ["desktops": desktops]))
        if forgeryWarnings.isDue(for: desktops) { context.channel.warnOfForgery(of: "desktop") }
    }

    /// As `bw_pairing_list` gives it.
    func list(_ routes: Routes) -> JSONValue {
        .array(
            peers.peers.map { desktop in
                var object = desktop.json(at: .now)
                object["online"] = .bool(routes.isReachable(desktop.id))
                if desktop.isSecure { object["seal"] = channel.sealStatus(of: desktop.id).map { .object($0.json) } }
                if !desktop.isSecure, routes.isForgeable(desktop.id) { object["forgeable"] = true }
                return .object(object)
            })
    }

    // MARK: Rows

    func rename(_ id: String, to name: String, _ then: @escaping Then) {
        guard (1...256).contains(name.utf8.count) else {
            return then(
                .failure(HostError(.invalid, "name must have 1 to 256 bytes", detail: ["field": "name"])))
        }
        let peer = PeerID(id)
        guard peers.contains(peer) else { return then(.failure(.noSuchDesktop)) }
        context.store { (connection) throws(StoreError) in
            guard try PairedDesktops(connection).rename(peer, to: name) else { return PairedDesktop?.none }
            return try PairedDesktops(connection).find(peer)
        } then: { [weak self] result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(nil): then(.failure(.noSuchDesktop))
            case .success(let stored?):
                guard let self, peers.contains(peer) else { return then(.failure(.noSuchDesktop)) }
                update(stored)
                then(.success(.done))
            }
        }
    }

    /// A desktop has sent its ICE servers.
    func update(_ peer: PeerID, _ config: ICEConfig, _ mark: SealMark?) {
        context.store { (connection) throws(StoreError) -> (isNew: Bool, desktop: PairedDesktop?) in
            if let mark, try !SealStates(connection).save(mark) { return (false, nil) }
            _ = try PairedDesktops(connection).update(peer, with: config)
            return (true, try PairedDesktops(connection).find(peer))
        } then: { [weak self] result in
            guard let self, case .success(let (isNew, stored)) = result else { return }
            if !isNew { emit?(.replayed) }
            if let stored { update(stored) }
        }
    }

    /// Something came from a desktop: the store hears so now and then.
    func heard(_ incoming: Incoming) {
        let peer = incoming.from
        takeName(from: incoming)
        let now = EventLoop.now
        peers[peer]?.lastFrameAt = now
        guard peers[peer]?.lastSeen.isDue(at: now) == true else { return }
        let seenAt = EpochMilliseconds.now
        context.storeLater { (connection) throws(StoreError) in
            try PairedDesktops(connection).touch(peer, at: seenAt)
            return try PairedDesktops(connection).find(peer)
        } then: { [self] result in
            if case .success(.some(let stored)) = result { update(stored) }
        }
    }

    /// It has sent what it sends to its own devices alone: it took the acknowledgement of its pairing.
    func confirmed(_ peer: PeerID) {
        guard var desktop = peers.peer(peer), !desktop.isConfirmed else { return }
        desktop.isConfirmed = true
        add(desktop)
        // If this can't be stored, the next frame does it again after a start.
        context.store { (connection) throws(StoreError) in
            try PairedDesktops(connection).confirm(peer)
        } then: { _ in
        }
    }

    /// A desktop that was paired by six typed digits has no name until a frame of its own says it (WirePairing, "Typed
    /// codes").
    private func takeName(from incoming: Incoming) {
        guard let info = PairingDeviceInfo(namedIn: incoming.payload) else { return }
        name(incoming.from, info)
    }

    /// A relay says who the peer is. It is believed only where there is no name, and a sealed desktop has one.
    func introduced(_ peer: PeerID, _ info: JSONObject) {
        guard isNameless(peer), let info = PairingDeviceInfo(namedIn: ["deviceInfo": .object(info)]) else { return }
        name(peer, info)
    }

    func isNameless(_ peer: PeerID) -> Bool { peers.peer(peer).map { $0.name.isEmpty && !$0.isSecure } ?? false }

    private func name(_ peer: PeerID, _ info: PairingDeviceInfo) {
        guard peers.peer(peer)?.name.isEmpty == true, !info.name.isEmpty else { return }
        context.store { (connection) throws(StoreError) in
            try PairedDesktops(connection).name(peer, info)
            return try PairedDesktops(connection).find(peer)
        } then: { [weak self] result in
            if case .success(.some(let stored)) = result { self?.update(stored) }
        }
    }

    /// The device is registered with this relay.
    func worked(_ url: String) {
        let workedAt = EpochMilliseconds.now
        context.store { (connection) throws(StoreError) in
            try PairedDesktops(connection).worked(url, at: workedAt)
        } then: { _ in
        }
    }

    /// A pairing is in the store.
    func add(_ desktop: PairedDesktop) {
        peers.upsert(desktop) { DesktopSession() }
        emit?(.changed)
    }

    /// The list follows the store, except for a desktop that was unpaired in the meantime.
    private func update(_ stored: PairedDesktop) {
        guard let known = peers.peer(stored.id) else { return }
        var desktop = stored
        // What was read before the confirmation was stored must not undo it.
        if known.isConfirmed { desktop.isConfirmed = true }
        add(desktop)
    }

    // MARK: Unpairing

    func unpair(_ id: String, _ then: @escaping Then) {
        guard let desktop = peers.peer(PeerID(id)) else { return then(.failure(.noSuchDesktop)) }
        emit?(.leaving([desktop], isTold: true))
        context.store { (connection) throws(StoreError) in
            _ = try Self.remove(desktop.id, connection)
        } then: { [weak self] result in
            self?.unpaired([desktop], result, then)
        }
    }

    func unpairAll(_ then: @escaping Then) {
        let all = peers.peers
        emit?(.leaving(all, isTold: true))
        context.store { (connection) throws(StoreError) in
            let removed = try PairedDesktops(connection).clear()
            for desktop in removed { try Self.forget(desktop.id, connection) }
            return removed
        } then: { [weak self] result in
            guard let self else { return }
            // Also those that were on their way to the disk.
            if case .success(let removed) = result {
                emit?(.leaving(removed.filter { self.peers.contains($0.id) }, isTold: true))
            }
            unpaired(all, result.map { _ in }, then)
        }
    }

    private func unpaired(_ gone: [PairedDesktop], _ result: Result<Void, StoreError>, _ then: Then) {
        switch result {
        case .success:
            // What was on its way to the disk before has come back since. A later pairing comes behind this.
            emit?(.leaving(gone.filter { peers.contains($0.id) }, isTold: false))
            then(.success(.done))
        case .failure(let error):
            // They are still in the store: as they are listed, it can be tried again.
            for desktop in gone { add(desktop) }
            then(.failure(HostError(error)))
        }
    }

    /// A desktop has ended the pairing, in a seal.
    func wasUnpaired(by peer: PeerID, _ mark: SealMark) {
        guard let desktop = peers.peer(peer) else { return }
        context.store { (connection) throws(StoreError) -> (isNew: Bool, isRemoved: Bool) in
            guard try SealStates(connection).save(mark) else { return (false, false) }
            return (true, try Self.remove(peer, connection))
        } then: { [weak self] result in
            guard let self, case .success(let (isNew, isRemoved)) = result else { return }
            if !isNew { emit?(.replayed) }
            if isRemoved, peers.contains(peer) { emit?(.leaving([desktop], isTold: false)) }
        }
    }

    /// A desktop has another key. Gives what was kept about it.
    func replace(_ old: PeerID, by desktop: PairedDesktop) -> DesktopSession? {
        let session = peers.forget(old)
        var fresh = DesktopSession()
        fresh.settingsRevision = session?.settingsRevision
        peers.upsert(desktop) { fresh }
        return session
    }

    /// These desktops are not paired any more; they aren't notified.
    func leave(_ desktops: [PairedDesktop]) { emit?(.leaving(desktops, isTold: false)) }

    nonisolated static func remove(_ peer: PeerID, _ connection: Connection) throws(StoreError) -> Bool {
        try forget(peer, connection)
        return try PairedDesktops(connection).remove(peer)
    }

    private nonisolated static func forget(_ peer: PeerID, _ connection: Connection) throws(StoreError) {
        try ReceivedPushes(connection).forget(peer)
        try PushTokenTable(connection).forget(peer)
        try PrekeyTable(connection).forget(peer)
        try SealPeers(connection).forget(peer)
        try MoveTables(connection).forget(peer)
    }
}

extension HostError {
    /// For what was under way with its old key.
    static var movedDesktop: Self { HostError(.offline, "the desktop has moved to a new key; try again") }
    static var noSuchDesktop: Self { HostError(.notFound, "no such paired desktop; see bw_pairing_list()") }
}
