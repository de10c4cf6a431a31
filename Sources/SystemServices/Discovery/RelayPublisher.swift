package import Transport

/// Says on the local network that a relay is there, through Avahi.
///
/// Without Avahi nobody is told, and ``note`` says why; it begins by itself when Avahi comes, and again after Avahi was
/// restarted. It ends with ``withdraw()``, or with the bus: Avahi forgets whoever leaves the bus.
@EventLoop
package final class RelayPublisher {
    package enum Event: Sendable, Equatable {
        /// It can be found under this name, which is another than wanted where that one was taken; `nil` = no longer.
        case published(name: String?)
        /// Why it cannot be found, or `nil` from now on.
        case note(String?)
    }

    private var machine = PublishStateMachine()
    private let handler: @EventLoop (Event) -> Void
    private let bus: Bus
    private var avahi: BusService?

    /// Why the relay cannot be found, such as "no Avahi: …".
    package private(set) var note: String?
    /// What it can be found under.
    package private(set) var publishedName: String?

    /// `bus`: the system bus. It is opened by its owner.
    package init(on bus: Bus, _ handler: @escaping @EventLoop (Event) -> Void) {
        self.bus = bus
        self.handler = handler
    }

    /// Publishes a relay of this machine, in place of the one before. A long name is cut to 63 bytes.
    package func publish(name: String, port: UInt16, did: String) {
        if avahi == nil {
            let service = BusService(Avahi.name, on: bus, signalsOf: [Avahi.server, Avahi.group]) { [weak self] in
                self?.take($0)
            }
            avahi = service
            service.start()
        }
        let shown = Avahi.shown(name)
        let offer = PublishStateMachine.Offer(
            name: shown.isEmpty ? "Bellwire" : shown, port: port, record: TXTRecord(did: did))
        carryOut(machine.publish(offer))
    }

    package func withdraw() {
        carryOut(machine.withdraw())
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
        case .signal(let signal):
            guard signal.member == "StateChanged" else { return }
            var fields = BusFields(signal.values)
            guard let state = try? fields.int32() else { return }
            if signal.interface == Avahi.group {
                carryOut(machine.group(state: state, path: signal.path))
            } else {
                carryOut(machine.server(state: state))
            }
        }
    }

    // MARK: What is done

    private func carryOut(_ actions: [PublishStateMachine.Action]) {
        for action in actions {
            switch action {
            case .askState: askState()
            case .createGroup: createGroup()
            case .add(let path, let name, let offer): add(offer, as: name, to: path)
            case .reset(let path): avahi?.call(path, Avahi.group, "Reset") { _ in }
            case .free(let path): avahi?.call(path, Avahi.group, "Free") { _ in }
            case .askAlternative(let name): askAlternative(to: name)
            case .published(let name):
                publishedName = name
                if name != nil { setNote(nil) }
                handler(.published(name: name))
            case .note(let text): setNote(text)
            }
        }
    }

    private func askState() {
        let round = machine.round
        avahi?.call("/", Avahi.server, "GetState") { [weak self] result in
            guard let self, self.machine.round == round else { return }
            var fields = BusFields((try? result.get()) ?? [])
            if let state = try? fields.int32() { return self.carryOut(self.machine.server(state: state)) }
            self.carryOut(self.machine.refused("Avahi cannot publish the relay: \(Self.reason(result))"))
        }
    }

    private func createGroup() {
        let round = machine.round
        let service = avahi
        service?.call("/", Avahi.server, "EntryGroupNew") { [weak self] result in
            var fields = BusFields((try? result.get()) ?? [])
            let path = try? fields.path()
            guard let self, self.machine.round == round else {
                // Nobody waits for it any more.
                if let path { service?.call(path, Avahi.group, "Free") { _ in } }
                return
            }
            if let path { return self.carryOut(self.machine.created(path: path)) }
            self.carryOut(self.machine.refused("Avahi cannot publish the relay: \(Self.reason(result))"))
        }
    }

    private static func reason(_ result: Result<[BusValue], BusError>) -> String {
        if case .failure(let error) = result { error.message } else { "cannot read its answer" }
    }

    private func add(_ offer: PublishStateMachine.Offer, as name: String, to path: String) {
        let round = machine.round
        let arguments: [BusValue] = [
            .int32(Avahi.any), .int32(Avahi.any), .uint32(0), .text(name), .text(Avahi.serviceType), .text(""),
            .text(""), .uint16(offer.port), .array(offer.record.entries, of: "ay"),
        ]
        avahi?.call(path, Avahi.group, "AddService", arguments) { [weak self] result in
            guard let self, self.machine.round == round else { return }
            switch result {
            case .success: self.commit(path)
            case .failure(let error):
                let isCollision = error.remoteName == "org.freedesktop.Avahi.CollisionError"
                let refusal: PublishStateMachine.Refusal =
                    isCollision ? .collision : .other("Avahi cannot publish the relay: \(error)")
                self.carryOut(self.machine.notAdded(refusal))
            }
        }
    }

    private func commit(_ path: String) {
        let round = machine.round
        avahi?.call(path, Avahi.group, "Commit") { [weak self] result in
            guard let self, self.machine.round == round, case .failure(let error) = result else { return }
            self.carryOut(self.machine.notAdded(.other("Avahi cannot publish the relay: \(error)")))
        }
    }

    private func askAlternative(to name: String) {
        let round = machine.round
        avahi?.call("/", Avahi.server, "GetAlternativeServiceName", [.text(name)]) { [weak self] result in
            guard let self, self.machine.round == round else { return }
            var fields = BusFields((try? result.get()) ?? [])
            self.carryOut(self.machine.alternative(try? fields.text(limit: Avahi.maximumName)))
        }
    }

    private func setNote(_ new: String?) {
        guard note != new else { return }
        note = new
        handler(.note(new))
    }
}
