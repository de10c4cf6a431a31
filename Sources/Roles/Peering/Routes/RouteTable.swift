package import JSON
package import Signalling
package import Wire

/// The wanted links, the state of each, and the link over which each peer is reached.
///
/// Pure: each event returns the actions to perform, in order. Absence is tracked per link and peer: a peer is absent only
/// when every link of its routes that is up has reported it offline. A new registration clears what that link reported.
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
        /// Make a link and start it, suspended if `isSuspended`. If the URL is invalid, call ``openFailed(_:message:)``.
        case open(url: String, isSuspended: Bool)
        case close(url: String)
        case rest(url: String, Bool)
        case suspend(url: String)
        case resume(url: String)
        case report(RouteEvent)
    }

    private struct Link {
        var state = RelayConnectionState.offline(.stopped)
        var isResting = false
        /// As far as this registration has shown.
        var reporting = AbsenceReporting.reports
        /// Kept while the link is down.
        var naming = SenderNaming.unknown
        /// Peers reported offline since this registration.
        var absent: Set<PeerID> = []
    }

    private enum Reach: Equatable {
        case reachable(over: String)
        case lost(RouteEvent.Loss)
    }

    private struct Session {
        var heardOver: String?
        var reach = Reach.lost(.disconnected)
        var toldReporting = Reporting(url: "", reporting: .reports)
        var toldConnection: JSONObject?
    }

    private struct Reporting: Equatable {
        let url: String
        let reporting: AbsenceReporting
    }

    private let side: Side
    private var isStarted = false
    private var isSuspended = false
    private var peers = PeerBook<RoutedPeer, Session>()
    /// Wanted while started, whichever peers are paired.
    private var standing: [String] = []
    /// Wanted by pairings, started or not.
    private var held: [String] = []
    private var links: [String: Link] = [:]
    private var invalid: Set<String> = []
    private var toldConnection: JSONObject?

    package init(_ side: Side) { self.side = side }
}

// MARK: Wanted links

extension RouteTable {
    /// - Parameter standing: links wanted while started, whichever peers are paired. For desktops.
    package mutating func start(standing: [String] = []) -> [Action] {
        isStarted = true
        self.standing = standing
        return reconcile()
    }

    /// Only links held by pairings are wanted from here on.
    package mutating func stop() -> [Action] {
        isStarted = false
        return reconcile()
    }

    /// Sets the paired peers, in order. All others are forgotten.
    package mutating func setPeers(_ wanted: [RoutedPeer]) -> [Action] {
        let kept = Set(wanted.map(\.id))
        for id in peers.ids where !kept.contains(id) {
            peers.forget(id)
            for url in links.keys { links[url]?.absent.remove(id) }
        }
        for peer in wanted { peers.upsert(peer) { Session() } }
        return reconcile()
    }

    /// Sets the links that pairings need.
    package mutating func hold(_ urls: [String]) -> [Action] {
        held = urls
        return reconcile()
    }

    /// The machine goes to sleep.
    package mutating func suspend() -> [Action] {
        guard !isSuspended else { return [] }
        isSuspended = true
        return links.keys.sorted().map { .suspend(url: $0) }
    }

    package mutating func resume() -> [Action] {
        guard isSuspended else { return [] }
        isSuspended = false
        return links.keys.sorted().map { .resume(url: $0) }
    }

    private var wanted: [String] {
        var seen: Set<String> = []
        let ofPeers = isStarted ? standing + peers.peers.flatMap(\.urls) : []
        return (ofPeers + held).filter { seen.insert($0).inserted }
    }

    private mutating func reconcile() -> [Action] {
        let wanted = wanted
        let kept = Set(wanted)
        var actions: [Action] = []
        for url in links.keys.sorted() where !kept.contains(url) {
            links[url] = nil
            actions.append(.close(url: url))
        }
        invalid.formIntersection(kept)
        for url in wanted where links[url] == nil && !invalid.contains(url) {
            links[url] = Link()
            actions.append(.open(url: url, isSuspended: isSuspended))
        }
        return actions + settle()
    }
}

