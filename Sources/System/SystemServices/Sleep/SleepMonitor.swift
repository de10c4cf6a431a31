package import Transport

/// Tells when the machine goes to sleep and when it is awake again, by logind's `PrepareForSleep`.
///
/// The machine waits until the owner has closed its connections: this holds a logind delay lock and releases it as soon
/// as the owner is done, or after 4 s. Without logind nothing is reported, and ``note`` says why.
@EventLoop
package final class SleepMonitor {
    package enum Event {
        /// The machine is about to sleep. Close what is open, then call `done`, once; later calls do nothing.
        case goesToSleep(done: @EventLoop () -> Void)
        /// It is awake, or did not fall asleep.
        case isAwake
        /// Why sleep is not told or does not wait for us, or `nil` from now on.
        case note(String?)
    }

    /// logind itself waits 5 s.
    package static let closingMilliseconds: UInt64 = 4_000

    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let interface = "org.freedesktop.login1.Manager"

    private let handler: @EventLoop (Event) -> Void
    private let bus: Bus
    private let program: String
    private var machine = SleepStateMachine<BusDescriptor>()
    private var logind: BusService?
    private var limit: LoopTimer?

    /// Why sleep is not told, such as "no logind: …", or does not wait for us; `nil` while all is well.
    package private(set) var note: String?

    /// `bus`: the system bus, with `takesDescriptors`; opened by its owner. `program`: whom people see holding the lock.
    package init(on bus: Bus, program: String = "Bellwire", _ handler: @escaping @EventLoop (Event) -> Void) {
        self.bus = bus
        self.program = program
        self.handler = handler
    }

    package func start() {
        guard logind == nil else { return }
        let service = BusService(Self.name, on: bus, signalsOf: [Self.interface]) { [weak self] in self?.take($0) }
        logind = service
        service.start()
    }

    /// Tells nothing any more, and holds nothing back.
    package func stop() {
        logind?.stop()
        logind = nil
        limit = nil
        // The host, which asked for this, needs not hear of it.
        _ = machine.gone("")
    }

    private func take(_ event: BusService.Event) {
        switch event {
        case .appeared: carryOut(machine.appeared())
        case .gone(let error): carryOut(machine.gone("no logind: \(error.message)"))
        case .signal(let signal):
            guard signal.member == "PrepareForSleep", signal.path == Self.path else { return }
            var fields = BusFields(signal.values)
            guard let isAboutTo = try? fields.bool() else { return }
            carryOut(isAboutTo ? machine.prepareForSleep() : machine.woke())
        }
    }

    private func carryOut(_ actions: [SleepStateMachine<BusDescriptor>.Action]) {
        for action in actions {
            switch action {
            case .inhibit: inhibit()
            case .goToSleep(let number): goToSleep(number)
            case .wakeUp: handler(.isAwake)
            case .stopWaiting: limit = nil
            case .note(let text): setNote(text)
            }
        }
    }

    private func goToSleep(_ number: Int) {
        let done: @EventLoop () -> Void = { [weak self] in
            guard let self else { return }
            self.carryOut(self.machine.closed(number))
        }
        let limit = LoopTimer(done)
        limit.start(after: Self.closingMilliseconds)
        self.limit = limit
        handler(.goesToSleep(done: done))
    }

    private func inhibit() {
        let round = machine.round
        logind?.call(
            Self.path, Self.interface, "Inhibit",
            [.text("sleep"), .text(program), .text("Closing connections"), .text("delay")]
        ) { [weak self] result in
            guard let self, self.machine.round == round else { return }
            do {
                var fields = BusFields(try result.get())
                self.carryOut(self.machine.inhibited(try fields.descriptor()))
            } catch {
                self.carryOut(self.machine.refused("cannot delay sleep to close connections: \(error)"))
            }
        }
    }

    private func setNote(_ new: String?) {
        guard note != new else { return }
        note = new
        handler(.note(new))
    }
}
