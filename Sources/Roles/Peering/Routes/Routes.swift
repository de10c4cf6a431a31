package import Identity
package import JSON
package import Signalling
package import Transport
package import Wire

/// A role's links and the routes to its peers: performs what ``RouteTable`` decides.
///
/// ```swift
/// let routes = Routes(.device, links: .webSockets(trusting: caFile), registration: own, provingWith: key)
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
        /// ``RouteEvent/linkChanged(url:_:)`` follows.
        case connecting
        case invalid(TransportError)
    }

    package var handler: (@EventLoop (RouteEvent) -> Void)?

    private let maker: RelayLinkMaker
    private let registration: SignallingFrame.Register
    private let key: SigningKey
    private var table: RouteTable
    private var links: [String: any RelayLink] = [:]
    /// Why each wanted URL is invalid.
    private var failures: [String: TransportError] = [:]
    private var untold: [RouteEvent] = []
    private var isTelling = false

    package nonisolated init(
        _ side: RouteTable.Side, links maker: RelayLinkMaker, registration: SignallingFrame.Register,
        provingWith key: SigningKey
    ) {
        table = RouteTable(side)
        self.maker = maker
        self.registration = registration
        self.key = key
    }

    // MARK: Requests

    /// - Parameter standing: links wanted while started, whichever peers are paired. For desktops.
    package func start(standing: [String] = []) { perform(table.start(standing: standing)) }

    /// Closes every link that no pairing holds. Peers are reported as lost, so cancel pending work first.
    package func stop() { perform(table.stop()) }

    /// Sets the paired peers, in order. All others are forgotten.
    package func setPeers(_ peers: [RoutedPeer]) { perform(table.setPeers(peers)) }

    /// Sets the links that pairings need; an empty list releases them.
    package func hold(_ urls: [String]) {
        perform(table.hold(urls))
        failures = failures.filter { table.isInvalid($0.key) }
    }

    package func suspend() { perform(table.suspend()) }

    package func resume() { perform(table.resume()) }

    /// Retries every link that is down at once. Links that are up find out through their pings.
    package func networkChanged() {
        for url in table.urls where !table.isOnline(url) { links[url]?.reconnectNow() }
    }

    /// Requests a held or wanted link. If it is down, it reconnects at once.
    package func connect(_ url: String) -> Opening {
        if let failure = failures[url] { return .invalid(failure) }
        guard let link = links[url] else { return .connecting }
        if link.state.isOnline { return .online }
        link.reconnectNow()
        return .connecting
    }

    /// An authentic frame came from a paired peer. Call it after the channel has accepted the frame.
    package func heard(_ peer: PeerID, over url: String, isLive: Bool) {
        perform(table.heard(peer, over: url, isLive: isLive))
    }

    // MARK: Queries

    package func link(_ url: String) -> (any RelayLink)? { links[url] }

    /// The link to send over; `nil` = none is up. On a desktop also works for unpaired peers.
    package func bestLink(to peer: PeerID) -> (any RelayLink)? { table.bestRoute(of: peer).flatMap { links[$0] } }

    /// The link to that URL if it is up, else the peer's best.
    package func link(_ url: String?, orBestOf peer: PeerID) -> (any RelayLink)? {
        if let url, table.isOnline(url), let link = links[url] { return link }
        return bestLink(to: peer)
    }

    /// All links that are up.
    package var onlineLinks: [(url: String, link: any RelayLink)] {
        table.urls.filter(table.isOnline).compactMap { url in links[url].map { (url, $0) } }
    }

    package func routes(of peer: PeerID) -> [String] { table.routes(of: peer) }
    package func bestRoute(of peer: PeerID) -> String? { table.bestRoute(of: peer) }
    package func isReachable(_ peer: PeerID) -> Bool { table.isReachable(peer) }
    package func isAbsent(_ peer: PeerID) -> Bool { table.isAbsent(peer) }
    package func isOnline(_ url: String) -> Bool { table.isOnline(url) }
    /// Who names senders at the relay of this link.
    package func naming(of url: String) -> SenderNaming { table.naming(of: url) }
    /// Whether anyone can send in the peer's name over one of its routes, unless it is sealed.
    package func isForgeable(_ peer: PeerID) -> Bool { table.isForgeable(peer) }
    package func peers(over url: String) -> [PeerID] { table.peers(over: url) }
    package var urls: [String] { table.urls }
    package var isAnyOnline: Bool { table.isAnyOnline }

    /// `{"online","routes":[…]}` for a peer, or with `nil` for this role.
    package func connection(of peer: PeerID?) -> JSONObject { table.connection(of: peer) }

    // MARK: Performing actions

    private func perform(_ actions: [RouteTable.Action]) {
        for action in actions {
            switch action {
            case .open(let url, let isSuspended): open(url, isSuspended: isSuspended)
            case .close(let url): links.removeValue(forKey: url)?.stop()
            case .rest(let url, let isResting): links[url]?.rest(isResting)
            case .suspend(let url): links[url]?.suspend()
            case .resume(let url): links[url]?.resume()
            case .report(let event): tell(event)
            }
        }
    }

    private func open(_ url: String, isSuspended: Bool) {
        do throws(TransportError) {
            let request = RelayLinkRequest(url: url, registration: registration, provingWith: key)
            let link = try maker.make(request) { [weak self] link, event in self?.received(event, over: link, url) }
            failures[url] = nil
            links[url] = link
            if isSuspended { link.suspend() }
            link.start()
        } catch {
            failures[url] = error
            perform(table.openFailed(url, message: error.message))
        }
    }

    private func received(_ event: RelayEvent, over link: any RelayLink, _ url: String) {
        guard links[url] === link else { return }
        switch event {
        case .stateChanged(let state):
            perform(
                table.linkChanged(url, state, reporting: link.absenceReporting, naming: link.senderNaming))
        case .absenceReporting(let reporting): perform(table.reportingChanged(url, reporting))
        case .senderNaming(let naming): perform(table.namingChanged(url, naming))
        case .message(let message): tell(.message(message, over: url))
        case .routed(let frame, let delivery):
            guard let from = frame.from else { return }
            let message = RelayMessage(
                from: from, payload: .object(frame.members), timestamp: nil, delivery: delivery)
            tell(.message(message, over: url))
        case .peerOffline(let peer): perform(table.peerOffline(peer, over: url))
        case .peerStatus(let peer, let isOnline): perform(table.peerStatus(peer, isOnline: isOnline, over: url))
        case .refused(let text): tell(.refused(text, over: url))
        case .malformed(let error): tell(.malformed(error, over: url))
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
