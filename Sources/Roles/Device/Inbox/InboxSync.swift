import Hosting
import Inbox
import JSON
import Notifications
import Store
import Wire

/// Keeps one desktop's part of the inbox in step with the desktop: missed pushes, history, settings.
///
/// A pure state machine, one in each desktop's session. Once the desktop is reachable, one with an outbox sends missed
/// pushes by itself (WireSealing, "Delivery of pushes"); any other is asked for what it has created since its last push
/// (the gap). Then its history is read page by page (a refresh), then its settings. Hosts ask for refreshes as well.
struct InboxSync: Sendable {
    /// How long an answer is waited for when it was not the host who asked, in milliseconds.
    static let timeout: UInt64 = 30_000
    /// At most so many missed pushes are handed over; older ones come with the refresh, as history.
    static let gapLimit: Int64 = 1_000

    /// What a command asks for. Its number tells whether the answer is still of interest.
    enum Question: Sendable, Equatable {
        case page(UInt64)
        case unreadCount(UInt64)
        case gapPage(UInt64)
        case settings
    }

    enum Action: Sendable {
        /// Then ``answered(_:_:now:)``. The timeout is in milliseconds.
        case ask(Device.Command, Question, timeout: UInt64)
        /// Run it in one transaction; then ``stored(_:_:now:)``.
        case store(InboxJob)
        /// Tell the host that this part of the inbox has changed; `unread`: of the whole inbox, when it is known.
        case tell(unread: Int64?)
        case finish([Then], Result<HostReply, HostError>)
        /// The desktop has sent its settings.
        case learnSettings(JSONObject)
        case problem(String)
    }

    /// A refresh is in progress.
    var isLoading: Bool { refresh != nil }
    /// The last error, until a success. A refusal lasts until a refresh begins or the desktop is reachable again.
    private(set) var error: HostError?
    /// What the command of that error may do.
    private var errorRisk = Risk.safe
    /// It was refreshed since it became reachable.
    private var isAsked = false
    private var refresh: Refresh?
    private var gap: Gap?
    private var rounds: UInt64 = 0

    private struct Gap {
        let round: UInt64
        let since: EpochMilliseconds
        var machine: InboxRefresh
        var rows: [HistoryRow] = []
    }

    // MARK: Reachability

    /// The desktop can be reached, or cannot any more.
    ///
    /// - Parameter pairedAt: nothing is missing from before.
    mutating func reachable(_ isReachable: Bool, isSecure: Bool, pairedAt: EpochMilliseconds, now: UInt64) -> [Action] {
        guard isReachable else {
            isAsked = false
            return []
        }
        guard !isAsked else { return [] }
        isAsked = true
        let told: [Action] = forgetRefusal() ? [.tell(unread: nil)] : []
        return told + (isSecure ? catchUp(now) : [.store(.beginGap(since: pairedAt))])
    }

    private mutating func catchUp(_ now: UInt64) -> [Action] {
        guard refresh?.isFresh != true else {
            refresh?.wantsSettings = true
            return []
        }
        guard refresh == nil else {
            refresh?.again.wantsSettings = true
            return []
        }
        return begin(Refresh(round: nextRound(), isOwn: true, wantsSettings: true, deadline: now &+ Self.timeout))
    }

    /// Whether to continue after this. A desktop that went offline is asked again when it is back.
    private mutating func continues(after error: HostError?) -> Bool {
        guard let error else { return true }
        if error.code == .offline { isAsked = false }
        return error.code != .unsupported && error.code != .offline && error.code != .closed && error.code != .timeout
    }

    // MARK: Refreshes

    /// The host asks for a refresh; it waits until `deadline`, in the loop's milliseconds.
    mutating func refresh(until deadline: UInt64, _ then: @escaping Then) -> [Action] {
        if refresh?.isFresh == true {
            refresh?.wait(until: deadline, then)
            return []
        }
        if refresh != nil {
            // What was read already may be older than this call.
            refresh?.again.waiters.append((deadline, then))
            return []
        }
        var fresh = Refresh(round: nextRound(), isOwn: false, wantsSettings: false, deadline: deadline)
        fresh.wait(until: deadline, then)
        return begin(fresh)
    }

    /// A refresh without waiters: something may have changed without an event.
    mutating func refreshUnasked(now: UInt64) -> [Action] {
        guard refresh?.isFresh != true else { return [] }
        guard refresh == nil else {
            refresh?.again.isWanted = true
            return []
        }
        return begin(Refresh(round: nextRound(), isOwn: true, wantsSettings: false, deadline: now &+ Self.timeout))
    }

    /// The history has changed: a refresh in progress may have read the earlier state.
    mutating func overtake() { refresh?.isOvertaken = true }

    private mutating func begin(_ fresh: Refresh) -> [Action] {
        refresh = fresh
        _ = forgetRefusal()
        return [.tell(unread: nil), .store(.beginRefresh(fresh.round))]
    }

