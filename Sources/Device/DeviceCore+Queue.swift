import Hosting
import JSON
import Notifications
import OfflineQueue
import Pairing
import Signalling
import Store
import Transport
import Wire

// Commands that wait for their desktops. The table in the store is the truth: each change reads it, changes it and writes
// it in one transaction, and `queue` is what it was after the last one.
extension DeviceCore {
    /// So long a queued command that is under way waits for its answer, in milliseconds.
    static let queueTimeout: UInt64 = 30_000
    /// A desktop that is said to be away is tried so often, in milliseconds: not every relay tells of its coming.
    private static let queueProbe: UInt64 = 60_000
    /// After the store has failed, or with too many calls under way, it rests so long, in milliseconds.
    private static let queueRest: UInt64 = 5_000

    /// Must a command for this desktop wait?
    func mustWait(for desktop: PairedDesktop) -> Bool {
        !isStarted || isSuspended || bestLink(to: desktop) == nil || absent.contains(desktop.id)
            || queue.isBusy(with: desktop.id)
    }

    /// Keeps a command. `then` hears of it when it is on the disk.
    func keep(
        _ command: Device.Command, as id: RequestID, for desktop: PairedDesktop,
        _ then: @escaping @Sendable @EventLoop (DeviceCore, Performed) -> Void
    ) {
        let now = EpochMilliseconds.now
        let queued = QueuedCommand(
            id: id, desktop: desktop.id, method: command.method, params: based(command, on: desktop.id),
            createdAt: now, expiresAt: now &+ OfflineQueue.lifetime)
        change { queue in
            queue.add(queued)
        } then: { core, result in
            switch result {
            case .failure(let error): then(core, .refused(HostError(error)))
            case .success:
                then(core, .queued(id))
                core.drainQueue(of: desktop)
            }
        }
    }

    // MARK: Changes

    /// One event of the queue, durable before `then`; then what it has ended is told.
    func change(
        _ event: @escaping @Sendable (inout OfflineQueue) -> OfflineQueue.Change,
        then: @escaping @Sendable @EventLoop (DeviceCore, Result<OfflineQueue.Change, StoreError>) -> Void = { _, _ in }
    ) {
        store { (connection) throws(StoreError) in
            let table = QueueTable(connection)
            var queue = try table.load()
            let change = event(&queue)
            try table.save(change)
            return (queue, change)
        } then: { core, result in
            switch result {
            case .failure(let error):
                if error.code != .closed {
                    core.channel.problem("store_failed", "the queue of commands could not be changed: \(error.message)")
                }
                then(core, .failure(error))
            case .success((let queue, let change)):
                core.take(queue)
                for end in change.ends { core.tell(end) }
                then(core, .success(change))
            }
        }
    }

    private func take(_ now: OfflineQueue) {
        guard now != queue else { return }
        queue = now
        channel.post(HostEvent(.queueChanged, data: queue.summary))
        armQueueTimer()
    }

    private func tell(_ end: QueueEnd) {
        channel.post(HostEvent(.queueEnded, desktop: end.command.desktop.text, data: end.json))
        queueEnded?(self, end)
    }

    // MARK: Draining

    /// Sends the next one to a desktop, if it is there and none is under way.
    func drainQueue(of desktop: PairedDesktop) {
        guard isStarted, !isSuspended, bestLink(to: desktop) != nil, !absent.contains(desktop.id),
            queuePauses[desktop.id].map({ $0 <= EventLoop.now }) ?? true
        else { return armQueueTimer() }
        queuePauses[desktop.id] = nil
        probe(desktop)
    }

    private func probe(_ desktop: PairedDesktop) {
        let peer = desktop.id
        guard !draining.contains(peer) else { return }
        if let orphan = queue.commands.first(where: { $0.desktop == peer && $0.isSending }) { return takeBack(orphan) }
        guard let next = queue.next(for: peer) else { return }
        if withoutSkill.contains(peer) {
            change { $0.failAll(of: peer, .noSkill) }
            return
        }
        draining.insert(peer)
        let now = EpochMilliseconds.now
        change { queue in
            var change = queue.expire(now: now)
            change.append(queue.begin(next.id))
            return change
        } then: { core, result in
            guard case .success = result, let begun = core.queue[next.id], begun.isSending else {
                return core.ended(peer, result)
            }
            core.sendQueued(begun, to: peer)
        }
    }

