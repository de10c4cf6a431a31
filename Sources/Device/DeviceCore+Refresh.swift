import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Signalling
import Store
import Transport
import Wire

// Refreshes: the desktop's history, page by page, is what the inbox becomes.
extension DeviceCore {
    /// So long a page is waited for when it was not the host who asked, in milliseconds.
    static let syncTimeout: UInt64 = 30_000

    /// - Parameter name: `nil` = every paired desktop.
    func refresh(_ name: String?, timeout: Int64, _ then: @escaping Then) {
        let deadline = EventLoop.now &+ UInt64(clamping: timeout)
        let asked: [PairedDesktop]
        if name == nil, desktops.count > 1 {
            asked = desktops
        } else {
            switch pick(name) {
            case .failure(let error): return then(.failure(error))
            case .success(let desktop): asked = [desktop]
            }
        }
        let gather = RefreshGather(count: asked.count, then)
        for desktop in asked {
            refresh(desktop, until: deadline) { result in
                EventLoop.post { gather.add(result, of: desktop.id) }
            }
        }
    }

    /// One that nobody waits for.
    func refreshUnasked(
        _ desktop: PairedDesktop, then: (@Sendable @EventLoop (Result<String, HostError>) -> Void)? = nil
    ) {
        let deadline = EventLoop.now &+ Self.syncTimeout
        let waiter: Then = { result in if let then { EventLoop.post { then(result) } } }
        guard let run = desk.runs[desktop.id] else {
            return begin(InboxRun(of: desktop, isOwn: true, deadline: deadline), waiter)
        }
        if run.isFresh { run.wait(until: deadline, waiter) } else { run.again.append((deadline, waiter)) }
    }

    private func refresh(_ desktop: PairedDesktop, until deadline: UInt64, _ then: @escaping Then) {
        if let run = desk.runs[desktop.id] {
            // What was read already may be older than this call.
            if run.isFresh { run.wait(until: deadline, then) } else { run.again.append((deadline, then)) }
            return
        }
        begin(InboxRun(of: desktop, isOwn: false, deadline: deadline), then)
    }

    private func begin(_ run: InboxRun, _ then: @escaping Then) {
        run.giveUp = { [weak self] run, error in self?.end(run, .failure(error)) }
        run.wait(until: run.deadline, then)
        desk.runs[run.desktop.id] = run
        tellInbox(of: run.desktop.id, unread: nil)
        start(run)
    }

    /// Something of the desktop's history has changed: a refresh under way may have been told what was before.
    func overtakeRefresh(of desktop: PeerID) { desk.runs[desktop]?.isOvertaken = true }

    private func start(_ run: InboxRun) {
        let peer = run.desktop.id
        store { (connection) throws(StoreError) in
            try Inbox(connection).beginRefresh(of: peer)
        } then: { core, result in
            guard core.desk.runs[peer] === run else { return }
            switch result {
            case .failure(let error): core.end(run, .failure(HostError(error)))
            case .success(let begun):
                (run.run, run.through) = (begun, begun.through)
                core.carryOut(run.machine.begin(), of: run)
            }
        }
    }

    private func carryOut(_ step: InboxRefresh.Step, of run: InboxRun) {
        guard desk.runs[run.desktop.id] === run else { return }
        switch step {
        case .ask(let query):
            ask(Device.Command(history: query), of: run) { core, result in
                switch HistoryPage.read(result) {
                case .success(let page): core.merge(page, of: run)
                case .failure(let error): core.end(run, .failure(error))
                }
            }
        case .askUnreadCount:
            ask(Device.Command(.getUnreadCount, wire: [:]), of: run) { core, result in
                core.carryOut(run.machine.received(unreadCount: result["count"]?.integer), of: run)
            }
        case .finish(let coverage, let unread): finish(run, coverage, unread: unread)
        }
    }

    private func ask(
        _ command: Device.Command, of run: InboxRun,
        then: @escaping @Sendable @EventLoop (DeviceCore, JSONObject) -> Void
    ) {
        let now = EventLoop.now
        let left = run.isOwn ? Self.syncTimeout : max(1, run.deadline > now ? run.deadline - now : 1)
        guard let desktop = desktops.first(where: { $0.id == run.desktop.id }) else {
            return end(run, .failure(.noSuchDesktop))
        }
        guard !withoutSkill.contains(desktop.id) else { return end(run, .failure(.noSkill)) }
        perform(command, desktop: desktop, timeout: Int64(clamping: left)) { core, performed in
            guard core.desk.runs[desktop.id] === run else { return }
            switch performed {
            case .answered(let result):
                if let error = HostError(refusedBy: result) { return core.end(run, .failure(error)) }
                then(core, result)
            case .refused(let error), .uncertain(_, let error): core.end(run, .failure(error))
            // A read is never queued.
            case .queued: core.end(run, .failure(HostError(.offline, "the desktop is not there")))
            }
        }
    }

