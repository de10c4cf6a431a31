import Commands
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Relay
import Signalling
import Store
import Transport
import Wire

/// The desktop on the event loop: its relay, its connections, its devices, the pushes under way.
///
/// Every method and every callback runs on the loop and never suspends; what the store says comes back as a message.
@EventLoop
final class DesktopCore {
    nonisolated static let migrations = PairedDevices.migrations + History.migrations

    let options: DesktopOptions
    let database: Database
    let channel: HostChannel
    /// Where devices address it.
    let peerID: PeerID

    var isStarted = false
    var isShutDown = false
    var devices: [PairedDevice]
    /// The connection over which each device was heard of last.
    var heardOver: [PeerID: String] = [:]
    /// When the store was last told so, in the loop's time.
    var touchedAt: [PeerID: UInt64] = [:]
    var relay: Relay?
    var links: [String: RelayConnection] = [:]
    /// The url of the own relay, for ourselves.
    var ownURL: String?
    var toldConnection: JSONObject?
    var unread: Int64
    var authenticator = CommandAuthenticator()
    var pushes = PushRuns()
    lazy var pushTimer = LoopTimer { [weak self] in self?.pushesDue() }
    var offering = DesktopOfferStateMachine()
    lazy var offerTimer = LoopTimer { [weak self] in self?.offerTimedOut() }
    /// Offers that wait until a relay has us registered.
    var waitingOffers = Waiters()
    lazy var waitingTimer = LoopTimer { [weak self] in self?.expireWaitingOffers() }
    var counters = Counters()

    nonisolated init(
        options: DesktopOptions, state: RoleState, devices: [PairedDevice], unread: Int64, channel: HostChannel
    ) {
        self.options = options
        database = state.database
        self.channel = channel
        peerID = PeerID(state.key.did)
        self.devices = devices
        self.unread = unread
    }

    struct Counters {
        var unknownSenders: Int64 = 0
        var malformedFrames: Int64 = 0
        var malformedPayloads: Int64 = 0
        var refusedCommands: Int64 = 0
    }

    // MARK: Start and stop

    func start(_ then: Then) {
        do throws(HostError) {
            try start()
            then(.success("{}"))
        } catch {
            then(.failure(error))
        }
    }

    func start() throws(HostError) {
        guard !isShutDown else { throw HostError(.closed, "the handle was closed") }
        guard !isStarted else { return }
        guard options.relay != nil || options.common.relayURL != nil else {
            throw HostError(.invalid, "the desktop has no relay; open it with \"relay\" or \"relay_url\"")
        }
        try startRelay()
        isStarted = true
        for url in [ownURL, options.common.relayURL] {
            guard let url, links[url] == nil else { continue }
            do throws(HostError) { try connect(url) } catch {
                stop()
                throw error
            }
        }
        tellConnection()
    }

    private func startRelay() throws(HostError) {
        guard let relayOptions = options.relay, relay == nil else { return }
        do throws(RelayError) {
            let relay = try Relay.start(relayOptions, log: channel.relayLog)
            self.relay = relay
            ownURL = LocalRelayAddress(relayOptions, port: relay.port).own(signalingURL: options.signalingURL)
        } catch {
            throw HostError(error)
        }
    }

    func stop() {
        guard isStarted else { return }
        end {}
    }

    func shutDown(then: @escaping @Sendable () -> Void) {
        isShutDown = true
        end { [database] in database.close(then: then) }
        for timer in [pushTimer, offerTimer, waitingTimer] { timer.stop() }
    }

    private func end(_ then: @escaping @EventLoop () -> Void) {
        isStarted = false
        endWaitingOffers(.failure(isShutDown ? .closed : HostError(.offline, "the desktop was stopped")))
        perform(offering.cancel())
        let closing = links
        links = [:]
        for link in closing.values { link.stop() }
        finish(pushes.end(now: EventLoop.now))
        tellConnection()
        guard let relay else { return then() }
        self.relay = nil
        relay.stop(then: then)
    }

    // MARK: Connections

    private func connect(_ url: String) throws(HostError) {
        let parsed: WebSocketURL
        do throws(TransportError) { parsed = try WebSocketURL(url) } catch { throw HostError(error) }
        var clientOptions = WebSocketClientOptions()
        clientOptions.tls = TLSClientOptions(caFile: options.common.caFile)
        let register = SignallingFrame.Register(
            peerID: peerID, deviceType: .desktop,
            deviceInfo: ["name": .string(options.common.name), "platform": .string(options.common.platform)])
        let link = RelayConnection(url: parsed, registration: register, options: clientOptions) {
            [weak self] link, event in self?.received(event, over: link, url)
        }
        links[url] = link
        link.start()
    }

    private func received(_ event: RelayEvent, over link: RelayConnection, _ url: String) {
        guard links[url] === link else { return }
        switch event {
        case .stateChanged(let state):
            channel.log(.info, state.summary(of: url))
            if state.isOnline { serveWaitingOffers() }
            tellConnection()
        case .message(let message): received(message, over: url)
        case .routed(let frame, let delivery):
            guard let from = frame.from else { return }
            received(
                RelayMessage(from: from, payload: .object(frame.members), timestamp: nil, delivery: delivery), over: url
            )
        case .peerOffline(let peer): finish(pushes.absent(peer, over: url))
        case .peerStatus: break
        case .refused: channel.log(.warning, "the relay \(link.url.origin) refused a frame")
        case .malformed(let error):
            counters.malformedFrames &+= 1
            channel.log(.warning, "a frame from the relay \(link.url.origin) was dropped: \(error.message)")
        }
    }

    /// `{"online","routes":[{"url","state","problem"?}]}`
    var connection: JSONObject {
        let urls = [ownURL, options.common.relayURL].compactMap { $0 }
        let states = urls.map { ($0, links[$0]?.state ?? .offline(.stopped)) }
        return [
            "online": .bool(states.contains { $0.1.isOnline }),
            "routes": .array(states.map { url, state in state.json(of: url) }),
        ]
    }

    private func tellConnection() {
        let now = connection
        guard now != toldConnection else { return }
        toldConnection = now
        channel.post(HostEvent(.connectionChanged, data: now))
    }

    // MARK: The store

    /// Works on the store and comes back to the loop.
    func store<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (DesktopCore, Result<T, StoreError>) -> Void
    ) {
        database.submit(work) { result in
            EventLoop.post { then(self, result) }
        }
    }

    func tell(unread now: Int64) {
        guard now != unread else { return }
        unread = now
        channel.post(HostEvent(.unreadChanged, data: ["unread": .integer(now)]))
    }
}
