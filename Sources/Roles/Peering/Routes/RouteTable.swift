package import JSON
package import Signalling
package import Wire

/// The wanted routes, the state of each, and the route over which each peer is reached.
///
/// Pure: each event returns the actions to perform, in order. Absence is tracked per route and peer: a peer is absent only
/// when every route to it that is up has reported it offline. A new registration clears what that route reported.
package struct RouteTable: Sendable {
    /// The role that owns the routes.
    package enum Side: Sendable {
        /// Each desktop names its routes, best first. The host is told about each desktop's connection.
        case device
        /// Every device may use every route; the one it was last heard over is best. The host is told about one
        /// connection, the desktop's own.
        case desktop
    }

    package enum Action: Sendable, Equatable {
        /// Make a link and start it, suspended if `isSuspended`. If the address is invalid, call
        /// ``openFailed(_:message:)``.
        case open(RouteID, at: String, isSuspended: Bool)
        case close(RouteID)
        case rest(RouteID, Bool)
        case suspend(RouteID)
        case resume(RouteID)
        case report(RouteEvent)
    }

    /// A route that is open.
    private struct Route {
        var state = LinkState.offline(.stopped)
        var isResting = false
        /// As far as this registration has shown; kept while the link is down. `nil` = there is no relay.
        var relay: RelayFacts? = RelayFacts()
        /// Peers reported offline since the link came up.
        var absent: Set<PeerID> = []
    }

    private enum Reach: Equatable {
        case reachable(over: RouteID)
        case lost(RouteEvent.Loss)
    }

    private struct Session {
        var heardOver: RouteID?
        var reach = Reach.lost(.disconnected)
        var toldReporting: Reporting?
        var toldConnection: JSONObject?
    }

    private struct Reporting: Equatable {
        let route: RouteID
        let reporting: AbsenceReporting
    }

    private struct Address {
        let text: String
        let rank: Int
    }

    /// How many addresses are remembered, beside those of routes that are wanted.
    private static let addressLimit = 256

    private let side: Side
    private let rank: @Sendable (String) -> Int
    private var isStarted = false
    private var isSuspended = false
    private var peers = PeerBook<RoutedPeer, Session>()
    /// Wanted while started, whichever peers are paired.
    private var standing: [RouteID] = []
    /// Wanted by pairings, started or not.
    private var held: [RouteID] = []
    /// Those that are open, in the order in which they were opened.
    package private(set) var opened: [RouteID] = []
    private var routes: [RouteID: Route] = [:]
    private var invalid: Set<RouteID> = []
    private var addresses: [RouteID: Address] = [:]
    /// Whether any address has a rank of its own.
    private var hasRanks = false
    private var toldConnection: JSONObject?

    /// - Parameter rank: a route's rank by its address (``RouteKind``).
    package init(_ side: Side, rank: @escaping @Sendable (String) -> Int = { _ in 0 }) {
        (self.side, self.rank) = (side, rank)
    }
}

// MARK: Wanted routes

extension RouteTable {
    /// - Parameter standing: addresses wanted while started, whichever peers are paired. For desktops.
    package mutating func start(standing: [String] = []) -> [Action] {
        isStarted = true
        self.standing = standing.map { name($0) }
        return reconcile()
    }

    /// Only routes held by pairings are wanted from here on.
    package mutating func stop() -> [Action] {
        isStarted = false
        return reconcile()
    }

    /// Sets the paired peers, in order. All others are forgotten.
    package mutating func setPeers(_ wanted: [RoutedPeer]) -> [Action] {
        let kept = Set(wanted.map(\.id))
        for id in peers.ids where !kept.contains(id) {
            peers.forget(id)
            for route in opened { routes[route]?.absent.remove(id) }
        }
        for peer in wanted {
            for address in peer.addresses { _ = name(address) }
            peers.upsert(peer) { Session() }
        }
        return reconcile()
    }

