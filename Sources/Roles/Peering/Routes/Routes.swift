package import JSON
package import Signalling
package import Transport
package import Wire

/// A role's routes to its peers and their links: performs what ``RouteTable`` decides.
///
/// ```swift
/// let routes = Routes(.device, of: own, kinds: [.relays(links, registration: own, provingWith: key)])
/// routes.handler = { [weak self] event in self?.received(event) }
/// routes.setPeers(desktops.map { RoutedPeer($0, ownRelay: options.relayURL) })
/// routes.start()
/// ```
///
/// Events are never nested: those caused inside the handler are reported after it returns.
@EventLoop
package final class Routes {
    /// The state of a requested link.
    package enum Opening: Sendable {
        case online
        /// ``RouteEvent/linkChanged(_:_:)`` follows.
        case connecting
        case invalid(TransportError)
    }

    package var handler: (@EventLoop (RouteEvent) -> Void)?

    private let own: PeerID
    private let kinds: [RouteKind]
    private var table: RouteTable
    private var links: [RouteID: any RouteLink] = [:]
    /// Why the address of each is invalid.
    private var failures: [RouteID: TransportError] = [:]
    private var untold: [RouteEvent] = []
    private var isTelling = false

    package nonisolated init(_ side: RouteTable.Side, of own: PeerID, kinds: [RouteKind]) {
        self.own = own
        self.kinds = kinds
        table = RouteTable(side) { address in kinds.first { $0.serves(address) }?.rank ?? 0 }
    }

    // MARK: Requests

    /// - Parameter standing: addresses wanted while started, whichever peers are paired. For desktops.
    package func start(standing: [String] = []) { perform(table.start(standing: standing)) }

    /// Closes every route that no pairing holds. Peers are reported as lost, so cancel pending work first.
    package func stop() { perform(table.stop()) }

    /// Sets the paired peers, in order. All others are forgotten.
    package func setPeers(_ peers: [RoutedPeer]) { perform(table.setPeers(peers.map { $0.reached(by: kinds) })) }

    /// Sets the addresses that pairings need; an empty list releases them.
    package func hold(_ addresses: [String]) {
        perform(table.hold(addresses))
        failures = failures.filter { table.isInvalid($0.key) }
    }

    package func suspend() { perform(table.suspend()) }

    package func resume() { perform(table.resume()) }

    /// Retries every route that is down at once. Those that are up find out through their pings.
    package func networkChanged() {
        for id in opened where !table.isOnline(id) { links[id]?.reconnectNow() }
    }

    /// Requests a held or wanted route. If it is down, it reconnects at once.
    package func connect(_ id: RouteID) -> Opening {
        if let failure = failures[id] { return .invalid(failure) }
        guard let link = links[id] else { return .connecting }
        if link.state.isOnline { return .online }
        link.reconnectNow()
        return .connecting
    }

    /// An authentic frame came from a paired peer. Call it after the channel has accepted the frame.
    package func heard(_ peer: PeerID, over route: RouteID, isLive: Bool) {
        perform(table.heard(peer, over: route, isLive: isLive))
    }

    // MARK: Queries

    package func link(_ id: RouteID) -> (any RouteLink)? { links[id] }

    /// The link to send over; `nil` = none is up. On a desktop also works for unpaired peers.
    package func bestLink(to peer: PeerID) -> (any RouteLink)? { table.bestRoute(of: peer).flatMap { links[$0] } }

    /// The link of that route if it is up, else that of the peer's best.
    package func link(_ id: RouteID?, orBestOf peer: PeerID) -> (any RouteLink)? {
        if let id, table.isOnline(id), let link = links[id] { return link }
        return bestLink(to: peer)
    }

    /// All routes that are up.
    package var online: [(id: RouteID, link: any RouteLink)] {
        opened.filter(table.isOnline).compactMap { id in links[id].map { (id, $0) } }
    }

    package func routes(of peer: PeerID) -> [RouteID] { table.routes(of: peer) }
    package func bestRoute(of peer: PeerID) -> RouteID? { table.bestRoute(of: peer) }
    package func isReachable(_ peer: PeerID) -> Bool { table.isReachable(peer) }
    package func isAbsent(_ peer: PeerID) -> Bool { table.isAbsent(peer) }

    package func isSilent(_ peer: PeerID) -> Bool { table.isSilent(peer) }
    package func isOnline(_ id: RouteID) -> Bool { table.isOnline(id) }
    /// Whether it leads to a relay, rather than to a peer.
    package func isRelay(_ id: RouteID) -> Bool { table.isRelay(id) }
    /// Who names senders on this route.
    package func naming(of id: RouteID) -> SenderNaming { table.naming(of: id) }
    /// Whether anyone can send in the peer's name over one of its routes, unless it is sealed.
    package func isForgeable(_ peer: PeerID) -> Bool { table.isForgeable(peer) }
    package func peers(over id: RouteID) -> [PeerID] { table.peers(over: id) }
    /// Those that are open, in the order in which they were opened.
    package var opened: [RouteID] { table.opened }
    package var isAnyOnline: Bool { table.isAnyOnline }

    /// A relay's URL, for the store and for logs.
    package func address(of id: RouteID) -> String { table.address(of: id) }

    /// A relay's origin, for logs.
    package func origin(of id: RouteID) -> String { links[id]?.relay?.origin ?? address(of: id) }

    /// `{"online","routes":[…]}` for a peer, or with `nil` for this role.
    package func connection(of peer: PeerID?) -> JSONObject { table.connection(of: peer) }

    // MARK: Performing actions

    private func perform(_ actions: [RouteTable.Action]) {
        for action in actions {
            switch action {
            case .open(let id, let address, let isSuspended): open(id, at: address, isSuspended: isSuspended)
            case .close(let id): links.removeValue(forKey: id)?.stop()
            case .rest(let id, let isResting): links[id]?.rest(isResting)
            case .suspend(let id): links[id]?.suspend()
            case .resume(let id): links[id]?.resume()
            case .report(let event): tell(event)
            }
        }
    }

    private func open(_ id: RouteID, at address: String, isSuspended: Bool) {
        do throws(TransportError) {
            guard let kind = kinds.first(where: { $0.serves(address) }) else {
                throw TransportError(.invalidURL, "no kind of route serves this address")
            }
            let link = try kind.make(address, own) { [weak self] link, event in self?.received(event, over: link, id) }
            failures[id] = nil
            links[id] = link
            if isSuspended { link.suspend() }
            link.start()
        } catch {
            failures[id] = error
            perform(table.openFailed(id, message: error.message))
        }
    }

    private func received(_ event: LinkEvent, over link: any RouteLink, _ id: RouteID) {
        guard links[id] === link else { return }
        switch event {
        case .stateChanged(let state): perform(table.linkChanged(id, state, relay: link.relay))
        case .absenceReporting, .senderNaming: if let relay = link.relay { perform(table.learned(id, relay)) }
        case .message(let message): tell(.message(message, over: id))
        case .routed(let frame, let delivery):
            guard let from = frame.from else { return }
            let message = PeerMessage(
                from: from, payload: .object(frame.members), timestamp: nil, delivery: delivery)
            tell(.message(message, over: id))
        case .peerOffline(let peer): perform(table.peerOffline(peer, over: id))
        case .peerStatus(let peer, let isOnline, let info):
            perform(table.peerStatus(peer, isOnline: isOnline, over: id))
            if let info { tell(.peerInfo(peer, info)) }
        case .peers(let peers): for (peer, info) in peers { tell(.peerInfo(peer, info)) }
        case .refused(let text): tell(.refused(text, over: id))
        case .malformed(let error): tell(.malformed(error, over: id))
        }
    }

    private func tell(_ event: RouteEvent) {
        untold.append(event)
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        var next = 0
        while next < untold.count {
            handler?(untold[next])
            next += 1
        }
        untold.removeAll(keepingCapacity: true)
    }
}
