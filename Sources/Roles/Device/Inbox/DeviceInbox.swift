import DeviceAlerts
import Hosting
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
import Peering
import Signalling
import Store
import Transport
import Wire

/// The inbox on the loop: changed at once and put back when the desktop refuses, and kept as the desktops have it.
///
/// Carries out what each desktop's ``InboxSync`` decides.
@EventLoop
final class DeviceInbox {
    enum Action {
        case perform(
            Device.Command, on: PairedDesktop, timeout: UInt64,
            queueing: CommandSender<CommandOwner>.Queueing = .whenOffline, for: CommandOwner)
        /// Something was read, deleted or brought in.
        case changed
        case unread(Int64)
        /// Missed pushes through this arrival are in the table, with what becomes of their alerts.
        case filled(through: Int64, [AlertJudge.Judged])
    }

    private var toldUnread: Int64?
    /// What desktops report of their state.
    private(set) lazy var updates = DesktopUpdates(context, book, channel, self)
    private let indexing: InboxIndexing
    private let context: DeviceContext
    private let channel: PeerChannel
    private let book: DesktopBook
    private let judge: @EventLoop () -> AlertJudge?
    private let emit: @EventLoop (Action) -> Void
    /// Refreshes that hosts wait for.
    private lazy var timer = LoopTimer { [weak self] in self?.tick() }

    init(
        _ context: DeviceContext, _ book: DesktopBook, _ channel: PeerChannel,
        judge: @escaping @EventLoop () -> AlertJudge?,
        emit: @escaping @EventLoop (Action) -> Void
    ) {
        self.context = context
        self.book = book
        self.channel = channel
        self.judge = judge
        self.emit = emit
        indexing = InboxIndexing(context.database)
    }

    /// The index may lack what an earlier run has stored.
    func start() { indexing.wrote() }

    // MARK: Telling

    /// `{"loading","error"?,"unsupported"?}`
    func state(of desktop: PeerID) -> JSONObject {
        let session = book.peers[desktop]
        return [
            "loading": .bool(session?.sync.isLoading == true),
            "error": session?.sync.error.map {
                ["code": .string($0.code.name), "message": .string($0.message)]
            },
            "unsupported": session?.lacksSkill == true ? true : nil,
        ]
    }

    func isLoading(_ desktop: PeerID?) -> Bool {
        if let desktop { return book.peers[desktop]?.sync.isLoading == true }
        return book.peers.ids.contains { book.peers[$0]?.sync.isLoading == true }
    }

    /// The host hears that a desktop's part of the inbox has changed.
    ///
    /// - Parameter isArrival: a push has come, and nothing else has changed.
    func tell(_ desktop: PeerID, unread: Int64?, isArrival: Bool = false) {
        indexing.wrote()
        context.channel.post(HostEvent(.inboxChanged, desktop: desktop.text, data: state(of: desktop)))
        if !isArrival { emit(.changed) }
        if let unread { tell(unread: unread) }
    }

    private func tell(unread: Int64) {
        guard toldUnread != unread else { return }
        toldUnread = unread
        context.channel.post(HostEvent(.unreadChanged, data: ["unread": .integer(unread)]))
        emit(.unread(unread))
    }

    // MARK: Refreshes

    /// A desktop's connection is another one.
    func reachable(_ desktop: PairedDesktop, _ isReachable: Bool) {
        sync(desktop.id) { sync, now in
            sync.reachable(isReachable, isSecure: desktop.isSecure, pairedAt: desktop.pairedAt, now: now.loop)
        }
    }

    /// - Parameter name: `nil` = every paired desktop.
    func refresh(_ name: String?, timeout: CallTimeout, _ then: @escaping Then) {
        let deadline = EventLoop.now &+ timeout.milliseconds
        let asked: [PeerID]
        if name == nil, book.peers.count > 1 {
            asked = book.peers.ids
        } else {
            switch book.pick(name) {
            case .failure(let error): return then(.failure(error))
            case .success(let desktop): asked = [desktop.id]
            }
        }
        let gather = RefreshGather(count: asked.count, then)
        for desktop in asked {
            sync(desktop) { sync, _ in
                sync.refresh(until: deadline) { result in EventLoop.post { gather.add(result, of: desktop) } }
            }
        }
    }

    /// The desktop's history has changed: a refresh in progress may have read the earlier state.
    func overtake(_ desktop: PeerID) { book.peers[desktop]?.sync.overtake() }

    /// The answer to a question of ``InboxSync``.
    func answered(_ question: InboxSync.Question, _ outcome: CommandOutcome, by desktop: PeerID) {
        sync(desktop) { sync, now in sync.answered(question, outcome, now: now) }
    }

