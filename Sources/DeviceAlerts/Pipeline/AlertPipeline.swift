import Alerts
import HTTPClient
import JSON
import Notifications
import Store
import Wire

/// Alerts on their way from the decision to show them to the screen: enriched, asked about, shown, recorded.
///
/// Decides only: each event returns what its owner does next, in order. `now` is the loop's monotonic milliseconds. At
/// most ``runLimit`` alerts are on their way; the others wait in the store.
struct AlertPipeline {
    indirect enum Action {
        /// Do the work, then call ``stored(_:_:judge:now:)``.
        case store(PipelineWork)
        /// Call ``takeUp()`` after that many milliseconds.
        case pauseBacklog(UInt64)
        /// Fetch the image, then call ``fetched(_:_:now:)``.
        case fetch(AlertRun.Ticket, url: String)
        case cancelFetch(AlertRun.Ticket)
        /// There are more images than before.
        case sweepImages
        /// Ask the host what to show, then call ``hostAnswered(_:_:now:)``.
        case ask(Showing)
        /// Show it, then call ``shown(_:_:now:)``; or ``noPresenter(_:)``.
        case show(Showing, replacing: String?)
        case withdraw(AlertKey, handle: String)
        /// An alert waits for a digest.
        case held(AlertDecision.Hold)
        case tell(AlertReport)
        case setBadge(Int64)
        case log(String)
    }

    /// What is to be shown of a run.
    struct Showing: Sendable {
        let run: AlertRun
        let presentation: Presentation
    }

    /// An alert that waits in the store, with the push that it is made of.
    struct Due: Sendable {
        let alert: AlertRow
        let push: Notification?
    }

    struct Counters {
        var failed: Int64 = 0
        var images: Int64 = 0
        var imagesRefused: Int64 = 0
    }

    static let runLimit = 32
    /// An alert of an earlier process that was due this long before this one began is late, in milliseconds.
    private static let grace: EpochMilliseconds = 60_000

    /// Where images are kept; `nil` = they are not.
    private let imageDirectory: String?
    /// By row.
    private var runs: [Int64: AlertRun] = [:]
    /// Ended, but their presenter has not answered yet.
    private var leaving: [AlertRun.Ticket: AlertRun] = [:]
    private var lastNumber: UInt64 = 0
    private var backlog = Backlog()
    private(set) var counters = Counters()
    private var begunAt: EpochMilliseconds = 0
    /// The last row that an earlier process stored.
    private var lastEarlierRow: Int64 = 0
    private(set) var isInFront = false
    /// The host has a callback that decides what is shown while the program is in front.
    var hostDecides = false

    init(imageDirectory: String?) { self.imageDirectory = imageDirectory }

    var count: Int { runs.count }

    /// Rows that are being put on the screen: a person may respond before they are recorded.
    var presentingRows: Set<Int64> { Set(runs.values.lazy.filter(\.machine.isPresenting).map(\.ticket.row)) }

    /// When ``deadlineReached(now:)`` is due.
    var nextDeadline: UInt64? { runs.values.lazy.compactMap(\.machine.deadline).min() }

    mutating func begin(at moment: EpochMilliseconds) { begunAt = moment }

    mutating func earlierRows(through row: Int64) { lastEarlierRow = row }

    /// Returns the fetches to cancel.
    mutating func end() -> [Action] {
        defer { (runs, leaving) = ([:], [:]) }
        return runs.values.filter(\.isEnriching).map { .cancelFetch($0.ticket) }
    }

    // MARK: In

    /// It was stored as to be shown.
    mutating func enter(_ alert: AlertRow, imageURL: String?, isQuiet: Bool, now: UInt64) -> [Action] {
        // Those that wait come first.
        guard !backlog.isPending, runs.count < Self.runLimit else { return takeUp() }
        return run(alert, imageURL: imageURL, isQuiet: isQuiet, isLate: alert.isLate, now: now)
    }

