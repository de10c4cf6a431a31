import Alerts
import Commands
import Delivery
import Hosting
import Identity
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The device on the event loop: its desktops, its relay connections, the calls under way.
///
/// Every method and every callback runs on the loop and never suspends; what the store says comes back as a message.
@EventLoop
final class DeviceCore {
    nonisolated static let migrations =
        PairedDesktops.migrations + Inbox.migrations + ReceivedPushes.migrations
        + QueueTable.migrations + KeptEvents.migrations + PushTokenTable.migrations + AlertTable.migrations
        + ReminderTable.migrations

    /// What a call waits for: where its outcome goes, and how its result is read.
    struct Waiter: Sendable {
        let command: Device.Command
        let expiresAt: EpochMilliseconds
        let then: @Sendable @EventLoop (DeviceCore, CallEnd) -> Void
    }

    let options: DeviceOptions
    let key: SigningKey
    let database: Database
    let channel: HostChannel
    let did: PeerID
    /// Said in pairing: stays the same as long as the key does.
    let deviceID: String

    var isStarted = false
    var isShutDown = false
    var desktops: [PairedDesktop]
    /// One for each relay, by its url.
    var links: [String: RelayConnection] = [:]
    /// Urls that are no urls, told once.
    var badURLs: Set<String> = []
    /// When the store last heard of each desktop, in the loop's time.
    var heardAt: [PeerID: UInt64] = [:]
    /// What relays said of the presence of desktops since we came.
    var absent: Set<PeerID> = []
    var calls = PendingCalls<Waiter>()
    lazy var callTimer = LoopTimer { [weak self] in self?.expireCalls() }
    /// When something came from each desktop last, in the loop's time.
    var heardLast: [PeerID: UInt64] = [:]
    /// Desktops that have no notification skill over signalling, as far as is known since we came (protocol.md 3,
    /// tolerance 8).
    var withoutSkill: Set<PeerID> = []
    /// Commands that wait for their desktops, as the store has them.
    var queue: OfflineQueue
    lazy var queueTimer = LoopTimer { [weak self] in self?.queueDue() }
    /// Desktops to which a queued command is under way.
    var draining: Set<PeerID> = []
    /// Until when nothing queued is sent to a desktop, in the loop's time.
    var queuePauses: [PeerID: UInt64] = [:]
    /// The newest revision of each desktop's settings that it has told.
    var revisions: [PeerID: Int64]
    /// Hears of each queued command that has left the queue or failed, after the store has; the host hears by an event.
    var queueEnded: (@EventLoop (DeviceCore, QueueEnd) -> Void)? = { core, end in core.ended(end) }
    /// What the desktops know of the push tokens.
    var tokens: PushTokensStateMachine
    /// There while a removal waits to count as heard.
    var tokenTimer: LoopTimer?
    private let storedAlerts: AlertCenter.Stored?
    /// Without alerts nothing of theirs is touched: it would cost memory.
    var showsAlerts: Bool { options.alerts.kind != .none }
    var alertJudge: AlertJudge? { showsAlerts ? alerts.judge : nil }
    /// What a person sees of the device.
    lazy var alerts = AlertCenter(self, storedAlerts)
    /// Silent pushes of push services that the host works on.
    lazy var silentPushes = SilentPushes()
    var desk = InboxDesk()
    private let storedPushes: StoredPushes
    /// What comes for the inbox.
    lazy var pushes = PushCarrier(
        storedPushes.waiting, database, committed: storedPushes.committed,
        pushesWait: { [channel] in channel.pushesWait() }, judge: { [weak self] in self?.alertJudge },
        tell: { [weak self] in self?.pushesDid($0) })
    lazy var indexing = InboxIndexing(database)
    /// Too many pushes wait for the host; told once.
    var isInboxFull = false
    var counters = Counters()
    private let seal: RoleState.Seal
    lazy var sealer: Sealer = Sealer(key: key, epoch: seal.epoch, windows: seal.windows)
    lazy var scanning: PairingFlow<DeviceScanStateMachine> = PairingFlow(
        DeviceScanStateMachine(),
        timedOut: { [weak self] in
            guard let self else { return }
            perform(scanning.machine.stepTimedOut(now: .now))
        }, giveUp: { [weak self] in self?.cancel(.scan, .timeout) })
    lazy var showing: PairingFlow<DeviceShowStateMachine> = PairingFlow(
        DeviceShowStateMachine(),
        timedOut: { [weak self] in
            guard let self else { return }
            perform(showing.machine.timedOut())
        }, giveUp: { [weak self] in self?.cancel(.show, .timeout) })
    lazy var typing: PairingFlow<DeviceTypedCodeStateMachine> = PairingFlow(
        DeviceTypedCodeStateMachine(),
        timedOut: { [weak self] in
            guard let self else { return }
            perform(typing.machine.timedOut(now: .now))
        }, giveUp: { [weak self] in self?.cancel(.code, .timeout) })
    /// How often each flow was ended: one that still looks for its relay is not begun after that.
    var searchRounds: [DevicePairingFlow: UInt64] = [:]
    var unstored = UnstoredDesktops()
    /// Of the frame that the machines are being told of.
    var pairingMark: SealMark?
    var isSuspended = false
    var machine: MachineWatch?
    var relaySearch: RelaySearch?
    /// What the host was told last of each desktop's connection.
    var toldConnections: [PeerID: JSONObject] = [:]