// MARK: Link events

extension RouteTable {
    package mutating func openFailed(_ url: String, message: String) -> [Action] {
        guard links.removeValue(forKey: url) != nil, invalid.insert(url).inserted else { return [] }
        return [.report(.invalidURL(url, message: message))] + settle()
    }

    /// - Parameters:
    ///   - reporting: whether the relay reports absent peers, as far as this registration has shown.
    ///   - naming: who names senders at the relay, as far as is known.
    package mutating func linkChanged(
        _ url: String, _ state: RelayConnectionState, reporting: AbsenceReporting = .reports,
        naming: SenderNaming = .unknown
    ) -> [Action] {
        guard let before = links[url] else { return [] }
        links[url]?.state = state
        if state.isOnline {
            // Reports from the previous connection may be outdated, and no relay corrects them.
            links[url]?.absent = []
            links[url]?.reporting = reporting
            links[url]?.naming = naming
        }
        let changed = [Action.report(.linkChanged(url: url, state))]
        guard state.isOnline, before.naming == .bySender, naming != .bySender else { return changed + settle() }
        return changed + [.report(.senderNaming(naming, over: url))] + settle()
    }

    /// A probe has shown who names senders at the relay.
    package mutating func namingChanged(_ url: String, _ naming: SenderNaming) -> [Action] {
        guard let link = links[url], link.naming != naming else { return [] }
        links[url]?.naming = naming
        return [.report(.senderNaming(naming, over: url))] + settle()
    }

    /// This registration has shown whether the relay reports absent peers.
    package mutating func reportingChanged(_ url: String, _ reporting: AbsenceReporting) -> [Action] {
        guard let link = links[url], link.reporting != reporting else { return [] }
        links[url]?.reporting = reporting
        return settle()
    }

    /// The relay reports that the peer is not connected there.
    package mutating func peerOffline(_ id: PeerID, over url: String) -> [Action] {
        guard links[url] != nil else { return [] }
        return reportingChanged(url, .reports) + [.report(.peerOffline(id, over: url))] + setAbsent(id, true, over: url)
    }

    /// The relay reports whether the peer is connected there.
    package mutating func peerStatus(_ id: PeerID, isOnline: Bool, over url: String) -> [Action] {
        guard links[url] != nil else { return [] }
        // The relay over which it was heard would not say that it has left.
        if isOnline, side == .desktop, let last = peers[id]?.heardOver, links[last]?.reporting == .silent {
            peers[id]?.heardOver = url
        }
        let changes = setAbsent(id, !isOnline, over: url)
        return isOnline ? changes + [.report(.peerOnline(id, over: url))] : changes
    }

    /// An authentic frame came from a paired peer. A stored frame doesn't prove that the peer is online.
    package mutating func heard(_ id: PeerID, over url: String, isLive: Bool) -> [Action] {
        guard peers.contains(id) else { return [] }
        let isNewest = side == .desktop && peers[id]?.heardOver != url
        if isNewest { peers[id]?.heardOver = url }
        if isLive, links[url]?.absent.contains(id) == true { return setAbsent(id, false, over: url) }
        return isNewest ? settle(id) : []
    }

    private mutating func setAbsent(_ id: PeerID, _ isAbsent: Bool, over url: String) -> [Action] {
        guard peers.contains(id) else { return [] }
        if isAbsent { links[url]?.absent.insert(id) } else { links[url]?.absent.remove(id) }
        return settle(id)
    }
}

// MARK: Queries

extension RouteTable {
    /// The routes of a peer, the best first.
    package func routes(of id: PeerID) -> [String] {
        guard let peer = peers.peer(id) else { return side == .desktop ? standing : [] }
        let urls = side == .desktop ? standing : peer.urls
        guard let last = peers[id]?.heardOver, urls.contains(last) else { return urls }
        return [last] + urls.filter { $0 != last }
    }

