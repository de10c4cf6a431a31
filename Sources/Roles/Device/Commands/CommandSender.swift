import Commands
import Hosting
import JSON
import Notifications
import Sharing
import Wire

/// The commands in progress. Each is sent, sent again while its desktop may not have received it, and ends with exactly
/// one ``CommandOutcome``. A pure state machine. `Owner` identifies the receiver of an outcome. A command that can be
/// queued enters the offline queue if its desktop is unreachable or offline, or if other commands already wait for that
/// desktop, which keeps their order.
struct CommandSender<Owner: Sendable>: Sendable {
    /// A command with everything that decides over its way.
    struct Order: Sendable {
        let id: RequestID
        let command: Device.Command
        var desktop: PeerID
        let owner: Owner
        /// How long its answer is waited for, in the loop's milliseconds.
        let deadline: UInt64
        /// After this moment a Bellwire desktop refuses it (WireMessages, "Repeated and late commands").
        let expiresAt: EpochMilliseconds
        var queueing = Queueing.whenOffline
        var attempt = CommandIdentity.Attempt.first
    }

    /// When a command that can wait goes into the offline queue.
    enum Queueing: Sendable {
        /// It comes from the queue.
        case never
        /// While the desktop is known not to have it, or will recognise its id.
        case whenOffline
        /// Also without an answer. A deployed desktop knows no ids, and may then carry it out twice.
        case whenUnanswered
    }

    indirect enum Action: Sendable {
        /// Sign, seal and send it; on failure ``notWritten(_:_:reach:)``.
        case write(Order)
        /// The same, but failures don't matter: it is written the next time.
        case writeAgain(Order)
        /// Put it into the offline queue under its id. Once that is durable its outcome is `queued`, or `unanswered` with
        /// this error.
        case queue(Order, unanswered: HostError?)
        case end(Order, CommandOutcome)
        /// The desktop has no `notification.*` methods; assumed until the next connection.
        case lacksSkill(PeerID)
        /// The desktop has reported the revision of its settings.
        case revision(Int64, PeerID)
    }

    private typealias Calls = PendingCalls<Order>

    private var calls = Calls()
    private var isStarted = false
    /// Commands sent again because no answer came.
    private(set) var repeated: Int64 = 0
    /// Answers without a waiting command.
    var strayResponses: UInt64 { calls.strayResponses }
    /// When ``tick(now:reach:)`` is due.
    var nextDeadline: UInt64? { calls.nextDeadline }

    // MARK: In

    mutating func start() { isStarted = true }

    mutating func perform(_ order: Order, reach: DesktopReach, now: UInt64) -> [Action] {
        if order.command.isNotification, reach.lacksSkill {
            return [.end(order, .refused(CommandOutcome.Refusal(error: .noSkill)))]
        }
        if reach.isSecure, isStarted, !reach.hasRoute, order.waitsForRoute(to: reach) {
            // As one that was on its way when the connection broke.
            return add(order, reach, now) ?? []
        }
        // The queue names what a command about everything concerns at a desktop that knows no bound.
        let needsBound = reach.isSilent && !reach.isSecure && order.command.isOfAll
        if order.canQueue(for: reach), reach.isQueueBusy || !isStarted || !reach.isReachable || needsBound {
            return [.queue(order, unanswered: nil)]
        }
        return send(order, reach: reach, now: now)
    }

    /// Sends a command without looking at what else waits: what comes from the queue.
    mutating func send(_ order: Order, reach: DesktopReach, now: UInt64) -> [Action] {
        guard isStarted else {
            if order.attempt == .repeated {
                return ended(order, .refused(CommandOutcome.Refusal(error: .holderLost)), reach)
            }
            return ended(order, .notSent(HostError(.offline, "the device is not started; start it first")), reach)
        }
        guard reach.hasRoute else {
            return ended(order, .notSent(HostError(.offline, "not connected to \(reach.name)")), reach)
        }
        return add(order, reach, now) ?? [.write(order)]
    }

    /// `nil` = its answer is waited for.
    private mutating func add(_ order: Order, _ reach: DesktopReach, _ now: UInt64) -> [Action]? {
        let added = calls.add(
            order.id, to: order.desktop, method: order.command.method, deadline: order.deadline, waiter: order,
            isRepeatable: reach.isSecure, now: now)
        switch added {
        case .send: return nil
        case .refuse(let error): return ended(order, .notSent(HostError(error)), reach)
        }
    }

