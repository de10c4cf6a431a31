package import Transport

/// The desktop environment's do-not-disturb mode: the property `Inhibited` of the notification server, as in KDE, or
/// dunst's `paused`. Others don't say.
@EventLoop
package final class DoNotDisturb {
    private static let properties = "org.freedesktop.DBus.Properties"

    private let bus: Bus
    private var server: BusService?
    /// `nil` = the server doesn't say.
    package private(set) var isOn: Bool?

    package init(on bus: Bus) { self.bus = bus }

    package func start() {
        guard server == nil else { return }
        let server = BusService(NotificationServer.name, on: bus, signalsOf: [Self.properties]) { [weak self] event in
            guard let self else { return }
            switch event {
            case .appeared, .signal:
                read(NotificationServer.name, "Inhibited")
                read("org.dunstproject.cmd0", "paused")
            case .gone: isOn = nil
            }
        }
        self.server = server
        server.start()
    }

    package func stop() {
        server?.stop()
        server = nil
        isOn = nil
    }

    private func read(_ interface: String, _ property: String) {
        server?.call(NotificationServer.path, Self.properties, "Get", [.text(interface), .text(property)]) {
            [weak self] result in
            guard let self, server?.isPresent == true, case .success(let values) = result else { return }
            var fields = BusFields(values)
            if case .bool(let isOn)? = try? fields.variant() { self.isOn = isOn }
        }
    }
}
