import Notifications
import Hosting
import JSON
import OfflineQueue
import Pairing
import Peering
import Signalling
import Store
import Transport
import Wire

/// The commands that wait for their desktops: carries out what ``QueueDrainer`` decides, over the store.
///
/// The table in the store is the truth: each change reads it, changes it and writes it in one transaction.
@EventLoop
final class CommandQueue {
    indirect enum Action {
        case send(QueuedCommand)
        /// A command is in the queue, durably, or could not be put there.
        case queued(CommandOrder, CommandOutcome)
        /// A queued command has left the queue or failed; the host has heard so.
        case ended(QueueEnd)
    }

    private var drainer: QueueDrainer
    private var isClosed = false
    private let context: DeviceContext
    private let book: DesktopBook
    private let reach: @EventLoop (PeerID) -> DesktopReach?
    private let emit: @EventLoop (Action) -> Void
    private lazy var timer = LoopTimer { [weak self] in self?.checkAll(isProbe: true) }

    init(
        _ queue: OfflineQueue, _ context: DeviceContext, _ book: DesktopBook,
        reach: @escaping @EventLoop (PeerID) -> DesktopReach?, emit: @escaping @EventLoop (Action) -> Void
    ) {
        drainer = QueueDrainer(queue)
        self.context = context
        self.book = book
        self.reach = reach
        self.emit = emit
    }

    var summary: JSONObject { drainer.queue.summary }
    var commands: [QueuedCommand] { drainer.queue.commands }

    func isBusy(with desktop: PeerID) -> Bool { drainer.queue.isBusy(with: desktop) }

    func close() {
        isClosed = true
        timer.stop()
    }

    // MARK: In and out

    /// Keeps a command; it is told once it is on the disk.
    ///
    /// - Parameter unanswered: it was sent, and this is why there is no answer: that is its outcome, kept or not.
    func keep(_ order: CommandOrder, unanswered: HostError? = nil) {
        let now = EpochMilliseconds.now
        var newest = Int64.max
        if case .change(let change) = order.owner { newest = change.newest }
        var params = order.command.params
        // A change of settings carries the revision that its user saw (WireMessages, "State changes").
        if order.command.method == NotificationMethod.updateSettings.name, params["revision"] == nil {
            params["revision"] = book.peers[order.desktop]?.settingsRevision.map(JSONValue.integer)
        }
        let queued = QueuedCommand(
            id: order.id, desktop: order.desktop, method: order.command.method, params: params, createdAt: now,
            expiresAt: now &+ min(order.command.queueTime ?? OfflineQueue.lifetime, OfflineQueue.lifetime))
        save(.add(queued), for: order.desktop, newest: newest) { [emit, context] result in
            let failure = result.error.map { HostError($0) }
            if let unanswered {
                if let failure {
                    context.channel.problem("store_failed", "could not store a command: \(failure.message)")
                }
                return emit(.queued(order, .unanswered(order.id, unanswered)))
            }
            let refused = failure.map { CommandOutcome.refused(CommandOutcome.Refusal(error: $0)) }
            emit(.queued(order, refused ?? .queued(order.id)))
        }
    }

    /// A command that came from the queue has an outcome.
    func ended(_ id: RequestID, _ outcome: CommandOutcome, of desktop: PeerID) {
        decide(desktop) { drainer, lane, reach, now in drainer.ended(id, outcome, &lane, reach, now: now) }
    }

    /// The desktop may be reachable now.
    func check(_ desktop: PeerID, isProbe: Bool = false) {
        decide(desktop) { drainer, lane, reach, now in drainer.check(&lane, reach, isProbe: isProbe, now: now) }
    }

    /// Something may be due: a pause is over, a command too old, a desktop to be tried although it is reported offline.
    func checkAll(isProbe: Bool = false) {
        guard !isClosed else { return }
        act(drainer.tick(now: .now))
        for desktop in book.peers.ids where isBusy(with: desktop) { check(desktop, isProbe: isProbe) }
        arm()
    }

    /// The desktop was unpaired.
    func forget(_ desktop: PeerID) { save(.forget(desktop), for: nil) { _ in } }

