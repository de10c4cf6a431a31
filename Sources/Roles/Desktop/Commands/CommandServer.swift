import Commands
import History
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Executes commands of paired devices and of the host: each in a transaction, then its effects, then its answer.
///
/// Commands that arrive while others are in the store form the next batch. A replayed frame has neither effects nor an
/// answer; a repeated request gets its first answer (WireMessages, "Repeated and late commands"). The results leave
/// through `output`, on the loop.
@EventLoop
final class CommandServer {
    enum Output {
        case answer(CommandResponse.Outcome, to: CommandOrigin)
        /// Not executed: answered once the frame of the mark is recorded.
        case refuse(RemoteError, DeviceRequest, SealMark?)
        /// Queued under these numbers. With a ticket, ``delivered(_:to:)`` is to be called once its recipients are known.
        case push(NotificationEvent, numbered: [PeerID: Int64], PushTicket?)
        /// One was kept for later.
        case scheduled
        case announce(Handled.Announcement)
        case unread(Int64)
        /// Pushes may have been taken back.
        case withdrawn
        /// The store knew the frame already.
        case replayed
    }

    struct Counters {
        var refused: Int64 = 0
        /// Too many from one device in a short time.
        var limited: Int64 = 0
        /// Came after their `expiresAt`.
        var late: Int64 = 0
        /// Came again, and got their first answer.
        var repeated: Int64 = 0
    }

    private struct AwaitedPush {
        let reply: PendingReply
        var key: AnswerTable.Key?
        /// The last one that asked.
        var origin: CommandOrigin
    }

    /// One is being committed while the next one waits for it.
    private static let batchesAtOnce = 2
    private static let batchLimit = 128

    private let database: Database
    private let devices: DeviceBook
    private let limiter: RateLimiter
    private let host: HostReports
    private let output: @EventLoop (Output) -> Void
    private var authenticator = CommandAuthenticator()
    private var held = HeldCommands()
    /// Kept answers that lack only who was reached.
    private var openAnswers: [AnswerTable.Key: PushTicket] = [:]
    private var awaited: [PushTicket: AwaitedPush] = [:]
    private var lastTicket: PushTicket = 0
    /// Commands that go to the store together, once a batch comes back.
    private var waiting: [CommandTransaction] = []
    private var batchesUnderWay = 0
    /// The other id of each device that has moved while commands that name it are under way.
    private var moves: [PeerID: PeerID] = [:]
    /// The new ids of the devices of which the store doesn't know yet whether they move.
    private var unsettled: Set<PeerID> = []
    private(set) var counters = Counters()

    init(
        database: Database, devices: DeviceBook, limiter: RateLimiter, _ host: HostReports,
        output: @escaping @EventLoop (Output) -> Void
    ) {
        (self.database, self.devices, self.limiter) = (database, devices, limiter)
        (self.host, self.output) = (host, output)
    }

    /// Answers that wait for their pushes, or for the disk.
    var openAnswerCount: Int { openAnswers.count }

    // MARK: Events

    /// A paired device's request.
    ///
    /// - Parameters:
    ///   - naming: who names senders on its route. Where senders do, an unencrypted device must sign what changes something.
    ///   - isOfStranger: it arrived under another id, and only claims to be this device's.
    func received(
        _ request: CommandRequest, from device: PairedDevice, _ session: DeviceSession, over route: RouteID,
        naming: SenderNaming = .byRelay, isOfStranger: Bool = false, mark: SealMark?, roster: DeviceRoster,
        at now: EpochMilliseconds
    ) {
        let origin = DeviceRequest(
            request.answerable, from: device, session, over: route, isBellwire: request.expiresAt != nil)
        let transaction = CommandTransaction(
            caller: .device(device.did, isBellwire: origin.isBellwire), method: request.method,
            params: request.params, newID: .fresh(at: now), now: now, roster: roster, origin: .device(origin),
            mark: mark, revocation: session.revocation,
            constraints: origin.isBellwire
                ? RequestConstraints(
                    request, from: device.did, now: session.clockLead.moment(now: min(now, ExpiryMoment.current.now)))
                : nil)
        let proof = proof(of: request, from: device, naming, at: now)
        if case .refused(let error) = proof {
            counters.refused &+= 1
            return output(.refuse(error, origin, mark))
        }
        if let error = limitRefusal(of: device.did, isOfStranger: isOfStranger) {
            return output(.refuse(error, origin, mark))
        }
        guard case .awaited = proof else { return execute(transaction) }
        if !held.hold(transaction, over: route) { refuseForgeable(transaction) }
    }

    /// It is known who names senders on this route: what waited for that is executed or refused.
    func settled(_ route: RouteID, _ naming: SenderNaming) {
        guard naming != .unknown else { return }
        for transaction in held.release(route) {
            if naming == .byRelay { execute(transaction) } else { refuseForgeable(transaction) }
        }
    }

