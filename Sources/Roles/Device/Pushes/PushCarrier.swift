import Delivery
import DeviceAlerts
import Hosting
import Inbox
import JSON
import Notifications
import Sealing
import Signalling
import Sharing
import Store
import Transport
import Wire

/// Carries pushes from the loop into the store and back: ``PushReceiver`` decides, `PushIntake` stores them, and
/// ``WaitingPushes`` has them for the host right after the commit.
@EventLoop
final class PushCarrier {
    /// What the device is to do.
    enum Event {
        /// Tell a desktop through which number its pushes are stored.
        case acknowledge(PeerID, PushReceiver.Position, over: RouteID?)
        /// Pushes of these desktops have entered the inbox, with these alerts.
        case stored([PeerID], unread: Int64, alerts: [AlertJudge.Judged])
        /// A hint of this desktop isn't one any more.
        case confirmed(PeerID, unread: Int64)
        /// Too many wait for the host: one at least was not taken. Told once until one is.
        case full
        /// Nothing of a commit was stored.
        case failed(StoreError)

        /// For the host.
        var problem: (code: String, message: String)? {
            switch self {
            case .acknowledge, .stored, .confirmed: nil
            case .full:
                (
                    "inbox_full",
                    "\(Inbox.waitingLimit) pushes wait for the program; no more are accepted until it subscribes to "
                        + "notification.received and dispatches"
                )
            case .failed(let error): ("store_failed", "could not store pushes: \(error.message)")
            }
        }
    }

    /// What came of a push that a call of the host's, or a request of its desktop, has brought.
    enum CallEnd {
        case stored
        /// The store has it, or had it.
        case duplicate
        /// It came a moment ago, and may not be stored yet.
        case recent
        case full
        /// Its desktop was unpaired meanwhile; nothing is stored.
        case forgotten
        case failed(StoreError)
    }

    /// A push that a call of the host's has brought.
    struct Call {
        /// Whether its alert may fetch the image that it names.
        let mayFetch: Bool
        /// To be kept with it.
        let work: HostEvent?
        /// The prekey that it was sealed to, which is used up with it, and its number there; `nil` = it was not sealed.
        var seal: (use: PrekeyUse, number: Int64)?
        let then: @EventLoop (CallEnd) -> Void
    }

    let waiting: WaitingPushes
    private let database: Database
    private let spool: EventSpool?
    private let pushesWait: @Sendable () -> Void
    private let judge: @EventLoop () -> AlertJudge?
    private let tell: @EventLoop (Event) -> Void
    private var receiver: PushReceiver
    private var calls: [UInt64: Call] = [:]
    private var lastTicket: UInt64 = 0
    private var isFull = false
    private var isShutDown = false
    /// Who is to be told where it stands, once for all that has come meanwhile.
    private var due: [(desktop: PeerID, route: RouteID?)] = []
    private lazy var dueTimer = LoopTimer { [weak self] in self?.tellDue() }

    /// - Parameters:
    ///   - spool: takes what is kept besides, of a device that programs share; `nil` = it waits for this program.
    ///   - committed: the last stored number of each desktop.
    ///   - pushesWait: the host has something to take. Called on the store's thread.
    ///   - judge: decides alerts; `nil` = none are shown.
    init(
        _ waiting: WaitingPushes, _ database: Database, _ spool: EventSpool? = nil, committed: [(PeerID, Int64)],
        pushesWait: @escaping @Sendable () -> Void, judge: @escaping @EventLoop () -> AlertJudge?,
        tell: @escaping @EventLoop (Event) -> Void
    ) {
        self.waiting = waiting
        (self.database, self.spool) = (database, spool)
        self.pushesWait = pushesWait
        self.judge = judge
        self.tell = tell
        receiver = PushReceiver(committed: committed)
    }

    var counters: PushReceiver.Counters { receiver.counters }

    /// How far a desktop's pushes are stored: for the hello that starts its resend.
    func hello(to desktop: PeerID) -> PairingHello {
        let position = receiver.position(of: desktop)
        return PairingHello(lastPushSeq: position.seq, epoch: position.namedEpoch, sealVersions: .own)
    }

    func received(_ push: ReceivedPush) { perform(receiver.received(push, now: EventLoop.now)) }

    /// A push that a call of the host's has brought; the call ends once.
    func received(_ notification: Notification, from source: PeerID, _ call: Call) {
        lastTicket &+= 1
        calls[lastTicket] = call
        received(
            ReceivedPush(
                desktop: source, notification: notification, hintNumber: call.seal?.number, ticket: lastTicket))
    }

    /// A push that its desktop waits for an answer to; `then` is called once.
    func received(_ push: ReceivedPush, then: @escaping @EventLoop (CallEnd) -> Void) {
        lastTicket &+= 1
        calls[lastTicket] = Call(mayFetch: true, work: nil, then: then)
        var push = push
        push.ticket = lastTicket
        received(push)
    }

    func received(_ skip: ReceivedSkip) { perform(receiver.received(skip)) }

    func droppedMalformed() { receiver.droppedMalformed() }

    func forget(_ desktop: PeerID) {
        due.removeAll { $0.desktop == desktop }
        perform(receiver.forget(desktop))
    }

    /// A desktop has another key.
    func moved(_ desktop: PeerID, to successor: PeerID) {
        due.removeAll { $0.desktop == desktop }
        perform(receiver.moved(desktop, to: successor))
    }

