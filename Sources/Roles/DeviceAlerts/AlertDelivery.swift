import Alerts
import Hosting
import JSON
import Signalling
import Store
import SystemServices
import Transport
import Wire

/// Takes alerts from the store to the screen, and what the person does with them back.
///
/// Owns the units of that way and routes events between them: a unit decides, and this carries its actions out.
@EventLoop
final class AlertDelivery {
    private enum Timer { case pipeline, ends, backlog, lateAlerts, room, inbox, imageSweep }

    private let rules: AlertRules
    private let store: AlertStore
    private let screen: Screen
    private let channel: HostChannel
    private weak var host: (any AlertHost)?
    private var pipeline: AlertPipeline
    private var digests: Digests
    private var records: AlertRecords
    private var isRunning = false
    private lazy var images = ImageFetches(rules.configuration)
    /// Of alerts that the presenter was asked to show, and has not answered.
    private var permits: [ShowPermit] = []
    private lazy var timers = AlertTimers<Timer> { [weak self] in self?.fired($0) }
    /// Alerts wait for the end of quiet hours.
    var armClock: (@EventLoop () -> Void)?

    /// How long after a change of the inbox its alerts are looked at, in milliseconds.
    private static let inboxPause: UInt64 = 100
    /// The longest time between two looks at alerts that end, as the wall clock may be set, in milliseconds.
    private static let longestRest: EpochMilliseconds = 60_000
    private static let sweepPause: UInt64 = 3_600_000

    init(
        _ rules: AlertRules, _ store: AlertStore, _ screen: Screen, _ channel: HostChannel, host: any AlertHost
    ) {
        (self.rules, self.store, self.screen, self.channel, self.host) = (rules, store, screen, channel, host)
        pipeline = AlertPipeline(
            imageDirectory: rules.configuration.imageDirectory, imageTime: rules.configuration.options.images.timeout)
        digests = Digests(rules.configuration.lateAlerts)
        records = AlertRecords(isOn: rules.configuration.isOn)
        store.failed = { [weak self] error, what in self?.storeFailed(error, what) }
    }

    // MARK: Begin and end

    func begin() {
        isRunning = true
        pipeline.begin(at: .now)
    }

    /// Reads what an earlier process left, before anything new can be stored; then starts the presenter and takes up the
    /// alerts that are still on their way. `then` follows.
    ///
    /// Reading and writing are separate: if the store can't be written, banners of the last run are adopted all the same.
    func takeUp(then: @escaping @Sendable @EventLoop () -> Void) {
        store.run(EarlierWork()) { result in
            let earlier = try? result.get()
            self.screen.start(adopting: self.rules.preferences.adopted(earlier?.delivered ?? []))
            self.presenterReady()
            if let earlier {
                self.pipeline.earlierRows(through: earlier.lastRow)
                self.setBadge(earlier.unread)
            }
        }
        store.run(EarlierRelease(late: digests.started(isQuiet: rules.isQuiet))) { result in
            // The presenter is there by now: it closes the banners.
            let outcome = result.map { RecordWork.Outcome.removed($0.removed) }
            self.perform(self.records.stored(.removeSettled, outcome))
            if case .success(let released) = result, let digest = released.digest { self.show(digest) }
            self.perform(self.pipeline.takeUp())
            then()
            self.sweepImages()
        }
    }

    func end() {
        isRunning = false
        timers.stopAll()
        perform(pipeline.end())
        images.close()
    }

    // MARK: Events

    /// The alert was committed, with what becomes of it.
    func entered(_ judged: AlertJudge.Judged) {
        guard isRunning else { return }
        perform(pipeline.withdraw([judged.alert.key] + judged.replaced, .replaced, moment))
        if let displaced = judged.displaced?.row {
            perform(pipeline.displaced(displaced.row, moment))
            perform(records.tell(AlertReport(displaced, AlertDecision.hold(.tooMany).reason)))
            perform(digests.held(.tooMany, now: EventLoop.now))
        }
        for handle in judged.obsolete { screen.withdraw(judged.alert.key, handle: handle) }
        let report = AlertReport(judged.alert, judged.decision.reason)
        switch judged.decision {
        case .show:
            guard let row = judged.stored?.row else { return }
            perform(
                pipeline.enter(row, imageURL: judged.imageURL, expiresAt: judged.alert.expiresAt, moment))
        case .hold(let hold):
            setBadge(judged.alert.content.badge)
            perform(records.tell(report))
            perform(digests.held(hold, now: EventLoop.now))
        case .hide(let reason):
            // A badge does not disturb the user, but silenced pushes are for the inbox only.
            if reason != .silenced { setBadge(judged.alert.content.badge) }
            perform(records.tell(report))
        }
    }

