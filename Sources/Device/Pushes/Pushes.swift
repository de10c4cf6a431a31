import Alerts
import Delivery
import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Takes pushes in: each is stored once, the numbered ones of a sealed desktop in order, and acknowledged
/// (protocol.md 4.4).
@EventLoop
final class Pushes {
    enum Action {
        /// Acknowledge this number, preferably over this connection.
        case acknowledge(PeerID, Int64, over: String)
        case arrived(PeerID, unread: Int64)
        case alert(AlertJudge.Judged)
        case replayed
    }

    /// What a push has brought about in the store.
    struct Arrived: Sendable {
        let arrival: Inbox.Arrival
        let unread: Int64
        /// Of one that is new, where alerts are shown.
        var alert: AlertJudge.Judged?

        /// With its alert, in the same transaction.
        init(
            _ arrival: Inbox.Arrival, _ alert: AlertJudge.Judged?, _ connection: Connection
        ) throws(StoreError) {
            self.arrival = arrival
            unread = try Inbox(connection).unreadCount()
            if case .stored(_, let replaced) = arrival {
                self.alert = try alert?.saved(connection, replacing: replaced)
            }
        }
    }

    private enum Numbered: Sendable {
        case taken(Arrived)
        case duplicate(last: Int64)
        /// One before it is missing: the desktop hears what the last one was, and sends it.
        case gap(last: Int64)
        /// Its seal has come before.
        case replayed
    }

    private var dispatcher = Dispatcher()
    /// Too many pushes wait for the host; told once.
    private var isFull = false
    private let context: DeviceContext
    private let book: DesktopBook
    private let judge: @EventLoop () -> AlertJudge?
    private let emit: @EventLoop (Action) -> Void
    private lazy var timer = LoopTimer { [weak self] in self?.acknowledge() }

    init(
        _ context: DeviceContext, _ book: DesktopBook, judge: @escaping @EventLoop () -> AlertJudge?,
        emit: @escaping @EventLoop (Action) -> Void
    ) {
        self.context = context
        self.book = book
        self.judge = judge
        self.emit = emit
    }

    var counters: Dispatcher.Counters { dispatcher.counters }

    func drop(_ malformed: MalformedPayload) { dispatcher.drop(malformed) }

    func close() { timer.stop() }

    // MARK: Numbered pushes

    /// The greeting that tells a desktop which push was stored last.
    func hello(to desktop: PeerID) -> JSONValue {
        PairingHello(lastPushSeq: book.peers[desktop]?.lastPushSeq ?? 0).json
    }

    /// A push of a desktop with an outbox. Its seal is remembered where it had an effect: one that is dropped has none,
    /// however often it comes.
    func receive(
        _ event: NotificationEvent, numbered seq: Int64, from id: PeerID, isLate: Bool, _ mark: SealMark,
        over url: String
    ) {
        let isKnown = dispatcher.admit(event, from: id, now: EventLoop.now) == .duplicate
        let notification = Notification(event, receivedAt: .now, late: isLate)
        let alert = judge()?.judge(notification, from: id)
        context.store { (connection) throws(StoreError) -> Numbered in
            let received = ReceivedPushes(connection)
            switch try received.verdict(on: seq, of: id) {
            case .duplicate(let last): return .duplicate(last: last)
            case .gap(let last): return .gap(last: last)
            case .next: break
            }
            let inbox = Inbox(connection)
            guard try SealStates(connection).save(mark) else { return .replayed }
            let arrival = try inbox.receive(notification, from: id)
            if arrival != .full { try received.set(seq, of: id) }
            return .taken(try Arrived(arrival, alert, connection))
        } then: { [self] result in
            switch result {
            case .success(.taken(let arrived)):
                if arrived.arrival != .full { acknowledge(seq, to: id, over: url) }
                // In the store, though not in the memory of the last moments, or the other way: it counts once.
                if !isKnown || arrived.arrival != .duplicate { self.arrived(notification.id, from: id, .success(arrived)) }
            case .success(.duplicate(let last)):
                if !isKnown { dispatcher.wasStoredBefore() }
                acknowledge(last, to: id, over: url)
            case .success(.gap(let last)):
                if !isKnown { dispatcher.release(notification.id, from: id) }
                acknowledge(last, to: id, over: url)
            case .success(.replayed):
                if !isKnown { dispatcher.wasStoredBefore() }
                emit(.replayed)
            case .failure(let error): arrived(notification.id, from: id, .failure(error))
            }
        }
    }

