import Commands
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

/// A device that has sent a command.
struct Asker: Sendable {
    let did: PeerID
    /// Its answer is sealed, whatever has become of it meanwhile.
    let isSecure: Bool
    /// It reads errors as objects.
    let isBellwire: Bool
    let right: Right
}

// Commands of paired devices, and of the host.
extension DesktopCore {
    /// How often the store hears that a device was there, in milliseconds.
    private static let touchInterval: UInt64 = 60_000

    func asker(_ device: PairedDevice, isBellwire: Bool) -> Asker {
        let right = rights[device.did] ?? Right()
        rights[device.did] = right
        return Asker(did: device.did, isSecure: device.isSecure, isBellwire: isBellwire, right: right)
    }

    func handle(_ request: CommandRequest, of device: PairedDevice, mark: SealMark?, over url: String) {
        // Only Bellwire devices say until when a command is good (protocol.md 4.5): they read errors as objects.
        let asker = asker(device, isBellwire: device.isSecure || request.expiresAt != nil)
        let verdict = authenticator.check(request, from: device.did, now: .now, monotonic: EventLoop.now) {
            message, signature, did in
            guard let key = PublicKey(did: did.text) else { return .unverifiable }
            guard let bytes = TextEncoding.base64.decode(signature) else { return .invalid }
            return key.verifies(signature: bytes, for: message) ? .valid : .invalid
        }
        if case .refused(let error) = verdict {
            counters.refusedCommands &+= 1
            return once(mark) { core in core.respond(.error(error), to: request, of: asker, over: url) }
        }
        carryOut(
            .device(device.did, isBellwire: asker.isBellwire), request.method, request.params, mark: mark,
            right: asker.right
        ) { core, outcome in core.respond(outcome, to: request, of: asker, over: url) }
    }

    private enum Carried {
        /// `queued` has the number of its push in each device's outbox.
        case out(Handled, queued: [PeerID: Int64], unread: Int64)
        /// It was carried out before this desktop was opened.
        case before
        /// Its device was unpaired meanwhile.
        case refused
    }

    /// Runs a method on the store, then its effects, then `then` with the answer. A command that came before has neither.
    func carryOut(
        _ caller: MethodHandler.Caller, _ method: String, _ params: JSONObject, mark: SealMark? = nil,
        right: Right? = nil,
        then: @escaping @Sendable @EventLoop (DesktopCore, CommandResponse.Outcome) -> Void
    ) {
        var generator = SecureRandomNumberGenerator()
        let context = MethodHandler.Context(
            now: .now, newID: NotificationID(random: generator.next(), generator.next()),
            devices: devices.map { MethodHandler.PairedDevice(peer: $0.did, deviceID: $0.deviceID) })
        let secure = Set(devices.filter(\.isSecure).map(\.did))
        store { (connection) throws(StoreError) -> Carried in
            if let mark, try !SealStates(connection).save(mark) { return .before }
            if let right, right.isRevoked { return .refused }
            let handled = try MethodHandler(caller: caller, context: context, on: connection).handle(method, params)
            let queued = try handled.queue(for: secure, on: connection, now: context.now)
            return .out(handled, queued: queued, unread: try History(connection).unreadCount())
        } then: { core, result in
            switch result {
            case .failure(let error):
                if error.code != .closed { core.channel.problem("store_failed", "a command failed: \(error.message)") }
                then(core, .error(RemoteError(.internalError, "the desktop's store failed")))
            case .success(.before): core.counters.replayed &+= 1
            case .success(.refused): then(core, .error(.notPaired))
            case .success(.out(let handled, let queued, let unread)):
                core.tell(unread: unread)
                core.perform(handled, queued, then)
            }
        }
    }

    private func perform(
        _ handled: Handled, _ queued: [PeerID: Int64],
        _ then: @escaping @Sendable @EventLoop (DesktopCore, CommandResponse.Outcome) -> Void
    ) {
        var whenPushed: (@EventLoop (Set<PeerID>) -> Void)?
        switch handled.reply {
        case .ready(let outcome): then(self, outcome)
        case .afterPush(let pending):
            whenPushed = { [weak self] delivered in
                guard let self else { return }
                then(self, pending.complete(delivered: delivered))
            }
        }
        for effect in handled.effects {
            switch effect {
            case .show(let notification):
                channel.post(HostEvent(.notificationReceived, data: notification.receivedData()))
            case .push(let event, _): push(event, numbered: queued, then: whenPushed)
            }
        }
    }

    /// A device that was unpaired meanwhile is told no more than that.
    func respond(
        _ outcome: CommandResponse.Outcome, to request: CommandRequest, of asker: Asker, over url: String
    ) {
        let outcome = asker.right.isRevoked ? .error(.notPaired) : outcome
        respond(CommandResponse(id: request.id, outcome: outcome), form: request.form, of: asker, over: url)
    }

    /// Over the connection that it came by, else over any that is up.
    func respond(_ response: CommandResponse, form: PayloadForm, of asker: Asker, over url: String) {
        let payload = response.payload(as: CommandResponse.Form(form, isBellwire: asker.isBellwire))
        let link = links[url].flatMap { $0.state.isOnline ? $0 : nil } ?? links.values.first { $0.state.isOnline }
        let result = link.map { send(payload, to: asker.did, sealed: asker.isSecure, over: $0) }
        switch result ?? .offline {
        case .written: break
        case .offline, .congested: channel.log(.warning, "an answer could not be sent: no connection to the relay")
        case .tooLarge: channel.log(.warning, "an answer could not be sent: it is larger than 1 MiB")
        }
    }

    /// Now and then the store hears that a device was there, and at once when its form has changed.
    func touch(_ device: PairedDevice, _ form: PayloadForm) {
        let now = EventLoop.now
        let isRecent = touchedAt[device.did].map { now &- $0 < Self.touchInterval } ?? false
        guard !isRecent || device.payloadForm != form else { return }
        touchedAt[device.did] = now
        let did = device.did
        let seenAt = EpochMilliseconds.now
        store { (connection) throws(StoreError) -> PairedDevice? in
            try PairedDevices(connection).touch(did, at: seenAt, form: form)
            return try PairedDevices(connection).find(did)
        } then: { core, result in
            // Not if it was unpaired meanwhile.
            if case .success(.some(let stored)) = result, core.devices.contains(where: { $0.did == did }) {
                core.replace(stored)
            }
        }
    }

    func replace(_ device: PairedDevice) {
        if let index = devices.firstIndex(where: { $0.did == device.did }) {
            devices[index] = device
        } else {
            devices.append(device)
        }
    }
}
