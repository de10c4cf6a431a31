import Commands
import Hosting
import Identity
import JSON
import Notifications
import OfflineQueue
import Pairing
import Signalling
import Transport
import Wire

// Commands go out over the best route; answers, absences and deadlines bring them back.
extension DeviceCore {
    /// A command of the host's.
    func invoke(
        _ command: Device.Command, desktop name: String?, timeout: Int64,
        _ then: @escaping @Sendable (Result<Device.Reply, HostError>) -> Void
    ) {
        switch pick(name) {
        case .failure(let error): then(.failure(error))
        case .success(let desktop):
            let deadline = EventLoop.now &+ UInt64(clamping: timeout)
            perform(command, desktop: desktop, timeout: timeout) { core, performed in
                guard case .answered(let result) = performed, case .notification(.getHistory) = command.kind,
                    result["success"] == true, result["unreadCount"] == nil
                else { return core.learn(command, performed, from: desktop) { _ in then(performed.reply) } }
                core.completeHistory(result, from: desktop, deadline: deadline, then)
            }
        }
    }

    /// A desktop whose history lacks the count is asked for it (protocol.md 3, tolerance 5).
    private func completeHistory(
        _ history: JSONObject, from desktop: PairedDesktop, deadline: UInt64,
        _ then: @escaping @Sendable (Result<Device.Reply, HostError>) -> Void
    ) {
        let left = Int64(clamping: deadline > EventLoop.now ? deadline - EventLoop.now : 1)
        perform(Device.Command(asking: .getUnreadCount), desktop: desktop, timeout: left) { _, performed in
            guard case .answered(let answer) = performed else { return then(performed.reply) }
            var history = history
            history["unreadCount"] = answer["count"]
            then(Performed.answered(history).reply)
        }
    }

    /// Carries a command out, or keeps it for later if it is one that can wait.
    ///
    /// What can wait is kept when there is no connection, when the desktop is known to be away or turns out to be, and when
    /// others wait for that desktop already: they go in order. It is on the disk before `then` hears of it.
    ///
    /// - Parameters:
    ///   - timeout: so long an answer is waited for, in milliseconds.
    ///   - keepsUncertain: a command that can wait and was not answered goes into the queue under its id. To a deployed
    ///     desktop, that knows no ids, this may mean that it is carried out twice.
    ///   - then: called on the loop, exactly once.
    func perform(
        _ command: Device.Command, desktop: PairedDesktop, timeout: Int64, keepsUncertain: Bool = false,
        then: @escaping @Sendable @EventLoop (DeviceCore, Performed) -> Void
    ) {
        let id = Self.newRequestID()
        if command.isNotification, withoutSkill.contains(desktop.id) { return then(self, .refused(.noSkill)) }
        if command.canWait, mustWait(for: desktop) { return keep(command, as: id, for: desktop, then) }
        let until = EpochMilliseconds.now &+ timeout
        let deadline = EventLoop.now &+ UInt64(clamping: timeout)
        send(command, as: id, to: desktop, deadline: deadline, expiresAt: until) { core, end in
            switch end {
            case .answered(let result): then(core, .answered(result))
            case .refused(let refusal): then(core, .refused(refusal.error))
            case .undecodable(let error): then(core, .refused(error))
            case .notSent(let error) where error.code == .offline, .absent(let error):
                guard command.canWait else { return then(core, .refused(error)) }
                core.keep(command, as: id, for: desktop, then)
            case .notSent(let error): then(core, .refused(error))
            case .unanswered(let error):
                guard command.canWait else { return then(core, .uncertain(id, error)) }
                // A desktop of ours carries an id out once: as long as there is no way to it, it can wait safely.
                if desktop.isSecure, core.bestLink(to: desktop) == nil || core.absent.contains(desktop.id) {
                    return core.keep(command, as: id, for: desktop, then)
                }
                guard keepsUncertain else { return then(core, .uncertain(id, error)) }
                core.keep(command, as: id, for: desktop) { core, kept in
                    if case .refused(let problem) = kept { core.channel.problem(kept: problem) }
                    then(core, .uncertain(id, error))
                }
            case .ended(let error):
                // Stopped or asleep: a desktop of ours may be asked again.
                guard error.code == .offline, command.canWait, desktop.isSecure else {
                    return then(core, .uncertain(id, error))
                }
                core.keep(command, as: id, for: desktop, then)
            }
        }
    }