    /// The desktop has nothing more up to there.
    func skip(through seq: Int64, of id: PeerID, _ mark: SealMark, over url: String) {
        context.store { (connection) throws(StoreError) -> Int64? in
            guard try SealStates(connection).save(mark) else { return nil }
            return try ReceivedPushes(connection).skip(through: seq, of: id)
        } then: { [self] result in
            switch result {
            case .success(let last?): acknowledge(last, to: id, over: url)
            case .success(nil): emit(.replayed)
            case .failure(let error):
                guard error.code != .closed else { return }
                context.channel.problem("store_failed", "a desktop's skip could not be recorded: \(error.message)")
            }
        }
    }

    /// Said once for all that has come meanwhile.
    private func acknowledge(_ last: Int64, to desktop: PeerID, over url: String) {
        guard book.peers.contains(desktop) else { return }
        book.peers[desktop]?.lastPushSeq = last
        book.peers[desktop]?.acknowledgementRoute = url
        if !timer.isRunning { timer.start(after: 0) }
    }

    private func acknowledge() {
        for desktop in book.peers.ids {
            guard let url = book.peers[desktop]?.acknowledgementRoute, let last = book.peers[desktop]?.lastPushSeq else {
                continue
            }
            book.peers[desktop]?.acknowledgementRoute = nil
            emit(.acknowledge(desktop, last, over: url))
        }
    }

    // MARK: Other pushes

    func receive(_ event: NotificationEvent, from id: PeerID, isLate: Bool, _ mark: SealMark?) {
        let isNew = dispatcher.admit(event, from: id, now: EventLoop.now) == .admitted
        let notification = Notification(event, receivedAt: .now, late: isLate)
        let alert = isNew ? judge()?.judge(notification, from: id) : nil
        context.store { (connection) throws(StoreError) -> Arrived? in
            if let mark, try !SealStates(connection).save(mark) { return nil }
            guard isNew else { return nil }
            return try Arrived(Inbox(connection).receive(notification, from: id), alert, connection)
        } then: { [self] result in
            guard isNew else { return }
            switch result {
            case .success(let arrived?): self.arrived(notification.id, from: id, .success(arrived))
            case .success(nil):
                dispatcher.wasStoredBefore()
                emit(.replayed)
            case .failure(let error): arrived(notification.id, from: id, .failure(error))
            }
        }
    }

    /// Of a push service: stores it, and with it the work that it brings. `then` gets `nil` for a duplicate.
    func receive(
        _ event: NotificationEvent, from source: PeerID, mayFetch: Bool, with work: HostEvent?,
        then: @escaping @Sendable @EventLoop (Result<Inbox.Arrival?, StoreError>) -> Void
    ) {
        guard dispatcher.admit(event, from: source, now: EventLoop.now) == .admitted else {
            return then(.success(nil))
        }
        let notification = Notification(event, receivedAt: .now)
        let alert = judge()?.judge(notification, from: source, isMutable: mayFetch)
        context.store { (connection) throws(StoreError) -> Arrived in
            let arrived = try Arrived(Inbox(connection).receive(notification, from: source), alert, connection)
            if let work, case .stored = arrived.arrival { try KeptEvents(connection).add(work) }
            return arrived
        } then: { [self] result in
            arrived(notification.id, from: source, result)
            then(result.map(\.arrival))
        }
    }

    /// What has become of an admitted push.
    private func arrived(_ notification: NotificationID, from desktop: PeerID, _ result: Result<Arrived, StoreError>) {
        switch result {
        case .success(let arrived):
            switch arrived.arrival {
            case .stored:
                isFull = false
                context.channel.pushesWait()
                emit(.arrived(desktop, unread: arrived.unread))
                if let alert = arrived.alert { emit(.alert(alert)) }
            case .duplicate: dispatcher.wasStoredBefore()
            case .full:
                dispatcher.release(notification, from: desktop)
                tellFull()
            }
        case .failure(let error):
            guard error.code != .closed else { return }
            // Whoever sends it again shall find the slot free.
            dispatcher.release(notification, from: desktop)
            context.channel.problem("store_failed", "a push could not be stored: \(error.message)")
        }
    }

    private func tellFull() {
        guard !isFull else { return }
        isFull = true
        context.channel.problem(
            "inbox_full",
            "\(Inbox.waitingLimit) pushes wait for the program, and no more are taken; subscribe to "
                + "notification.received and dispatch")
    }
}