    /// Something was read, deleted or cleared.
    func inboxChanged() {
        guard isRunning, !timers.isRunning(.inbox) else { return }
        timers.start(.inbox, after: Self.inboxPause)
    }

    /// The settings or the authorization have changed: decides again about what is not on the screen yet.
    func redecide() {
        if isRunning { perform(pipeline.redecide(moment)) }
    }

    /// Quiet hours may be over.
    func releaseQuiet() { perform(digests.releaseQuiet(isQuiet: rules.isQuiet)) }

    private var moment: AlertMoment { AlertMoment(now: EventLoop.now, judge: rules.judge) }

    func setBadge(_ count: Int64?) { perform(records.setBadge(count)) }

    func forget(_ desktop: PeerID) { perform([.store(RecordWork.forget(desktop))]) }

    func presenterReady() {
        screen.setBadge(records.badge)
        perform(pipeline.presenterReady(moment))
    }

    func moved(toFront isInFront: Bool) { pipeline.moved(toFront: isInFront) }

    func hostDecides(_ decides: Bool) { pipeline.hostDecides = decides }

    func respond(_ key: AlertKey, _ action: String, _ text: String?, _ then: @escaping Then) {
        let response = NewResponse(
            key: key, action: action, text: text, categories: rules.preferences.categories,
            presentingRows: pipeline.presentingRows, at: .now)
        perform([.store(RecordWork.respond(response, then))])
    }

    func list(_ then: @escaping Then) { perform([.store(RecordWork.list(then))]) }

    func remove(desktop: String?, id: String?, thread: String?, _ then: @escaping Then) {
        perform(records.remove(desktop: desktop, id: id, thread: thread, then))
    }

    /// Nobody can respond to these any more, so they are not listed as delivered.
    func lost(_ isLost: @escaping @Sendable (String) -> Bool) { perform([.store(RecordWork.removeLost(isLost))]) }

    /// As `bw_alerts_state` tells it.
    func state(_ now: EpochMilliseconds) -> JSONValue {
        AlertsState(
            authorization: rules.authorization.current(now), presenter: screen.state, isInFront: pipeline.isInFront,
            badge: records.badge, waiting: pipeline.count, records: records.counters, pipeline: pipeline.counters
        ).json(now)
    }

    private func storeFailed(_ error: StoreError, _ what: String) {
        perform(pipeline.storeFailed())
        channel.problem("store_failed", "\(what): \(error.message)")
    }

    private func fired(_ timer: Timer) {
        switch timer {
        case .pipeline: perform(pipeline.deadlineReached(moment))
        case .ends: perform(pipeline.redecide(moment))
        case .backlog: perform(pipeline.takeUp())
        case .lateAlerts: perform(digests.lateTimerFired(isQuiet: rules.isQuiet))
        case .room:
            perform(.store(.release(.tooMany)))
            perform(.store(.release(.burst)))
        case .inbox: perform([.store(RecordWork.removeSettled)])
        case .imageSweep: sweepImages()
        }
    }

    /// Deletes old images, now and as long as there are any.
    private func sweepImages() {
        guard let directory = rules.configuration.imageDirectory else { return }
        store.run(ImageSweep(directory: directory)) { result in
            if case .success(false) = result { self.timers.start(.imageSweep, after: Self.sweepPause) }
        }
    }

    // MARK: Actions

