import Commands
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Signalling
import Store
import Transport
import Wire

// What comes in: commands of paired devices, and acks of devices that want to be.
extension DesktopCore {
    /// How often the store hears that a device was there, in milliseconds.
    private static let touchInterval: UInt64 = 60_000

    func received(_ message: RelayMessage, over url: String) {
        let payload = Payload(decoding: message.payload)
        if case .pairAck = payload {
            let actions = offering.received(
                PairingFrame(
                    reading: message.payload, from: message.from,
                    isOfSecurePeer: devices.contains { $0.did == message.from && $0.isSecure },
                    delivery: message.delivery), now: .now)
            // Anybody may send an ack: only who has taken the offer, or is paired, is remembered.
            if !actions.isEmpty || devices.contains(where: { $0.did == message.from }) {
                heardOver[message.from] = url
            }
            perform(actions)
            return
        }
        guard let device = devices.first(where: { $0.did == message.from }) else {
            counters.unknownSenders &+= 1
            if case .request(let request) = payload {
                respond(
                    .error(RemoteError(.permissionDenied, "this device is not paired")), to: request, of: message.from,
                    isBellwire: false, over: url)
            }
            return
        }
        heardOver[device.did] = url
        switch payload {
        case .request(let request):
            touch(device, request.form)
            handle(request, of: device, over: url)
        case .malformed(let malformed):
            counters.malformedPayloads &+= 1
            channel.log(.warning, "a payload from a device was dropped: \(malformed)")
            guard let request = malformed.request else { return }
            let response = CommandResponse(
                id: request.id, outcome: .error(RemoteError(.invalidRequest, malformed.description)))
            send(
                response.payload(as: CommandResponse.Form(request.form, isBellwire: device.isSecure)), to: device.did,
                over: url)
        case .other(let type, let value): tell(type, ["payload": value], from: device)
        case .bellwire(let type, let fields): tell(type, ["payload": .object(fields)], from: device)
        case .otherEvent(let name, let fields):
            tell("chainlesschain:event", ["event": .string(name), "payload": .object(fields)], from: device)
        case .cancel, .response, .event, .pairAck, .pairingConfirmation, .pairingReject, .iceConfig: break
        }
    }

    private func tell(_ type: String, _ fields: JSONObject, from device: PairedDevice) {
        var data: JSONObject = ["type": .string(type), "device": .string(device.did.text)]
        data.merge(fields)
        channel.post(HostEvent(.command, data: data))
    }

    private func handle(_ request: CommandRequest, of device: PairedDevice, over url: String) {
        // Only Bellwire devices say until when a command is good (protocol.md 4.5): they read errors as objects.
        let isBellwire = device.isSecure || request.expiresAt != nil
        let verdict = authenticator.check(request, from: device.did, now: .now, monotonic: EventLoop.now) {
            message, signature, did in
            guard let key = PublicKey(did: did.text) else { return .unverifiable }
            guard let bytes = TextEncoding.base64.decode(signature) else { return .invalid }
            return key.verifies(signature: bytes, for: message) ? .valid : .invalid
        }
        if case .refused(let error) = verdict {
            counters.refusedCommands &+= 1
            return respond(.error(error), to: request, of: device.did, isBellwire: isBellwire, over: url)
        }
        carryOut(.device(device.did, isBellwire: isBellwire), request.method, request.params) { core, outcome in
            core.respond(outcome, to: request, of: device.did, isBellwire: isBellwire, over: url)
        }
    }

    /// Runs a method on the store, then its effects, then `then` with the answer.
    func carryOut(
        _ caller: MethodHandler.Caller, _ method: String, _ params: JSONObject,
        then: @escaping @Sendable @EventLoop (DesktopCore, CommandResponse.Outcome) -> Void
    ) {
        var generator = SecureRandomNumberGenerator()
        let context = MethodHandler.Context(
            now: .now, newID: NotificationID(random: generator.next(), generator.next()),
            devices: devices.map { MethodHandler.PairedDevice(peer: $0.did, deviceID: $0.deviceID) })
        store { (connection) throws(StoreError) -> (Handled, Int64) in
            let handled = try MethodHandler(caller: caller, context: context, on: connection).handle(method, params)
            return (handled, try History(connection).unreadCount())
        } then: { core, result in
            switch result {
            case .failure(let error):
                if error.code != .closed { core.channel.problem("store_failed", "a command failed: \(error.message)") }
                then(core, .error(RemoteError(.internalError, "the desktop's store failed")))
            case .success((let handled, let unread)):
                core.tell(unread: unread)
                core.perform(handled, then)
            }
        }
    }

    private func perform(
        _ handled: Handled, _ then: @escaping @Sendable @EventLoop (DesktopCore, CommandResponse.Outcome) -> Void
    ) {
        var whenPushed: @EventLoop (Set<PeerID>) -> Void = { _ in }
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
            case .push(let event, let peers): push(event, to: peers, then: whenPushed)
            }
        }
    }

    private func respond(
        _ outcome: CommandResponse.Outcome, to request: CommandRequest, of peer: PeerID, isBellwire: Bool,
        over url: String
    ) {
        let response = CommandResponse(id: request.id, outcome: outcome)
        send(response.payload(as: CommandResponse.Form(request.form, isBellwire: isBellwire)), to: peer, over: url)
    }

    /// Over the connection that it came by, else over any that is up.
    private func send(_ payload: JSONValue, to peer: PeerID, over url: String) {
        let link = links[url].flatMap { $0.state.isOnline ? $0 : nil } ?? links.values.first { $0.state.isOnline }
        switch link?.send(to: peer, payload: payload) ?? .offline {
        case .written: break
        case .offline, .congested: channel.log(.warning, "an answer could not be sent: no connection to the relay")
        case .tooLarge: channel.log(.warning, "an answer could not be sent: it is larger than 1 MiB")
        }
    }

    /// Now and then the store hears that a device was there, and at once when its form has changed.
    private func touch(_ device: PairedDevice, _ form: PayloadForm) {
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
            if case .success(.some(let stored)) = result { core.replace(stored) }
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
