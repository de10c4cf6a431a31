package import Transport

/// A service that another program offers on a bus: whether it is there, and its signals.
///
/// Only whoever owns the name is listened to: anybody on a bus can send anybody a signal. It comes back by itself after
/// the service, or the bus, was away. Letting go of it ends it.
@EventLoop
package final class BusService {
    package enum Event: Sendable, Equatable {
        /// The service is there: for the first time, again, or another in its place.
        case appeared
        /// It is not there, for this reason; told again when the reason changes.
        case gone(BusError)
        case signal(Signal)
    }

    package struct Signal: Sendable, Equatable {
        package let path: String
        package let interface: String
        package let member: String
        package let values: [BusValue]
    }

    private static let driver = "org.freedesktop.DBus"

    private let bus: Bus
    /// The well-known name, such as `org.freedesktop.Avahi`.
    package let name: String
    private let interfaces: [String]
    private let handler: @EventLoop (Event) -> Void
    /// The unique name of the owner.
    package private(set) var owner: String?
    private var isStopped = false
    /// The reason that was told last, while it is gone.
    private var reason: BusError?

    /// Listens to the signals of these interfaces. Events come from the loop, never inside this call unless the bus is
    /// connected already.
    package init(
        _ name: String, on bus: Bus, signalsOf interfaces: [String], _ handler: @escaping @EventLoop (Event) -> Void
    ) {
        self.bus = bus
        self.name = name
        self.interfaces = interfaces
        self.handler = handler
    }

    /// Begins to listen.
    package func start() { bus.add(self) }

    /// No event comes any more.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        owner = nil
        bus.remove(self)
        for rule in rules { driver("RemoveMatch", rule) { _ in } }
    }

    package var isPresent: Bool { owner != nil }

    /// Calls a method of the owner that is there now; another one in its place would not get it.
    package func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        within limit: UInt64 = 25_000, then: @escaping Bus.Completion
    ) {
        bus.call(BusCall(owner ?? name, path, interface, member, arguments), within: limit, then: then)
    }

    // MARK: The owner

    private var rules: [String] {
        let owner = "type='signal',sender='\(Self.driver)',interface='\(Self.driver)'"
        return ["\(owner),member='NameOwnerChanged',arg0='\(name)'"]
            + interfaces.map { "type='signal',sender='\(name)',interface='\($0)'" }
    }

    private func driver(_ member: String, _ argument: String, then: @escaping Bus.Completion) {
        bus.call(
            BusCall(Self.driver, "/org/freedesktop/DBus", Self.driver, member, [.text(argument)]), then: then)
    }

    func busIsReady() {
        guard !isStopped else { return }
        // This order misses nothing: the match rules report changes from now on, then the current owner is read.
        for rule in rules {
            driver("AddMatch", rule) { [weak self] result in
                if case .failure(let error) = result { self?.missing(error) }
            }
        }
        driver("GetNameOwner", name) { [weak self] result in
            switch result {
            case .success(let values):
                var fields = BusFields(values)
                self?.change(owner: (try? fields.text(limit: 255)) ?? "")
            case .failure(let error): self?.missing(error)
            }
        }
    }

    func busIsGone(_ error: BusError) {
        owner = nil
        missing(error)
    }

    private func missing(_ error: BusError) {
        let new = error.code == .absent ? absence : error
        guard !isStopped, owner == nil, reason != new else { return }
        reason = new
        handler(.gone(new))
    }

    private var absence: BusError { BusError(.absent, "\(name) is not on the bus") }

    private func change(owner new: String) {
        guard !isStopped, new != owner ?? "" else {
            if new.isEmpty { missing(absence) }
            return
        }
        if owner != nil {
            owner = nil
            missing(absence)
        }
        guard !isStopped, new.hasPrefix(":") else { return missing(absence) }
        owner = new
        reason = nil
        handler(.appeared)
    }

    // MARK: Signals

    func take(_ message: RawMessage) {
        guard !isStopped else { return }
        let sender = message.sender
        let interface = message.interface
        if sender == Self.driver, interface == Self.driver, message.member == "NameOwnerChanged" {
            guard let values = bus.values(of: message) else { return }
            var fields = BusFields(values)
            guard (try? fields.text(limit: 255)) == name, (try? fields.text(limit: 255)) != nil,
                let new = try? fields.text(limit: 255)
            else { return }
            return change(owner: new)
        }
        guard let owner, sender == owner, interfaces.contains(interface), let values = bus.values(of: message)
        else { return }
        handler(
            .signal(Signal(path: message.path, interface: interface, member: message.member, values: values)))
    }
}
