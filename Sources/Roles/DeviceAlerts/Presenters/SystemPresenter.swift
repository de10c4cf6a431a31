package import Alerts
package import Hosting
import SystemServices
package import Transport

/// The desktop environment shows the alerts, over the session bus.
@EventLoop
package final class SystemPresenter: Presenter {
    private let bus: Bus
    private let handler: @EventLoop (PresenterEvent) -> Void
    private lazy var server = BannerServer(on: bus, identity) { [weak self] event in self?.take(event) }
    private let identity: BannerServer.Identity
    /// Which alert each banner shows, while its server lives.
    private var shown: [BannerServer.Handle: AlertKey] = [:]
    private let doNotDisturb: DoNotDisturb
    private var isStarted = false

    /// - Parameters:
    ///   - name: of the program, for people.
    ///   - icon: a name of the icon theme, or a path.
    ///   - applicationID: the name of the program's .desktop file; also its name on the bus.
    package init(
        name: String, icon: String? = nil, applicationID: String? = nil,
        _ handler: @escaping @EventLoop (PresenterEvent) -> Void
    ) {
        bus = Bus(.session())
        doNotDisturb = DoNotDisturb(on: bus)
        identity = BannerServer.Identity(name: name, icon: icon, applicationID: applicationID)
        self.handler = handler
    }

    var state: PresenterState {
        PresenterState(
            kind: "system", isReady: server.isReady, server: server.serverName,
            capabilities: server.isReady ? server.capabilities : nil, problem: server.problem?.message,
            doNotDisturb: doNotDisturb.isOn)
    }

    var isThere: Bool { true }

    /// Follows a banner of an earlier process, which may still be on the screen. Call it before ``start()``.
    func adopt(_ text: String, of key: AlertKey, replyID: String?) {
        guard let handle = BannerServer.Handle(text) else { return }
        shown[handle] = key
        server.adopt(handle, replyID: replyID)
    }

    package func start() {
        guard !isStarted else { return }
        isStarted = true
        server.start()
        doNotDisturb.start()
        bus.open()
    }

    package func stop() {
        guard isStarted else { return }
        server.stop()
        doNotDisturb.stop()
        bus.close()
    }

    package func show(
        _ alert: PresentedAlert, replacing handle: String?, _ permit: ShowPermit,
        then: @escaping @EventLoop (Result<String?, PresenterError>) -> Void
    ) {
        let old = handle.flatMap { BannerServer.Handle($0) }
        server.show(Banner(alert), replacing: old, if: { permit.holds }) { [weak self] result in
            switch result {
            case .success(let handle):
                if let self {
                    if let old { shown[old] = nil }
                    shown[handle] = alert.key
                }
                then(.success(handle.text))
            case .failure(let error): then(.failure(PresenterError(message: error.message)))
            }
        }
    }

    package func withdraw(_ key: AlertKey, handle: String?) {
        guard let handle = handle.flatMap({ BannerServer.Handle($0) }) else { return }
        // Its end is not to be reported.
        shown[handle] = nil
        server.close(handle)
    }

    /// Finds out whether there is a notification server, and starts one if possible.
    func decide(then: @escaping @EventLoop () -> Void) { server.decide(then: then) }

    func setBadge(_ count: Int64) { server.setBadge(count) }

    // MARK: Server events

    private func take(_ event: BannerServer.Event) {
        switch event {
        case .ready: handler(.ready)
        case .gone(let error): handler(.gone(error.message))
        case .nameProblem: break  // part of the state
        case .closed(let handle):
            if let key = shown.removeValue(forKey: handle) { handler(.closed(key)) }
        case .lost(let life):
            shown = shown.filter { !$0.key.isLost(exceptIn: life) }
            handler(.lost { BannerServer.Handle($0)?.isLost(exceptIn: life) ?? false })
        case .responded(let handle, let response):
            guard let key = shown[handle] else { return }
            switch response {
            case .tap: handler(.responded(key, action: "default", text: nil))
            case .dismiss:
                shown[handle] = nil
                handler(.responded(key, action: "dismiss", text: nil))
            case .action(let id): handler(.responded(key, action: id, text: nil))
            case .reply(let id, let text): handler(.responded(key, action: id, text: text))
            }
        case .activated(let id, let action, let text):
            guard let key = AlertKey(banner: id) else { return }
            handler(.responded(key, action: action, text: text))
        }
    }
}

extension DeviceAlerts {
    /// Opens the desktop environment's settings for notifications. Blocks for the time that takes.
    package nonisolated static func openSettings(_ options: AlertOptions) throws(HostError) {
        let problem =
            options.kind == .system
            ? NotificationSettings.open() : "the device was not opened with \"alerts\":\"system\""
        if let problem {
            throw HostError(.unsupported, "cannot open the notification settings: \(problem)")
        }
    }
}
