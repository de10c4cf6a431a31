import Commands
import Hosting
import Identity
import JSON
import Notifications
import OfflineQueue
import Pairing
import Peering
import Sharing
import Signalling
import Transport
import Wire

/// The commands in progress, and those that wait for their desktops: performs the actions of ``CommandSender``, signs
/// commands and runs its timer.
@EventLoop
final class CommandCalls {
    enum Action {
        /// A command of another unit's has ended.
        case ended(CommandOrder, CommandOutcome)
        /// A queued command has left the queue or failed; the host has heard so.
        case leftQueue(QueueEnd)
        /// A method of the host's has a result: learn from it, then tell the host.
        case learn(NotificationMethod, JSONObject, JSONObject, from: PeerID, then: @Sendable @EventLoop () -> Void)
        /// The desktop has reported the revision of its settings.
        case revision(Int64, PeerID)
    }

    private var sender = CommandSender<CommandOwner>()
    private(set) lazy var queue = CommandQueue(stored, context, book, reach: reach) { [weak self] in self?.act($0) }
    private let stored: OfflineQueue
    private let context: DeviceContext
    private let book: DesktopBook
    private let reach: @EventLoop (PeerID) -> DesktopReach?
    private let write: @EventLoop (JSONValue, PeerID) -> (sent: Sent, route: RouteID?)
    private let emit: @EventLoop (Action) -> Void
    private lazy var timer = LoopTimer { [weak self] in self?.tick() }
    /// A deployed desktop knows a device by its commands, and forgets it without these.
    private(set) lazy var heartbeats = Heartbeats(
        connected: { [book, reach] in
            book.peers.peers.filter { !$0.isSecure && reach($0.id)?.isReachable == true }.map(\.id)
        }, send: { [write] in _ = write($0, $1) },
        read: { [weak self] in self?.perform(.presence, on: $0, timeout: InboxSync.timeout, for: .presence) })

    /// - Parameters:
    ///   - stored: as the store has it.
    ///   - write: sends a payload over the desktop's best route.
    init(
        _ context: DeviceContext, _ book: DesktopBook, _ stored: OfflineQueue,
        reach: @escaping @EventLoop (PeerID) -> DesktopReach?,
        write: @escaping @EventLoop (JSONValue, PeerID) -> (sent: Sent, route: RouteID?),
        emit: @escaping @EventLoop (Action) -> Void
    ) {
        self.stored = stored
        self.context = context
        self.book = book
        self.reach = reach
        self.write = write
        self.emit = emit
    }

    var repeated: Int64 { sender.repeated }
    var strayResponses: UInt64 { sender.strayResponses }

    // MARK: Commands

    /// A command of the host's.
    func invoke(
        _ command: Device.Command, _ identity: CommandIdentity, desktop name: String?, timeout: CallTimeout,
        _ then: @escaping @Sendable @EventLoop (CommandOutcome) -> Void
    ) {
        switch book.pick(name) {
        case .failure(let error): then(.refused(CommandOutcome.Refusal(error: error)))
        case .success(let desktop) where identity.attempt == .repeated && !desktop.isSecure && !command.reads:
            // It would carry it out twice.
            then(.refused(CommandOutcome.Refusal(error: .holderLost)))
        case .success(let desktop):
            let call = HostCommand(deadline: EventLoop.now &+ timeout.milliseconds, then: then)
            perform(command, on: desktop.id, identity, timeout: timeout.milliseconds, for: .host(call))
        }
    }

    /// - Parameter timeout: how long its answer is waited for, in milliseconds.
    func perform(
        _ command: Device.Command, on desktop: PeerID, _ identity: CommandIdentity = .new, timeout: UInt64,
        queueing: CommandSender<CommandOwner>.Queueing = .whenOffline, for owner: CommandOwner
    ) {
        let order = CommandOrder(
            id: RequestID(identity.id ?? CommandIdentity.newID()), command: command, desktop: desktop, owner: owner,
            deadline: EventLoop.now &+ timeout, expiresAt: EpochMilliseconds.now &+ Int64(clamping: timeout),
            queueing: queueing, attempt: identity.attempt)
        guard let reach = reach(desktop) else {
            return ended(order, .refused(CommandOutcome.Refusal(error: .noSuchDesktop)))
        }
        act(sender.perform(order, reach: reach, now: EventLoop.now))
    }

    /// One from the queue.
    func send(_ order: CommandOrder) {
        guard let reach = reach(order.desktop) else { return }
        act(sender.send(order, reach: reach, now: EventLoop.now))
    }

    func answered(_ response: CommandResponse, by desktop: PeerID) {
        guard let reach = reach(desktop) else { return }
        act(sender.answered(response, by: desktop, reach: reach, now: .now))
    }

