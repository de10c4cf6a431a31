import Delivery
import Notifications
import Wire

/// The outbox of one device: what paired sealed acknowledges, what deployed phones run does not (protocol.md 4.4).
enum DeviceOutbox {
    case sealed(OutboxStateMachine)
    case plain(PlainOutboxStateMachine)

    enum Action {
        case read(from: Int64, through: Int64, round: UInt64)
        case send(seq: Int64, Frame)
        /// It has everything through this one: the store may learn it later.
        case settle(through: Int64)
        /// It is further than we have ever counted: the store counts on from there.
        case renumber(after: Int64)
    }

    enum Frame {
        case push(NotificationEvent)
        case skip(through: Int64)
    }

    init(_ position: Outbox.Position, isSealed: Bool) {
        self = isSealed ? .sealed(OutboxStateMachine(position)) : .plain(PlainOutboxStateMachine(position))
    }

    var isSealed: Bool {
        switch self {
        case .sealed: true
        case .plain: false
        }
    }

    /// Where a machine of the other kind begins, when a device is paired anew.
    var position: Outbox.Position {
        switch self {
        case .sealed(let machine): Outbox.Position(last: machine.last, acknowledged: machine.acknowledged)
        case .plain(let machine): Outbox.Position(last: machine.last, acknowledged: machine.dropped)
        }
    }

    var deadline: UInt64? {
        switch self {
        case .sealed(let machine): machine.deadline
        case .plain(let machine): machine.deadline
        }
    }

    /// What a deployed phone has been sent, and nobody has called back; `nil` where acknowledgements tell.
    var written: Int64? {
        switch self {
        case .sealed: nil
        case .plain(let machine): machine.sent
        }
    }

    /// Whether it is known not to be there.
    var isAbsent: Bool {
        switch self {
        case .sealed(let machine): machine.presence == .absent
        case .plain(let machine): machine.presence == .absent
        }
    }

    // MARK: Events

    mutating func enqueued(_ entry: Outbox.Entry, now: UInt64) -> [Action] {
        change {
            $0.enqueued(entry, now: now)
        } plain: {
            $0.enqueued(entry, now: now)
        }
    }

    mutating func read(_ page: Outbox.Page, round: UInt64, now: UInt64) -> [Action] {
        change {
            $0.read(page, round: round, now: now)
        } plain: {
            $0.read(page, round: round, now: now)
        }
    }

    mutating func readFailed(round: UInt64, now: UInt64) {
        _ = change {
            $0.readFailed(round: round, now: now)
            return []
        } plain: {
            $0.readFailed(round: round, now: now)
            return []
        }
    }

    mutating func unsent(from seq: Int64, now: UInt64) {
        _ = change {
            $0.unsent(from: seq, now: now)
            return []
        } plain: {
            $0.unsent(from: seq, now: now)
            return []
        }
    }

    mutating func heard(now: UInt64) -> [Action] {
        change {
            $0.heard(now: now)
        } plain: {
            $0.heard(now: now)
        }
    }

    mutating func wasCalledAbsent() {
        _ = change {
            $0.wasCalledAbsent()
            return []
        } plain: {
            $0.wasCalledAbsent()
            return []
        }
    }

    mutating func connected(now: UInt64) -> [Action] {
        change {
            $0.connected(now: now)
        } plain: {
            $0.connected(now: now)
        }
    }

    mutating func disconnected() {
        _ = change {
            $0.disconnected()
            return []
        } plain: {
            $0.disconnected()
            return []
        }
    }

    mutating func ended() -> [Action] {
        change { _ in
            []
        } plain: {
            $0.ended()
        }
    }

    mutating func deadlineReached(now: UInt64) -> [Action] {
        change {
            $0.deadlineReached(now: now)
        } plain: {
            $0.deadlineReached(now: now)
        }
    }

    /// Only what is sealed says how far it is.
    mutating func acknowledged(through seq: Int64, isHello: Bool, now: UInt64) -> [Action] {
        change {
            isHello ? $0.hello(lastPushSeq: seq, now: now) : $0.acknowledged(through: seq, now: now)
        } plain: { _ in
            []
        }
    }

    mutating func renumbered(_ position: Outbox.Position, now: UInt64) -> [Action] {
        change {
            $0.renumbered(position, now: now)
        } plain: { _ in
            []
        }
    }

    mutating func renumberFailed(now: UInt64) {
        _ = change {
            $0.renumberFailed(now: now)
            return []
        } plain: { _ in
            []
        }
    }

    private mutating func change(
        sealed: (inout OutboxStateMachine) -> [OutboxStateMachine.Action],
        plain: (inout PlainOutboxStateMachine) -> [PlainOutboxStateMachine.Action]
    ) -> [Action] {
        switch self {
        case .sealed(var machine):
            let actions = sealed(&machine)
            self = .sealed(machine)
            return actions.flatMap(Self.actions)
        case .plain(var machine):
            let actions = plain(&machine)
            self = .plain(machine)
            return actions.flatMap(Self.actions)
        }
    }

    private static func actions(_ action: OutboxStateMachine.Action) -> [Action] {
        switch action {
        case .read(let from, let through, let round): [.read(from: from, through: through, round: round)]
        case .send(let frames):
            frames.map { frame in
                switch frame {
                case .push(let entry): .send(seq: entry.seq, .push(entry.event))
                case .skip(let through): .send(seq: through, .skip(through: through))
                }
            }
        case .settle(let through): [.settle(through: through)]
        case .renumber(let seq): [.renumber(after: seq)]
        }
    }

    private static func actions(_ action: PlainOutboxStateMachine.Action) -> [Action] {
        switch action {
        case .read(let from, let through, let round): [.read(from: from, through: through, round: round)]
        case .send(let entries): entries.map { .send(seq: $0.seq, .push($0.event)) }
        case .drop(let through): [.settle(through: through)]
        }
    }
}
