import Hosting
import JSON
import Pairing
import Signalling
import Transport
import Wire

// One relay connection for each distinct url, as long as a desktop or a scan needs it.
extension DeviceCore {
    /// The relays over which a desktop is reached, the best first.
    func routes(of desktop: PairedDesktop) -> [String] {
        var routes: [String] = []
        for url in [desktop.lanSignalingURL, desktop.relayURL, options.common.relayURL] {
            if let url, !routes.contains(url) { routes.append(url) }
        }
        return routes
    }

    /// The connection that a command to the desktop takes.
    func bestLink(to desktop: PairedDesktop) -> RelayConnection? {
        routes(of: desktop).lazy.compactMap { self.links[$0] }.first { $0.state.isOnline }
    }

    /// Opens what is needed and closes what is not.
    func reconcileLinks() {
        var needed = Set(desktops.flatMap(routes(of:)))
        if !isStarted { needed = [] }
        let pairing =
            scanning.machine.heldRoutes + [showing.machine.heldRoute, typing.machine.heldRoute].compactMap(\.self)
        needed.formUnion(pairing.map(\.url))
        for (url, link) in links where !needed.contains(url) {
            links[url] = nil
            link.stop()
        }
        badURLs.formIntersection(needed)
        for url in needed where links[url] == nil { open(url) }
        tellConnections()
    }

    func closeLinks() {
        let closing = links
        links = [:]
        for link in closing.values { link.stop() }
        tellConnections()
    }

    /// `false` if the url is none.
    @discardableResult func open(_ url: String) -> Bool {
        let common = options.common
        let link: RelayConnection
        do throws(TransportError) {
            link = try RelayConnection(
                to: url, as: .mobile, key: key, name: common.name, platform: common.platform, trusting: common.caFile
            ) { [weak self] link, event in self?.received(event, over: link, url) }
        } catch {
            if badURLs.insert(url).inserted { channel.problem("invalid_url", error.message) }
            return false
        }
        links[url] = link
        if isSuspended { link.suspend() }
        link.start()
        return true
    }

    private func received(_ event: RelayEvent, over link: RelayConnection, _ url: String) {
        guard links[url] === link else { return }
        switch event {
        case .stateChanged(let state):
            channel.log(.info, state.summary(of: url))
            if state.isOnline { forgetAbsences(over: url) } else { failCalls(over: url) }
            if !state.isOnline { tokens.disconnected(url, now: EventLoop.now) }
            if state.isOnline {
                noteWorking(url)
                sayHello(over: url)
                sayTokens(over: url)
                wentOnline(over: url)
            }
            scanRoute(url, changed: state)
            codeRoute(url, changed: state)
            tellConnections()
        case .message(let message):
            received(message, over: url)
        case .routed(let frame, let delivery):
            guard let from = frame.from else { return }
            received(
                RelayMessage(from: from, payload: .object(frame.members), timestamp: nil, delivery: delivery), over: url
            )
        case .peerOffline(let peer):
            markAbsent(peer, true)
            tokensUnheard(peer, over: url)
            scanPeerOffline(peer, over: url)
            typedCodePeerOffline(peer, over: url)
            peerOffline(peer, over: url)
        case .peerStatus(let peer, let isOnline):
            markAbsent(peer, !isOnline)
            if isOnline { cameOnline(peer) }
        case .refused(let text):
            counters.refusedByRelay &+= 1
            channel.log(.warning, "the relay \(link.url.origin) refused a frame")
            scanRelayRefused(text, over: url)
            typedCodeRefused(text, over: url)
        case .malformed(let error):
            counters.malformedFrames &+= 1
            channel.log(.warning, "a frame from the relay \(link.url.origin) was dropped: \(error.message)")
        }
    }

    // MARK: Presence

    func markAbsent(_ peer: PeerID, _ isAbsent: Bool) {
        guard let desktop = desktop(peer) else { return }
        let changed = isAbsent ? absent.insert(desktop.id).inserted : absent.remove(desktop.id) != nil
        if changed { tellConnections() }
        if changed, !isAbsent {
            sayTokens(to: desktop)
            drainQueue(of: desktop)
        }
    }

    /// What was said of presence on the connection before this one may be long over, and nobody takes it back.
    private func forgetAbsences(over url: String) {
        for desktop in desktops where routes(of: desktop).contains(url) { absent.remove(desktop.id) }
    }

    /// `{"online","routes":[{"url","state","problem"?}]}`
    func connection(of desktop: PairedDesktop) -> JSONObject {
        let states = routes(of: desktop).map { ($0, links[$0]?.state ?? .offline(.stopped)) }
        let isOnline = states.contains { $0.1.isOnline } && !absent.contains(desktop.id)
        return [
            "online": .bool(isOnline),
            "routes": .array(states.map { url, state in state.json(of: url) }),
        ]
    }

    /// A relay on the local network rests while its desktops are reached another way, unless a pairing needs it.
    private func paceLinks() {
        var resting = restingRoutes(of: desktops, absent: absent) { links[$0]?.state.isOnline == true }
        let pairing =
            scanning.machine.heldRoutes + [showing.machine.heldRoute, typing.machine.heldRoute].compactMap(\.self)
        resting.subtract(pairing.map(\.url))
        for (url, link) in links { link.rest(resting.contains(url)) }
    }

    func tellConnections() {
        paceLinks()
        for desktop in desktops {
            let connection = connection(of: desktop)
            guard toldConnections[desktop.id] != connection else { continue }
            toldConnections[desktop.id] = connection
            reachabilityChanged(desktop, isOnline: connection["online"] == true)
            channel.post(HostEvent(.connectionChanged, desktop: desktop.id.text, data: connection))
        }
    }
}