    /// The route to send over: the best one that is up, preferring those that haven't reported the peer offline. `nil` =
    /// none is up.
    package func bestRoute(of id: PeerID) -> String? {
        let up = routes(of: id).filter(isOnline)
        return up.first { links[$0]?.absent.contains(id) == false } ?? up.first
    }

    package func isReachable(_ id: PeerID) -> Bool {
        if case .reachable = reach(of: id) { true } else { false }
    }

    /// Whether every route that is up has reported the peer offline; `false` when none is up.
    package func isAbsent(_ id: PeerID) -> Bool { reach(of: id) == .lost(.absent) }

    /// Who names senders at the relay of this link.
    package func naming(of url: String) -> SenderNaming { links[url]?.naming ?? .unknown }

    /// Whether anyone can send in the peer's name over one of its routes, unless it is sealed.
    package func isForgeable(_ id: PeerID) -> Bool { routes(of: id).contains { naming(of: $0) == .bySender } }

    /// The peers that are reached over this link.
    package func peers(over url: String) -> [PeerID] {
        side == .desktop ? peers.ids : peers.peers.filter { $0.urls.contains(url) }.map(\.id)
    }

    /// `nil` = there is no such link.
    package func state(of url: String) -> RelayConnectionState? { links[url]?.state }

    /// Whether the URL is wanted but invalid.
    package func isInvalid(_ url: String) -> Bool { invalid.contains(url) }

    package func isOnline(_ url: String) -> Bool { links[url]?.state.isOnline == true }

    package var urls: [String] { links.keys.sorted() }

    package var isAnyOnline: Bool { links.values.contains { $0.state.isOnline } }

    /// `{"online","routes":[{"url","state","problem"?,"forgeable"?}]}` for a peer, or with `nil` for this role.
    package func connection(of id: PeerID?) -> JSONObject {
        let urls = id.map { peers.peer($0)?.urls ?? [] } ?? standing
        return [
            "online": .bool(id.map(isReachable) ?? urls.contains(where: isOnline)),
            "routes": .array(
                urls.map { url in
                    var route = (links[url]?.state ?? .offline(.stopped)).json(of: url)
                    route["forgeable"] = naming(of: url).isForgeable.map { .bool($0) }
                    return .object(route)
                }),
        ]
    }

    private func reach(of id: PeerID) -> Reach {
        guard let best = bestRoute(of: id) else { return .lost(.disconnected) }
        return links[best]?.absent.contains(id) == true ? .lost(.absent) : .reachable(over: best)
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
        case .reachable(let url): return reporting + [.report(.reachable(id, over: url))]
        case .lost(let loss): return reporting + [.report(.lost(id, loss))]
        }
    }

    private mutating func reportingChanged(_ id: PeerID) -> [Action] {
        guard let url = bestRoute(of: id), let reporting = links[url]?.reporting, let told = peers[id]?.toldReporting,
            reporting != told.reporting || reporting != .reports && url != told.url
        else { return [] }
        peers[id]?.toldReporting = Reporting(url: url, reporting: reporting)
        return [.report(.absenceReporting(id, reporting, over: url))]
    }

    private mutating func connectionChanged(_ id: PeerID) -> [Action] {
        let connection = connection(of: id)
        guard peers[id]?.toldConnection != connection else { return [] }
        peers[id]?.toldConnection = connection
        return [.report(.connectionChanged(id, connection))]
    }

    /// Local-network relays rest while their peers are reached another way, unless a pairing needs them.
    private mutating func pace() -> [Action] {
        let resting = restingRoutes(of: peers.peers) { id, url in
            isOnline(url) && links[url]?.absent.contains(id) == false
        }.subtracting(held)
        var actions: [Action] = []
        for url in links.keys.sorted() where links[url]?.isResting != resting.contains(url) {
            links[url]?.isResting = resting.contains(url)
            actions.append(.rest(url: url, resting.contains(url)))
        }
        return actions
    }
}
