import Alerts
import DeviceAlerts
import Hosting
import Transport

/// The alerts of a running desktop on the screen, on the loop's thread. One that can't be shown is tried again for a
/// minute, as on a device.
@EventLoop
final class AlertScreen {
    enum Event: Sendable {
        /// Why an alert is not on the screen.
        case failed(String)
        /// The user wants this notification marked as read.
        case marked(String)
    }

    private struct Entry {
        let alert: PresentedAlert
        let createdAt: Int64
        let permit: ShowPermit
        let order: UInt64
        var machine = AlertRunStateMachine()
        /// While it is on the screen.
        var banner: String?
    }

    /// Alerts on the screen, or on their way to it. Beyond that, the oldest is no longer followed.
    private static let maximum = 256
    /// Alerts on their way to the screen, so that a flood of notifications doesn't fill the notification server's queue.
    /// Beyond that, one is not shown.
    private static let maximumWaiting = 32

    private let handler: @Sendable (Event) -> Void
    private var presenter: SystemPresenter?
    private var entries: [String: Entry] = [:]
    private var order: UInt64 = 0
    private let categories = Categories()
    private let language = AlertLanguage.ofEnvironment
    private lazy var retryTimer = LoopTimer { [weak self] in self?.retry() }

    nonisolated init(_ handler: @escaping @Sendable (Event) -> Void) { self.handler = handler }

    func start() {
        let presenter = SystemPresenter(name: "Bellwire") { [weak self] in self?.take($0) }
        self.presenter = presenter
        presenter.start()
    }

    func stop() {
        presenter?.stop()
        presenter = nil
        entries = [:]
        retryTimer.stop()
    }

    func show(_ id: String, _ content: AlertContent, createdAt: Int64) {
        guard presenter != nil else { return }
        guard entries.values.count(where: { $0.banner == nil }) < AlertScreen.maximumWaiting else {
            return handler(.failed("too many at once"))
        }
        // A click has nothing to open.
        let actions = categories.actions(of: content.category, in: language)
        let alert = PresentedAlert(
            key: AlertKey(desktop: nil, id: AlertID(id)), content: content, actions: actions)
        let old = entries[id]?.banner
        order &+= 1
        var entry = Entry(alert: alert, createdAt: createdAt, permit: ShowPermit(), order: order)
        let action = entry.machine.start(hasEnrichment: false, isInFront: false, replacing: old, now: EventLoop.now)
        entries[id] = entry
        if entries.count > AlertScreen.maximum, let oldest = entries.min(by: { $0.value.order < $1.value.order }) {
            entries[oldest.key] = nil
        }
        carryOut(action, entry, replacing: old)
    }

    private func carryOut(_ action: AlertRunStateMachine.Action?, _ entry: Entry, replacing old: String? = nil) {
        switch action {
        case .present:
            presenter?.show(entry.alert, replacing: old, entry.permit) { [weak self] result in
                self?.shown(entry.alert.key, entry.permit, result)
            }
        case .finished(let outcome) where !outcome.presented: entries[entry.alert.key.id.text] = nil
        // Without an image or a host there is nothing to fetch or to ask.
        case nil, .finished, .enrich, .ask, .close: break
        }
    }

    private func shown(_ key: AlertKey, _ permit: ShowPermit, _ result: Result<String?, PresenterError>) {
        let id = key.id.text
        guard permit.holds, entries[id]?.permit === permit else {
            if case .success(let banner) = result { presenter?.withdraw(key, handle: banner) }
            return
        }
        switch result {
        case .success(let banner):
            step(id) { $0.presented(banner) }
            entries[id]?.banner = banner
        case .failure(let error):
            step(id) { $0.presentFailed(now: EventLoop.now) }
            armRetryTimer()
            handler(.failed(error.message))
        }
    }

    private func step(_ id: String, _ event: (inout AlertRunStateMachine) -> AlertRunStateMachine.Action?) {
        guard var entry = entries[id] else { return }
        let action = event(&entry.machine)
        entries[id] = entry
        carryOut(action, entry)
    }

    /// Tries those again whose pause is over, or, since there is a notification server now, all.
    private func retry(isReady: Bool = false) {
        let now = EventLoop.now
        for (id, _) in entries.sorted(by: { $0.value.order < $1.value.order }) {
            step(id) { isReady ? $0.presenterReady(now: now) : $0.deadlineReached(now: now) }
        }
        armRetryTimer()
    }

    private func armRetryTimer() {
        guard let next = entries.values.compactMap(\.machine.deadline).min() else { return retryTimer.stop() }
        retryTimer.start(at: next)
    }

    /// Takes those off the screen whose id and time of creation match.
    func withdraw(_ matches: (String, Int64) -> Bool) {
        for (id, entry) in entries where matches(id, entry.createdAt) {
            entry.permit.withdraw()
            entries[id] = nil
            presenter?.withdraw(AlertKey(desktop: nil, id: AlertID(id)), handle: entry.banner)
        }
    }

    private func take(_ event: PresenterEvent) {
        switch event {
        case .ready: retry(isReady: true)
        case .gone: break
        case .closed(let key): entries[key.id.text] = nil
        case .lost(let isLost): entries = entries.filter { !($0.value.banner.map(isLost) ?? false) }
        case .responded(let key, let action, _):
            let id = key.id.text
            guard entries[id] != nil else { return }
            withdraw { other, _ in other == id }
            if action == AlertResponse.markRead { handler(.marked(id)) }
        }
    }
}
