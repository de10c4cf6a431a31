import Alerts
import SystemServices
import Transport
import Wire

/// The desktop environment shows the alerts, over the session's bus.
@EventLoop
final class SystemPresenter: Presenter {
    private let bus: Bus
    private let handler: @EventLoop (PresenterEvent) -> Void
    private lazy var server = BannerServer(on: bus, identity) { [weak self] event in self?.take(event) }
    private let identity: BannerServer.Identity
    /// Whose banner it is, while its server lives.
    private var shown: [BannerServer.Handle: AlertKey] = [:]
    private var isStarted = false

    init(name: String, _ options: AlertOptions, _ handler: @escaping @EventLoop (PresenterEvent) -> Void) {
        bus = Bus(.session())
        identity = BannerServer.Identity(name: name, icon: options.icon, applicationID: options.applicationID)
        self.handler = handler
    }

    var state: PresenterState {
        PresenterState(
            kind: "system", isReady: server.isReady, server: server.serverName,
            capabilities: server.isReady ? server.capabilities : nil, problem: server.problem?.message)
    }

    var isThere: Bool { true }

    /// A banner of an earlier run, which may be on the screen still. Before ``start()``.
    func adopt(_ text: String, of key: AlertKey, replyID: String?) {
        guard let handle = BannerServer.Handle(text) else { return }
        shown[handle] = key
        server.adopt(handle, replyID: replyID)
    }

    func start() {
        guard !isStarted else { return }
        isStarted = true
        server.start()
        bus.open()
    }

    func stop() {
        guard isStarted else { return }
        server.stop()
        bus.close()
    }

    func show(
        _ alert: PresentedAlert, replacing handle: String?,
        then: @escaping @EventLoop (Result<String?, PresenterError>) -> Void
    ) {
        let old = handle.flatMap { BannerServer.Handle($0) }
        server.show(Banner(alert), replacing: old) { [weak self] result in
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

    func withdraw(_ key: AlertKey, handle: String?) {
        guard let handle = handle.flatMap({ BannerServer.Handle($0) }) else { return }
        // What it says of its end is of no interest any more.
        shown[handle] = nil
        server.close(handle)
    }

    /// Finds out whether there is a server that shows alerts; one that can be started is.
    func decide(then: @escaping @EventLoop () -> Void) { server.decide(then: then) }

    func setBadge(_ count: Int64) { server.setBadge(count) }

    // MARK: What the server says

    private func take(_ event: BannerServer.Event) {
        switch event {
        case .ready: handler(.ready)
        case .gone(let error): handler(.gone(error.message))
        case .nameProblem: break  // stands in the state
        case .closed(let handle):
            if let key = shown.removeValue(forKey: handle) { handler(.closed(key)) }
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

extension AlertKey {
    /// Neither ids of desktops nor their keys have a space.
    var bannerID: String { "\(desktop?.text ?? "") \(id.text)" }

    init?(banner text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let id = parts.last, let desktop = parts.first, !id.isEmpty else { return nil }
        self.init(desktop: desktop.isEmpty ? nil : PeerID(String(desktop)), id: AlertID(String(id)))
    }
}

extension Banner {
    init(_ alert: PresentedAlert) {
        let content = alert.content
        let isSilent = alert.isQuiet || content.level == .passive || !alert.presentation.contains(.sound)
        let sound: Sound
        switch content.sound {
        case .some("default") where !isSilent: sound = .standard
        case .some(let name) where !isSilent: sound = name.hasPrefix("/") ? .file(name) : .named(name)
        case .some, .none: sound = .none
        }
        let urgency: Urgency
        switch content.level {
        case .passive: urgency = .low
        case .active: urgency = alert.isQuiet ? .low : .normal
        case .timeSensitive: urgency = alert.isQuiet ? .low : .critical
        }
        let reply = alert.actions.first { $0.kind == .reply }
        self.init(
            id: alert.key.bannerID, title: content.title, subtitle: content.subtitle, body: content.body,
            actions: alert.actions.filter { $0.kind == .button }.map { Action(id: $0.id, title: $0.title) },
            reply: reply.map { Reply(id: $0.id, title: $0.title, placeholder: $0.placeholder) }, urgency: urgency,
            sound: sound, imagePath: content.attachments.first,
            // Servers know a list of their own, such as im.received.
            category: content.category.flatMap { $0.utf8.contains(UInt8(ascii: ".")) ? $0 : nil },
            isQuestion: alert.isQuestion)
    }
}