    private func merge(_ page: HistoryPage, of run: InboxRun) {
        run.isFresh = false
        let (peer, begun, through) = (run.desktop.id, run.run, run.through)
        let moment = EpochMilliseconds.now
        store { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            let merged = try inbox.merge(page, from: peer, run: begun, through: through, receivedAt: moment)
            return (merged, try inbox.newestRow(), try inbox.unreadCount())
        } then: { core, result in
            guard core.desk.runs[peer] === run else { return }
            switch result {
            case .failure(let error): core.end(run, .failure(HostError(error)))
            case .success((let merged, let newest, let unread)):
                run.through = newest
                run.summary.added += merged.added
                run.summary.updated += merged.updated
                if merged.added + merged.updated > 0 { core.tellInbox(of: peer, unread: unread) }
                core.carryOut(run.machine.received(page, merged), of: run)
            }
        }
    }

    private func finish(_ run: InboxRun, _ coverage: Inbox.Coverage, unread: Int64?) {
        if run.beginsAnew() { return start(run) }
        let (peer, begun, through) = (run.desktop.id, run.run, run.through)
        // Overtaken all the time: what it found is brought in, and nothing is concluded from what it did not find.
        let (coverage, unread) = run.isOvertaken ? (.unknown, nil) : (coverage, unread)
        let moment = EpochMilliseconds.now
        store { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            let dropped = try inbox.finishRefresh(
                begun, of: peer, coverage: coverage, unread: unread, through: through, at: moment)
            return (dropped, try inbox.unreadCount(of: peer), try inbox.unreadCount())
        } then: { core, result in
            guard core.desk.runs[peer] === run else { return }
            switch result {
            case .failure(let error): core.end(run, .failure(HostError(error)))
            case .success((let dropped, let ofDesktop, let unread)):
                run.summary.dropped = dropped
                let object: JSONObject = [
                    "added": .integer(Int64(run.summary.added)), "updated": .integer(Int64(run.summary.updated)),
                    "dropped": .integer(Int64(dropped)), "unread": .integer(ofDesktop),
                ]
                core.end(run, .success(JSONValue.object(object).serialized()), unread: unread)
            }
        }
    }

    private func end(_ run: InboxRun, _ result: Result<String, HostError>, unread: Int64? = nil) {
        let peer = run.desktop.id
        guard desk.runs[peer] === run else { return }
        desk.runs[peer] = nil
        run.timer.stop()
        switch result {
        case .success: noteInbox(nil, of: peer)
        case .failure(let error): noteInbox(error, of: peer)
        }
        tellInbox(of: peer, unread: unread)
        for waiter in run.waiters.takeAll() { waiter(result) }
        guard let desktop = desktops.first(where: { $0.id == peer }), !isShutDown else {
            for waiter in run.again { waiter.then(.failure(isShutDown ? .closed : .noSuchDesktop)) }
            return
        }
        for waiter in run.again { refresh(desktop, until: waiter.deadline, waiter.then) }
    }

    /// The desktop was unpaired, or the device is being closed.
    func endRefresh(of desktop: PeerID, _ error: HostError) {
        guard let run = desk.runs[desktop] else { return }
        end(run, .failure(error))
    }
}

extension HistoryPage {
    /// The answer to ``Device/Command/init(history:)``.
    static func read(_ result: JSONObject) -> Result<HistoryPage, HostError> {
        do throws(NotificationsError) {
            let read = try MethodResult(decoding: .object(result), of: .getHistory, now: .now)
            if let error = HostError(refusedBy: read.json) { return .failure(error) }
            guard let page = read.page else { return .failure(HostError(.undecodable, "the answer is no history")) }
            return .success(page)
        } catch {
            return .failure(
                HostError(.undecodable, error.message, detail: ["field": error.field.map(JSONValue.string)]))
        }
    }
}

/// The outcomes of a refresh of several desktops.
@EventLoop
private final class RefreshGather {
    private let count: Int
    private let then: Then
    private var results: [(PeerID, Result<String, HostError>)] = []

    init(count: Int, _ then: @escaping Then) { (self.count, self.then) = (count, then) }

    func add(_ result: Result<String, HostError>, of desktop: PeerID) {
        results.append((desktop, result))
        guard results.count == count else { return }
        guard count > 1 else { return then(result) }
        var sums: [String: Int64] = [:]
        var failed: [JSONValue] = []
        var error: HostError?
        for (desktop, result) in results {
            switch result {
            case .failure(let failure):
                error = error ?? failure
                failed.append([
                    "desktop": .string(desktop.text), "code": .string(failure.code.name),
                    "message": .string(failure.message),
                ])
            case .success(let text):
                let object = (try? JSONValue(parsing: text))?.object ?? [:]
                for member in object.members { sums[member.key, default: 0] += member.value.integer ?? 0 }
            }
        }
        if let error, failed.count == count { return then(.failure(error)) }
        then(
            .success(
                JSONValue.object([
                    "added": .integer(sums["added"] ?? 0), "updated": .integer(sums["updated"] ?? 0),
                    "dropped": .integer(sums["dropped"] ?? 0), "unread": .integer(sums["unread"] ?? 0),
                    "failed": failed.isEmpty ? nil : .array(failed),
                ]).serialized()))
    }
}

extension Device.Command {
    /// One of ours, its parameters as they go on the wire.
    init(_ method: NotificationMethod, wire: JSONObject) {
        kind = .notification(method)
        params = wire
    }

    /// A page of the history, whose result comes as the desktop wrote it: hosts are told less of it.
    init(history query: HistoryQuery) {
        kind = .other(NotificationMethod.getHistory.name)
        params = query.wire
    }
}
