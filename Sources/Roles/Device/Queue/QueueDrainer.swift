import Hosting
import JSON
import OfflineQueue
import Wire

/// Sends queued commands to their desktops, one at a time for each, in order.
///
/// A pure state machine over the queue as the store had it last. What it keeps for one desktop is the desktop's
/// ``Lane``, in its session: an unpaired desktop takes it along. The table is the truth: every change is a
/// ``OfflineQueue/Event`` that the carrier applies to the table, and whose outcome it brings back.
struct QueueDrainer: Sendable {
    /// How long a queued command waits for its answer, in milliseconds.
    static let answerTimeout: UInt64 = 30_000
    /// How often a desktop that is reported offline is tried, in milliseconds: not every relay tells of its coming.
    static let probeInterval: UInt64 = 60_000
    /// The pause after the store has failed, or with too many commands under way, in milliseconds.
    static let rest: UInt64 = 5_000

    /// The drain of one desktop.
    struct Lane: Sendable, Equatable {
        enum State: Sendable, Equatable {
            case idle
            /// The store is recording that this command is about to be sent.
            case beginning(RequestID)
            case sending(RequestID)
            /// The store is recording what became of it.
            case ending(RequestID)
        }

        fileprivate(set) var state = State.idle
        /// Nothing is sent before this, in the loop's milliseconds.
        fileprivate(set) var pausedUntil: UInt64?

        /// The desktop is connected to anew: pauses are of the connection before.
        mutating func connected() { pausedUntil = nil }
    }

    enum Action: Sendable, Equatable {
        /// Apply it to the table; then ``saved(_:_:)``, and ``settled(_:isStored:_:_:now:)`` for that desktop.
        case save(OfflineQueue.Event, for: PeerID?)
        case send(QueuedCommand)
        /// Tell the host how the queue is now.
        case changed(JSONObject)
        /// Tell the host, and the inbox.
        case ended(QueueEnd)
    }

    /// As the store had it last.
    private(set) var queue: OfflineQueue
    /// When ``tick(now:)`` is due.
    private(set) var nextDeadline: UInt64?

    init(_ queue: OfflineQueue = OfflineQueue()) { self.queue = queue }

    // MARK: Draining

    /// Something may be due for a desktop: it can be reached, a command was added, a pause is over.
    ///
    /// - Parameter isProbe: try it although it is reported offline.
    func check(_ lane: inout Lane, _ reach: DesktopReach, isProbe: Bool = false, now: Moment) -> [Action] {
        guard reach.hasRoute, !reach.isAbsent || isProbe, lane.pausedUntil ?? 0 <= now.loop, lane.state == .idle
        else { return [] }
        let desktop = reach.desktop
        lane.pausedUntil = nil
        if let orphan = queue.commands.first(where: { $0.desktop == desktop && $0.isSending }) {
            // What became of it could not be stored: it is sent again, under its id.
            lane.state = .ending(orphan.id)
            let failure = QueueFailure("store", "could not store its result")
            return [.save(.unanswered(orphan.id, failure, counts: false), for: desktop)]
        }
        guard let next = queue.next(for: desktop) else { return [] }
        if reach.lacksSkill { return [.save(.failAll(desktop, .noSkill, sending: nil), for: desktop)] }
        if let result = next.emptyResult {
            lane.state = .ending(next.id)
            return [.save(.answered(next.id, result), for: desktop)]
        }
        lane.state = .beginning(next.id)
        return [.save(.begin(next.id, now: now.expiry), for: desktop)]
    }