    /// A command has its outcome, which may be that it was queued.
    func ended(_ order: CommandOrder, _ outcome: CommandOutcome) {
        let call: HostCommand
        switch order.owner {
        case .host(let host): call = host
        case .queue(let id): return queue.ended(id, outcome, of: order.desktop)
        case .sync, .change: return emit(.ended(order, outcome))
        case .presence: return
        }
        switch call.next(after: order.command, outcome) {
        case .tell(let outcome): call.then(outcome)
        case .ask(let command, let next):
            let left = next.deadline > EventLoop.now ? next.deadline - EventLoop.now : 1
            perform(command, on: order.desktop, timeout: left, for: .host(next))
        case .learn(let result):
            guard case .notification(let method) = order.command.kind else { return call.then(outcome) }
            emit(.learn(method, order.command.params, result, from: order.desktop) { call.then(outcome) })
        }
    }

    // MARK: Connections

    /// A relay reports the desktop offline.
    func absent(_ desktop: PeerID, over route: RouteID) {
        heartbeats.check()
        guard let reach = reach(desktop) else { return }
        act(sender.absent(desktop, over: route, reach: reach))
    }

    /// No route to the desktop is up any more.
    func lost(_ desktop: PeerID) {
        heartbeats.check()
        guard let reach = reach(desktop) else { return }
        act(sender.lost(desktop, reach: reach))
    }

    /// There is a route again, or the desktop has come back to its relay.
    func back(_ desktop: PeerID) {
        heartbeats.check(cameBack: desktop)
        if let reach = reach(desktop) { act(sender.back(desktop, reach: reach, now: EventLoop.now)) }
        queue.check(desktop)
    }

    func sessionBegan(with desktop: PeerID) {
        guard let reach = reach(desktop) else { return }
        act(sender.sessionBegan(with: desktop, reach: reach, now: EventLoop.now))
    }

    // MARK: Start and end

    func start() { sender.start() }
    func stop() { act(sender.stop(HostError(.offline, "the device was stopped"), reach: reach)) }
    func suspend() { act(sender.cancelAll(HostError(.offline, "the device was suspended"), reach: reach)) }

    func forget(_ desktop: PeerID) {
        heartbeats.check()
        act(sender.forget(desktop))
        queue.forget(desktop)
    }

    func moved(_ desktop: PeerID, to new: PeerID) { act(sender.moved(desktop, to: reach(new))) }

    func close() {
        act(sender.close())
        heartbeats.stop()
        timer.stop()
        queue.close()
    }

    // MARK: Carrying out

    private func act(_ action: CommandQueue.Action) {
        switch action {
        case .send(let queued): send(CommandOrder(queued, now: EventLoop.now))
        case .queued(let order, let outcome): ended(order, outcome)
        case .ended(let end): emit(.leftQueue(end))
        }
    }

    private func tick() { act(sender.tick(now: EventLoop.now, reach: reach)) }

    private func act(_ actions: [CommandSender<CommandOwner>.Action]) {
        for action in actions {
            switch action {
            case .write(let order): write(order, isFirst: true)
            case .writeAgain(let order): write(order, isFirst: false)
            case .queue(let order, let unanswered): queue.keep(order, unanswered: unanswered)
            case .end(let order, let outcome): ended(order, outcome)
            case .lacksSkill(let desktop): book.peers[desktop]?.lacksSkill = true
            case .revision(let revision, let desktop): emit(.revision(revision, desktop))
            }
        }
        timer.start(at: sender.nextDeadline)
    }

    /// Signed again each time: a desktop accepts a signature once, for five minutes (WireMessages, "Authentication").
    private func write(_ order: CommandOrder, isFirst: Bool) {
        let method = order.command.method
        let request = CommandRequest(
            id: order.id, method: method, params: order.command.params,
            auth: CommandAuth.signed(
                by: context.did, method: method, timestamp: .now,
                nonce: TextEncoding.hex.encode(Identity.randomBytes(16))
            ) { [key = context.key] message in TextEncoding.base64.encode(key.sign(message)) },
            expiresAt: order.expiresAt)
        let (sent, route) = write(request.payload, order.desktop)
        if sent.isWritten, let route {
            heartbeats.sent(to: order.desktop)
            return sender.wrote(order.id, over: route, waitsForSession: sent == .waiting)
        }
        let name = book.peers.peer(order.desktop)?.name ?? order.desktop.text
        guard isFirst, let failure = sent.failure(of: "the command", to: name) else { return }
        act(sender.notWritten(order.id, failure, reach: reach(order.desktop)))
    }
}
