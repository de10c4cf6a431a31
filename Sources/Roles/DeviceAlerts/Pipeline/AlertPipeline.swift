import Alerts
import HTTPClient
import JSON
import Notifications
import Store
import Wire

/// Alerts on their way from the decision to show them to the screen: enriched, asked about, shown, recorded.
///
/// Decides only: each event returns what its owner does next, in order. Whether an alert is shown is decided again at the
/// moment of showing, and by ``redecide(_:)``. Alerts whose images are being fetched don't hold up others, or one
/// another (``AlertQueue``); what has no room there waits in the store.
struct AlertPipeline {
    indirect enum Action {
        /// Do the work, then call ``stored(_:_:_:)``.
        case store(PipelineWork)
        /// Call ``takeUp()`` after that many milliseconds.
        case pauseBacklog(UInt64)
        /// Fetch the image, then call ``fetched(_:_:_:)``.
        case fetch(AlertRun.Ticket, url: String)
        /// `isOverdue`: the image took too long.
        case cancelFetch(AlertRun.Ticket, isOverdue: Bool)
        /// There are more images than before.
        case sweepImages
        /// Ask the host what to show, then call ``hostAnswered(_:_:_:)``.
        case ask(Showing)
        /// Show it as long as ``isWanted(_:)``, then call ``shown(_:_:_:)``; or ``noPresenter(_:)``.
        case show(Showing, replacing: String?)
        case withdraw(AlertKey, handle: String)
        /// An alert waits for a digest.
        case held(AlertDecision.Hold)
        case tell(AlertReport)
        case setBadge(Int64)
        case log(String)
    }

    /// When an alert may be shown that has just been decided about.
    private enum Turn {
        /// It has just come: those that wait come first, unless it is urgent or a reminder.
        case arrival
        /// It has waited in the store.
        case waited
        /// A digest: nothing waits for its turn before it.
        case released
    }

    struct Counters {
        var failed: Int64 = 0
        var images: Int64 = 0
        var imagesRefused: Int64 = 0
    }

    /// An alert of an earlier process that was due this long before this one began is late, in milliseconds.
    private static let grace: EpochMilliseconds = 60_000
    /// A push's alert that nobody could show for this long is not shown any more, in milliseconds.
    static let longestWait: EpochMilliseconds = 24 * 3_600_000

    /// Where images are kept; `nil` = they are not.
    private let imageDirectory: String?
    /// How long after its arrival an alert is shown without its image, in milliseconds.
    private let imageTime: UInt64
    private var queue = AlertQueue()
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

    init(imageDirectory: String?, imageTime: UInt64 = AlertRunStateMachine.enrichmentTime) {
        (self.imageDirectory, self.imageTime) = (imageDirectory, imageTime)
    }

    var count: Int { queue.count }

    /// Rows that are being put on the screen: a person may respond before they are recorded.
    var presentingRows: Set<Int64> { Set(queue.all.lazy.filter(\.machine.isPresenting).map(\.ticket.row)) }

    /// When ``deadlineReached(_:)`` is due.
    var nextDeadline: UInt64? { queue.all.lazy.filter { $0.stage != .ready }.compactMap(\.machine.deadline).min() }

    /// When ``redecide(_:)`` is due at the latest, because an alert that can't be shown yet ends.
    var nextEnd: EpochMilliseconds? {
        queue.all.lazy.filter { !$0.machine.isPresenting }.compactMap(\.subject.expiresAt).min()
    }

    /// Whether the alert is still to be put on the screen.
    func isWanted(_ ticket: AlertRun.Ticket) -> Bool { queue[ticket]?.isBeingShown == true }

    mutating func begin(at moment: EpochMilliseconds) { begunAt = moment }

    mutating func earlierRows(through row: Int64) { lastEarlierRow = row }

    /// Returns the fetches to cancel.
    mutating func end() -> [Action] {
        defer { (queue, leaving) = (AlertQueue(), [:]) }
        return queue.all.filter(\.isFetching).map { .cancelFetch($0.ticket, isOverdue: false) }
    }