    /// The last piece of work before the store is closed. `then` is called on the loop, when desktops have been told of all
    /// that is stored: the host may have taken it already.
    func shutDown(then: @escaping @Sendable @EventLoop () -> Void) {
        isShutDown = true
        database.submit { [waiting] (connection) throws(StoreError) in
            try waiting.withdrawOffer(connection)
        } then: { _ in
            EventLoop.post {
                self.tellDue()
                then()
            }
        }
    }

    // MARK: Actions

    private func perform(_ actions: [PushReceiver.Action]) {
        for action in actions {
            switch action {
            case .commit(let items): commit(items)
            case .acknowledge(let desktop, _, let route):
                if due.isEmpty { dueTimer.start(after: 0) }
                due.removeAll { $0.desktop == desktop }
                due.append((desktop, route))
            case .drop(let push, let drop):
                guard let ticket = push.ticket, let call = calls.removeValue(forKey: ticket) else { continue }
                switch drop {
                case .duplicate: call.then(.recent)
                case .gap, .overflow: call.then(.full)
                case .forgotten: call.then(.forgotten)
                }
            }
        }
    }

    /// Tells each desktop where it stands, if that is due.
    func tellDue() {
        dueTimer.stop()
        let due = due
        self.due = []
        for (desktop, route) in due {
            guard let position = receiver.report(to: desktop, now: EventLoop.now) else { continue }
            tell(.acknowledge(desktop, position, over: route))
        }
    }

    private func commit(_ items: [PushReceiver.Item]) {
        guard !isShutDown else {
            let error = StoreError(.closed, "the device was closed before the push was stored")
            for item in items { end(item, .failed(error)) }
            return
        }
        let judge = judge()
        var hasKept = false
        let work = items.map { item -> PushIntake<AlertJudge.Judged>.Item in
            guard case .push(let push) = item else { return .init(item) }
            let call = push.ticket.flatMap { calls[$0] }
            let alert = judge?.judge(push.notification, from: push.desktop, isMutable: call?.mayFetch ?? true)
            let (kept, use) = (call?.work, call?.seal?.use)
            hasKept = hasKept || kept != nil
            guard alert != nil || kept != nil || use != nil else { return .init(item) }
            return .init(item) { (connection, arrival) throws(StoreError) in
                guard case .stored(_, let replaced) = arrival else { return nil }
                if let kept { try KeptEvents(connection).add(kept) }
                if let use { try PrekeyTable(connection).record(use) }
                return try alert?.saved(connection, replacing: replaced)
            }
        }
        database.submit { [waiting, spool, hasKept] (connection) throws(StoreError) in
            let host = waiting.place
            let outcome = try PushIntake(connection).take(
                work, hostTakes: host.hostTakes, hostHasSeen: host.hostHasSeen, isShared: spool != nil,
                pruning: ExpiryMoment.current.pruning)
            return (outcome, moved: hasKept ? try spool?.moveWaiting(connection) ?? [] : [])
        } then: { [waiting, spool, pushesWait] result in
            // Straight to the program, without a turn through the loop.
            if case .success((let outcome, let moved)) = result {
                if !outcome.waiting.pushes.isEmpty {
                    waiting.stored(outcome.waiting)
                    pushesWait()
                }
                spool?.tell(moved)
            }
            EventLoop.post { self.committed(items, result.map(\.0)) }
        }
    }

    private func committed(
        _ items: [PushReceiver.Item], _ result: Result<PushIntake<AlertJudge.Judged>.Outcome, StoreError>
    ) {
        switch result {
        case .failure(let error):
            let next = receiver.failed()
            if error.code != .closed { tell(.failed(error)) }
            for item in items { end(item, .failed(error)) }
            perform(next)
        case .success(let outcome):
            let next = receiver.committed(outcome.taken.map(\.verdict))
            // The next commit is under way while this one's outcome is told.
            perform(next)
            tell(outcome, of: items)
            for (item, taken) in zip(items, outcome.taken) {
                switch taken.verdict {
                case .stored: end(item, .stored)
                case .duplicate, .confirmed, .replayed: end(item, .duplicate)
                case .full, .behind: end(item, .full)
                }
            }
        }
    }

    private func tell(_ outcome: PushIntake<AlertJudge.Judged>.Outcome, of items: [PushReceiver.Item]) {
        var desktops: [PeerID] = []
        for push in outcome.waiting.pushes where !desktops.contains(push.entry.desktop) {
            desktops.append(push.entry.desktop)
        }
        if !desktops.isEmpty {
            isFull = false
            tell(.stored(desktops, unread: outcome.unread, alerts: outcome.taken.compactMap(\.extra)))
        }
        for (item, taken) in zip(items, outcome.taken) where taken.verdict == .confirmed {
            tell(.confirmed(item.desktop, unread: outcome.unread))
        }
        guard !isFull, outcome.taken.contains(where: { $0.verdict == .full }) else { return }
        isFull = true
        tell(.full)
    }

    private func end(_ item: PushReceiver.Item, _ end: CallEnd) {
        guard case .push(let push) = item, let ticket = push.ticket else { return }
        calls.removeValue(forKey: ticket)?.then(end)
    }
}

extension PushReceiver.Position {
    /// As it is written: a device that names epochs always does, so a desktop never takes it for one that doesn't.
    fileprivate var namedEpoch: Int64 { epoch ?? 0 }

    /// The acknowledgement. If the push is of an earlier start of the desktop, a hello: its number settles nothing there, but
    /// tells it where to continue (WireSealing, "Delivery of pushes").
    var payload: JSONValue {
        isOfEarlierStart
            ? PairingHello(lastPushSeq: seq, epoch: namedEpoch).json
            : PushAcknowledgement(pushSeq: seq, epoch: namedEpoch).json
    }
}