    /// Sets the addresses that pairings need.
    package mutating func hold(_ addresses: [String]) -> [Action] {
        held = addresses.map { name($0) }
        return reconcile()
    }

    /// The machine goes to sleep.
    package mutating func suspend() -> [Action] {
        guard !isSuspended else { return [] }
        isSuspended = true
        return opened.map { .suspend($0) }
    }

    package mutating func resume() -> [Action] {
        guard isSuspended else { return [] }
        isSuspended = false
        return opened.map { .resume($0) }
    }

    private mutating func name(_ address: String) -> RouteID {
        let id = RouteID(address)
        guard addresses[id] == nil else { return id }
        let rank = rank(address)
        if rank != 0 { hasRanks = true }
        addresses[id] = Address(text: address, rank: rank)
        return id
    }

    private var wanted: [RouteID] {
        var seen: Set<RouteID> = []
        let ofPeers = isStarted ? standing + peers.peers.flatMap(\.routes) : []
        return (ofPeers + held).filter { seen.insert($0).inserted }
    }

    private mutating func reconcile() -> [Action] {
        let wanted = wanted
        let kept = Set(wanted)
        var actions: [Action] = []
        for id in opened where !kept.contains(id) {
            routes[id] = nil
            actions.append(.close(id))
        }
        opened.removeAll { !kept.contains($0) }
        invalid.formIntersection(kept)
        for id in wanted where routes[id] == nil && !invalid.contains(id) {
            guard let address = addresses[id] else { continue }
            routes[id] = Route()
            opened.append(id)
            actions.append(.open(id, at: address.text, isSuspended: isSuspended))
        }
        if addresses.count > Self.addressLimit {
            let needed = kept.union(standing).union(peers.peers.flatMap(\.routes))
            addresses = addresses.filter { needed.contains($0.key) }
        }
        return actions + settle()
    }
}

// MARK: Events of links

extension RouteTable {
    package mutating func openFailed(_ id: RouteID, message: String) -> [Action] {
        guard routes.removeValue(forKey: id) != nil, invalid.insert(id).inserted else { return [] }
        opened.removeAll { $0 == id }
        return [.report(.invalid(id, message: message))] + settle()
    }

    /// - Parameter relay: what is known of its relay, as far as this registration has shown; `nil` = there is none.
    package mutating func linkChanged(
        _ id: RouteID, _ state: LinkState, relay: RelayFacts? = RelayFacts()
    ) -> [Action] {
        guard let before = routes[id] else { return [] }
        routes[id]?.state = state
        if state.isOnline {
            // Reports from the previous connection may be outdated, and no relay corrects them.
            routes[id]?.absent = []
        }
        if state.isOnline || relay == nil { routes[id]?.relay = relay }
        let changed = [Action.report(.linkChanged(id, state))]
        guard state.isOnline, before.relay?.senderNaming == .bySender, let naming = relay?.senderNaming,
            naming != .bySender
        else { return changed + settle() }
        return changed + [.report(.senderNaming(naming, over: id))] + settle()
    }

    /// This registration has shown something of the relay.
    package mutating func learned(_ id: RouteID, _ relay: RelayFacts) -> [Action] {
        guard let known = routes[id]?.relay, known != relay else { return [] }
        routes[id]?.relay = relay
        guard known.senderNaming != relay.senderNaming else { return settle() }
        return [.report(.senderNaming(relay.senderNaming, over: id))] + settle()
    }

    /// The relay reports that the peer is not connected there.
    package mutating func peerOffline(_ peer: PeerID, over id: RouteID) -> [Action] {
        guard var relay = routes[id]?.relay else { return [] }
        relay.absenceReporting = .reports
        return learned(id, relay) + [.report(.peerOffline(peer, over: id))] + setAbsent(peer, true, over: id)
    }

