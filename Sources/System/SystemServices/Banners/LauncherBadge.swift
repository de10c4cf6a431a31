import Transport

/// The number at the program's icon in docks: signals of `com.canonical.Unity.LauncherEntry`.
///
/// Docks forget it with our connection to the bus, so it is said again on a new one, and to each dock that comes.
@EventLoop
final class LauncherBadge {
    private static let interface = "com.canonical.Unity.LauncherEntry"
    /// Changes that come faster are told together.
    private static let milliseconds: UInt64 = 50

    private let bus: Bus
    private let id: ApplicationID
    private var count: Int64?
    private var dock: BusService?
    private lazy var timer = LoopTimer { [weak self] in self?.say() }

    init(on bus: Bus, id: ApplicationID) {
        self.bus = bus
        self.id = id
    }

    func start() {
        guard dock == nil else { return }
        // Docks own this name; those that do not listen all the same.
        let dock = BusService("com.canonical.Unity", on: bus, signalsOf: []) { [weak self] event in
            switch event {
            case .appeared, .gone: self?.changed()
            case .signal: break
            }
        }
        self.dock = dock
        dock.start()
    }

    func stop() {
        dock?.stop()
        dock = nil
        timer.stop()
    }

    func set(_ count: Int64) {
        let count = max(0, count)
        guard self.count != count else { return }
        self.count = count
        changed()
    }

    private func changed() {
        guard count != nil, dock != nil, !timer.isRunning else { return }
        timer.start(after: Self.milliseconds)
    }

    private func say() {
        guard let count else { return }
        let properties: [BusValue] = [
            .entry(.text("count"), .variant(.int64(count))),
            .entry(.text("count-visible"), .variant(.bool(count > 0))),
        ]
        bus.emit(
            id.path, Self.interface, "Update",
            [.text("application://\(id).desktop"), .array(properties, of: "{sv}")])
    }
}
