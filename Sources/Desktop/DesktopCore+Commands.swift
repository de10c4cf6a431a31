import Commands
import History
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
        if let refusal = limiter.take(device.did, now: EventLoop.now).refusal {
            counters.limitedCommands &+= 1
            return once(mark) { core in core.respond(.error(refusal), to: request, of: asker, over: url) }
        }
        carryOut(
            .device(device.did, isBellwire: asker.isBellwire), request.method, request.params, mark: mark,
            right: asker.right, terms: asker.isBellwire ? Terms(request, of: device.did, core: self) : nil
        ) { core, outcome in core.respond(outcome, to: request, of: asker, over: url) }
    }

    /// What a Bellwire device's command stands under (protocol.md 4.5).
    struct Terms: Sendable {
        /// Its answer is kept under this. `nil` = it changes nothing, and may be asked as often as one likes.
        let key: AnswerTable.Key?
        /// After this moment it is not carried out.
        let expiresAt: EpochMilliseconds?
        /// The device's clock, as far as it is known.
        let now: EpochMilliseconds

        var isOver: Bool { expiresAt.map { $0 < now } ?? false }

        @EventLoop
        init(_ request: CommandRequest, of device: PeerID, core: DesktopCore) {
            let isRead = NotificationMethod(name: request.method)?.risk == .safe
            key = isRead ? nil : AnswerTable.Key(device: device, id: request.id, method: request.method)
            expiresAt = request.expiresAt
            now = core.clockLeads.moment(of: device, now: .now)
        }
    }

    private enum Carried {
        /// `queued` has the number of its push in each device's outbox.
        case out(Handled, queued: [PeerID: Int64], unread: Int64)
        /// It was carried out before this desktop was opened.
        case before
        /// It came before under the same id, and was answered so.
        case answered(AnswerTable.Answer)
        /// It came too late.
        case late(EpochMilliseconds)
        /// Its device was unpaired meanwhile.
        case refused
    }

    /// What is done with the answer to a command.
    typealias Answering = @Sendable @EventLoop (DesktopCore, CommandResponse.Outcome) -> Void

    /// Runs a method on the store, then its effects, then `then` with the answer. A frame that came before has neither; a
    /// command that came before in another frame has its first answer.
    func carryOut(
        _ caller: MethodHandler.Caller, _ method: String, _ params: JSONObject, mark: SealMark? = nil,
        right: Right? = nil, terms: Terms? = nil, then: @escaping Answering
    ) {
        var generator = SecureRandomNumberGenerator()
        let context = MethodHandler.Context(
            now: .now, newID: NotificationID(at: .now, random: generator.next(), generator.next()),
            devices: devices.map { MethodHandler.PairedDevice(peer: $0.did, deviceID: $0.deviceID) })
        let secure = Set(devices.filter(\.isSecure).map(\.did))
        store { (connection) throws(StoreError) -> Carried in
            if let mark, try !SealStates(connection).save(mark) { return .before }
            if let right, right.isRevoked { return .refused }
            let answers = AnswerTable(connection)
            if let key = terms?.key, let answer = try answers.answer(to: key) { return .answered(answer) }
            if let terms, terms.isOver, let expiresAt = terms.expiresAt { return .late(expiresAt) }
            let work = HistoryWork(connection)
            let handled = try MethodHandler(caller: caller, context: context, in: work).handle(method, params)
            let queued = try handled.queue(for: secure, in: work, now: context.now)
            if let key = terms?.key, let (result, isOpen) = handled.known {
                try answers.keep(result, isOpen: isOpen, to: key, now: context.now)
            }
            return .out(handled, queued: queued, unread: try work.finish().unread)
        } then: { core, result in
            switch result {
            case .failure(let error):
                if error.code != .closed { core.channel.problem("store_failed", "a command failed: \(error.message)") }
                then(core, .error(RemoteError(.internalError, "the desktop's store failed")))
            case .success(.before): core.counters.replayed &+= 1
            case .success(.refused): then(core, .error(.notPaired))
            case .success(.answered(let answer)): core.repeated(terms?.key, answer, then)
            case .success(.late(let expiresAt)):
                core.counters.lateCommands &+= 1
                then(core, .error(.expired(expiresAt)))
            case .success(.out(let handled, let queued, let unread)):
                core.tell(unread: unread)
                core.indexing.wrote()
                core.perform(handled, queued, terms?.key, then)
            }
        }
    }

    private func perform(
        _ handled: Handled, _ queued: [PeerID: Int64], _ key: AnswerTable.Key?, _ then: @escaping Answering
    ) {
        var whenPushed: (@EventLoop (Set<PeerID>) -> Void)?
        switch handled.reply {
        case .ready(let outcome): then(self, outcome)
        case .afterPush(let pending):
            if let key { openAnswers[key] = then }
            whenPushed = { [weak self] delivered in
                guard let self else { return }
                pushed(pending.complete(delivered: delivered), key, then)
            }
        }
        for effect in handled.effects {
            switch effect {
            case .show(let notification):
                channel.post(HostEvent(.notificationReceived, data: notification.receivedData()))
            case .push(let event, _): push(event, numbered: queued, then: whenPushed)
            }
        }
        announce(handled.announcements)
    }

    // MARK: Commands that come again

    /// It gets the first answer. One that is still being made is waited for: it tells who was reached.
    private func repeated(_ key: AnswerTable.Key?, _ answer: AnswerTable.Answer, _ then: @escaping Answering) {
        counters.repeatedCommands &+= 1
        guard let key, answer.method == key.method else {
            return then(self, .error(RemoteError(.invalidRequest, "another command had this id before")))
        }
        guard answer.isOpen, openAnswers[key] != nil else { return then(self, .result(answer.result)) }
        openAnswers[key] = then
    }

    /// The answer is complete. It leaves once the store has it: by then, whoever has read it as open has joined, because
    /// the store is first in, first out.
    private func pushed(_ outcome: CommandResponse.Outcome, _ key: AnswerTable.Key?, _ then: Answering) {
        guard let key, let latest = openAnswers[key] else { return then(self, outcome) }
        guard case .result(let result) = outcome else {
            openAnswers[key] = nil
            return latest(self, outcome)
        }
        store { (connection) throws(StoreError) in
            try AnswerTable(connection).complete(result, to: key)
        } then: { core, _ in
            core.openAnswers.removeValue(forKey: key)?(core, outcome)
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

extension Handled {
    /// The result as it is known when the store commits, and whether more will be known; `nil` for a refusal.
    fileprivate var known: (result: JSONValue, isOpen: Bool)? {
        switch reply {
        case .ready(.result(let result)): (result, false)
        case .ready(.error): nil
        case .afterPush(let pending):
            switch pending.complete(delivered: []) {
            case .result(let result): (result, true)
            case .error: nil
            }
        }
    }
}
