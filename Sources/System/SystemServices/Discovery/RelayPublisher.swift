package import Transport

/// Publishes a relay on the local network, through Avahi.
///
/// Without Avahi it can't, and ``note`` says why. It starts by itself when Avahi appears, and again after Avahi was
/// restarted. It ends with ``withdraw()`` or with the bus: Avahi frees what belongs to a program that leaves the bus.
@EventLoop
package final class RelayPublisher {
    package enum Event: Sendable, Equatable {
        /// The relay can be found under this name, a different one if its own was taken; `nil` = no longer.
        case published(name: String?)
        /// Why it can't be found; `nil` = it can, from now on.
        case note(String?)
    }

    private var machine = PublishStateMachine()
    private let handler: @EventLoop (Event) -> Void
    private let bus: Bus
    private lazy var avahi = AvahiClient(on: bus, signalsOf: [Avahi.server, Avahi.group]) { [weak self] in
        self?.take($0)
    }

    /// Why the relay can't be found, such as "no Avahi: …".
    package var note: String? { avahi.note }
    /// The name under which it can be found.
    package private(set) var publishedName: String?

    /// - Parameter bus: the system bus. Its owner opens it.
    package init(on bus: Bus, _ handler: @escaping @EventLoop (Event) -> Void) {
        self.bus = bus
        self.handler = handler
    }

    /// Publishes a relay of this machine, replacing the previous one. A long name is cut to 63 bytes.
    package func publish(name: String, port: UInt16, did: String) {
        avahi.start()
        let shown = Avahi.shown(name)
        let offer = PublishStateMachine.Offer(
            name: shown.isEmpty ? "Bellwire" : shown, port: port, record: TXTRecord(did: did))
        carryOut(machine.publish(offer))
    }

    package func withdraw() {
        carryOut(machine.withdraw())
        avahi.stop()
    }

    // MARK: What Avahi says

    private func take(_ event: AvahiClient.Event) {
        switch event {
        case .appeared: carryOut(machine.appeared())
        case .gone: carryOut(machine.gone())
        case .note(let note): handler(.note(note))
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
            case .reset(let path): avahi.call(path, Avahi.group, "Reset")
            case .free(let path): avahi.call(path, Avahi.group, "Free")
            case .askAlternative(let name): askAlternative(to: name)
            case .published(let name):
                publishedName = name
                if name != nil { avahi.setNote(nil) }
                handler(.published(name: name))
            case .note(let text): avahi.setNote(text)
            }
        }
    }

    private func askState() {
        let round = machine.round
        avahi.call("GetState") { [weak self] result in
            guard let self, self.machine.round == round else { return }
            let state = result.flatMap { (values) -> Result<Int32, BusError> in
                var fields = BusFields(values)
                return Result { () throws(BusError) in try fields.int32() }
            }
            switch state {
            case .success(let state): self.carryOut(self.machine.server(state: state))
            case .failure(let error): self.refused(error)
            }
        }
    }

    private func createGroup() {
        let round = machine.round
        avahi.create(
            Avahi.group, with: "EntryGroupNew", isWanted: { [weak self] in self?.machine.round == round }
        ) { [weak self] path in
            guard let self else { return }
            switch path {
            case .success(let path): self.carryOut(self.machine.created(path: path))
            case .failure(let error): self.refused(error)
            }
        }
    }

    private func refused(_ error: BusError) {
        carryOut(machine.refused("Avahi cannot publish the relay: \(error.message)"))
    }

    private func add(_ offer: PublishStateMachine.Offer, as name: String, to path: String) {
        let round = machine.round
        let arguments: [BusValue] = [
            .int32(Avahi.any), .int32(Avahi.any), .uint32(0), .text(name), .text(Avahi.serviceType), .text(""),
            .text(""), .uint16(offer.port), .array(offer.record.entries, of: "ay"),
        ]
        avahi.call(path, Avahi.group, "AddService", arguments) { [weak self] result in
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
        avahi.call(path, Avahi.group, "Commit") { [weak self] result in
            guard let self, self.machine.round == round, case .failure(let error) = result else { return }
            self.carryOut(self.machine.notAdded(.other("Avahi cannot publish the relay: \(error)")))
        }
    }

    private func askAlternative(to name: String) {
        let round = machine.round
        avahi.call("GetAlternativeServiceName", [.text(name)]) { [weak self] result in
            guard let self, self.machine.round == round else { return }
            var fields = BusFields((try? result.get()) ?? [])
            self.carryOut(self.machine.alternative(try? fields.text(limit: Avahi.maximumName)))
        }
    }
}
