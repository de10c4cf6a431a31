import Alerts
import DeviceAlerts
import Transport

/// The alerts of a running desktop on the screen, on the loop's thread.
@EventLoop
final class AlertScreen {
    enum Event: Sendable {
        /// Why an alert is not on the screen.
        case failed(String)
        /// The user wants this notification marked as read.
        case marked(String)
    }

    private struct Entry {
        let createdAt: Int64
        /// `nil` until the notification server has answered.
        var banner: String?
        let permit: ShowPermit
        let order: UInt64
    }

    /// Alerts on the screen, or on their way to it. Beyond that, the oldest is no longer followed.
    private static let maximum = 256
    /// A flood of notifications doesn't fill the notification server's queue: beyond that, one is not shown.
    private static let maximumWaiting = 32

    private let handler: @Sendable (Event) -> Void
    private var presenter: SystemPresenter?
    private var entries: [String: Entry] = [:]
    private var order: UInt64 = 0
    private let categories = Categories()

    nonisolated init(_ handler: @escaping @Sendable (Event) -> Void) { self.handler = handler }

    func start(name: String) {
        let presenter = SystemPresenter(name: name) { [weak self] in self?.take($0) }
        self.presenter = presenter
        presenter.start()
    }

    func stop() {
        presenter?.stop()
        presenter = nil
        entries = [:]
    }

    func show(_ id: String, _ content: AlertContent, createdAt: Int64) {
        guard let presenter else { return }
        guard entries.values.count(where: { $0.banner == nil }) < AlertScreen.maximumWaiting else {
            return handler(.failed("too many at once"))
        }
        let key = AlertKey(desktop: nil, id: AlertID(id))
        let actions = content.category.flatMap { categories[$0] }?.actions ?? []
        let old = entries[id]?.banner
        let permit = ShowPermit()
        order &+= 1
        entries[id] = Entry(createdAt: createdAt, banner: nil, permit: permit, order: order)
        if entries.count > AlertScreen.maximum, let oldest = entries.min(by: { $0.value.order < $1.value.order }) {
            entries[oldest.key] = nil
        }
        presenter.show(PresentedAlert(key: key, content: content, actions: actions), replacing: old, permit) {
            [weak self] result in self?.shown(key, permit, result)
        }
    }

    private func shown(_ key: AlertKey, _ permit: ShowPermit, _ result: Result<String?, PresenterError>) {
        let id = key.id.text
        let isWanted = permit.holds && entries[id]?.permit === permit
        switch result {
        case .success(let banner):
            if isWanted { entries[id]?.banner = banner } else { presenter?.withdraw(key, handle: banner) }
        case .failure(let error):
            guard isWanted else { return }
            entries[id] = nil
            handler(.failed(error.message))
        }
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
        case .ready, .gone: break
        case .closed(let key), .lost(let key): entries[key.id.text] = nil
        case .responded(let key, let action, _):
            let id = key.id.text
            guard entries[id] != nil else { return }
            withdraw { other, _ in other == id }
            if action == AlertResponse.markRead { handler(.marked(id)) }
        }
    }
}
