package import Transport

/// Finds relays on the local network, through Avahi.
///
/// Without Avahi, a system bus or libsystemd it finds nothing, and ``note`` says why. It starts by itself when Avahi
/// appears, and ends with ``stop()`` or with the bus: Avahi frees what belongs to a program that leaves the bus.
@EventLoop
package final class RelayBrowser {
    package enum Event: Sendable, Equatable {
        /// A relay, or another address of a relay with the same name.
        case found(DiscoveredRelay)
        case lost(DiscoveredRelay)
        /// Why nothing can be found, or `nil` from now on.
        case note(String?)
    }

    private var machine = BrowseStateMachine()
    private let handler: @EventLoop (Event) -> Void
    private let bus: Bus
    private lazy var avahi = AvahiClient(on: bus, signalsOf: [Avahi.browser]) { [weak self] in self?.take($0) }

    /// Why nothing can be found, such as "no Avahi: …"; `nil` while it looks.
    package var note: String? { avahi.note }

    /// - Parameter bus: the system bus. Its owner opens it.
    package init(on bus: Bus, _ handler: @escaping @EventLoop (Event) -> Void) {
        self.bus = bus
        self.handler = handler
    }

    /// The relays that are there now, in no order.
    package var relays: [DiscoveredRelay] { machine.relays }

    package func start() {
        avahi.start()
        carryOut(machine.browse(isPresent: avahi.isPresent))
    }

    /// Asks for everything again, as after a network change. Relays that are still there are not reported again.
    package func refresh() {
        carryOut(machine.refresh(isPresent: avahi.isPresent))
    }

    /// Stops looking, and reports every relay as lost.
    package func stop() {
        carryOut(machine.stop())
        avahi.stop()
    }

    // MARK: What Avahi says

    private func take(_ event: AvahiClient.Event) {
        switch event {
        case .appeared: carryOut(machine.appeared())
        case .gone: carryOut(machine.gone())
        case .signal(let signal): take(signal)
        case .note(let note): handler(.note(note))
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
            case .freeBrowser(let path): avahi.call(path, Avahi.browser, "Free")
            case .resolve(let sighting): resolve(sighting)
            case .found(let relay): handler(.found(relay))
            case .lost(let relay): handler(.lost(relay))
            }
        }
    }

    private func createBrowser() {
        let round = machine.round
        avahi.create(
            Avahi.browser, with: "ServiceBrowserNew",
            [.int32(Avahi.any), .int32(Avahi.any), .text(Avahi.serviceType), .text(""), .uint32(0)],
            isWanted: { [weak self] in self?.machine.round == round }
        ) { [weak self] path in
            guard let self else { return }
            switch path {
            case .success(let path): self.carryOut(self.machine.created(path: path))
            case .failure(let error):
                self.avahi.setNote("Avahi cannot look for relays: \(error)")
                self.carryOut(self.machine.refused())
            }
        }
    }

    private func resolve(_ sighting: BrowseStateMachine.Sighting) {
        let round = machine.round
        // For the family in which it was seen. Otherwise either one might come.
        avahi.call(
            "ResolveService",
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
}