    /// The relay reports whether the peer is connected there.
    package mutating func peerStatus(_ peer: PeerID, isOnline: Bool, over id: RouteID) -> [Action] {
        guard routes[id] != nil else { return [] }
        // The relay over which it was heard would not say that it has left.
        if isOnline, side == .desktop, let last = peers[peer]?.heardOver,
            routes[last]?.relay?.absenceReporting == .silent
        {
            peers[peer]?.heardOver = id
        }
        let changes = setAbsent(peer, !isOnline, over: id)
        return isOnline ? changes + [.report(.peerOnline(peer, over: id))] : changes
    }

    /// An authentic frame came from a paired peer. A stored frame doesn't prove that the peer is online.
    package mutating func heard(_ peer: PeerID, over id: RouteID, isLive: Bool) -> [Action] {
        guard peers.contains(peer) else { return [] }
        let isNewest = side == .desktop && peers[peer]?.heardOver != id
        if isNewest { peers[peer]?.heardOver = id }
        if isLive, routes[id]?.absent.contains(peer) == true { return setAbsent(peer, false, over: id) }
        return isNewest ? settle(peer) : []
    }

    private mutating func setAbsent(_ peer: PeerID, _ isAbsent: Bool, over id: RouteID) -> [Action] {
        guard peers.contains(peer) else { return [] }
        if isAbsent { routes[id]?.absent.insert(peer) } else { routes[id]?.absent.remove(peer) }
        return settle(peer)
    }
}

// MARK: Queries

extension RouteTable {
    /// The routes of a peer, the best first.
    package func routes(of peer: PeerID) -> [RouteID] {
        let own = peers.peer(peer)?.routes ?? []
        let all = side == .desktop ? own + standing.filter { !own.contains($0) } : own
        guard let last = peers[peer]?.heardOver, all.contains(last) else { return ranked(all) }
        return ranked([last] + all.filter { $0 != last })
    }

    private func ranked(_ ids: [RouteID]) -> [RouteID] {
        guard hasRanks else { return ids }
        let ranks = ids.map { addresses[$0]?.rank ?? 0 }
        return Set(ranks).sorted(by: >).flatMap { rank in zip(ids, ranks).filter { $0.1 == rank }.map(\.0) }
    }

    /// The route to send over: the best one that is up, preferring those that haven't reported the peer offline. `nil` =
    /// none is up.
    package func bestRoute(of peer: PeerID) -> RouteID? {
        let up = routes(of: peer).filter(isOnline)
        return up.first { routes[$0]?.absent.contains(peer) == false } ?? up.first
    }

    package func isReachable(_ peer: PeerID) -> Bool {
        if case .reachable = reach(of: peer) { true } else { false }
    }

    /// Whether every route that is up has reported the peer offline; `false` when none is up.
    package func isAbsent(_ peer: PeerID) -> Bool { reach(of: peer) == .lost(.absent) }

    /// Whether what is sent to the peer takes a relay that never calls it back.
    package func isSilent(_ peer: PeerID) -> Bool {
        bestRoute(of: peer).flatMap { routes[$0]?.relay?.absenceReporting } == .silent
    }

    /// Who names senders on this route. Without a relay nobody can send in another's name.
    package func naming(of id: RouteID) -> SenderNaming {
        guard let route = routes[id] else { return .unknown }
        return route.relay?.senderNaming ?? .byRelay
    }

    /// Whether it leads to a relay, rather than to a peer.
    package func isRelay(_ id: RouteID) -> Bool { routes[id]?.relay != nil }

    /// Whether anyone can send in the peer's name over one of its routes, unless it is sealed.
    package func isForgeable(_ peer: PeerID) -> Bool { routes(of: peer).contains { naming(of: $0) == .bySender } }

    /// The peers that are reached over this route.
    package func peers(over id: RouteID) -> [PeerID] { peers.ids.filter { routes(of: $0).contains(id) } }

    /// `nil` = it isn't open.
    package func state(of id: RouteID) -> LinkState? { routes[id]?.state }