    /// Takes up what waits in the store, the oldest first.
    mutating func takeUp() -> [Action] {
        backlog.request(hasRoom: runs.count < Self.runLimit) ? [.store(.takeUp(limit: Self.runLimit * 2))] : []
    }

    private mutating func tookUp(
        _ read: [Due], _ ended: Backlog.Read, _ judge: AlertJudge, now: UInt64
    ) -> [Action] {
        let due = read.filter { runs[$0.alert.row] == nil && !ended.endedMeanwhile.contains($0.alert.row) }
        let taken = due.prefix(max(0, Self.runLimit - runs.count))
        let pause = backlog.settle(
            isPending: ended.readsAgain || due.count > taken.count || read.count >= Self.runLimit * 2)
        var actions: [Action] = []
        for due in taken {
            let isOld = due.alert.row <= lastEarlierRow && due.alert.dueAt < begunAt &- Self.grace
            actions += rejudge(due.alert, due.push, isLate: due.alert.isLate || isOld, judge: judge, now: now)
        }
        // If none of them is shown, no end of a run takes up the next.
        if backlog.isPending, runs.isEmpty { actions.append(.pauseBacklog(pause)) }
        return actions
    }

    /// Alerts may wait in the store: it is asked again after a longer pause.
    mutating func storeFailed() -> [Action] {
        backlog.storeFailed()
        return [.pauseBacklog(Backlog.longPause)]
    }

    /// Decides again about an alert that was stored as to be shown, and was not.
    mutating func rejudge(
        _ alert: AlertRow, _ push: Notification?, isLate: Bool, judge: AlertJudge, now: UInt64
    ) -> [Action] {
        var subject = alert.subject
        subject.isLate = isLate
        let decision = judge.decide(subject)
        let report = AlertReport(
            key: alert.key, isReminder: alert.isReminder, isLate: isLate, reason: decision.reason)
        switch decision {
        case .show(let isQuiet):
            let imageURL = push.flatMap(judge.namedImageURL(of:))
            return run(alert, imageURL: imageURL, isQuiet: isQuiet, isLate: isLate, now: now)
        case .hold(let hold): return [.store(.hold(alert, hold, report))]
        case .hide: return [.store(.drop(alert.row, alert.key, report))]
        }
    }

    private mutating func run(
        _ alert: AlertRow, imageURL: String?, isQuiet: Bool, isLate: Bool, now: UInt64
    ) -> [Action] {
        lastNumber &+= 1
        let run = AlertRun(alert, number: lastNumber, imageURL: imageURL, isQuiet: isQuiet, isLate: isLate)
        runs[alert.row] = run
        let asks = isInFront && hostDecides
        return step(run.ticket) {
            $0.start(hasEnrichment: imageURL != nil, isInFront: asks, replacing: alert.handle, now: now)
        }
    }

    // MARK: The store

    mutating func stored(
        _ work: PipelineWork, _ result: Result<PipelineWork.Outcome, StoreError>, judge: AlertJudge, now: UInt64
    ) -> [Action] {
        var unused: [String] = []
        if case .success(.unused(let handles)) = result { unused = handles }
        switch work {
        case .takeUp:
            let ended = backlog.readEnded()
            guard case .success(.due(let due)) = result else { return [] }
            return tookUp(due, ended, judge, now: now)
        case .hold(let alert, let hold, let report):
            return unused.map { .withdraw(alert.key, handle: $0) } + [.tell(report), .held(hold)]
        case .drop(_, let key, let report):
            guard case .success = result else { return [] }
            return unused.map { .withdraw(key, handle: $0) } + (report.map { [.tell($0)] } ?? [])
        case .record(_, let key, _, let report):
            return unused.flatMap { closeUnused($0, of: key) } + [.tell(report)]
        case .findOwner(_, let key): return isOnItsWay(key) ? [] : unused.map { .withdraw(key, handle: $0) }
        case .keepImage(let ticket, _, _, _):
            switch result {
            case .success(.image(.success(let content))): return [.sweepImages] + kept(ticket, content, now: now)
            case .success(.image(.failure(let error))):
                return [.sweepImages] + refused(ticket, error.code.name, now: now)
            case .success, .failure: return [.sweepImages] + refused(ticket, "not_kept", now: now)
            }
        }
    }