    /// The store has changed what waits: a desktop has another key.
    func reload() { save(.expire(now: .current), for: nil) { [weak self] _ in self?.checkAll() } }

    // MARK: The host's

    func list(_ then: @escaping Then) {
        context.answer(then) { (connection) throws(StoreError) in
            try QueueTable(connection).load()
        } json: { queue in
            .success(HostReply(.array(queue.commands.map { .object($0.json) })))
        }
    }

    /// Carries out a request of the host's. Gives `{"count"}`: how many commands it was about.
    func carryOut(_ event: OfflineQueue.Event, _ then: @escaping Then) {
        save(event, for: nil) { [weak self] result in
            switch result.map({ ($0, $0.refusal) }) {
            case .failure(let error): then(.failure(HostError(error)))
            case .success((_, .notFound?)):
                then(.failure(HostError(.notFound, "no such queued command; see bw_queue_list()")))
            case .success((_, .sending?)):
                then(.failure(HostError(.busy, "the command is being sent; try again later")))
            case .success((let change, nil)):
                then(.success(HostReply(["count": .integer(Int64(change.writes.count))])))
                self?.checkAll()
            }
        }
    }

    // MARK: Carrying out

    private func decide(
        _ desktop: PeerID,
        _ decision: (QueueDrainer, inout QueueDrainer.Lane, DesktopReach, Moment) -> [QueueDrainer.Action]
    ) {
        guard let reach = reach(desktop), var lane = book.peers[desktop]?.lane else { return }
        let actions = decision(drainer, &lane, reach, .now)
        book.peers[desktop]?.lane = lane
        act(actions)
        arm()
    }

    private func act(_ actions: [QueueDrainer.Action]) {
        for action in actions {
            switch action {
            case .save(let event, let desktop): save(event, for: desktop) { _ in }
            case .send(let queued): emit(.send(queued))
            case .changed(let summary): context.channel.post(HostEvent(.queueChanged, data: summary))
            case .ended(let end):
                context.channel.post(HostEvent(.queueEnded, desktop: end.command.desktop.text, data: end.json))
                emit(.ended(end))
            }
        }
    }

    /// One event of the queue, durable before `then`; then what it has ended is told, and the desktop's next one sent.
    ///
    /// - Parameter newest: the newest row of the inbox when the user gave a command that is being added.
    private func save(
        _ event: OfflineQueue.Event, for desktop: PeerID?, newest: Int64 = .max,
        then: @escaping @Sendable @EventLoop (Result<OfflineQueue.Change, StoreError>) -> Void
    ) {
        let isSecure = desktop.flatMap { book.peers.peer($0)?.isSecure } ?? false
        context.store { (connection) throws(StoreError) in
            guard case .add(let command) = event else { return try QueueTable(connection).apply(event) }
            let bounded = try QueueBounds(connection: connection).bounded(
                command, isSecure: isSecure, through: newest)
            return try QueueTable(connection).apply(.add(bounded))
        } then: { [self] result in
            switch result {
            case .success(let (queue, change)): act(drainer.saved(queue, change))
            case .failure(let error) where error.code != .closed:
                context.channel.problem(
                    "store_failed", "could not change the queue: \(error.message)")
            case .failure: break
            }
            then(result.map(\.change))
            arm()
            guard let desktop else { return }
            let isStored = result.error == nil
            decide(desktop) { drainer, lane, reach, now in
                drainer.settled(event, isStored: isStored, &lane, reach, now: now)
            }
        }
    }

    private func arm() {
        guard !isClosed else { return }
        drainer.arm(book.peers.ids.compactMap { book.peers[$0]?.lane }, now: .now)
        timer.start(at: drainer.nextDeadline)
    }
}

extension CommandOrder {
    /// Of a queued command.
    init(_ queued: QueuedCommand, now: UInt64) {
        self.init(
            id: queued.wireID, command: Device.Command(queued), desktop: queued.desktop, owner: .queue(queued.id),
            deadline: now &+ QueueDrainer.answerTimeout, expiresAt: queued.expiresAt, queueing: .never)
    }
}