    /// What became of it could not be stored: it is sent again, under its id.
    private func takeBack(_ orphan: QueuedCommand) {
        let peer = orphan.desktop
        draining.insert(peer)
        change { queue in
            queue.unanswered(orphan.id, QueueFailure("store", "its end could not be stored"), counts: false)
        } then: { core, result in
            core.ended(peer, result)
        }
    }

    /// The store knows what became of the one that was under way; or it does not, and is asked again later.
    private func ended(_ peer: PeerID, _ result: Result<OfflineQueue.Change, StoreError>) {
        draining.remove(peer)
        switch result {
        case .success: drainAgain(peer)
        case .failure: pauseQueue(of: peer, Self.queueRest)
        }
    }

    private func sendQueued(_ queued: QueuedCommand, to peer: PeerID) {
        guard let desktop = desktops.first(where: { $0.id == peer }) else {
            draining.remove(peer)
            return change { $0.forget(peer) }
        }
        let command = Device.Command(queued)
        let id = queued.id
        send(
            command, as: id, to: desktop, deadline: EventLoop.now &+ Self.queueTimeout, expiresAt: queued.expiresAt
        ) { core, end in
            var pause: UInt64?
            let event: @Sendable (inout OfflineQueue) -> OfflineQueue.Change
            switch end {
            case .answered(let result):
                if let failure = QueueFailure(result) {
                    event = { $0.refused(id, failure) }
                } else {
                    event = { $0.answered(id, result) }
                }
            case .refused(let refusal) where refusal.lacksSkill:
                event = { queue in
                    var change = queue.refused(id, .noSkill)
                    change.append(queue.failAll(of: peer, .noSkill))
                    return change
                }
            case .refused(let refusal) where refusal.isPassing:
                // One that comes too soon is no try; the others are, and each waits longer.
                let failure = QueueFailure(refusal.error)
                let isTry = refusal.retryAfter == nil
                pause = refusal.retryAfter.map { UInt64(clamping: $0) } ?? UInt64(1_000 << min(queued.tries, 5))
                event = { $0.unanswered(id, failure, counts: isTry) }
            case .refused(let refusal): event = { $0.refused(id, QueueFailure(refusal.error)) }
            case .undecodable(let error): event = { $0.refused(id, QueueFailure(error)) }
            case .absent(let error), .ended(let error):
                event = { $0.unanswered(id, QueueFailure(error), counts: false) }
            case .notSent(let error):
                // The connection is busy or has just ended, or too many calls are under way.
                pause = Self.queueRest
                event = { $0.unanswered(id, QueueFailure(error), counts: false) }
            case .unanswered(let error):
                // A connection that ended is no try, but for a desktop that may have carried it out each time.
                let isTry = error.code == .timeout ? core.bestLink(to: desktop) != nil : !desktop.isSecure
                event = { $0.unanswered(id, QueueFailure(error), counts: isTry) }
            }
            if let pause { core.queuePauses[peer] = EventLoop.now &+ pause }
            core.change(event) { core, result in core.ended(peer, result) }
        }
    }

    private func drainAgain(_ peer: PeerID) {
        guard let desktop = desktops.first(where: { $0.id == peer }) else { return }
        drainQueue(of: desktop)
    }

    private func pauseQueue(of peer: PeerID, _ pause: UInt64) {
        queuePauses[peer] = EventLoop.now &+ pause
        armQueueTimer()
    }

    // MARK: Time

    /// Something may be due: a pause is over, a command too old, a desktop to be tried although it is said to be away.
    func queueDue() {
        let now = EpochMilliseconds.now
        if let expiry = queue.nextExpiry, expiry <= now { change { $0.expire(now: now) } }
        for desktop in desktops where queue.isBusy(with: desktop.id) {
            if absent.contains(desktop.id), isStarted, !isSuspended, bestLink(to: desktop) != nil {
                probe(desktop)
            } else {
                drainQueue(of: desktop)
            }
        }
        armQueueTimer()
    }