    nonisolated init(
        options: DeviceOptions, state: RoleState, desktops: [PairedDesktop], pushes: StoredPushes,
        queue: OfflineQueue, revisions: [PeerID: Int64], removals: [PushTokensStateMachine.Removal],
        alerts: AlertCenter.Stored?, channel: HostChannel
    ) {
        self.options = options
        key = state.key
        database = state.database
        self.channel = channel
        did = PeerID(state.key.did)
        deviceID = "bw-" + state.key.did.suffix(16)
        self.desktops = desktops
        self.queue = queue
        self.revisions = revisions
        storedPushes = pushes
        tokens = PushTokensStateMachine(removals: removals)
        storedAlerts = alerts
        seal = state.seal
    }

    /// What came and was not for us, for the host to read.
    struct Counters {
        var unknownSenders: Int64 = 0
        var malformedFrames: Int64 = 0
        var malformedPayloads: Int64 = 0
        var refusedByRelay: Int64 = 0
        /// Plain text in the name of a desktop that is paired sealed.
        var plainOfSecure: Int64 = 0
        /// Encrypted texts that no paired desktop's key opens.
        var unopenedBodies: Int64 = 0
        /// Sent again because no answer came.
        var repeatedCommands: Int64 = 0
        /// Sealed frames, pushes not counted, that had an effect before, as the store found.
        var replayed: Int64 = 0
    }

    /// What the store has of pushes at opening.
    struct StoredPushes: Sendable {
        let waiting: WaitingPushes
        /// The last stored number of each desktop (protocol.md 4.4).
        let committed: [(PeerID, Int64)]
    }

    // MARK: Start and stop

    func start() {
        guard !isShutDown, !isStarted else { return }
        isStarted = true
        tokens.started()
        followMachine()
        reconcileLinks()
        queueDue()
        if showsAlerts { alerts.begin() }
        indexing.wrote()
    }

    func stop() {
        guard isStarted else { return }
        isStarted = false
        cancelFlows()
        leaveMachine()
        closeLinks()
        fail(calls.cancelAll(), HostError(.offline, "the device was stopped"))
    }

    func shutDown(then: @escaping @Sendable () -> Void) {
        isStarted = false
        isShutDown = true
        // They wait for the device, not for the scan: its end is of no interest to them.
        for end in [scanning.end, showing.end, typing.end] { end(.failure(.closed)) }
        if showsAlerts { alerts.end() }
        silentPushes.end()
        leaveMachine()
        cancelFlows()
        closeLinks()
        fail(calls.close(), .closed)
        callTimer.stop()
        queueTimer.stop()
        tokenTimer?.stop()
        for stopTimers in [scanning.stopTimers, showing.stopTimers, typing.stopTimers] { stopTimers() }
        indexing.shutDown()
        pushes.shutDown()
        database.close(then: then)
    }

    /// The desktop that a frame came from: by what its relay wrote, never by what the desktop calls itself. Many a
    /// deployed one says `desktop-unknown`, which anybody may register.
    func desktop(_ address: PeerID) -> PairedDesktop? { desktops.first { $0.address == address } }

    /// Works on the store and comes back to the loop.
    func store<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (DeviceCore, Result<T, StoreError>) -> Void
    ) {
        database.submit(work) { result in
            EventLoop.post { then(self, result) }
        }
    }
}
