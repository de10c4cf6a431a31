import Commands
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Signalling
import Transport
import Wire

// Commands go out over the best route; answers, absences and deadlines bring them back.
extension DeviceCore {
    func invoke(_ command: Device.Command, desktop name: String?, timeout: Int64, _ then: @escaping Then) {
        switch pick(name) {
        case .failure(let error): then(.failure(error))
        case .success(let desktop):
            let deadline = EventLoop.now &+ UInt64(clamping: timeout)
            send(command, to: desktop, deadline: deadline) { [weak self] result in
                guard case .success(let object) = result, case .notification(.getHistory) = command.kind,
                    object["unreadCount"] == nil, let self
                else { return then(result.map { JSONValue.object($0).serialized() }) }
                EventLoop.assumeIsolated { self.completeHistory(object, from: desktop, deadline: deadline, then) }
            }
        }
    }

    /// A desktop whose history lacks the count is asked for it (protocol.md 3, tolerance 5).
    private func completeHistory(
        _ history: JSONObject, from desktop: PairedDesktop, deadline: UInt64, _ then: @escaping Then
    ) {
        send(Device.Command(asking: .getUnreadCount), to: desktop, deadline: deadline) { result in
            var history = history
            switch result {
            case .failure(let error): then(.failure(error))
            case .success(let answer):
                history["unreadCount"] = answer["count"]
                then(.success(JSONValue.object(history).serialized()))
            }
        }
    }

    private func pick(_ name: String?) -> Result<PairedDesktop, HostError> {
        if let name {
            guard let desktop = desktops.first(where: { $0.id.text == name }) else {
                return .failure(HostError(.notFound, "no paired desktop has this id; bw_pairing_list() has them"))
            }
            return .success(desktop)
        }
        guard let first = desktops.first else {
            return .failure(HostError(.notFound, "no desktop is paired; pair with one first"))
        }
        guard desktops.count == 1 else {
            return .failure(
                HostError(.invalid, "several desktops are paired; name one", detail: ["field": "desktop"]))
        }
        return .success(first)
    }

    /// `then` is called on the loop, exactly once.
    private func send(
        _ command: Device.Command, to desktop: PairedDesktop, deadline: UInt64,
        then: @escaping @Sendable (Result<JSONObject, HostError>) -> Void
    ) {
        guard isStarted else {
            return then(.failure(HostError(.offline, "the device is not started; start it first")))
        }
        guard let link = bestLink(to: desktop) else {
            return then(.failure(HostError(.offline, "there is no connection to \(desktop.name) now")))
        }
        let id = RequestID(TextEncoding.hex.encode(Identity.randomBytes(16)))
        let now = EpochMilliseconds.now
        let waiter = Waiter(command: command, then: then)
        switch calls.add(id, to: desktop.id, method: command.method, deadline: deadline, waiter: waiter) {
        case .refuse(let error): return then(.failure(HostError(error)))
        case .send: break
        }
        let request = CommandRequest(
            id: id, method: command.method, params: command.params,
            auth: CommandAuth.signed(
                by: did, method: command.method, timestamp: now,
                nonce: TextEncoding.hex.encode(Identity.randomBytes(16))
            ) { [key] message in TextEncoding.base64.encode(key.sign(message)) },
            expiresAt: now &+ Int64(clamping: deadline &- EventLoop.now))
        switch link.send(to: desktop.address, payload: request.payload) {
        case .written: armCallTimer()
        case .offline:
            refuse(id, HostError(.offline, "the connection to \(desktop.name) has just ended"))
        case .congested:
            refuse(id, HostError(.offline, "the relay does not read fast enough; try again later"))
        case .tooLarge:
            refuse(id, HostError(.limit, "the command is larger than 1 MiB"))
        }
    }

    private func refuse(_ id: RequestID, _ error: HostError) { fail([calls.cancel(id)].compactMap { $0 }, error) }

    func resolve(_ response: CommandResponse, from desktop: PairedDesktop) {
        switch calls.resolve(response, from: desktop.id) {
        case .ignore: break
        case .complete(let call, let outcome):
            armCallTimer()
            call.waiter.then(read(outcome, of: call.waiter.command))
        }
    }

    private func read(
        _ outcome: Result<JSONValue, CommandError>, of command: Device.Command
    ) -> Result<JSONObject, HostError> {
        switch (outcome, command.kind) {
        case (.failure(let error), _): return .failure(HostError(error))
        case (.success(let result), .other):
            guard let object = result.object else { return .success(["result": result]) }
            return .success(object)
        case (.success(let result), .notification(let method)):
            do throws(NotificationsError) {
                return .success(try MethodResult(decoding: result, of: method, now: .now).json)
            } catch {
                return .failure(
                    HostError(.undecodable, error.message, detail: ["field": error.field.map(JSONValue.string)]))
            }
        }
    }

    // MARK: Calls that end without an answer

    func peerOffline(_ peer: PeerID, over url: String) {
        guard let desktop = desktop(peer) else { return }
        fail(calls.peerOffline(desktop.id), HostError(.offline, "\(desktop.name) is not connected to its relay now"))
    }

    /// The route broke: desktops without another one cannot answer any more.
    func failCalls(over url: String) {
        for desktop in desktops where routes(of: desktop).contains(url) && bestLink(to: desktop) == nil {
            fail(
                calls.peerOffline(desktop.id),
                HostError(.offline, "the connection ended while the command waited; it may have been carried out"))
        }
    }

    func expireCalls() {
        let expired = calls.expire(now: EventLoop.now)
        fail(expired, HostError(.timeout, "no answer in time; the command may still be carried out"))
        armCallTimer()
    }

    func fail(_ failed: [PendingCalls<Waiter>.Call], _ error: HostError) {
        for call in failed { call.waiter.then(.failure(error)) }
    }

    private func armCallTimer() { callTimer.start(at: calls.nextDeadline) }
}

extension Device.Command {
    /// A method that has no parameters.
    fileprivate init(asking method: NotificationMethod) {
        kind = .notification(method)
        params = [:]
    }
}

extension HostError {
    init(_ error: CommandError) {
        var detail: JSONObject = [:]
        if let remote = error.remote {
            detail = ["code": remote.code.map { .integer($0.number) }, "message": .string(remote.message)]
        }
        self.init(Code(error), error.message, detail: detail)
    }
}

extension HostError.Code {
    fileprivate init(_ error: CommandError) {
        switch error.code {
        case .offline: self = .offline
        case .timeout: self = .timeout
        case .closed: self = .closed
        case .tooMany: self = .limit
        case .denied: self = .denied
        case .unsupported: self = .unsupported
        case .undecodable: self = .undecodable
        default: self = .remote  // `cancelled`, `remote`, and what `CommandError` may come to name
        }
    }
}
