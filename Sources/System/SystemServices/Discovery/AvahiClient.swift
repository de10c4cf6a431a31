import Transport

/// Avahi as ``RelayBrowser`` and ``RelayPublisher`` use it: its presence, a note for people while it can't be used, and
/// calls.
@EventLoop
final class AvahiClient {
    enum Event {
        /// Avahi is there: for the first time, or again.
        case appeared
        case gone
        case signal(BusService.Signal)
        /// ``AvahiClient/note`` has changed.
        case note(String?)
    }

    private let bus: Bus
    private let interfaces: [String]
    private let handler: @EventLoop (Event) -> Void
    private var service: BusService?

    /// Why Avahi can't be used, such as "no Avahi: …"; `nil` = it can.
    private(set) var note: String?

    /// - Parameters:
    ///   - bus: the system bus. Its owner opens it.
    ///   - interfaces: those whose signals are wanted.
    init(on bus: Bus, signalsOf interfaces: [String], _ handler: @escaping @EventLoop (Event) -> Void) {
        (self.bus, self.interfaces, self.handler) = (bus, interfaces, handler)
    }

    var isPresent: Bool { service?.isPresent ?? false }

    /// Does nothing if it was started before.
    func start() {
        guard service == nil else { return }
        let service = BusService(Avahi.name, on: bus, signalsOf: interfaces) { [weak self] in self?.take($0) }
        self.service = service
        service.start()
    }

    /// No event comes any more.
    func stop() {
        service?.stop()
        service = nil
    }

    func setNote(_ new: String?) {
        guard note != new else { return }
        note = new
        handler(.note(new))
    }

    private func take(_ event: BusService.Event) {
        switch event {
        case .appeared:
            setNote(nil)
            handler(.appeared)
        case .gone(let error):
            setNote(Avahi.absence(error))
            handler(.gone)
        case .signal(let signal): handler(.signal(signal))
        }
    }

    // MARK: Calls

    /// Calls a method of the server. Does nothing after ``stop()``.
    func call(
        _ member: String, _ arguments: [BusValue] = [], within limit: UInt64 = 25_000, then: @escaping Bus.Completion
    ) {
        service?.call("/", Avahi.server, member, arguments, within: limit, then: then)
    }

    /// Calls a method of an object that the server has created.
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        then: @escaping Bus.Completion = { _ in }
    ) {
        service?.call(path, interface, member, arguments, then: then)
    }

    /// Has the server create an object and passes its path to `then`.
    ///
    /// - Parameter isWanted: asked when the answer comes. If not, the object is freed and `then` isn't called.
    func create(
        _ interface: String, with member: String, _ arguments: [BusValue] = [],
        isWanted: @escaping @EventLoop () -> Bool, then: @escaping @EventLoop (Result<String, BusError>) -> Void
    ) {
        let service = service
        service?.call("/", Avahi.server, member, arguments) { result in
            let path = result.flatMap { (values) -> Result<String, BusError> in
                var fields = BusFields(values)
                return Result { () throws(BusError) in try fields.path() }
            }
            if isWanted() { return then(path) }
            if case .success(let path) = path { service?.call(path, interface, "Free") { _ in } }
        }
    }
}