    /// A command was written, or waits for a session.
    mutating func wrote(_ id: RequestID, over route: RouteID, waitsForSession: Bool = false) {
        calls.wrote(id, over: route, waitsForSession: waitsForSession)
    }

    /// A command could not be written.
    mutating func notWritten(_ id: RequestID, _ error: HostError, reach: DesktopReach?) -> [Action] {
        guard let call = calls.cancel(id) else { return [] }
        return ended(call.waiter, .notSent(error), reach)
    }

    mutating func answered(
        _ response: CommandResponse, by desktop: PeerID, reach: DesktopReach, now: EpochMilliseconds
    ) -> [Action] {
        if let call = calls.call(response.id, to: desktop), response.isOvertaken(call) { return [] }
        switch calls.resolve(response, from: desktop) {
        case .ignore: return []
        case .complete(let call, let result):
            let order = call.waiter
            let outcome = order.command.outcome(of: result, now: now)
            var noted: [Action] = []
            switch outcome {
            case .refused(let refusal) where refusal.lacksSkill: noted = [.lacksSkill(desktop)]
            case .answered(let result) where order.command.isNotification:
                noted = result["revision"]?.integer.map { [.revision($0, desktop)] } ?? []
            case .answered, .queued, .refused, .notSent, .absent, .unanswered, .ended: break
            }
            return noted + ended(order, outcome, reach)
        }
    }

    // MARK: Connections

    /// A relay reports the desktop offline. It does not say which frame it means. Calls that used this route use
    /// another one, if there is one.
    mutating func absent(_ desktop: PeerID, over route: RouteID, reach: DesktopReach) -> [Action] {
        guard !reach.isReachable else {
            return calls.toReroute(to: desktop, from: route).map { .writeAgain($0.waiter) }
        }
        let error = HostError(.offline, "\(reach.name) is not connected to its relay")
        return end(calls.peerOffline(desktop), reach) { _ in .absent(error) }
    }

    /// The last route to the desktop broke: what was on its way is lost. A desktop that knows ids gets its commands again
    /// when there is a route; another one may have carried them out.
    mutating func lost(_ desktop: PeerID, reach: DesktopReach) -> [Action] {
        let error = HostError(
            .offline, "the connection broke while the command waited; it may have been executed")
        return end(calls.disconnected(desktop), reach) { .unanswered($0, error) }
    }

    /// There is a route again, or a relay reports that the desktop is back: earlier frames in flight are lost.
    mutating func back(_ desktop: PeerID, reach: DesktopReach, now: UInt64) -> [Action] {
        again(calls.toRepeat(to: desktop, now: now)) { _ in reach }
    }

    /// A session with the desktop begins: frames in flight may have been refused.
    mutating func sessionBegan(with desktop: PeerID, reach: DesktopReach, now: UInt64) -> [Action] {
        again(calls.sessionBegan(with: desktop, now: now)) { _ in reach }
    }

    /// Fails what was waited for too long, and sends again what may be lost.
    mutating func tick(now: UInt64, reach: (PeerID) -> DesktopReach?) -> [Action] {
        let error = HostError(.timeout, "no answer in time; the command may still be executed")
        var actions: [Action] = []
        for call in calls.expire(now: now) {
            actions += ended(call.waiter, .unanswered(call.id, error), reach(call.desktop))
        }
        return actions + again(calls.dueToRepeat(now: now) { reach($0)?.lastFrameAt }, reach)
    }

    // MARK: Ends from our side

    /// The device was stopped: further commands are refused until ``start()``.
    mutating func stop(_ error: HostError, reach: (PeerID) -> DesktopReach?) -> [Action] {
        isStarted = false
        return cancelAll(error, reach: reach)
    }

    mutating func cancelAll(_ error: HostError, reach: (PeerID) -> DesktopReach?) -> [Action] {
        calls.cancelAll().flatMap { ended($0.waiter, .ended($0.id, error), reach($0.desktop)) }
    }

    /// Refuses everything from here on.
    mutating func close() -> [Action] {
        isStarted = false
        return end(calls.close(), nil) { .ended($0, .closed) }
    }

    /// The desktop was unpaired.
    mutating func forget(_ desktop: PeerID) -> [Action] {
        let error = HostError(.notFound, "the desktop was unpaired")
        return end(calls.forget(desktop), nil) { .ended($0, error) }
    }