    private func perform(_ actions: [AlertPipeline.Action]) {
        for action in actions {
            switch action {
            case .store(let work):
                store.run(work) { result in self.perform(self.pipeline.stored(work, result, self.moment)) }
            case .pauseBacklog(let pause): if isRunning { timers.start(.backlog, after: pause) }
            case .fetch(let ticket, let url):
                images.start(ticket, url) { [weak self] result in
                    guard let self else { return }
                    perform(pipeline.fetched(ticket, result, moment))
                }
            case .cancelFetch(let ticket, let isOverdue): images.cancel(ticket, isOverdue: isOverdue)
            case .sweepImages: sweepImages()
            case .ask(let showing): ask(showing)
            case .show(let showing, let place): show(showing, replacing: place)
            case .withdraw(let key, let handle): screen.withdraw(key, handle: handle)
            case .held(let hold): perform(digests.held(hold, now: EventLoop.now))
            case .tell(let report): perform(records.tell(report))
            case .setBadge(let count): setBadge(count)
            case .log(let message): channel.log(.warning, message)
            }
        }
        for permit in permits {
            if let ticket = permit.ticket, !pipeline.isWanted(ticket) { permit.withdraw() }
        }
        guard isRunning else { return }
        timers.start(.pipeline, at: pipeline.nextDeadline)
        let rest = pipeline.nextEnd.map { UInt64(max(0, min(Self.longestRest, $0 &- ExpiryMoment.current.now))) }
        timers.start(.ends, at: rest.map { EventLoop.now &+ $0 })
    }

    private func ask(_ showing: AlertPipeline.Showing) {
        let (ticket, json) = (showing.run.ticket, rules.preferences.presented(showing).json)
        channel.ask(
            HostQuestion(.willPresent, json: JSONValue.object(json).serialized()) { [weak self] answer in
                EventLoop.post { self?.hostAnswered(ticket, answer) }
            })
    }

    private func hostAnswered(_ ticket: AlertRun.Ticket, _ answer: Int32?) {
        if isRunning { perform(pipeline.hostAnswered(ticket, answer, moment)) }
    }

    private func show(_ showing: AlertPipeline.Showing, replacing place: String?) {
        let ticket = showing.run.ticket
        let permit = ShowPermit(ticket)
        permits.append(permit)
        let sender = showing.run.key.desktop.flatMap { host?.sender($0) }
        let alert = rules.preferences.presented(showing, from: sender)
        let isThere = screen.show(alert, replacing: place, permit) {
            [weak self] result in
            guard let self else { return }
            permits.removeAll { $0 === permit }
            if isRunning { perform(pipeline.shown(ticket, result, moment)) }
        }
        guard !isThere else { return }
        permits.removeLast()
        pipeline.noPresenter(ticket)
    }

    private func perform(_ action: Digests.Action?) {
        switch action {
        case nil: break
        case .store(let work):
            store.run(work) { result in
                self.armClock?()
                if case .success(let digest?) = result { self.show(digest) }
            }
        case .startLateTimer(let delay): timers.start(.lateAlerts, after: delay)
        case .startRoomTimer(let delay): if !timers.isRunning(.room) { timers.start(.room, after: delay) }
        case .armClock: armClock?()
        }
    }

    /// On a thread of its own, as starting a program blocks.
    private func open(_ link: String) {
        let failed: @Sendable (String) -> Void = { [channel] in channel.log(.warning, "cannot open a link: \($0)") }
        let result = startThread(named: "bellwire-open") { if let problem = WebLink.open(link) { failed(problem) } }
        if result != 0 { failed("there is no thread for it") }
    }

    /// Shows a digest, or the one alert that it would have been of.
    private func show(_ digest: AlertRow) {
        perform(pipeline.withdraw([digest.key], .replaced, except: digest.row, moment))
        perform(pipeline.released(digest, moment))
    }

    private func perform(_ actions: [AlertRecords.Action]) {
        for action in actions {
            switch action {
            case .store(let work):
                store.run(work) { result in self.perform(self.records.stored(work, result)) }
            case .reply(let then, let result): then(result)
            case .post(let event): channel.post(event)
            case .sendReceipt(let id, let isPresented, let desktop):
                host?.sendReceipt(id: id, presented: isPresented, to: desktop)
            case .showBadge(let count): screen.setBadge(count)
            case .responseWaits(let isDisplaced):
                channel.waits(.notificationResponse)
                if isDisplaced { channel.tooManyKept(.notificationResponse) }
            case .responded(let row): pipeline.responded(to: row)
            case .tapped(let content): if let link = rules.preferences.link(of: content) { open(link) }
            case .markRead(let id, let desktop): host?.markRead(id, of: desktop)
            case .withdraw(let key, let handle): screen.withdraw(key, handle: handle)
            case .withdrawRuns(let keys): perform(pipeline.withdraw(keys, .removed, moment))
            }
        }
    }
}