    private func refuseForgeable(_ transaction: CommandTransaction) {
        counters.refused &+= 1
        output(.answer(.error(.forgeable), to: transaction.origin))
    }

    /// A call of the host's own, its parameters checked.
    func execute(_ call: OwnCall, roster: DeviceRoster, at now: EpochMilliseconds) {
        execute(
            CommandTransaction(
                caller: .host, method: call.method.name, params: call.params, newID: .fresh(at: now), now: now,
                roster: roster, origin: .host(call.id),
                constraints: call.request.map { RequestConstraints($0, of: call.method) }))
    }

    /// A push whose time has come.
    func execute(_ push: ScheduledPush, roster: DeviceRoster, at now: EpochMilliseconds) {
        execute(
            CommandTransaction(
                caller: push.caller, method: push.method, params: push.params, newID: push.id, now: now,
                roster: roster, origin: .schedule))
    }

    /// Takes a token of the device's rate limit for something other than a command.
    func allows(_ device: PeerID) -> Bool { limitRefusal(of: device) == nil }

    /// - Parameter isOfStranger: it takes nothing from what the device may send.
    private func limitRefusal(of device: PeerID, isOfStranger: Bool = false) -> RemoteError? {
        let verdict = devices.update(device) { session in
            isOfStranger
                ? limiter.take(from: &session.strangerTokens, now: EventLoop.now)
                : limiter.take(from: &session.commandTokens, now: EventLoop.now)
        }
        guard let error = verdict?.refusal else { return nil }
        counters.limited &+= 1
        return error
    }

    /// The recipients of a push are known: its answer is complete.
    ///
    /// A kept answer leaves once the store has it: by then, whoever has read it as open has joined, because the store is
    /// first in, first out.
    func delivered(_ ticket: PushTicket, to peers: Set<PeerID>) {
        guard let push = awaited[ticket] else { return }
        let earlier = moves.lazy.filter { peers.contains($0.value) }.map(\.key)
        let outcome = push.reply.complete(delivered: peers.union(earlier))
        guard let key = push.key, case .result(let result) = outcome else { return answer(ticket, outcome) }
        database.perform { (connection) throws(StoreError) in
            try AnswerTable(connection).complete(result, to: key)
        } then: { [weak self] _ in
            self?.answer(ticket, outcome)
        }
    }

    private func answer(_ ticket: PushTicket, _ outcome: CommandResponse.Outcome) {
        guard let push = awaited.removeValue(forKey: ticket) else { return }
        if let key = push.key { openAnswers[key] = nil }
        output(.answer(outcome, to: push.origin))
        forgetMoves()
    }

    /// The device of this session was unpaired: its requests in progress have no effect.
    func forget(_ session: DeviceSession) { session.revocation.revoke() }

    /// A device has another key. What is under way for it, in memory or in the store, goes on under that.
    func moved(_ old: PeerID, to new: PeerID) {
        for (id, other) in moves where other == old && id != new { moves[id] = new }
        moves[old] = new
        // Until the store has answered, the move may fail.
        moves[new] = old
        unsettled.insert(new)
        for (ticket, push) in awaited {
            guard var key = push.key, key.device == old else { continue }
            openAnswers[key] = nil
            key.device = new
            openAnswers[key] = ticket
            awaited[ticket]?.key = key
        }
        forgetMoves()
    }

    /// The store has moved the device, or could not and it has its old key again.
    func settled(_ move: PeerMove) {
        unsettled.subtract([move.old, move.new])
        forgetMoves()
    }

    private func forgetMoves() {
        if unsettled.isEmpty, waiting.isEmpty, batchesUnderWay == 0, awaited.isEmpty { moves = [:] }
    }

    // MARK: Executing

    private enum Proof {
        case given
        /// Nothing shows that the device sent it, if its relay turns out to believe senders.
        case awaited
        case refused(RemoteError)
    }

    private func proof(
        of request: CommandRequest, from device: PairedDevice, _ naming: SenderNaming, at now: EpochMilliseconds
    ) -> Proof {
        // A device that seals is heard in seals alone.
        let verdict = authenticator.check(
            request, from: device.did, now: now, monotonic: EventLoop.now, isSealed: device.isSecure
        ) { message, signature, did in
            guard let key = PublicKey(did: did.text) else { return .unverifiable }
            guard let bytes = TextEncoding.base64.decode(signature) else { return .invalid }
            return key.verifies(signature: bytes, for: message) ? .valid : .invalid
        }
        switch verdict {
        case .refused(let error): return .refused(error)
        case .signed: return .given
        case .unsigned:
            guard !device.isSecure, request.changesSomething else { return .given }
            switch naming {
            case .byRelay: return .given
            case .bySender: return .refused(.forgeable)
            case .unknown: return .awaited
            }
        }
    }