    // MARK: In

    /// It was stored as to be shown.
    ///
    /// - Parameter expiresAt: of a push: from then on it is not shown.
    mutating func enter(
        _ alert: AlertRow, imageURL: String?, expiresAt: EpochMilliseconds? = nil, _ now: AlertMoment
    ) -> [Action] {
        decide(alert, imageURL: imageURL, expiresAt: expiresAt, isLate: alert.isLate, .arrival, now)
    }

    /// A digest, or the one alert that it would have been of. Nothing waits for its turn before it.
    mutating func released(_ alert: AlertRow, _ now: AlertMoment) -> [Action] {
        decide(alert, imageURL: nil, expiresAt: nil, isLate: false, .released, now)
    }

    /// Takes up the alerts that wait in the store, in the order in which they are shown.
    mutating func takeUp() -> [Action] {
        backlog.request(hasRoom: queue.hasRoom(comesFirst: false))
            ? [.store(.takeUp(limit: queue.count + AlertQueue.showLimit))] : []
    }

    private mutating func tookUp(_ read: [Due], _ ended: Backlog.Read, limit: Int, _ now: AlertMoment) -> [Action] {
        var due = read.filter {
            !queue.contains(row: $0.alert.row) && !ended.endedMeanwhile.contains($0.alert.row)
        }[...]
        var actions: [Action] = []
        while let next = due.first, queue.hasRoom(comesFirst: next.alert.comesFirst) {
            // Those whose images are settled have their place among them.
            if let ready = queue.tickets(.ready).first, ready < AlertRun.Ticket(next.alert) {
                actions += show(ready, now)
                continue
            }
            due.removeFirst()
            let alert = next.alert
            let isOld = alert.row <= lastEarlierRow && alert.dueAt < begunAt &- Self.grace
            actions += decide(
                alert, imageURL: next.push.flatMap(now.judge.namedImageURL(of:)),
                expiresAt: next.push?.richer.expiresAt, isLate: alert.isLate || isOld, .waited, now)
        }
        let pause = backlog.settle(isPending: ended.readsAgain || !due.isEmpty || read.count >= limit)
        actions += showReady(now)
        guard backlog.isPending else { return actions }
        // If none of them is shown, no end of a run takes up the next.
        if !queue.isShowing { return actions + [.pauseBacklog(pause)] }
        return ended.readsAgain ? actions + takeUp() : actions
    }

    /// Alerts may wait in the store: it is asked again after a longer pause.
    mutating func storeFailed() -> [Action] {
        backlog.storeFailed()
        return [.pauseBacklog(Backlog.longPause)]
    }

    /// Decides again about an alert that was stored as to be shown, and was not.
    private mutating func decide(
        _ alert: AlertRow, imageURL: String?, expiresAt: EpochMilliseconds?, isLate: Bool, _ turn: Turn,
        _ now: AlertMoment
    ) -> [Action] {
        var subject = alert.subject
        subject.isLate = isLate
        subject.expiresAt = end(of: alert, expiresAt)
        lastNumber &+= 1
        var run = AlertRun(alert, subject, number: lastNumber, imageURL: imageURL)
        let decision = now.judge.decide(subject)
        guard case .show(let isQuiet) = decision else { return end(run, decision) }
        run.isQuiet = isQuiet
        let imageEnd = imageEnd(of: alert, now)
        if imageURL != nil, imageEnd > now.now, queue.hasImageRoom {
            run.stage = .enriching
        } else {
            // It stays in the store until then.
            let isNext = turn != .arrival || alert.comesFirst || !backlog.isPending
            guard turn == .released || isNext && queue.hasRoom(comesFirst: alert.comesFirst) else { return takeUp() }
            if imageURL != nil {
                let error: FetchError.Code = imageEnd > now.now ? .tooMany : .timeout
                run.image = ["error": .string(error.name)]
                counters.imagesRefused &+= 1
            }
        }
        queue.put(run)
        let (isEnriching, asks) = (run.stage == .enriching, isInFront && hostDecides)
        return step(run.ticket, now) {
            $0.start(
                hasEnrichment: isEnriching, isInFront: asks, isPatient: alert.isReminder, replacing: alert.handle,
                until: imageEnd, now: now.now)
        }
    }