    private func armQueueTimer() {
        guard !isShutDown, queue.commands.contains(where: { !$0.isFailed }) else { return queueTimer.stop() }
        let expiry = queue.nextExpiry ?? .max
        let now = EventLoop.now
        let old = UInt64(clamping: max(0, expiry.subtractingReportingOverflow(.now).partialValue))
        let pauses = queuePauses.values.map { $0 > now ? $0 - now : 0 }
        // The wall clock may be set: it is looked at now and then.
        queueTimer.start(after: max(10, ([old, Self.queueProbe] + pauses).min() ?? Self.queueProbe))
    }

    // MARK: The host's

    func listQueue(_ then: @escaping Then) {
        store { (connection) throws(StoreError) in
            try QueueTable(connection).load()
        } then: { _, result in
            then(
                result.map { queue in
                    JSONValue.array(queue.commands.map { .object($0.json) }).serialized()
                }.mapError { HostError($0) })
        }
    }

    func removeQueued(_ id: RequestID, _ then: @escaping Then) {
        changeAsked(then) { $0.remove(id) }
    }

    /// `nil` = all that have failed.
    func retryQueued(_ id: RequestID?, _ then: @escaping Then) {
        let now = EpochMilliseconds.now
        changeAsked(then) { $0.retry(id, now: now) }
    }

    /// `nil` = all that have failed.
    func clearQueue(before moment: EpochMilliseconds?, _ then: @escaping Then) {
        changeAsked(then) { $0.clear(before: moment) }
    }

    /// `{"count"}`: how many it was about.
    private func changeAsked(
        _ then: @escaping Then,
        _ event: @escaping @Sendable (inout OfflineQueue) -> OfflineQueue.Change
    ) {
        change(event) { core, result in
            switch result.map({ ($0, $0.refusal) }) {
            case .failure(let error): then(.failure(HostError(error)))
            case .success((_, .notFound?)):
                then(.failure(HostError(.notFound, "no queued command has this id; bw_queue_list() has them")))
            case .success((_, .sending?)):
                then(.failure(HostError(.busy, "the command is being sent just now; try again later")))
            case .success((let change, nil)):
                then(.success(JSONValue.object(["count": .integer(Int64(change.writes.count))]).serialized()))
                for desktop in core.desktops { core.drainQueue(of: desktop) }
            }
        }
    }

    /// The desktop was unpaired.
    func forgetQueue(of desktop: PeerID) {
        (heardLast[desktop], revisions[desktop], queuePauses[desktop]) = (nil, nil, nil)
        withoutSkill.remove(desktop)
        change { $0.forget(desktop) }
        store { (connection) throws(StoreError) in
            try QueueTable(connection).forgetRevision(of: desktop)
        } then: { _, _ in
        }
    }

    // MARK: Revisions

    /// A change of settings that waits says what its user had seen (protocol.md 4.6).
    private func based(_ command: Device.Command, on desktop: PeerID) -> JSONObject {
        var params = command.params
        if command.method == NotificationMethod.updateSettings.name, params["revision"] == nil {
            params["revision"] = revisions[desktop].map(JSONValue.integer)
        }
        return params
    }

    /// A desktop has told the revision of its settings.
    func noteRevision(in result: JSONObject, of desktop: PeerID, _ command: Device.Command) {
        guard command.isNotification, let revision = result["revision"]?.integer else { return }
        note(revision: revision, of: desktop)
    }

    /// The same, where it comes otherwise.
    func note(revision: Int64, of desktop: PeerID) {
        guard revisions[desktop] != revision else { return }
        revisions[desktop] = revision
        store { (connection) throws(StoreError) in
            try QueueTable(connection).note(revision: revision, of: desktop)
        } then: { _, _ in
        }
    }
}

extension Device.Command {
    /// Its parameters were checked when it was given.
    fileprivate init(_ queued: QueuedCommand) {
        kind = NotificationMethod(name: queued.method).map(Kind.notification) ?? .other(queued.method)
        params = queued.params
    }
}

extension QueueFailure {
    static let noSkill = QueueFailure("unsupported", "this desktop has no such commands")

    init(_ error: HostError) { self.init(error.code.name, error.message) }

    /// `nil` for a success, and for settings that a newer change has overtaken: that is told with the result.
    fileprivate init?(_ result: JSONObject) {
        guard result["success"] == false, result["stale"] == nil else { return nil }
        self.init("remote", result["error"]?.string ?? "the desktop did not say why")
    }
}

extension HostChannel {
    func problem(kept error: HostError) { problem("store_failed", "a command could not be kept: \(error.message)") }
}