    /// The desktop is asked again: its user may have permitted it since. Gives whether there was a refusal.
    private mutating func forgetRefusal() -> Bool {
        guard error?.code == .denied else { return false }
        error = nil
        return true
    }

    private mutating func nextRound() -> UInt64 {
        rounds &+= 1
        return rounds
    }

    private mutating func carryOut(_ step: InboxRefresh.Step, now: Moment) -> [Action] {
        guard let refresh else { return [] }
        switch step {
        case .ask(let query):
            return [.ask(Device.Command(history: query), .page(refresh.round), timeout: refresh.timeLeft(now.loop))]
        case .askUnreadCount:
            let command = Device.Command(.getUnreadCount, wire: [:])
            return [.ask(command, .unreadCount(refresh.round), timeout: refresh.timeLeft(now.loop))]
        case .finish(let coverage, let unread):
            if self.refresh?.beginsAnew() == true { return [.store(.beginRefresh(refresh.round))] }
            // Overtaken all the time: what it found is kept, and nothing is concluded from what it did not find.
            let isOvertaken = refresh.isOvertaken
            return [
                .store(
                    .finishRefresh(
                        refresh.round, refresh.run, coverage: isOvertaken ? .unknown : coverage,
                        unread: isOvertaken ? nil : unread, through: refresh.through, at: now.wall))
            ]
        }
    }

    private mutating func end(_ result: Result<HostReply, HostError>, unread: Int64? = nil, now: UInt64) -> [Action] {
        guard let ended = refresh else { return [] }
        refresh = nil
        switch result {
        case .success: note(nil)
        case .failure(let error): note(error)
        }
        var actions: [Action] = [.tell(unread: unread)]
        var waiters = ended.waiters
        actions.append(.finish(waiters.takeAll(), result))
        if ended.wantsSettings, continues(after: result.error) {
            actions.append(.ask(Device.Command(.getSettings, wire: [:]), .settings, timeout: Self.timeout))
        }
        for (deadline, then) in ended.again.waiters { actions += refresh(until: deadline, then) }
        if ended.again.wantsSettings { actions += catchUp(now) }
        if ended.again.isWanted { actions += refreshUnasked(now: now) }
        return actions
    }

    /// The desktop was unpaired, or the device closed: whoever waits hears so.
    mutating func close(_ error: HostError) -> [Action] {
        guard let ended = refresh else { return [] }
        refresh = nil
        var waiters = ended.waiters
        return [.finish(waiters.takeAll() + ended.again.waiters.map(\.then), .failure(error))]
    }

    // MARK: Answers

    mutating func answered(_ question: Question, _ outcome: CommandOutcome, now: Moment) -> [Action] {
        var problem = outcome.error
        var answer: JSONObject = [:]
        switch outcome {
        case .answered(let result): answer = result
        // A read is never queued.
        case .queued: problem = HostError(.offline, "the desktop is offline")
        case .refused, .notSent, .absent, .unanswered, .ended: break
        }
        switch question {
        case .page(refresh?.round):
            if let error = problem ?? HostError(refusedBy: answer) { return end(.failure(error), now: now.loop) }
            switch HistoryPage.read(answer, now: now.wall) {
            case .failure(let error): return end(.failure(error), now: now.loop)
            case .success(let page):
                refresh?.isFresh = false
                guard let refresh else { return [] }
                return [.store(.merge(refresh.round, page, refresh.run, through: refresh.through, at: now.wall))]
            }
        case .unreadCount(refresh?.round):
            if let error = problem ?? HostError(refusedBy: answer) { return end(.failure(error), now: now.loop) }
            guard let step = refresh?.machine.received(unreadCount: answer["count"]?.integer) else { return [] }
            return carryOut(step, now: now)
        case .gapPage(gap?.round): return answeredGap(problem, answer, now: now)
        case .settings:
            guard let problem else {
                succeeded(.safe)
                return [.learnSettings(answer)]
            }
            note(problem)
            _ = continues(after: problem)
            return []
        case .page, .unreadCount, .gapPage: return []
        }
    }

    private mutating func answeredGap(_ problem: HostError?, _ answer: JSONObject, now: Moment) -> [Action] {
        guard var gap else { return [] }
        if let problem {
            self.gap = nil
            note(problem)
            return [.tell(unread: nil)] + (continues(after: problem) ? catchUp(now.loop) : [])
        }
        guard case .success(let page) = HistoryPage.read(answer, now: now.wall) else {
            self.gap = nil
            return catchUp(now.loop)
        }
        gap.rows += page.rows
        // Rows come newest first: beyond the gap there is nothing to look for.
        let isBeyond = page.rows.contains { $0.createdAt.map { $0 < gap.since } ?? false }
        var seen = Inbox.Merged()
        seen.newToRun = page.rows.count
        let next = gap.machine.received(page, seen)
        self.gap = gap
        return fill(isBeyond ? .finish(.all, unread: nil) : next, gap, now: now)
    }

