import SystemServices
import Transport

/// Checks a bus, and whether a service is on it. Asks the bus alone, so no service is started.
@EventLoop
final class BusCheck {
    private static let driver = "org.freedesktop.DBus"

    /// The texts of its findings.
    struct Words: Sendable {
        /// The service, such as `notifications`.
        let check: String
        /// Its name on the bus.
        let service: String
        let present: String
        let absent: String
        let advice: String
    }

    static let notifications = Words(
        check: "notifications", service: "org.freedesktop.Notifications", present: "a notification server runs",
        absent: "there is no notification server, so no alert can be shown",
        advice: "Log in to a desktop environment, or start a server such as dunst. Machines without a screen need none."
    )
    static let avahi = Words(
        check: "avahi", service: "org.freedesktop.Avahi", present: "running",
        absent: "Avahi is not running",
        advice:
            "Without it, devices do not find a desktop's relay in the local network again after its address has changed. "
            + "To install it: apt install avahi-daemon")

    private let words: Words
    private let bus: Bus
    private var then: (@EventLoop (Finding) -> Void)?
    private lazy var service = BusService(words.service, on: bus, signalsOf: []) { [weak self] in self?.take($0) }
    private lazy var deadline = LoopTimer { [weak self] in
        self?.end(.fail(self?.words.check ?? "", "the bus did not answer in time", "Restart it, or log in again."))
    }

    /// `then` is called once, within `limit` milliseconds.
    init(_ words: Words, on address: BusAddress, within limit: UInt64, then: @escaping @EventLoop (Finding) -> Void) {
        self.words = words
        self.then = then
        bus = Bus(address)
        deadline.start(after: limit)
        service.start()
        bus.open()
    }

    private func take(_ event: BusService.Event) {
        switch event {
        case .appeared: end(.ok(words.check, words.present))
        case .gone(let error) where error.code == .absent: askIfStartable()
        case .gone(let error):
            let reason = error.message
            end(.warn(words.check, reason.hasPrefix("no ") ? reason : "no bus: \(reason)", words.advice))
        case .signal: break
        }
    }

    /// A service that the bus starts when it is called is as good as one that runs.
    private func askIfStartable() {
        bus.call(BusCall(Self.driver, "/org/freedesktop/DBus", Self.driver, "ListActivatableNames")) {
            [weak self] result in
            guard let self else { return }
            let names: [BusValue] =
                if case .success(let values) = result, case .array(let names, _)? = values.first { names } else { [] }
            let isStartable = names.contains(.text(words.service))
            end(
                isStartable
                    ? .ok(words.check, "started when it is needed") : .warn(words.check, words.absent, words.advice))
        }
    }

    private func end(_ finding: Finding) {
        guard let then else { return }
        self.then = nil
        deadline.stop()
        service.stop()
        bus.close()
        then(finding)
    }
}
