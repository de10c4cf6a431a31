package import Transport

/// This program on the session's bus, under its own name, so that desktop environments can start and call it:
/// `org.freedesktop.Application` of the Desktop Entry Specification.
///
/// The name is taken when nobody has it, again after the bus was away, and as soon as another owner leaves; it is never
/// taken from anybody. Whatever calls is data: anybody on the bus may call.
@EventLoop
package final class Application {
    package enum Event: Sendable, Equatable {
        /// It was started, or called to the front.
        case activated
        /// An action of its own, with its parameters. Answer whether there is one of this name.
        case action(String, [BusValue])
        /// Why it has not its name; `nil` from now on.
        case problem(BusError?)
    }

    static let interface = "org.freedesktop.Application"

    package let id: ApplicationID
    /// Why it has not its name, while the bus is there.
    package private(set) var problem: BusError?

    private let bus: Bus
    private let handler: @EventLoop (Event) -> Bool
    private var service: BusService?
    private var isAsking = false

    /// `handler` gives `false` for actions that it does not know. The bus is opened by its owner.
    package init(on bus: Bus, id: ApplicationID, _ handler: @escaping @EventLoop (Event) -> Bool) {
        self.bus = bus
        self.id = id
        self.handler = handler
    }

    package func start() {
        guard service == nil else { return }
        // Before the name: what started us calls as soon as we have it.
        bus.serve(id.path) { [weak self] in
            self?.answer($0) ?? .error(BusRequest.notSupported, "the program has ended")
        }
        let service = BusService(id.text, on: bus, signalsOf: []) { [weak self] in self?.take($0) }
        self.service = service
        service.start()
    }

    /// Gives the name back.
    package func stop() {
        guard let service else { return }
        let isOurs = service.owner != nil && service.owner == bus.name
        service.stop()
        self.service = nil
        problem = nil
        bus.withdraw(id.path)
        if isOurs { driver("ReleaseName", [.text(id.text)]) { _ in } }
    }

    // MARK: The name

    private func take(_ event: BusService.Event) {
        switch event {
        case .appeared: settle(service?.owner == bus.name ? nil : taken)
        case .gone(let error):
            // Without a bus there is nothing to have; that is told by whoever needs the bus.
            if error.code == .absent { request() }
        case .signal: break
        }
    }

    private func request() {
        guard !isAsking else { return }
        isAsking = true
        let doNotQueue: UInt32 = 4
        driver("RequestName", [.text(id.text), .uint32(doNotQueue)]) { [weak self] result in
            guard let self else { return }
            self.isAsking = false
            guard self.service != nil else { return }
            switch result {
            case .success(let values):
                var fields = BusFields(values)
                let answer = try? fields.uint32()
                // Owner now, or already.
                self.settle(answer == 1 || answer == 4 ? nil : self.taken)
            case .failure(let error): if error.code == .refused { self.settle(error) }
            }
        }
    }

    private func driver(_ member: String, _ arguments: [BusValue], then: @escaping Bus.Completion) {
        bus.call(
            BusCall("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments),
            then: then)
    }

    private var taken: BusError { BusError(.refused, "another program owns the name \(id) on the bus") }

    private func settle(_ new: BusError?) {
        guard problem != new else { return }
        problem = new
        _ = handler(.problem(new))
    }

    // MARK: Calls

    private func answer(_ request: BusRequest) -> BusRequest.Answer {
        switch request.interface {
        case Self.interface, "": application(request)
        // Asked for by proxies before their first call; there are none.
        case "org.freedesktop.DBus.Properties" where request.member == "GetAll": .values([.array([], of: "{sv}")])
        case "org.freedesktop.DBus.Introspectable" where request.member == "Introspect":
            .values([.text(Self.described)])
        default: .error(BusRequest.unknownMethod, "there is no such interface")
        }
    }

    private func application(_ request: BusRequest) -> BusRequest.Answer {
        switch request.member {
        case "Activate":
            _ = handler(.activated)
            return .values([])
        case "ActivateAction":
            var fields = BusFields(request.values)
            guard let name = try? fields.text(limit: 256), let parameters = try? fields.array() else {
                return .error(BusRequest.invalidArguments, "ActivateAction takes a name, parameters and platform data")
            }
            guard handler(.action(name, parameters)) else {
                return .error(BusRequest.invalidArguments, "there is no such action")
            }
            return .values([])
        // Files are the program's own matter.
        case "Open": return .error(BusRequest.notSupported, "nothing can be opened this way")
        default: return .error(BusRequest.unknownMethod, "there is no such method")
        }
    }

    private static let described = """
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
        "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <node><interface name="\(interface)"><method name="Activate"><arg type="a{sv}" direction="in"/></method>\
        <method name="Open"><arg type="as" direction="in"/><arg type="a{sv}" direction="in"/></method>\
        <method name="ActivateAction"><arg type="s" direction="in"/><arg type="av" direction="in"/>\
        <arg type="a{sv}" direction="in"/></method></interface></node>
        """
}