    private func execute(_ transaction: CommandTransaction) {
        waiting.append(transaction)
        submitNext()
    }

    private func submitNext() {
        guard !waiting.isEmpty, batchesUnderWay < Self.batchesAtOnce else { return }
        let batch = Array(waiting.prefix(Self.batchLimit))
        waiting.removeFirst(batch.count)
        submit(batch)
    }

    private func submit(_ batch: [CommandTransaction]) {
        batchesUnderWay += 1
        database.perform { [moves] (connection) throws(StoreError) in
            try CommandTransaction.run(batch, moves, on: connection)
        } then: { [weak self] result in
            self?.executed(batch, result)
        }
    }

    private func executed(
        _ batch: [CommandTransaction], _ result: Result<(executions: [Execution], unread: Int64), StoreError>
    ) {
        batchesUnderWay -= 1
        switch result {
        case .success(let (executions, unread)):
            submitNext()
            output(.unread(unread))
            for (transaction, execution) in zip(batch, executions) { executed(transaction, execution) }
        case .failure(let error) where batch.count > 1 && error.code != .closed:
            // None loses its work to a neighbour.
            for transaction in batch { submit([transaction]) }
        case .failure(let error):
            submitNext()
            host.storeFailed("command failed", error)
            for transaction in batch {
                // Devices need not know how this machine is.
                let reason = if case .host = transaction.origin { ": \(error)" } else { "" }
                let failure = RemoteError(.internalError, "the desktop's store failed" + reason)
                output(.answer(.error(failure), to: transaction.origin))
            }
        }
        forgetMoves()
    }

    private func executed(_ transaction: CommandTransaction, _ execution: Execution) {
        var key = transaction.constraints?.key
        if let device = key?.device { key?.device = current(device) }
        let origin = transaction.origin
        switch execution {
        case .replayed: output(.replayed)
        case .withdrawn: output(.answer(.result([:]), to: origin))
        case .revoked: output(.answer(.error(.notPaired), to: origin))
        case .answered(let answer): answerAgain(answer, key, to: origin)
        case .expired(let expiresAt):
            counters.late &+= 1
            output(.answer(.error(.expired(expiresAt)), to: origin))
        case .done(let handled, let queued):
            if transaction.withdraws { output(.withdrawn) }
            follow(handled, queued, key, origin)
        }
    }

    /// The id that the device has in memory.
    private func current(_ device: PeerID) -> PeerID {
        guard let other = moves[device], !devices.contains(device) else { return device }
        return other
    }

    private func follow(
        _ handled: Handled, _ queued: [PeerID: Int64], _ key: AnswerTable.Key?, _ origin: CommandOrigin
    ) {
        var ticket: PushTicket?
        switch handled.reply {
        case .ready(let outcome): output(.answer(outcome, to: origin))
        case .afterPush(let reply):
            lastTicket &+= 1
            ticket = lastTicket
            awaited[lastTicket] = AwaitedPush(reply: reply, key: key, origin: origin)
            if let key { openAnswers[key] = lastTicket }
        }
        for effect in handled.effects {
            switch effect {
            case .show(let notification): host.show(notification)
            case .scheduled: output(.scheduled)
            case .push(let event, _):
                let numbers = moves.isEmpty ? queued : Dictionary(queued.map { (current($0), $1) }) { max($0, $1) }
                output(.push(event, numbered: numbers, ticket))
            }
        }
        for announcement in handled.announcements { output(.announce(announcement)) }
    }

    // MARK: Requests that come again

    /// An answer that is still being completed is waited for: it tells who was reached.
    private func answerAgain(_ answer: AnswerTable.Answer, _ key: AnswerTable.Key?, to origin: CommandOrigin) {
        counters.repeated &+= 1
        guard let key, answer.method == key.method else {
            let error = RemoteError(.invalidRequest, "another command already used this id")
            return output(.answer(.error(error), to: origin))
        }
        if answer.isOpen, let ticket = openAnswers[key] {
            awaited[ticket]?.origin = origin
        } else {
            output(.answer(.result(answer.result), to: origin))
        }
    }
}

extension CommandTransaction {
    /// Whether it takes back pushes that devices have not received yet.
    fileprivate var withdraws: Bool {
        switch NotificationMethod(name: method)?.row.effect {
        case .delete, .clear: true
        case .read, .allRead, nil: false
        }
    }
}

extension NotificationID {
    fileprivate static func fresh(at moment: EpochMilliseconds) -> NotificationID {
        var generator = SecureRandomNumberGenerator()
        return NotificationID(at: moment, random: generator.next(), generator.next())
    }
}

extension CommandResponse.Outcome {
    /// Whether the store failed: it may be tried again.
    var isOfStore: Bool { if case .error(let error) = self { error.code == .internalError } else { false } }
}