    // MARK: Events

    mutating func moved(toFront isInFront: Bool) {
        self.isInFront = isInFront
        for row in runs.keys { runs[row]?.machine.moved(toFront: isInFront && hostDecides) }
    }

    /// Alerts with these keys are not wanted any more.
    mutating func withdraw(
        _ keys: [AlertKey], _ reason: AlertRunStateMachine.Reason, except row: Int64? = nil
    ) -> [Action] {
        tickets { keys.contains($0.key) && $0.ticket.row != row }.flatMap { step($0) { $0.withdraw(reason) } }
    }

    /// The presenter is there, for the first time or again.
    mutating func presenterReady(now: UInt64) -> [Action] {
        tickets { _ in true }.flatMap { step($0) { $0.presenterReady(now: now) } }
    }

    mutating func deadlineReached(now: UInt64) -> [Action] {
        tickets { $0.machine.deadline.map { $0 <= now } ?? false }.flatMap { ticket in
            settle(ticket, imageError: FetchError.Code.timeout.name)
                + step(ticket) { $0.deadlineReached(now: now) }
        }
    }

    /// The person responded to it; its row is gone.
    mutating func responded(to row: Int64) { runs[row]?.isAnswered = true }

    // MARK: Enrichment

    mutating func fetched(
        _ ticket: AlertRun.Ticket, _ result: Result<Fetched, FetchError>, now: UInt64
    ) -> [Action] {
        switch result {
        case .failure(let error): return refused(ticket, error.code.name, now: now)
        case .success(let fetched):
            guard let run = self[ticket], let directory = imageDirectory else { return [] }
            return [.store(.keepImage(ticket, run.content, fetched, directory: directory))]
        }
    }

    private mutating func refused(_ ticket: AlertRun.Ticket, _ code: String, now: UInt64) -> [Action] {
        guard self[ticket]?.isEnriching == true else { return [] }
        return settle(ticket, imageError: code) + step(ticket) { $0.enriched(now: now) }
    }

    /// The image is on the disk, and the stored alert names it. An image that comes too late is for the list alone.
    private mutating func kept(_ ticket: AlertRun.Ticket, _ content: AlertContent, now: UInt64) -> [Action] {
        counters.images &+= 1
        guard self[ticket]?.isEnriching == true else { return [] }
        runs[ticket.row]?.content = content
        return settle(ticket, path: content.attachments.first) + step(ticket) { $0.enriched(now: now) }
    }

    /// What became of the image, once.
    private mutating func settle(_ ticket: AlertRun.Ticket, path: String? = nil, imageError: String? = nil) -> [Action]
    {
        guard self[ticket]?.isEnriching == true else { return [] }
        runs[ticket.row]?.isEnriching = false
        runs[ticket.row]?.image = ["path": path.map(JSONValue.string), "error": imageError.map(JSONValue.string)]
        if imageError != nil { counters.imagesRefused &+= 1 }
        return [.cancelFetch(ticket)]
    }

    // MARK: Showing

    mutating func hostAnswered(_ ticket: AlertRun.Ticket, _ answer: Int32?, now: UInt64) -> [Action] {
        step(ticket) { $0.answered(Presentation(answer: answer), now: now) }
    }

    /// The host has not said yet who shows its alerts.
    mutating func noPresenter(_ ticket: AlertRun.Ticket) {
        guard self[ticket] != nil else { return }
        runs[ticket.row]?.isBeingShown = false
        runs[ticket.row]?.machine.noPresenter()
    }

