import Alerts
import Calendar
import HTTPClient
import Hosting
import Inbox
import JSON
import Notifications
import Signalling
import Store
import Transport
import Wire

/// What a person sees of the device and answers: its pushes, and the program's own reminders.
///
/// With `"alerts":"none"` it holds what is stored and does nothing by itself. Every method runs on the loop and never
/// suspends; the store's answers come back as messages.
@EventLoop
final class AlertCenter {
    /// What the store had when the device was opened.
    struct Stored: Sendable {
        var authorization = Authorization.notDetermined
        var settings = AlertSettings()
        var categories = Categories()
        var reminders: [Reminder] = []

        static func load(_ connection: Connection) throws(StoreError) -> Stored {
            let preferences = AlertPreferences(connection)
            return Stored(
                authorization: try preferences.authorization(), settings: try preferences.settings(),
                categories: try preferences.categories(), reminders: try ReminderTable(connection).all())
        }
    }

    struct Counters {
        var shown: Int64 = 0
        var hidden: Int64 = 0
        var failed: Int64 = 0
        var responses: Int64 = 0
        var images: Int64 = 0
        var imagesRefused: Int64 = 0
    }

    weak var core: DeviceSwitchboard?
    let options: DeviceOptions
    let channel: HostChannel
    var authorization: AuthorizationStateMachine
    var settings: AlertSettings
    var categories: Categories
    var schedule: ReminderSchedule
    var counters = Counters()
    /// From the first start of the device until it is closed.
    private(set) var isBegun = false
    private(set) var isEnded = false
    private(set) var isLoaded: Bool
    var isInFront = false
    var badge: Int64 = 0
    /// Questions that the host has a callback for.
    var answered: Set<HostHook> = []
    var presenter: (any Presenter)?
    /// On their way, by their rows.
    var runs: [Int64: AlertRun] = [:]
    /// Others wait in the store until some of them are over.
    var hasBacklog = false
    var isTakingUp = false
    /// Somebody came while those that wait were read.
    var takesAgain = false
    /// What ended while those that wait were read.
    var endedMeanwhile: Set<Int64> = []
    lazy var backlogTimer = LoopTimer { [weak self] in self?.takeDue() }
    /// By the clock on the wall; what an earlier run left that was due well before it is late.
    private(set) var begunAt: EpochMilliseconds = 0
    private(set) var lastEarlierRow: Int64 = 0
    /// Until the store is asked for more, in milliseconds: longer after a failure.
    var backlogPause = AlertCenter.shortPause
    static let shortPause: UInt64 = 200
    static let longPause: UInt64 = 30_000
    /// Those who wait for the person's answer.
    var authorizationWaiters = Waiters()
    lazy var authorizationTimer = LoopTimer { [weak self] in self?.expireAuthorizationWaiters() }
    /// The question that the desktop environment asks for us: an id that nobody else knows, and its banner.
    var question: (key: AlertKey, handle: String?)?
    /// How often the schedule has changed: what was read from the store before is old.
    var scheduleVersion: UInt64 = 0
    lazy var fetcher = makeFetcher()
    /// Fires when a reminder, the end of quiet hours or that of an authorization is due, and when the clock was set.
    lazy var clock = WallClockTimer { [weak self] in self?.clockFired() }
    /// After a failure of the store the clock rests: what is due would be due again at once.
    var isResting = false
    lazy var restTimer = LoopTimer { [weak self] in
        self?.isResting = false
        self?.clockFired()
    }
    /// A little after the last push that came late; by the loop's clock, when the first of them came.
    var lateSince: UInt64 = 0
    lazy var lateTimer = LoopTimer { [weak self] in self?.tellLate() }
    /// Images are kept for a day.
    lazy var sweepTimer = LoopTimer { [weak self] in self?.sweepImages() }
    /// Looks, a little after the inbox has changed, which alerts are of no use any more.
    lazy var inboxTimer = LoopTimer { [weak self] in self?.followInbox() }

    /// `stored`: `nil` = it is read when somebody asks for it.
    init(_ core: DeviceSwitchboard, _ stored: Stored?) {
        self.core = core
        options = core.context.options
        channel = core.context.channel
        isLoaded = stored != nil
        let stored = stored ?? Stored()
        authorization = AuthorizationStateMachine(stored: stored.authorization)
        settings = stored.settings
        categories = stored.categories
        schedule = ReminderSchedule(stored.reminders)
    }

    func load(then: @escaping @Sendable @EventLoop (AlertCenter, HostError?) -> Void) {
        storeAlways { (connection) throws(StoreError) in
            try Stored.load(connection)
        } then: { center, result in
            if !center.isLoaded, case .success(let stored) = result {
                center.isLoaded = true
                center.authorization = AuthorizationStateMachine(stored: stored.authorization)
                center.settings = stored.settings
                center.categories = stored.categories
                center.schedule = ReminderSchedule(stored.reminders)
            }
            then(center, Self.failure(result))
        }
    }

