import Commands
import Delivery
import History
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Wire

/// The outcome of a command in its transaction.
enum Execution: Sendable {
    /// `queued` holds the number of its push in each device's outbox.
    case done(Handled, queued: [PeerID: Int64])
    /// The same frame had its effect before this desktop was opened.
    case replayed
    /// The same request was answered before.
    case answered(AnswerTable.Answer)
    case expired(EpochMilliseconds)
    /// A scheduled push that was withdrawn in the meantime.
    case withdrawn
    /// The device has been unpaired in the meantime.
    case revoked
}

/// A command with everything that its transaction needs.
struct CommandTransaction: Sendable {
    var caller: MethodHandler.Caller
    let method: String
    let params: JSONObject
    let newID: NotificationID
    let now: EpochMilliseconds
    var roster: DeviceRoster
    /// The destination of the answer.
    let origin: CommandOrigin
    /// The mark of its frame, if that was sealed.
    var mark: SealMark?
    var revocation: RevocationFlag?
    var constraints: RequestConstraints?

    /// Runs several as one piece of work: what they share is read once and written once.
    ///
    /// - Parameter moves: the other id of each device that has moved since one of them was made.
    static func run(
        _ transactions: [CommandTransaction], _ moves: [PeerID: PeerID] = [:], on connection: Connection
    ) throws(StoreError) -> (executions: [Execution], unread: Int64) {
        let work = HistoryWork(connection)
        // The store knows which of the two ids counts here: a move may have failed.
        let current = try PairedDevices(connection).current(moves)
        let transactions = current.isEmpty ? transactions : transactions.map { $0.following(current) }
        var executions: [Execution] = []
        executions.reserveCapacity(transactions.count)
        for transaction in transactions { executions.append(try transaction.run(in: work)) }
        return (executions, try work.finish().unread)
    }

    /// The same command, with the ids that devices have now (WireRekey, "Switch").
    private func following(_ moves: [PeerID: PeerID]) -> CommandTransaction {
        var transaction = self
        transaction.roster = roster.following(moves)
        if case .device(let device, let isBellwire) = caller {
            transaction.caller = .device(moves[device] ?? device, isBellwire: isBellwire)
        }
        if let key = constraints?.key { transaction.constraints?.key?.device = moves[key.device] ?? key.device }
        return transaction
    }

    /// Marks the frame, executes the method, queues its push and keeps its answer.
    private func run(in work: HistoryWork) throws(StoreError) -> Execution {
        let connection = work.connection
        if let mark, try !SealStates(connection).save(mark) { return .replayed }
        if let revocation, revocation.isRevoked { return .revoked }
        if case .schedule = origin {
            guard try ScheduleTable(connection).remove(newID), roster.mayCall(caller) else { return .withdrawn }
        }
        let answers = AnswerTable(connection)
        if let key = constraints?.key, let answer = try answers.answer(to: key) { return .answered(answer) }
        if let constraints, constraints.isExpired, let expiresAt = constraints.expiresAt { return .expired(expiresAt) }
        var context = MethodHandler.Context(now: now, newID: newID, devices: roster.devices)
        context.pruning = min(now, ExpiryMoment.current.now)
        let handled = try MethodHandler(caller: caller, context: context, in: work).handle(method, params)
        let queued = try queue(handled, in: work)
        if let key = constraints?.key, let (result, isOpen) = handled.known {
            try answers.keep(result, isOpen: isOpen, to: key, now: now)
        }
        return .done(handled, queued: queued)
    }

    /// Puts the push in the outboxes of its recipients, in the transaction that has put it in the history. Returns its
    /// number in each.
    private func queue(_ handled: Handled, in work: HistoryWork) throws(StoreError) -> [PeerID: Int64] {
        guard let row = handled.row else { return [:] }
        for effect in handled.effects {
            guard case .push(let event, let peers) = effect, !peers.isEmpty else { continue }
            return try work.enqueue(event, row: row, to: roster.recipients(peers), now: now)
        }
        return [:]
    }
}

extension PairedDevices {
    /// Of two ids of one device in each entry: those that are not paired any more, with the one that is.
    fileprivate func current(_ moves: [PeerID: PeerID]) throws(StoreError) -> [PeerID: PeerID] {
        var current: [PeerID: PeerID] = [:]
        for (id, other) in moves {
            guard try find(id) == nil, try find(other) != nil else { continue }
            current[id] = other
        }
        return current
    }
}

extension DeviceRoster {
    /// Whether a push may go out that this caller has scheduled: what a device wanted ends with its pairing.
    fileprivate func mayCall(_ caller: MethodHandler.Caller) -> Bool {
        switch caller {
        case .host: true
        case .device(let peer, _): devices.contains { $0.peer == peer }
        }
    }
}

extension Handled {
    /// The result as known at the commit, and whether more will be known; `nil` for a refusal.
    fileprivate var known: (result: JSONValue, isOpen: Bool)? {
        switch reply {
        case .ready(.result(let result)): (result, false)
        case .ready(.error): nil
        case .afterPush(let pending):
            switch pending.complete(delivered: []) {
            case .result(let result): (result, true)
            case .error: nil
            }
        }
    }
}