    static func newRequestID() -> RequestID { RequestID(TextEncoding.hex.encode(Identity.randomBytes(16))) }

    func pick(_ name: String?) -> Result<PairedDesktop, HostError> {
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

    /// Sends a command once, and again as long as its desktop may not have it. `then` is called on the loop, exactly once.
    ///
    /// - Parameters:
    ///   - deadline: so long an answer is waited for, in the loop's time.
    ///   - expiresAt: after this moment a Bellwire desktop refuses it (protocol.md 4.5).
    func send(
        _ command: Device.Command, as id: RequestID, to desktop: PairedDesktop, deadline: UInt64,
        expiresAt: EpochMilliseconds, then: @escaping @Sendable @EventLoop (DeviceCore, CallEnd) -> Void
    ) {
        guard isStarted else {
            return then(self, .notSent(HostError(.offline, "the device is not started; start it first")))
        }
        guard let link = bestLink(to: desktop) else {
            return then(self, .notSent(HostError(.offline, "there is no connection to \(desktop.name) now")))
        }
        let waiter = Waiter(command: command, expiresAt: expiresAt, then: then)
        let added = calls.add(
            id, to: desktop.id, method: command.method, deadline: deadline, waiter: waiter,
            isRepeatable: desktop.isSecure, now: EventLoop.now)
        if case .refuse(let error) = added { return then(self, .notSent(HostError(error))) }
        switch write(id, waiter, to: desktop, over: link) {
        case .written: armCallTimer()
        case .offline:
            give(id, .notSent(HostError(.offline, "the connection to \(desktop.name) has just ended")))
        case .congested:
            give(id, .notSent(HostError(.offline, "the relay does not read fast enough; try again later")))
        case .tooLarge:
            give(id, .notSent(HostError(.limit, "the command is larger than 1 MiB")))
        }
    }

    /// Signed anew each time: a desktop takes a signature for five minutes, and once (protocol.md 3, "Auth").
    private func write(
        _ id: RequestID, _ waiter: Waiter, to desktop: PairedDesktop, over link: RelayConnection
    ) -> SendResult {
        let method = waiter.command.method
        let request = CommandRequest(
            id: id, method: method, params: waiter.command.params,
            auth: CommandAuth.signed(
                by: did, method: method, timestamp: .now, nonce: TextEncoding.hex.encode(Identity.randomBytes(16))
            ) { [key] message in TextEncoding.base64.encode(key.sign(message)) },
            expiresAt: waiter.expiresAt)
        return send(request.payload, to: desktop, over: link)
    }

    /// Whatever cannot be written now is written the next time.
    private func writeAgain(_ again: [PendingCalls<Waiter>.Call]) {
        for call in again {
            guard let desktop = desktops.first(where: { $0.id == call.desktop }), let link = bestLink(to: desktop)
            else { continue }
            counters.repeatedCommands &+= 1
            _ = write(call.id, call.waiter, to: desktop, over: link)
        }
        armCallTimer()
    }

    private func give(_ id: RequestID, _ end: CallEnd) { self.end([calls.cancel(id)].compactMap { $0 }, end) }

    func resolve(_ response: CommandResponse, from desktop: PairedDesktop) {
        if let call = calls.call(response.id, to: desktop.id), response.isOvertaken(call) { return }
        switch calls.resolve(response, from: desktop.id) {
        case .ignore: break
        case .complete(let call, let outcome):
            armCallTimer()
            let end = read(outcome, of: call.waiter.command)
            switch end {
            case .refused(let refusal) where refusal.lacksSkill: withoutSkill.insert(desktop.id)
            case .answered(let result): noteRevision(in: result, of: desktop.id, call.waiter.command)
            case .refused, .undecodable, .notSent, .absent, .unanswered, .ended: break
            }
            call.waiter.then(self, end)
        }
    }

    private func read(_ outcome: Result<JSONValue, CommandError>, of command: Device.Command) -> CallEnd {
        switch (outcome, command.kind) {
        case (.failure(let error), _): return .refused(CallEnd.Refusal(error))
        case (.success(let result), .other):
            guard let object = result.object else { return .answered(["result": result]) }
            return .answered(object)
        case (.success(let result), .notification(let method)):
            do throws(NotificationsError) {
                return .answered(try MethodResult(decoding: result, of: method, now: .now).json)
            } catch {
                return .undecodable(
                    HostError(.undecodable, error.message, detail: ["field": error.field.map(JSONValue.string)]))
            }
        }
    }

    // MARK: Calls that end without an answer, or go out again

    func peerOffline(_ peer: PeerID, over url: String) {
        guard let desktop = desktop(peer) else { return }
        end(
            calls.peerOffline(desktop.id),
            .absent(HostError(.offline, "\(desktop.name) is not connected to its relay now")))
    }

    /// The route broke: what was on its way is lost. A desktop that knows ids gets its calls again when there is a route;
    /// another one may have carried them out.
    func failCalls(over url: String) {
        for desktop in desktops where routes(of: desktop).contains(url) && bestLink(to: desktop) == nil {
            let message = "the connection ended while the command waited; it may have been carried out"
            end(calls.disconnected(desktop.id), .unanswered(HostError(.offline, message)))
        }
    }

    /// There is a route again.
    func wentOnline(over url: String) {
        for desktop in desktops where routes(of: desktop).contains(url) {
            withoutSkill.remove(desktop.id)
            queuePauses[desktop.id] = nil
            writeAgain(calls.toRepeat(to: desktop.id, now: EventLoop.now))
            drainQueue(of: desktop)
        }
    }

    /// A relay says that the peer has come: what was on its way to its connection before is lost.
    func cameOnline(_ peer: PeerID) {
        guard let desktop = desktop(peer) else { return }
        tokens.cameAnew(desktop.id, heardAt: heardLast[desktop.id] ?? 0, now: EventLoop.now)
        sayTokens(to: desktop)
        writeAgain(calls.toRepeat(to: desktop.id, now: EventLoop.now))
        drainQueue(of: desktop)
    }

    func expireCalls() {
        let message = "no answer in time; the command may still be carried out"
        end(calls.expire(now: EventLoop.now), .unanswered(HostError(.timeout, message)))
        writeAgain(calls.dueToRepeat(now: EventLoop.now) { heardLast[$0] })
    }

    /// Ends calls for a reason that lies with us.
    func fail(_ failed: [PendingCalls<Waiter>.Call], _ error: HostError) { end(failed, .ended(error)) }

    private func end(_ ended: [PendingCalls<Waiter>.Call], _ end: CallEnd) {
        for call in ended { call.waiter.then(self, end) }
    }

    private func armCallTimer() { callTimer.start(at: calls.nextDeadline) }
}

extension Device.Command {
    /// A method that has no parameters.
    fileprivate init(asking method: NotificationMethod) {
        kind = .notification(method)
        params = [:]
    }

    var isNotification: Bool {
        switch kind {
        case .notification: true
        case .other: false
        }
    }

    /// Whether it is kept for a desktop that is away.
    var canWait: Bool {
        switch kind {
        case .notification(let method): method.row.canWait
        case .other: false
        }
    }
}

extension CommandResponse {
    /// Is it the refusal of one frame of a call, while another may yet be answered? One that came too late, and had a
    /// shorter life; or one that was sent again, too soon for the desktop.
    fileprivate func isOvertaken(_ call: PendingCalls<DeviceCore.Waiter>.Call) -> Bool {
        guard case .error(let error) = outcome else { return false }
        if let expired = error.expiredAt { return expired < call.waiter.expiresAt }
        return error.retryAfter != nil && call.sends > 1
    }
}

extension CallEnd.Refusal {
    fileprivate init(_ error: CommandError) {
        let retryAfter = error.remote?.retryAfter
        self.init(
            error: HostError(error), retryAfter: retryAfter,
            isPassing: retryAfter != nil || error.code == .timeout || error.remote?.code == .internalError,
            lacksSkill: error.lacksSkill)
    }
}

extension HostError {
    static let noSkill = HostError(
        .unsupported, "this desktop has no such commands; it is asked again after the next connection")
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
