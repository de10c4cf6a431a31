package import Identity
package import JSON
package import Signalling
package import Transport
package import Wire

/// The links of a role, and over which of them its peers are reached: carries out what ``RouteTable`` decides.
///
/// ```swift
/// let routes = Routes(.device, links: .webSockets(trusting: caFile), registration: own, provingWith: key)
/// routes.handler = { [weak self] event in self?.received(event) }
/// routes.setPeers(desktops.map { RoutedPeer($0, ownRelay: options.relayURL) })
/// routes.start()
/// ```
///
/// Events come one after the other: what happens inside the handler is told after it has returned.
@EventLoop
package final class Routes {
    /// How a link stands after it was asked for.
    package enum Opening: Sendable {
        case online
        /// ``RouteEvent/linkChanged(url:_:)`` tells the rest.
        case connecting
        case invalid(TransportError)
    }

    package var handler: (@EventLoop (RouteEvent) -> Void)?

    private let maker: RelayLinkMaker
    private let registration: SignallingFrame.Register
    private let key: SigningKey
    private var table: RouteTable
    private var links: [String: any RelayLink] = [:]
    /// Why each wanted url is none.
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

    // MARK: What the role wants

    /// - Parameter standing: links that are wanted while started, whoever is paired: a desktop's.
    package func start(standing: [String] = []) { perform(table.start(standing: standing)) }

    /// Closes every link that no pairing holds. Peers are reported as lost: end what waits for them before.
    package func stop() { perform(table.stop()) }

    /// Those who are paired now, in order. Who is not named is forgotten.
    package func setPeers(_ peers: [RoutedPeer]) { perform(table.setPeers(peers)) }

    /// What pairings need at present; call it with an empty list when they end.
    package func hold(_ urls: [String]) {
        perform(table.hold(urls))
        failures = failures.filter { table.isInvalid($0.key) }
    }

    package func suspend() { perform(table.suspend()) }

    package func resume() { perform(table.resume()) }

    /// Whatever is not up is tried at once: it may be reachable now. What is up finds out by its pings.
    package func networkChanged() {
        for url in table.urls where !table.isOnline(url) { links[url]?.reconnectNow() }
    }

    /// Asks for a link that is held or wanted: one that is down connects at once.
    package func connect(_ url: String) -> Opening {
        if let failure = failures[url] { return .invalid(failure) }
        guard let link = links[url] else { return .connecting }
        if link.state.isOnline { return .online }
        link.reconnectNow()
        return .connecting
    }

    /// A paired peer has said something itself: its plain frame or its seal was accepted.
    package func heard(_ peer: PeerID, over url: String, isLive: Bool) {
        perform(table.heard(peer, over: url, isLive: isLive))
    }

    // MARK: What is so

    package func link(_ url: String) -> (any RelayLink)? { links[url] }

    /// The link that something for the peer takes; `nil` = none is up. For a desktop also of peers that are not paired.
    package func bestLink(to peer: PeerID) -> (any RelayLink)? { table.bestRoute(of: peer).flatMap { links[$0] } }

    /// The link of that url if it is up, else the peer's best.
    package func link(_ url: String?, orBestOf peer: PeerID) -> (any RelayLink)? {
        if let url, table.isOnline(url), let link = links[url] { return link }
        return bestLink(to: peer)
    }

    /// Those that are up, of all.
    package var onlineLinks: [(url: String, link: any RelayLink)] {
        table.urls.filter(table.isOnline).compactMap { url in links[url].map { (url, $0) } }
    }

    package func routes(of peer: PeerID) -> [String] { table.routes(of: peer) }
    package func bestRoute(of peer: PeerID) -> String? { table.bestRoute(of: peer) }
    package func isReachable(_ peer: PeerID) -> Bool { table.isReachable(peer) }
    package func isAbsent(_ peer: PeerID) -> Bool { table.isAbsent(peer) }
    package func isOnline(_ url: String) -> Bool { table.isOnline(url) }
    package func peers(over url: String) -> [PeerID] { table.peers(over: url) }
    package var urls: [String] { table.urls }
    package var isAnyOnline: Bool { table.isAnyOnline }

    /// `{"online","routes":[…]}` of a peer, or with `nil` of this role.
    package func connection(of peer: PeerID?) -> JSONObject { table.connection(of: peer) }

    // MARK: Carrying out

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
        case .stateChanged(let state): perform(table.linkChanged(url, state))
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
