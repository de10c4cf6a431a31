import Delivery
import Notifications
import Wire

/// One device's outbox: a device paired sealed acknowledges (WireSealing, "Delivery of pushes"), a deployed phone does
/// not (WireSealing, "Delivery to deployed phones").
enum DeviceOutbox: Sendable {
    case sealed(OutboxStateMachine)
    case plain(PlainOutboxStateMachine)

    enum Action: Sendable, Equatable {
        case read(from: Int64, through: Int64, round: UInt64)
        case send([OutboxStateMachine.Frame])
        /// The device has everything through this one: the store may learn it later.
        case settle(through: Int64)
        /// The device is further than we have ever counted: the store counts on from there.
        case renumber(after: Int64)
        /// As that, but nothing through this number is settled: the device has it from an earlier start of ours.
        case recount(after: Int64)
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

    /// First number for the other kind of state machine if the device is paired again.
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

    /// What was sent to a deployed phone, and counts as delivered; `nil` where acknowledgements tell.
    var written: Int64? {
        switch self {
        case .sealed: nil
        case .plain(let machine): machine.presumed
        }
    }

    /// Whether what was sent to a deployed phone may still turn out as delivered.
    var isWaiting: Bool {
        switch self {
        case .sealed: false
        case .plain(let machine): machine.isWaiting
        }
    }

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
        note {
            $0.readFailed(round: round, now: now)
        } plain: {
            $0.readFailed(round: round, now: now)
        }
    }

    mutating func unsent(from seq: Int64, now: UInt64) {
        note {
            $0.unsent(from: seq, now: now)
        } plain: {
            $0.unsent(from: seq, now: now)
        }
    }

    mutating func heard(over route: RouteID?, now: UInt64) -> [Action] {
        change {
            $0.heard(now: now)
        } plain: {
            $0.heard(over: route, now: now)
        }
    }

    /// Acknowledgements tell without the relay's reports.
    mutating func routed(over route: RouteID, _ reporting: AbsenceReporting, now: UInt64) -> [Action] {
        change { _ in
            []
        } plain: {
            $0.routed(over: route, reporting, now: now)
        }
    }

    mutating func wasCalledAbsent() {
        note {
            $0.wasCalledAbsent()
        } plain: {
            $0.wasCalledAbsent()
        }
    }

    mutating func wentOffline() {
        note {
            $0.wasCalledAbsent()
        } plain: {
            $0.wentOffline()
        }
    }

    /// The relay that carried what was sent to it has called one frame back.
    mutating func wasReturned(now: UInt64) -> [Action] {
        change { _ in
            []
        } plain: {
            $0.wasReturned(now: now)
        }
    }

    mutating func connected(isCarrierUp: Bool, now: UInt64) -> [Action] {
        change {
            $0.connected(now: now)
        } plain: {
            $0.connected(isCarrierUp: isCarrierUp, now: now)
        }
    }

    mutating func disconnected() {
        note {
            $0.disconnected()
        } plain: {
            $0.disconnected()
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

    /// Only a device with an encrypted pairing acknowledges pushes.
    mutating func acknowledged(through seq: Int64, isHello: Bool, now: UInt64) -> [Action] {
        change {
            isHello ? $0.hello(lastPushSeq: seq, now: now) : $0.acknowledged(through: seq, now: now)
        } plain: { _ in
            []
        }
    }

    /// It says how far it is with what an earlier start has sent it.
    mutating func recalled(through seq: Int64, now: UInt64) -> [Action] {
        change {
            $0.recalled(lastPushSeq: seq, now: now)
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
        note {
            $0.renumberFailed(now: now)
        } plain: { _ in
        }
    }

    // The machine is taken out of `self` and put back, not copied.
    private mutating func change(
        sealed: (inout OutboxStateMachine) -> [OutboxStateMachine.Action],
        plain: (inout PlainOutboxStateMachine) -> [PlainOutboxStateMachine.Action]
    ) -> [Action] {
        switch consume self {
        case .sealed(var machine):
            let actions = sealed(&machine)
            self = .sealed(machine)
            return actions.map(Action.init)
        case .plain(var machine):
            let actions = plain(&machine)
            self = .plain(machine)
            return actions.map(Action.init)
        }
    }

    private mutating func note(
        sealed: (inout OutboxStateMachine) -> Void, plain: (inout PlainOutboxStateMachine) -> Void
    ) {
        switch consume self {
        case .sealed(var machine):
            sealed(&machine)
            self = .sealed(machine)
        case .plain(var machine):
            plain(&machine)
            self = .plain(machine)
        }
    }
}

extension DeviceOutbox.Action {
    fileprivate init(_ action: OutboxStateMachine.Action) {
        switch action {
        case .read(let from, let through, let round): self = .read(from: from, through: through, round: round)
        case .send(let frames): self = .send(frames)
        case .settle(let through): self = .settle(through: through)
        case .renumber(let seq): self = .renumber(after: seq)
        case .recount(let seq): self = .recount(after: seq)
        }
    }

    fileprivate init(_ action: PlainOutboxStateMachine.Action) {
        switch action {
        case .read(let from, let through, let round): self = .read(from: from, through: through, round: round)
        case .send(let entries): self = .send(entries.map { .push($0) })
        case .drop(let through): self = .settle(through: through)
        }
    }
}