    /// The desktop was unpaired: its rows stay.
    func forget(_ desktop: PeerID, _ session: DesktopSession) {
        updates.forget(desktop)
        var sync = session.sync
        act(sync.close(.noSuchDesktop), for: desktop)
        context.store { (connection) throws(StoreError) in
            try Inbox(connection).forget(desktop)
            return try Inbox(connection).counts.unread()
        } then: { [weak self] result in
            if case .success(let unread) = result { self?.tell(unread: unread) }
        }
    }

    /// The desktop has another key: what it was asked ends; its rows go on under the new id.
    func moved(_ desktop: PeerID, _ session: DesktopSession) {
        var sync = session.sync
        act(sync.close(.movedDesktop), for: desktop)
    }

    func close() {
        timer.stop()
        indexing.shutDown()
        for desktop in book.peers.ids { sync(desktop) { sync, _ in sync.close(.closed) } }
    }

    private func tick() { for desktop in book.peers.ids { sync(desktop) { $0.tick(now: $1.loop) } } }

    private func sync(_ desktop: PeerID, _ event: (inout InboxSync, Moment) -> [InboxSync.Action]) {
        guard var sync = book.peers[desktop]?.sync else { return }
        let actions = event(&sync, .now)
        keep(sync, of: desktop, actions)
    }

    /// Apart from the above, of which there is a copy for each event.
    @inline(never)
    private func keep(_ sync: InboxSync, of desktop: PeerID, _ actions: [InboxSync.Action]) {
        book.peers[desktop]?.sync = sync
        act(actions, for: desktop)
        timer.start(at: book.peers.ids.compactMap { book.peers[$0]?.sync.nextDeadline }.min())
    }

    private func act(_ actions: [InboxSync.Action], for desktop: PeerID) {
        for action in actions {
            switch action {
            case .ask(let command, let question, let timeout):
                guard let paired = book.peers.peer(desktop) else { continue }
                emit(.perform(command, on: paired, timeout: timeout, for: .sync(question)))
            case .store(let job): run(job, for: desktop)
            case .tell(let unread): tell(desktop, unread: unread)
            case .finish(let waiters, let result): for waiter in waiters { waiter(result) }
            case .learnSettings(let result): updates.learn(.getSettings, [:], result, from: desktop)
            case .problem(let message): context.channel.problem("store_failed", message)
            }
        }
    }

    private func run(_ job: InboxJob, for desktop: PeerID) {
        let judge = judge()
        context.store { (connection) throws(StoreError) in
            var judged: [AlertJudge.Judged] = []
            let stored = try job.run(connection, desktop: desktop) { (notification, connection) throws(StoreError) in
                if let alert = try judge?.judge(notification, from: desktop).saved(connection) { judged.append(alert) }
            }
            return (stored, judged)
        } then: { [weak self] result in
            guard let self else { return }
            if case .success((.filled(let last, _), let judged)) = result { emit(.filled(through: last, judged)) }
            sync(desktop) { sync, now in sync.stored(job, result.map(\.0), now: now) }
        }
    }

    // MARK: Changes

    /// A change that the inbox shows.
    private struct Begun: Sendable {
        let number: Int64
        let newest: Int64
        let unread: Int64
        let bound: CommandBound?
    }