    private func fill(_ step: InboxRefresh.Step, _ gap: Gap, now: Moment) -> [Action] {
        switch step {
        case .ask(let query): [.ask(Device.Command(history: query), .gapPage(gap.round), timeout: Self.timeout)]
        case .askUnreadCount, .finish: [.store(.fillGap(gap.round, gap.rows, since: gap.since, at: now.wall))]
        }
    }

    // MARK: The store

    mutating func stored(
        _ job: InboxJob, _ result: Result<InboxJob.Stored, StoreError>, now: Moment
    ) -> [Action] {
        switch job {
        case .beginGap:
            guard case .success(.gap(let since)) = result, gap == nil else { return [] }
            let begun = Gap(
                round: nextRound(), since: since, machine: InboxRefresh(since: since, rowLimit: Self.gapLimit))
            gap = begun
            return fill(begun.machine.begin(), begun, now: now)
        case .fillGap(let round, _, _, _):
            guard round == gap?.round else { return [] }
            gap = nil
            switch result {
            case .success(.filled(_, let unread)): return [.tell(unread: unread)] + catchUp(now.loop)
            case .success: return []
            case .failure(let failure):
                return failure.code == .closed
                    ? [] : [.problem("could not store missed pushes: \(failure.message)")]
            }
        case .beginRefresh(let round), .merge(let round, _, _, _, _), .finishRefresh(let round, _, _, _, _, _):
            guard var refresh, refresh.round == round else { return [] }
            switch result {
            case .failure(let failure): return end(.failure(HostError(failure)), now: now.loop)
            case .success(.begun(let run)):
                (refresh.run, refresh.through) = (run, run.through)
                self.refresh = refresh
                return carryOut(refresh.machine.begin(), now: now)
            case .success(.merged(let page, let merged, let newest, let unread)):
                refresh.through = newest
                refresh.added += merged.added
                refresh.updated += merged.updated
                let step = refresh.machine.received(page, merged)
                self.refresh = refresh
                let isChanged = merged.added + merged.updated > 0
                return (isChanged ? [.tell(unread: unread)] : []) + carryOut(step, now: now)
            case .success(.finished(let dropped, let ofDesktop, let unread)):
                let object: JSONObject = [
                    "added": .integer(Int64(refresh.added)), "updated": .integer(Int64(refresh.updated)),
                    "dropped": .integer(Int64(dropped)), "unread": .integer(ofDesktop),
                ]
                return end(.success(HostReply(object)), unread: unread, now: now.loop)
            case .success(.gap), .success(.filled): return []
            }
        }
    }

    // MARK: Errors and time

    /// The error stays readable until a success.
    ///
    /// - Parameter risk: of the command that has failed.
    mutating func note(_ error: HostError?, of risk: Risk = .safe) {
        if let error, error.code == .closed { return }
        self.error = error
        errorRisk = risk
    }

    /// A command of the program's has succeeded: a refusal of one that needs no more rights is outdated.
    mutating func succeeded(_ risk: Risk) {
        if error?.code == .denied, risk >= errorRisk { error = nil }
    }

    /// When ``tick(now:)`` is due.
    var nextDeadline: UInt64? {
        [refresh?.waiters.nextDeadline, refresh?.again.nextDeadline].compactMap(\.self).min()
    }

    /// Fails expired waiters. A refresh ends together with its last waiter.
    mutating func tick(now: UInt64) -> [Action] {
        // A slow desktop must not hold those up who wait for the refresh after this one.
        let expired =
            (refresh?.waiters.takeExpired(now: now) ?? []) + (refresh?.again.takeExpired(now: now) ?? [])
        guard !expired.isEmpty else { return [] }
        let error = HostError(.timeout, "the desktop did not answer in time")
        // Before the waiters are notified, because no call may join a refresh that is ending.
        let ended = refresh?.isUnwanted == true ? end(.failure(error), now: now) : []
        return ended + [.finish(expired, .failure(error))]
    }
}

extension HistoryPage {
    /// The answer to ``Device/Command/init(history:)``.
    fileprivate static func read(_ result: JSONObject, now: EpochMilliseconds) -> Result<HistoryPage, HostError> {
        do throws(NotificationsError) {
            let read = try MethodResult(decoding: .object(result), of: .getHistory, now: now)
            if let error = HostError(refusedBy: read.json) { return .failure(error) }
            guard let page = read.page else {
                return .failure(HostError(.undecodable, "the answer is not a history page"))
            }
            return .success(page)
        } catch {
            return .failure(
                HostError(.undecodable, error.message, detail: ["field": error.field.map(JSONValue.string)]))
        }
    }
}

extension Result {
    var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
