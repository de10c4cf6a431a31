import Commands
import Delivery
import History
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Relay
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The desktop on the event loop: its relay, its connections, its devices, the pushes under way.
///
/// Every method and every callback runs on the loop and never suspends; what the store says comes back as a message.
@EventLoop
final class DesktopCore {
    nonisolated static let migrations =
        PairedDevices.migrations + History.migrations + UnpairNotices.migrations + AnswerTable.migrations
        + DeviceTokens.migrations

    let options: DesktopOptions
    let database: Database
    let channel: HostChannel
    /// Where devices address it.
    let peerID: PeerID
    /// Registrations are proved with it.
    let key: SigningKey
    private let seal: RoleState.Seal
    /// What is said to and by devices that were paired sealed (protocol.md 4.2).
    lazy var sealer = Sealer(key: key, epoch: seal.epoch, windows: seal.windows)

    var isStarted = false
    var isShutDown = false
    var devices: [PairedDevice]
    /// What each device's commands under way stand on.
    var rights: [PeerID: Right] = [:]
    /// The connection over which each device was heard of last.
    var heardOver: [PeerID: String] = [:]
    /// When the store was last told so, in the loop's time.
    var touchedAt: [PeerID: UInt64] = [:]
    var relay: Relay?
    var machine: MachineWatch?
    var announcement: RelayAnnouncement?
    /// Stopped, and saying good-bye.
    private var leavingRelay: Relay?
    private let relayMemory: RelayMemory?
    var links: [String: RelayConnection] = [:]
    /// The url of the own relay, for ourselves.
    var ownURL: String?
    var toldConnection: JSONObject?
    var unread: Int64
    var authenticator = CommandAuthenticator()
    var limiter: RateLimiter
    var clockLeads = ClockLeads()
    /// Answers that lack only who was reached: the last one who has asked gets it.
    var openAnswers: [AnswerTable.Key: Answering] = [:]
    /// What is too old leaves the store once a day.
    lazy var pruneTimer = LoopTimer { [weak self] in self?.prune() }
    var pushes = PushRuns()
    /// What each device has still to get; a machine is there from its first use.
    var outboxes: [PeerID: DeviceOutbox]
    /// What devices have acknowledged and the store does not know yet.
    var acknowledgements = AcknowledgementBatch<SealMark>()
    /// The index of the history's texts.
    lazy var indexing = HistoryIndexing(database)
    /// The connections over which a relay has called a device absent.
    var absentOver: [PeerID: Set<String>] = [:]
    /// When the timer fires; `nil` = it is not set.
    var outboxTimerAt: UInt64?
    lazy var outboxTimer = LoopTimer { [weak self] in self?.outboxesDue() }
    var counters = Counters()

    // The three flows (protocol.md 2): each has a machine and a timer.
    var offering = DesktopOfferStateMachine()
    lazy var offerTimer = LoopTimer { [weak self] in self?.offerTimedOut() }
    /// Of the newest offer.
    var offerCode: PairingCode?
    var scanning = DesktopScanStateMachine()
    lazy var scanTimer = LoopTimer { [weak self] in self?.scanTimedOut() }
    var coding = DesktopTypedCodeStateMachine()
    lazy var codeTimer = LoopTimer { [weak self] in self?.codeTimedOut() }
    /// Of the newest typed code.
    var nameplate: PairingCode?
    /// The typed code's second connection, and where it goes.
    var alias: (link: RelayConnection, url: String)?
    /// Offers that wait until a relay has us registered.
    var waitingOffers = Waiters()
    /// Typed codes that wait for that, and then for their alias.
    var waitingCodes = Waiters()
    lazy var waitingTimer = LoopTimer { [weak self] in self?.expireWaiting() }
    /// Devices whose pairing is on its way to the disk.
    var storing: [PeerID: Storing] = [:]
    /// Devices that are not paired any more and may not know it.
    var notices: [PeerID: UnpairNotice]
    /// The seals that have brought a pairing about, until it is stored.
    var pairingMarks: [PeerID: [SealMark]] = [:]
    /// The newest of those, also of devices that were paired before.
    var pairedBy: [PeerID: SealMark] = [:]