    /// A reminder waits for as long as it takes, and so does a digest.
    private func end(of alert: AlertRow, _ expiresAt: EpochMilliseconds?) -> EpochMilliseconds? {
        guard !alert.isReminder else { return nil }
        let end = max(alert.dueAt, begunAt) &+ Self.longestWait
        return expiresAt.map { min($0, end) } ?? end
    }

    /// By the loop's clock. The time counts from the arrival, even if the clock was set since.
    private func imageEnd(of alert: AlertRow, _ now: AlertMoment) -> UInt64 {
        let passed = now.judge.now &- max(alert.dueAt, begunAt)
        return now.now &+ (passed > 0 ? imageTime - min(imageTime, UInt64(passed)) : imageTime)
    }

    // MARK: The store

    mutating func stored(
        _ work: PipelineWork, _ result: Result<PipelineWork.Outcome, StoreError>, _ now: AlertMoment
    ) -> [Action] {
        var unused: [String] = []
        if case .success(.unused(let handles)) = result { unused = handles }
        switch work {
        case .takeUp(let limit):
            let ended = backlog.readEnded()
            guard case .success(.due(let due)) = result else { return [] }
            return tookUp(due, ended, limit: limit, now)
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
            case .success(.image(.success(let content))): return [.sweepImages] + kept(ticket, content, now)
            case .success(.image(.failure(let error))): return [.sweepImages] + refused(ticket, error.code.name, now)
            case .success, .failure: return [.sweepImages] + refused(ticket, "not_kept", now)
            }
        }
    }

    // MARK: Events

    mutating func moved(toFront isInFront: Bool) {
        self.isInFront = isInFront
        let asks = isInFront && hostDecides
        for run in queue.all { queue.change(run.ticket.row) { $0.machine.moved(toFront: asks) } }
    }

    /// Alerts with these keys are not wanted any more.
    mutating func withdraw(
        _ keys: [AlertKey], _ reason: AlertRunStateMachine.Reason, except row: Int64? = nil, _ now: AlertMoment
    ) -> [Action] {
        var actions: [Action] = []
        for ticket in queue.tickets() where ticket.row != row {
            guard let key = queue[ticket]?.key, keys.contains(key) else { continue }
            actions += step(ticket, now) { $0.withdraw(reason) }
        }
        return actions
    }

    /// It waits for a digest in the store, because others need its place.
    mutating func displaced(_ row: Int64, _ now: AlertMoment) -> [Action] {
        guard let ticket = queue.tickets().first(where: { $0.row == row }) else { return [] }
        return takeOut(ticket) + showReady(now)
    }

    /// The settings, the authorization or the time have changed: what is not on the screen yet is decided again.
    mutating func redecide(_ now: AlertMoment) -> [Action] {
        var actions: [Action] = []
        for ticket in queue.tickets() {
            guard let run = queue[ticket] else { continue }
            let decision = now.judge.decide(run.subject)
            if case .show(let isQuiet) = decision {
                queue.change(ticket.row) { $0.isQuiet = isQuiet }
            } else {
                actions += takeOut(ticket) + end(run, decision)
            }
        }
        return actions.isEmpty ? [] : actions + showReady(now)
    }

    /// The presenter is there, for the first time or again.
    mutating func presenterReady(_ now: AlertMoment) -> [Action] {
        var actions: [Action] = []
        for ticket in queue.tickets(.showing) { actions += step(ticket, now) { $0.presenterReady(now: now.now) } }
        return actions
    }

    mutating func deadlineReached(_ now: AlertMoment) -> [Action] {
        var actions: [Action] = []
        for ticket in queue.tickets() {
            guard let run = queue[ticket], run.stage != .ready, let deadline = run.machine.deadline,
                deadline <= now.now
            else { continue }
            actions +=
                run.stage == .enriching
                ? settle(ticket, imageError: FetchError.Code.timeout.name)
                : step(ticket, now) { $0.deadlineReached(now: now.now) }
        }
        return actions + showReady(now)
    }

    /// The person responded to it; its row is gone.
    mutating func responded(to row: Int64) { queue.change(row) { $0.isAnswered = true } }

    // MARK: Enrichment

    mutating func fetched(
        _ ticket: AlertRun.Ticket, _ result: Result<Fetched, FetchError>, _ now: AlertMoment
    ) -> [Action] {
        switch result {
        case .failure(let error): return refused(ticket, error.code.name, now)
        case .success(let fetched):
            guard let run = queue[ticket], let directory = imageDirectory else { return [] }
            return [.store(.keepImage(ticket, run.content, fetched, directory: directory))]
        }
    }

    private mutating func refused(_ ticket: AlertRun.Ticket, _ code: String, _ now: AlertMoment) -> [Action] {
        guard queue[ticket]?.stage == .enriching else { return [] }
        return settle(ticket, imageError: code) + showReady(now)
    }

    /// The image is on the disk, and the stored alert names it. An image that comes too late is for the list alone.
    private mutating func kept(_ ticket: AlertRun.Ticket, _ content: AlertContent, _ now: AlertMoment) -> [Action] {
        counters.images &+= 1
        guard queue[ticket]?.stage == .enriching else { return [] }
        queue.change(ticket.row) { $0.content = content }
        return settle(ticket, path: content.attachments.first) + showReady(now)
    }

    /// What became of the image, once. The alert is ready to be shown.
    private mutating func settle(_ ticket: AlertRun.Ticket, path: String? = nil, imageError: String? = nil) -> [Action]
    {
        queue.change(ticket.row) {
            ($0.stage, $0.isFetching) = (.ready, false)
            $0.image = ["path": path.map(JSONValue.string), "error": imageError.map(JSONValue.string)]
        }
        if imageError != nil { counters.imagesRefused &+= 1 }
        return [.cancelFetch(ticket, isOverdue: imageError == FetchError.Code.timeout.name)]
    }

    /// Starts the fetches that have room.
    private mutating func fetch() -> [Action] {
        queue.nextFetches.compactMap { ticket in
            queue.change(ticket.row) { $0.isFetching = true }
            return queue[ticket]?.imageURL.map { .fetch(ticket, url: $0) }
        }
    }

    /// Shows what is ready, as far as there is room; and fetches the next images.
    private mutating func showReady(_ now: AlertMoment) -> [Action] {
        var actions: [Action] = []
        for ticket in queue.tickets(.ready) {
            // Others that wait in the store may come first: it has its turn among them.
            guard ticket.comesFirst || !backlog.isPending, queue.hasRoom(comesFirst: ticket.comesFirst) else { break }
            actions += show(ticket, now)
        }
        return actions + fetch()
    }

    private mutating func show(_ ticket: AlertRun.Ticket, _ now: AlertMoment) -> [Action] {
        queue.change(ticket.row) { $0.stage = .showing }
        return step(ticket, now) { $0.enriched(now: now.now) }
    }

    // MARK: Showing

    mutating func hostAnswered(_ ticket: AlertRun.Ticket, _ answer: Int32?, _ now: AlertMoment) -> [Action] {
        step(ticket, now) { $0.answered(Presentation(answer: answer), now: now.now) }
    }

    /// The host has not said yet who shows its alerts.
    mutating func noPresenter(_ ticket: AlertRun.Ticket) {
        guard queue[ticket] != nil else { return }
        queue.change(ticket.row) {
            $0.isBeingShown = false
            $0.machine.noPresenter()
        }
    }

    /// - Parameter result: the handle of the banner, or why it is not on the screen.
    mutating func shown(
        _ ticket: AlertRun.Ticket, _ result: Result<String?, PresenterError>, _ now: AlertMoment
    ) -> [Action] {
        if var gone = leaving.removeValue(forKey: ticket) {
            guard case .success(let handle) = result else { return [] }
            return carryOut(gone.machine.presented(handle), gone, now)
        }
        guard let run = queue[ticket] else { return [] }
        queue.change(ticket.row) { $0.isBeingShown = false }
        switch result {
        case .success(let handle): return step(ticket, now) { $0.presented(handle) }
        case .failure(let error):
            counters.failed &+= 1
            return [.log("an alert is not shown yet: \(error.message)")]
                + step(ticket, now) { run.isAnswered ? $0.withdraw(.removed) : $0.presentFailed(now: now.now) }
        }
    }

    /// Takes a banner away, unless an alert that replaced its own has it now: servers reuse handles.
    private func closeUnused(_ handle: String, of key: AlertKey) -> [Action] {
        // A run may be recorded with it between the look into the store and its result.
        isOnItsWay(key) ? [] : [.store(.findOwner(handle, key))]
    }

    private func isOnItsWay(_ key: AlertKey) -> Bool { queue.all.contains { $0.key == key } }

    // MARK: Steps

    private mutating func step(
        _ ticket: AlertRun.Ticket, _ now: AlertMoment,
        _ event: (inout AlertRunStateMachine) -> AlertRunStateMachine.Action?
    ) -> [Action] {
        guard var run = queue[ticket] else { return [] }
        let action = event(&run.machine)
        queue.put(run)
        return carryOut(action, run, now)
    }

    private mutating func carryOut(
        _ action: AlertRunStateMachine.Action?, _ run: AlertRun, _ now: AlertMoment
    ) -> [Action] {
        switch action {
        case nil: return []
        case .enrich: return fetch()
        case .ask: return [.ask(Showing(run: run, presentation: .all))]
        case .present(let presentation): return present(run, presentation, now)
        case .finished(let outcome): return finish(run, outcome, now)
        case .close(let handle): return closeUnused(handle, of: run.key)
        }
    }

    private mutating func present(_ run: AlertRun, _ presentation: Presentation, _ now: AlertMoment) -> [Action] {
        let decision = now.judge.decide(run.subject)
        guard case .show(let isQuiet) = decision else {
            return takeOut(run.ticket) + end(run, decision) + afterEnd(now)
        }
        guard presentation.contains(.banner) else {
            // For the list alone. What the banner before it says is no longer true.
            let withdrawal = run.alert.handle.map { [Action.withdraw(run.key, handle: $0)] } ?? []
            return withdrawal + step(run.ticket, now) { $0.presented(nil) }
        }
        var run = run
        (run.isQuiet, run.isBeingShown) = (isQuiet, true)
        queue.put(run)
        return [.show(Showing(run: run, presentation: presentation), replacing: run.alert.handle)]
    }

    private mutating func finish(
        _ run: AlertRun, _ outcome: AlertRunStateMachine.Outcome, _ now: AlertMoment
    ) -> [Action] {
        let row = run.ticket.row
        var actions = takeOut(run.ticket)
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
        return actions + afterEnd(now)
    }

    /// Ends a run. Its presenter may still put it on the screen: then it is taken away again.
    private mutating func takeOut(_ ticket: AlertRun.Ticket) -> [Action] {
        guard var run = queue[ticket] else { return [] }
        queue.remove(ticket.row)
        backlog.runEnded(ticket.row)
        if run.isBeingShown {
            _ = run.machine.withdraw(.removed)
            leaving[ticket] = run
        }
        return run.isFetching ? [.cancelFetch(ticket, isOverdue: false)] : []
    }

    /// There is room for another one.
    private mutating func afterEnd(_ now: AlertMoment) -> [Action] {
        (backlog.isPending ? takeUp() : []) + showReady(now)
    }

    /// Records that an alert is not shown, and why.
    private mutating func end(_ run: AlertRun, _ decision: AlertDecision) -> [Action] {
        backlog.runEnded(run.ticket.row)
        let report = run.report(decision.reason)
        switch decision {
        case .show: return []
        case .hold(let hold): return [.store(.hold(run.alert, hold, report))]
        case .hide: return [.store(.drop(run.alert.row, run.key, report))]
        }
    }
}