    /// The desktop has moved to another key: no answer to what was sent to the old one comes any more. What can wait is
    /// queued under its id for the new one, which executes it once.
    mutating func moved(_ desktop: PeerID, to reach: DesktopReach?) -> [Action] {
        calls.forget(desktop).flatMap { call in
            var order = call.waiter
            if let reach, order.canQueue(for: reach) { order.desktop = reach.desktop }
            return ended(order, .ended(call.id, .movedDesktop), reach)
        }
    }

    // MARK: Pieces

    private func end(
        _ ended: [Calls.Call], _ reach: DesktopReach?, _ outcome: (RequestID) -> CommandOutcome
    ) -> [Action] {
        ended.flatMap { self.ended($0.waiter, outcome($0.id), reach) }
    }

    private mutating func again(_ calls: [Calls.Call], _ reach: (PeerID) -> DesktopReach?) -> [Action] {
        let orders = calls.map(\.waiter).filter { reach($0.desktop)?.hasRoute == true }
        repeated &+= Int64(orders.count)
        return orders.map { .writeAgain($0) }
    }

    /// The end of one sending is its outcome, unless the queue takes the command.
    ///
    /// - Parameter reach: `nil` when the desktop is not paired any more.
    private func ended(_ order: Order, _ outcome: CommandOutcome, _ reach: DesktopReach?) -> [Action] {
        guard let reach, order.canQueue(for: reach) else { return [.end(order, outcome)] }
        switch outcome {
        case .notSent(let error) where error.code == .offline: return [.queue(order, unanswered: nil)]
        case .absent: return [.queue(order, unanswered: nil)]
        case .unanswered(_, let error):
            // A desktop of ours carries an id out once: as long as there is no way to it, the command can wait safely.
            if reach.isSecure, !reach.isReachable { return [.queue(order, unanswered: nil)] }
            guard order.queueing == .whenUnanswered else { return [.end(order, outcome)] }
            return [.queue(order, unanswered: error)]
        // The device was stopped or suspended.
        case .ended(_, let error) where error.code == .offline && reach.isSecure:
            return [.queue(order, unanswered: nil)]
        case .answered, .queued, .refused, .notSent, .ended: return [.end(order, outcome)]
        }
    }
}

extension CommandSender.Order {
    fileprivate func canQueue(for desktop: DesktopReach) -> Bool {
        queueing != .never && command.canWait(executesOnce: desktop.isSecure)
    }

    /// Whether its holder has just taken over, and its desktop is not to blame for the missing connection.
    fileprivate func waitsForRoute(to desktop: DesktopReach) -> Bool {
        switch attempt {
        case .first: false
        case .delayed: !canQueue(for: desktop)
        case .repeated: true
        }
    }
}

extension CommandResponse {
    /// Whether the desktop refused one frame of a call while another one may still be answered: a frame that was late
    /// and had an earlier expiry, or one that was sent again too soon.
    fileprivate func isOvertaken<Owner>(_ call: PendingCalls<CommandSender<Owner>.Order>.Call) -> Bool {
        guard case .error(let error) = outcome else { return false }
        if let expired = error.expiredAt { return expired < call.waiter.expiresAt }
        return error.retryAfter != nil && call.sends > 1
    }
}

extension Device.Command {
    /// What an answer to this command means.
    fileprivate func outcome(of result: Result<JSONValue, CommandError>, now: EpochMilliseconds) -> CommandOutcome {
        switch (result, kind) {
        case (.failure(let error), .notification(let method)):
            let success = error.remote.flatMap { MethodResult(success: $0, of: method) }
            return success.map { .answered($0.json) } ?? .refused(CommandOutcome.Refusal(error))
        case (.failure(let error), .other), (.failure(let error), .unread):
            return .refused(CommandOutcome.Refusal(error))
        case (.success(let result), .other), (.success(let result), .unread):
            return .answered(result.object ?? ["result": result])
        case (.success(let result), .notification(let method)):
            do throws(NotificationsError) {
                return .answered(try MethodResult(decoding: result, of: method, now: now).json)
            } catch {
                let detail: JSONObject = ["field": error.field.map(JSONValue.string)]
                return .refused(CommandOutcome.Refusal(error: HostError(.undecodable, error.message, detail: detail)))
            }
        }
    }
}