    var isOn: Bool { options.alerts.kind != .none }

    // MARK: Begin and end

    /// What was left is taken up, and the presenter started.
    func begin() {
        guard isOn, !isBegun, !isEnded else { return }
        isBegun = true
        begunAt = .now
        announce(authorization.expired(now: .now), always: true)
        startPresenter()
    }

    func end() {
        guard !isEnded else { return }
        isEnded = true
        guard isBegun else { return }
        for timer in [authorizationTimer, lateTimer, inboxTimer, restTimer, sweepTimer, backlogTimer] { timer.stop() }
        clock.stop()
        for run in runs.values { run.end() }
        runs = [:]
        fetcher.close()
        takeQuestionAway()
        presenter?.stop()
        for then in authorizationWaiters.takeAll() { then(.failure(.closed)) }
    }

    /// Banners of an earlier run are followed before the server is listened to; then the rest.
    private func startPresenter() {
        store { (connection) throws(StoreError) in
            try AlertTable(connection).delivered()
        } then: { center, result in
            let delivered = (try? result.get()) ?? []
            center.makePresenter(adopting: delivered)
            center.takeUp()
        }
    }

    private func makePresenter(adopting delivered: [AlertRow]) {
        let handler: @EventLoop (PresenterEvent) -> Void = { [weak self] in self?.take($0) }
        switch options.alerts.kind {
        case .none: return
        case .host:
            let host = HostPresenter(channel, handler)
            presenter = host
            host.hostAnswers(answered.contains(.present))
        case .system:
            let system = SystemPresenter(name: options.common.name, options.alerts, handler)
            for alert in delivered {
                guard let handle = alert.handle else { continue }
                let reply = category(of: alert.content)?.actions.first { $0.kind == .reply }
                system.adopt(handle, of: alert.key, replyID: reply?.id)
            }
            presenter = system
        }
        presenter?.start()
        presenter?.setBadge(badge)
        // What came meanwhile.
        retryRuns()
    }

    /// What was on its way when the process ended, reminders that came due since, digests that are due.
    private func takeUp() {
        let isSummarized = options.lateAlerts == .summary
        store { (connection) throws(StoreError) in
            if !isSummarized { try AlertTable(connection).forget(.late) }
            return (try AlertTable(connection).lastRow(), try Inbox(connection).unreadCount())
        } then: { center, result in
            center.note(result, "what alerts were on their way could not be read")
            if case .success((let row, let unread)) = result {
                center.lastEarlierRow = row
                center.setBadge(unread)
            }
            center.followInbox()
            center.takeDue()
            center.passed(isStart: true)
            center.tellLate()
            center.clockFired()
            center.sweepImages()
        }
    }

    func hostAnswers(_ hook: HostHook, _ answers: Bool) {
        if answers { answered.insert(hook) } else { answered.remove(hook) }
        if hook == .present, let host = presenter as? HostPresenter { host.hostAnswers(answers) }
    }

    // MARK: The store

    /// Works on the store and comes back to the loop; not after the end.
    func store<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (AlertCenter, Result<T, StoreError>) -> Void
    ) {
        storeAlways(work) { center, result in
            if !center.isEnded { then(center, result) }
        }
    }

    /// The same, for what somebody waits for: also after the end.
    func storeAlways<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (AlertCenter, Result<T, StoreError>) -> Void
    ) {
        core?.context.database.submit(work) { result in
            EventLoop.post { then(self, result) }
        }
    }

    /// Tells of a store that has failed where nobody waits for the outcome.
    func note<T>(_ result: Result<T, StoreError>, _ what: String) {
        guard case .failure(let error) = result, error.code != .closed else { return }
        backlogPause = Self.longPause
        hasBacklog = true
        if isBegun, !isEnded { backlogTimer.start(after: Self.longPause) }
        channel.problem("store_failed", "\(what): \(error.message)")
    }

    /// Tells whoever waits that the store has failed.
    static func failure<T>(_ result: Result<T, StoreError>) -> HostError? {
        if case .failure(let error) = result { HostError(error) } else { nil }
    }

    // MARK: The clock

    func armClock() {
        guard isBegun, !isEnded, !isResting else { return }
        let now = EpochMilliseconds.now
        let moments = [schedule.nextAt, settings.quietEnd(after: now, .system), authorization.nextEnd]
        if let next = moments.compactMap(\.self).min() { clock.start(at: next) } else { clock.stop() }
    }

    /// The store has failed with something that was due: it is tried again later.
    func restClock() {
        guard isBegun, !isEnded else { return }
        isResting = true
        clock.stop()
        restTimer.start(after: Self.rest)
    }

    private static let rest: UInt64 = 10_000

    func clockFired() {
        guard isBegun, !isEnded, !isResting else { return }
        announce(authorization.expired(now: .now))
        passed(isStart: false)
        tellQuiet()
        armClock()
    }
}