    nonisolated init(
        options: DesktopOptions, state: RoleState, memory: RelayMemory?, devices: [PairedDevice], notices: [PeerID],
        outboxes: [PeerID: Outbox.Position], unread: Int64, channel: HostChannel
    ) {
        self.options = options
        database = state.database
        self.channel = channel
        peerID = PeerID(state.key.did)
        key = state.key
        seal = state.seal
        relayMemory = memory
        limiter = options.rateLimiter
        self.devices = devices
        self.notices = Dictionary(notices.map { ($0, UnpairNotice()) }) { first, _ in first }
        self.unread = unread
        let secure = Set(devices.filter(\.isSecure).map(\.did))
        self.outboxes = Dictionary(
            uniqueKeysWithValues: outboxes.map { ($0, DeviceOutbox($1, isSealed: secure.contains($0))) })
    }

    struct Counters {
        var unknownSenders: Int64 = 0
        var malformedFrames: Int64 = 0
        var malformedPayloads: Int64 = 0
        var refusedCommands: Int64 = 0
        /// Too many of one device in a short time.
        var limitedCommands: Int64 = 0
        /// Came after their `expiresAt`.
        var lateCommands: Int64 = 0
        /// Came again, and got their first answer.
        var repeatedCommands: Int64 = 0
        /// Said in plain text in the name of a device that was paired sealed.
        var plainOfSecure: Int64 = 0
        /// Sealed, and already in the store.
        var replayed: Int64 = 0
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
        followMachine()
        do throws(HostError) { try startRelay() } catch {
            leaveMachine()
            throw error
        }
        isStarted = true
        beginPruning()
        indexing.start()
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
        // What its codes name, devices dial; what it is called beside that, by the options (protocol.md 4.1).
        let origin = options.signalingURL.flatMap { try? WebSocketURL($0).origin }
        do throws(RelayError) {
            let relay = try Relay.start(
                relayOptions, memory: relayMemory, alsoDialledAs: [origin].compactMap(\.self), log: channel.relayLog)
            self.relay = relay
            let address = LocalRelayAddress(relayOptions, port: relay.port)
            ownURL = address.own(signalingURL: options.signalingURL)
            if let machine, !address.isLoopback {
                announcement = RelayAnnouncement(
                    on: machine.bus, name: options.common.name, port: relay.port, did: peerID.text)
            }
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
        end { [database, relayMemory] in
            guard let relayMemory else { return database.close(then: then) }
            relayMemory.close { database.close(then: then) }
        }
        indexing.stop()
        for timer in [outboxTimer, pruneTimer, offerTimer, scanTimer, codeTimer, waitingTimer] { timer.stop() }
    }

    private func end(_ then: @escaping @EventLoop () -> Void) {
        isStarted = false
        announcement?.stop()
        announcement = nil
        leaveMachine()
        let outcome = isShutDown ? HostError.closed : HostError(.offline, "the desktop was stopped")
        endWaitingOffers(.failure(outcome))
        endWaitingCodes(.failure(outcome))
        endFlows()
        endOutboxes()
        let closing = links
        links = [:]
        for link in closing.values { link.stop() }
        finish(pushes.end())
        tellConnection()
        guard let relay else {
            guard let leavingRelay else { return then() }
            return leavingRelay.stop(then: then)
        }
        self.relay = nil
        leavingRelay = relay
        relay.stop { [weak self] in
            if let self, self.leavingRelay === relay { self.leavingRelay = nil }
            then()
        }
    }

    // MARK: Connections

    private func connect(_ url: String) throws(HostError) {
        let common = options.common
        do throws(TransportError) {
            let link = try RelayConnection(
                to: url, as: .desktop, key: key, name: common.name, platform: common.platform,
                trusting: common.caFile
            ) { [weak self] link, event in self?.received(event, over: link, url) }
            links[url] = link
            link.start()
        } catch {
            throw HostError(error)
        }
    }

    private func received(_ event: RelayEvent, over link: RelayConnection, _ url: String) {
        guard links[url] === link else { return }
        switch event {
        case .stateChanged(let state):
            channel.log(.info, state.summary(of: url))
            outboxesFollow(url, isOnline: state.isOnline)
            if state.isOnline {
                remindUnpaired(over: url)
                serveWaitingOffers()
                serveWaitingCodes()
            }
            tellConnection()
        case .message(let message): received(message, over: url)
        case .routed(let frame, let delivery):
            guard let from = frame.from else { return }
            received(
                RelayMessage(from: from, payload: .object(frame.members), timestamp: nil, delivery: delivery), over: url
            )
        case .peerOffline(let peer):
            wasCalledAbsent(peer, over: url)
            perform(scanning.peerOffline(peer))
        case .peerStatus(let peer, let isOnline):
            if isOnline { isPresent(peer, over: url) }
        case .refused(let text):
            channel.log(.warning, "the relay \(link.url.origin) refused a frame")
            perform(scanning.relayRefused(detail: text))
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

    func tellConnection() {
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
