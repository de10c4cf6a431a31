import Alerts
import Hosting
import Transport

/// The presenter that the options name, once the device has started.
@EventLoop
final class Screen {
    private let configuration: AlertConfiguration
    private let channel: HostChannel
    /// Hears what the presenter reports.
    var handler: (@EventLoop (PresenterEvent) -> Void)?
    private var presenter: (any Presenter)?
    /// The host has a callback that shows alerts.
    private var hostPresents = false

    init(_ configuration: AlertConfiguration, _ channel: HostChannel) {
        (self.configuration, self.channel) = (configuration, channel)
    }

    /// A banner of an earlier process.
    struct Adopted {
        let handle: String
        let key: AlertKey
        let replyID: String?
    }

    func start(adopting banners: [Adopted]) {
        let handler: @EventLoop (PresenterEvent) -> Void = { [weak self] in self?.handler?($0) }
        switch configuration.options.kind {
        case .none: return
        case .host:
            let host = HostPresenter(channel, handler)
            presenter = host
            host.hostAnswers(hostPresents)
        case .system:
            let options = configuration.options
            let system = SystemPresenter(
                name: configuration.programName, icon: options.icon, applicationID: options.applicationID, handler)
            // Before the server is listened to: what it says may be about them.
            for banner in banners { system.adopt(banner.handle, of: banner.key, replyID: banner.replyID) }
            presenter = system
        }
        presenter?.start()
    }

    func stop() { presenter?.stop() }

    var state: PresenterState {
        presenter?.state ?? PresenterState(kind: configuration.options.kind.rawValue, isReady: false)
    }

    func hostPresents(_ presents: Bool) {
        hostPresents = presents
        (presenter as? HostPresenter)?.hostAnswers(presents)
    }

    /// Finds out whether there is a notification server. Calls `then` only if the desktop environment shows the alerts.
    func findServer(then: @escaping @EventLoop (PresenterState) -> Void) {
        guard let system = presenter as? SystemPresenter else { return }
        system.decide { [weak system] in if let system { then(system.state) } }
    }

    /// False: nobody shows alerts yet, and `then` is not called.
    func show(
        _ alert: PresentedAlert, replacing handle: String?, _ permit: ShowPermit,
        then: @escaping @EventLoop (Result<String?, PresenterError>) -> Void
    ) -> Bool {
        guard let presenter, presenter.isThere else { return false }
        presenter.show(alert, replacing: handle, permit, then: then)
        return true
    }

    func withdraw(_ key: AlertKey, handle: String?) { presenter?.withdraw(key, handle: handle) }

    func setBadge(_ count: Int64) { presenter?.setBadge(count) }
}