    /// What became of a command that was sent.
    func ended(
        _ id: RequestID, _ outcome: CommandOutcome, _ lane: inout Lane, _ reach: DesktopReach, now: Moment
    ) -> [Action] {
        guard lane.state == .sending(id) else { return [] }
        lane.state = .ending(id)
        let desktop = reach.desktop
        let event: OfflineQueue.Event
        switch outcome {
        case .answered(let result): event = QueueFailure(result).map { .refused(id, $0) } ?? .answered(id, result)
        case .refused(let refusal) where refusal.lacksSkill: event = .failAll(desktop, .noSkill, sending: id)
        case .refused(let refusal) where refusal.isTransient:
            // Rate-limited replies don't count as tries; the others do, and each waits longer.
            let tries = queue[id]?.tries ?? 0
            let backoff = Int64(1_000) << Int64(max(0, min(tries, 5)))
            let pause = min(refusal.retryAfter ?? backoff, OfflineQueue.lifetime)
            lane.pausedUntil = now.loop &+ UInt64(clamping: pause)
            event = .unanswered(id, QueueFailure(refusal.error), counts: refusal.retryAfter == nil)
        case .refused(let refusal): event = .refused(id, QueueFailure(refusal.error))
        case .absent(let error), .ended(_, let error): event = .unanswered(id, QueueFailure(error), counts: false)
        case .notSent(let error):
            // The connection is busy or has just ended, or too many commands are under way.
            lane.pausedUntil = now.loop &+ Self.rest
            event = .unanswered(id, QueueFailure(error), counts: false)
        case .unanswered(_, let error):
            // A connection that ended is no try, but for a desktop that may have carried it out each time.
            let counts = error.code == .timeout ? reach.hasRoute : !reach.isSecure
            // A relay that never reports the desktop offline says nothing while it is.
            let isAway = reach.isSilent && (reach.lastFrameAt ?? 0) &+ Self.answerTimeout <= now.loop
            if isAway { lane.pausedUntil = now.loop &+ Self.probeInterval }
            event = .unanswered(id, QueueFailure(error), counts: counts && !isAway)
        // What comes from the queue is not queued again.
        case .queued: event = .unanswered(id, QueueFailure("offline", "the desktop is offline"), counts: false)
        }
        return [.save(event, for: desktop)]
    }

    // MARK: The store

    /// The table holds this now.
    mutating func saved(_ queue: OfflineQueue, _ change: OfflineQueue.Change) -> [Action] {
        let isChanged = queue != self.queue
        self.queue = queue
        return (isChanged ? [.changed(queue.summary)] : []) + change.ends.map { .ended($0) }
    }

    /// The store is done with an event of this desktop's lane.
    func settled(
        _ event: OfflineQueue.Event, isStored: Bool, _ lane: inout Lane, _ reach: DesktopReach, now: Moment
    ) -> [Action] {
        switch lane.state {
        case .idle:
            // It may be the next one.
            guard case .add = event else { return [] }
        case .beginning(let id):
            guard case .begin(id, _) = event else { return [] }
            if isStored, let begun = queue[id], begun.isSending {
                lane.state = .sending(id)
                return [.send(begun)]
            }
        case .sending: return []
        case .ending(let id):
            guard event.command == id else { return [] }
        }
        lane.state = .idle
        // Whatever the store could not take is tried again later.
        if !isStored { lane.pausedUntil = now.loop &+ Self.rest }
        return check(&lane, reach, now: now)
    }

    // MARK: Time

    /// Commands that are too old fail; every desktop for which some wait is to be checked, also the absent ones.
    func tick(now: Moment) -> [Action] {
        guard queue.hasExpired(now: now.expiry) else { return [] }
        return [.save(.expire(now: now.expiry), for: nil)]
    }

    /// Finds out when something is due next.
    ///
    /// - Parameter lanes: of all desktops.
    mutating func arm(_ lanes: some Sequence<Lane>, now: Moment) {
        guard queue.commands.contains(where: { !$0.isFailed }) else { return nextDeadline = nil }
        let expiry = now.expiry.remaining(until: queue.nextExpiry ?? .max)
        // The wall clock may be set: it is looked at now and then.
        let waits =
            [UInt64(clamping: expiry), Self.probeInterval]
            + lanes.compactMap { lane in lane.pausedUntil.map { $0 > now.loop ? $0 - now.loop : 0 } }
        nextDeadline = now.loop &+ max(10, waits.min() ?? Self.probeInterval)
    }
}

extension QueueFailure {
    static let noSkill = QueueFailure("unsupported", "this desktop does not support this command")

    init(_ error: HostError) { self.init(error.code.name, error.message) }

    /// `nil` for a success, and for settings that a newer change has overtaken: that is told with the result.
    init?(_ result: JSONObject) {
        guard result["success"] == false, result["stale"] == nil else { return nil }
        self.init("remote", result["error"]?.string ?? "the desktop gave no reason")
    }
}
