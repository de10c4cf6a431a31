package import Transport

/// Looks for relays on the local network, through Avahi.
///
/// Without Avahi, a system bus or libsystemd there is nothing to be found, and ``note`` says why; it begins by itself
/// when Avahi comes. It ends with ``stop()``, or with the bus: Avahi forgets whoever leaves the bus.
@EventLoop
package final class RelayBrowser {
    package enum Event: Sendable, Equatable {
        /// A relay, or another way to a relay of the same name.
        case found(DiscoveredRelay)
        case lost(DiscoveredRelay)
        /// Why nothing can be found, or `nil` from now on.
        case note(String?)
    }

    private var machine = BrowseStateMachine()
    private let handler: @EventLoop (Event) -> Void
    private let bus: Bus
    private var avahi: BusService?

    /// Why nothing can be found, such as "no Avahi: …"; `nil` while it looks.
    package private(set) var note: String?

    /// `bus`: the system bus. It is opened by its owner.
    package init(on bus: Bus, _ handler: @escaping @EventLoop (Event) -> Void) {
        self.bus = bus
        self.handler = handler
    }

    /// Those that are there now, in no order.
    package var relays: [DiscoveredRelay] { machine.relays }

    package func start() {
        if avahi == nil {
            let service = BusService(Avahi.name, on: bus, signalsOf: [Avahi.browser]) { [weak self] in self?.take($0) }
            avahi = service
            service.start()
        }
        carryOut(machine.browse(isPresent: avahi?.isPresent ?? false))
    }

    /// Asks for everything again, as after a change of the network. What is still there is not told again.
    package func refresh() {
        carryOut(machine.refresh(isPresent: avahi?.isPresent ?? false))
    }

    /// Loses what was found, and looks no more.
    package func stop() {
        carryOut(machine.stop())
        avahi?.stop()
        avahi = nil
    }

    // MARK: What Avahi says

    private func take(_ event: BusService.Event) {
        switch event {
        case .appeared:
            setNote(nil)
            carryOut(machine.appeared())
        case .gone(let error):
            setNote(Avahi.absence(error))
            carryOut(machine.gone())
        case .signal(let signal): take(signal)
        }
    }

    private func take(_ signal: BusService.Signal) {
        switch signal.member {
        case "ItemNew":
            guard let sighting = Self.sighting(signal.values) else { return }
            carryOut(machine.added(sighting, path: signal.path))
        case "ItemRemove":
            guard let sighting = Self.sighting(signal.values) else { return }
            carryOut(machine.removed(sighting, path: signal.path))
        case "AllForNow": carryOut(machine.settled(path: signal.path))
        default: return
        }
    }

    private static func sighting(_ values: [BusValue]) -> BrowseStateMachine.Sighting? {
        var fields = BusFields(values)
        guard let interface = try? fields.int32(), let family = try? fields.int32(),
            let name = try? fields.text(limit: Avahi.maximumName), !name.isEmpty,
            (try? fields.text(limit: 64)) == Avahi.serviceType, let domain = try? fields.text(limit: 255)
        else { return nil }
        return BrowseStateMachine.Sighting(interface: interface, family: family, name: name, domain: domain)
    }

    // MARK: What is done

    private func carryOut(_ actions: [BrowseStateMachine.Action]) {
        for action in actions {
            switch action {
            case .createBrowser: createBrowser()
            case .freeBrowser(let path): avahi?.call(path, Avahi.browser, "Free") { _ in }
            case .resolve(let sighting): resolve(sighting)
            case .found(let relay): handler(.found(relay))
            case .lost(let relay): handler(.lost(relay))
            }
        }
    }

    private func createBrowser() {
        let round = machine.round
        let service = avahi
        service?.call(
            "/", Avahi.server, "ServiceBrowserNew",
            [.int32(Avahi.any), .int32(Avahi.any), .text(Avahi.serviceType), .text(""), .uint32(0)]
        ) { [weak self] result in
            guard let self, self.machine.round == round else {
                // Nobody waits for it any more.
                var fields = BusFields((try? result.get()) ?? [])
                if let path = try? fields.path() { service?.call(path, Avahi.browser, "Free") { _ in } }
                return
            }
            do {
                var fields = BusFields(try result.get())
                self.carryOut(self.machine.created(path: try fields.path()))
            } catch {
                self.setNote("Avahi cannot look for relays: \(error)")
                self.carryOut(self.machine.refused())
            }
        }
    }

    private func resolve(_ sighting: BrowseStateMachine.Sighting) {
        let round = machine.round
        // The address of the family it was seen by: which of both comes first would else be luck.
        avahi?.call(
            "/", Avahi.server, "ResolveService",
            [
                .int32(sighting.interface), .int32(sighting.family), .text(sighting.name),
                .text(Avahi.serviceType), .text(sighting.domain), .int32(sighting.family), .uint32(0),
            ], within: 15_000
        ) { [weak self] result in
            guard let self, self.machine.round == round else { return }
            switch result {
            case .success(let values):
                let service = ResolvedService(values, interfaceName: ResolvedService.interfaceName)
                self.carryOut(self.machine.resolved(sighting, service))
            case .failure: self.carryOut(self.machine.resolveFailed(sighting))
            }
        }
    }

    private func setNote(_ new: String?) {
        guard note != new else { return }
        note = new
        handler(.note(new))
    }
}