    func change(
        _ request: Device.InboxRequest, desktop name: String?, timeout: UInt64,
        _ then: @escaping Then
    ) {
        let peer: PeerID
        if let name, !book.peers.contains(PeerID(name)) {
            // An unpaired desktop: its notifications are still stored.
            peer = PeerID(name)
        } else {
            switch book.pick(name) {
            case .failure(let error): return then(.failure(error))
            case .success(let desktop): peer = desktop.id
            }
        }
        let isPaired = book.peers.contains(peer)
        let isSecure = book.peers.peer(peer)?.isSecure == true
        if book.peers[peer]?.lacksSkill == true {
            book.peers[peer]?.sync.note(.noSkill)
            return then(.failure(.noSkill))
        }
        let (kind, id) = (request.kind, request.id)
        let moment = EpochMilliseconds.now
        context.store { (connection) throws(StoreError) -> Begun? in
            let inbox = Inbox(connection)
            if !isPaired, try inbox.newestRow(of: peer) == 0 { return nil }
            guard let number = try inbox.changes.begin(kind, id, of: peer, at: moment) else { return nil }
            // There is no desktop to ask any more.
            if !isPaired { try inbox.changes.end(number, .done) }
            // Deployed desktops know no bound: the queue names what the user saw.
            let bound = kind.isOfAll && isSecure ? try InboxSeen(connection, of: peer).bound(at: moment) : nil
            return Begun(
                number: number, newest: try inbox.newestRow(), unread: try inbox.counts.unread(), bound: bound)
        } then: { [weak self] result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(nil):
                then(.failure(HostError(.notFound, "no such notification in the inbox; see bw_inbox_load()")))
            case .success(let begun?):
                guard let self else { return then(.failure(.closed)) }
                tell(peer, unread: begun.unread)
                guard let desktop = book.peers.peer(peer) else {
                    return then(.success(HostReply(["success": true, "unread": .integer(begun.unread)])))
                }
                let change = PendingChange(
                    desktop: peer, kind: kind, number: begun.number, newest: begun.newest, then: then)
                emit(
                    .perform(
                        request.command.bounded(by: begun.bound), on: desktop, timeout: timeout,
                        queueing: .whenUnanswered, for: .change(change)))
            }
        }
    }

    /// A person has answered an alert so.
    func markRead(_ notification: NotificationID, of desktop: PeerID) {
        guard let request = try? Device.InboxRequest.markRead(notification.text) else { return }
        change(request, desktop: desktop.text, timeout: InboxSync.timeout) { [context] result in
            guard case .failure(let error) = result, error.code != .closed, error.code != .notFound else { return }
            context.channel.log(.warning, "could not mark a notification as read: \(error.message)")
        }
    }

    /// - Parameter isQueued: the command of the change is in the offline queue.
    func ended(_ change: PendingChange, _ outcome: CommandOutcome, isQueued: Bool) {
        let end = change.end(after: outcome, isQueued: isQueued)
        book.peers[change.desktop]?.sync.note(end.error, of: .mutating)
        overtake(change.desktop)
        context.store { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            if let request = end.queuedAs { try inbox.changes.note(request, of: change.number) }
            try inbox.changes.end(change.number, end.ending)
            return (try inbox.counts.unread(), try inbox.newestRow(of: change.desktop) > change.newest)
        } then: { [weak self] result in
            self?.recorded(change, end, outcome, result)
        }
    }

    private func recorded(
        _ change: PendingChange, _ end: PendingChange.End, _ outcome: CommandOutcome,
        _ result: Result<(unread: Int64, hasNewer: Bool), StoreError>
    ) {
        var unread: Int64?
        switch result {
        case .success(let stored):
            unread = stored.unread
            tell(change.desktop, unread: unread)
            // Rows that arrived in the meantime may be marked or deleted, too.
            if end.ending == .done, change.kind.isOfAll, stored.hasNewer {
                sync(change.desktop) { $0.refreshUnasked(now: $1.loop) }
            }
        case .failure(let failure) where failure.code != .closed:
            context.channel.problem("store_failed", "could not change the inbox: \(failure.message)")
        case .failure: break
        }
        if let error = end.error { return change.then(.failure(error)) }
        guard case .answered(var answer) = outcome else { return change.then(outcome.reply) }
        answer["unread"] = unread.map(JSONValue.integer)
        change.then(.success(HostReply(answer)))
    }

    /// A queued command has ended, and so has its change. The result of a command that a method call queued is also
    /// applied.
    func ended(_ end: QueueEnd) {
        let command = end.command
        guard let method = NotificationMethod(name: command.method) else { return }
        let ending: InboxChange.Ending
        switch end.outcome {
        case .done: ending = .done
        // It stays in the queue, so that the program can retry it; until then the inbox shows the unchanged rows.
        case .failed(let failure):
            ending = .refused
            let code: HostError.Code = failure.code == HostError.Code.denied.name ? .denied : .remote
            book.peers[command.desktop]?.sync.note(HostError(code, failure.message), of: method.row.risk)
        case .superseded, .displaced, .removed: ending = .refused
        }
        overtake(command.desktop)
        context.store { (connection) throws(StoreError) -> (isKnown: Bool, unread: Int64) in
            let inbox = Inbox(connection)
            let change = try inbox.changes.change(command.id)
            if let change { try inbox.changes.end(change.number, ending) }
            return (change != nil, try inbox.counts.unread())
        } then: { [weak self] result in
            guard let self, case .success(let found) = result else { return }
            if found.isKnown {
                tell(command.desktop, unread: found.unread)
                // It was carried out later than it was shown: more may have gone with it.
                if ending == .done, method.row.effect?.isOfAll == true {
                    sync(command.desktop) { $0.refreshUnasked(now: $1.loop) }
                }
            } else if case .done(let answer) = end.outcome {
                updates.learn(method, command.params, answer, from: command.desktop)
                if method.row.effect?.isOfAll == true {
                    sync(command.desktop) { $0.refreshUnasked(now: $1.loop) }
                }
            }
        }
    }
}