    /// Whether it is wanted, but its address is invalid.
    package func isInvalid(_ id: RouteID) -> Bool { invalid.contains(id) }

    package func isOnline(_ id: RouteID) -> Bool { routes[id]?.state.isOnline == true }

    package var isAnyOnline: Bool { routes.values.contains { $0.state.isOnline } }

    /// For logs, hosts and the store. Empty if the route was closed long ago.
    package func address(of id: RouteID) -> String { addresses[id]?.text ?? "" }

    /// `{"online","routes":[{"url","state","problem"?,"forgeable"?}]}` for a peer, or with `nil` for this role.
    package func connection(of peer: PeerID?) -> JSONObject {
        let ids = peer.map { peers.peer($0)?.routes ?? [] } ?? standing
        return [
            "online": .bool(peer.map(isReachable) ?? ids.contains(where: isOnline)),
            "routes": .array(
                ids.map { id in
                    var route = (routes[id]?.state ?? .offline(.stopped)).json(of: address(of: id))
                    route["forgeable"] = naming(of: id).isForgeable.map { .bool($0) }
                    return .object(route)
                }),
        ]
    }

    private func reach(of peer: PeerID) -> Reach {
        guard let best = bestRoute(of: peer) else { return .lost(.disconnected) }
        return routes[best]?.absent.contains(peer) == true ? .lost(.absent) : .reachable(over: best)
    }
}

// MARK: Settling

extension RouteTable {
    private mutating func settle() -> [Action] {
        var actions = pace()
        for id in peers.ids { actions += reachChanged(id) }
        switch side {
        case .device: for id in peers.ids { actions += connectionChanged(id) }
        case .desktop:
            let connection = connection(of: nil)
            guard connection != toldConnection else { break }
            toldConnection = connection
            actions.append(.report(.connectionChanged(nil, connection)))
        }
        return actions
    }

    /// Settles after an event about one peer.
    private mutating func settle(_ id: PeerID) -> [Action] {
        let changes = reachChanged(id)
        switch side {
        case .device: return pace() + changes + connectionChanged(id)
        case .desktop: return changes
        }
    }

    private mutating func reachChanged(_ id: PeerID) -> [Action] {
        let now = reach(of: id)
        let reporting = reportingChanged(id)
        guard peers[id]?.reach != now else { return reporting }
        peers[id]?.reach = now
        switch now {
        case .reachable(let route): return reporting + [.report(.reachable(id, over: route))]
        case .lost(let loss): return reporting + [.report(.lost(id, loss))]
        }
    }

    private mutating func reportingChanged(_ peer: PeerID) -> [Action] {
        guard let route = bestRoute(of: peer), let session = peers[peer] else { return [] }
        // A route without a relay is up only while the peer is there.
        let reporting = routes[route]?.relay?.absenceReporting ?? .reports
        let told = session.toldReporting
        guard reporting != told?.reporting ?? .reports || reporting != .reports && route != told?.route else {
            return []
        }
        peers[peer]?.toldReporting = Reporting(route: route, reporting: reporting)
        return [.report(.absenceReporting(peer, reporting, over: route))]
    }

    private mutating func connectionChanged(_ id: PeerID) -> [Action] {
        let connection = connection(of: id)
        guard peers[id]?.toldConnection != connection else { return [] }
        peers[id]?.toldConnection = connection
        return [.report(.connectionChanged(id, connection))]
    }

    /// Local-network relays rest while their peers are reached another way, unless a pairing needs them.
    private mutating func pace() -> [Action] {
        let resting = restingRoutes(of: peers.peers) { peer, id in
            isOnline(id) && routes[id]?.absent.contains(peer) == false
        }.subtracting(held)
        var actions: [Action] = []
        for id in opened where routes[id]?.isResting != resting.contains(id) {
            routes[id]?.isResting = resting.contains(id)
            actions.append(.rest(id, resting.contains(id)))
        }
        return actions
    }
}