    /// - Parameter result: the handle of the banner, or why it is not on the screen.
    mutating func shown(
        _ ticket: AlertRun.Ticket, _ result: Result<String?, PresenterError>, now: UInt64
    ) -> [Action] {
        if var gone = leaving.removeValue(forKey: ticket) {
            switch result {
            case .success(let handle): return carryOut(gone.machine.presented(handle), gone)
            case .failure(let error): return failed(error)
            }
        }
        let isAnswered = self[ticket]?.isAnswered == true
        if self[ticket] != nil { runs[ticket.row]?.isBeingShown = false }
        switch result {
        case .success(let handle): return step(ticket) { $0.presented(handle) }
        case .failure(let error):
            return failed(error)
                + step(ticket) { isAnswered ? $0.withdraw(.removed) : $0.presentFailed(now: now) }
        }
    }

    private mutating func failed(_ error: PresenterError) -> [Action] {
        counters.failed &+= 1
        return [.log("an alert is not shown yet: \(error.message)")]
    }

    /// Takes a banner away, unless an alert that replaced its own has it now: servers reuse handles.
    private func closeUnused(_ handle: String, of key: AlertKey) -> [Action] {
        // A run may be recorded with it between the look into the store and its result.
        isOnItsWay(key) ? [] : [.store(.findOwner(handle, key))]
    }

    private func isOnItsWay(_ key: AlertKey) -> Bool { runs.values.contains { $0.key == key } }

    // MARK: Steps

    private subscript(ticket: AlertRun.Ticket) -> AlertRun? {
        runs[ticket.row].flatMap { $0.ticket == ticket ? $0 : nil }
    }

    private func tickets(_ isMeant: (AlertRun) -> Bool) -> [AlertRun.Ticket] {
        runs.values.filter(isMeant).map(\.ticket).sorted { $0.row < $1.row }
    }

    private mutating func step(
        _ ticket: AlertRun.Ticket, _ event: (inout AlertRunStateMachine) -> AlertRunStateMachine.Action?
    ) -> [Action] {
        guard var run = self[ticket] else { return [] }
        let action = event(&run.machine)
        runs[ticket.row] = run
        return carryOut(action, run)
    }

    private mutating func carryOut(_ action: AlertRunStateMachine.Action?, _ run: AlertRun) -> [Action] {
        switch action {
        case nil: return []
        case .enrich:
            runs[run.ticket.row]?.isEnriching = true
            return run.imageURL.map { [.fetch(run.ticket, url: $0)] } ?? []
        case .ask: return [.ask(Showing(run: run, presentation: .all))]
        case .present(let presentation): return present(run, presentation)
        case .finished(let outcome): return finish(run, outcome)
        case .close(let handle): return closeUnused(handle, of: run.key)
        }
    }

    private mutating func present(_ run: AlertRun, _ presentation: Presentation) -> [Action] {
        guard presentation.contains(.banner) else {
            // For the list alone. What the banner before it says is no longer true.
            let withdrawal = run.place.map { [Action.withdraw(run.key, handle: $0)] } ?? []
            return withdrawal + step(run.ticket) { $0.presented(nil) }
        }
        runs[run.ticket.row]?.isBeingShown = true
        return [.show(Showing(run: run, presentation: presentation), replacing: run.place)]
    }

    private mutating func finish(_ run: AlertRun, _ outcome: AlertRunStateMachine.Outcome) -> [Action] {
        let row = run.ticket.row
        runs[row] = nil
        if run.isBeingShown { leaving[run.ticket] = run }
        backlog.runEnded(row)
        var actions: [Action] = run.isEnriching ? [.cancelFetch(run.ticket)] : []
        if outcome.presentation.contains(.badge), outcome.reason == nil || outcome.reason == .willPresent,
            let badge = run.content.badge
        {
            actions.append(.setBadge(badge))
        }
        if outcome.presented {
            actions.append(.store(.record(row, run.key, handle: outcome.handle, run.report(nil))))
        } else {
            actions.append(.tell(run.report(outcome.reason?.rawValue)))
            if outcome.reason != .replaced { actions.append(.store(.drop(row, run.key, nil))) }
        }
        return backlog.isPending ? actions + takeUp() : actions
    }
}
