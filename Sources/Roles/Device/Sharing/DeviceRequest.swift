import Alerts
import DeviceAlerts
package import Hosting
import JSON
import Notifications
import Peering
package import Sharing
package import Store
import Wire

/// A call with checked parameters, ready to be carried out.
struct DeviceRequest: Sendable {
    let start: @Sendable (Device, @escaping ReplyThen) -> Void

    /// Errors: `invalid` for a parameter; `unsupported` for a call that this version does not know.
    init(_ call: HostCall) throws(HostError) {
        guard let name = DeviceCall(rawValue: call.name) else {
            throw HostError(.unsupported, "unknown call \(call.name)")
        }
        var arguments = CallArguments(call)
        start = try Self.parsed(name, &arguments)
    }

    private typealias Start = @Sendable (Device, @escaping ReplyThen) -> Void

    /// For calls whose result is a text.
    private static func text(_ start: @escaping @Sendable (Device, @escaping Then) -> Void) -> Start {
        { device, then in start(device) { result in then(result.map { HostReply($0) }) } }
    }

    /// For calls without a result.
    private static func act(_ start: @escaping @Sendable (Device) -> Void) -> Start {
        { device, then in
            start(device)
            then(.success(HostReply("null")))
        }
    }

    private static func alerts(_ request: AlertRequest, timeout: Int64 = 0) -> Start {
        text { $0.alerts(request, timeout: timeout, then: $1) }
    }

    private static func change(
        _ request: Device.InboxRequest, _ desktop: String?, _ timeout: Int64
    ) -> Start {
        { $0.change(request, desktop: desktop, timeout: timeout, then: replying($1)) }
    }

    private static func replying(
        _ then: @escaping ReplyThen
    ) -> @Sendable (Result<Device.Reply, HostError>) -> Void {
        { result in then(result.map { HostReply($0.json, isQueued: $0.isQueued) }) }
    }

    private static func parsed(_ call: DeviceCall, _ arguments: inout CallArguments) throws(HostError) -> Start {
        switch call {
        case .start: return act { $0.start() }
        case .stop: return act { $0.stop() }
        case .suspend: return act { $0.suspend() }
        case .resume: return act { $0.resume() }
        case .state: return text { $0.state(then: $1) }
        case .scan, .show, .type, .cancel, .confirm, .desktops, .rename, .unpair, .unpairAll:
            return try pairing(call, &arguments)
        case .revoke, .readmit, .revoked, .rekey, .cancelRekey, .rekeyState, .confirmRekey:
            return try keys(call, &arguments)
        case .notification, .invoke, .refresh, .markRead, .markAllRead, .delete, .clear:
            return try desktop(call, &arguments)
        case .loadInbox, .inboxState, .inboxSettings, .queue, .removeQueued, .retryQueued, .clearQueue:
            return try stored(call, &arguments)
        case .token, .clearToken, .receive, .complete: return try pushService(call, &arguments)
        case .alertsState, .requestAlerts, .authorizeAlerts, .inFront, .respond, .categories, .alertSettings,
            .changeAlertSettings, .deliveredAlerts, .removeAlerts, .badge, .addReminder, .reminders, .removeReminders,
            .position:
            return alerts(try alertRequest(call, &arguments), timeout: try timeout(call, &arguments))
        }
    }

    private static func pairing(_ call: DeviceCall, _ arguments: inout CallArguments) throws(HostError) -> Start {
        switch call {
        case .scan:
            let (code, timeout) = (try arguments.text(), try arguments.integer())
            return text { $0.scan(code, timeout: timeout, then: $1) }
        case .show:
            let timeout = try arguments.integer()
            return text { $0.show(timeout: timeout, then: $1) }
        case .type:
            let (code, timeout) = (try arguments.text(), try arguments.integer())
            return text { $0.type(code, timeout: timeout, then: $1) }
        case .cancel:
            let flow = try flow(&arguments)
            return act { $0.cancel(flow) }
        case .confirm:
            let (flow, accept) = (try flow(&arguments), try arguments.flag())
            return text { $0.confirm(flow, accept, then: $1) }
        case .rename:
            let (desktop, name) = (try arguments.text(), try arguments.text())
            return text { $0.rename(desktop, to: name, then: $1) }
        case .unpair:
            let desktop = try arguments.text()
            return text { $0.unpair(desktop, then: $1) }
        case .unpairAll: return text { $0.unpairAll(then: $1) }
        case _: return text { $0.desktops(then: $1) }
        }
    }

    private static func flow(_ arguments: inout CallArguments) throws(HostError) -> DevicePairingFlow? {
        guard let name = try arguments.optionalText() else { return nil }
        guard let flow = DevicePairingFlow(rawValue: name) else {
            throw HostError(.invalid, "no such flow", detail: ["field": "flow"])
        }
        return flow
    }

    private static func keys(_ call: DeviceCall, _ arguments: inout CallArguments) throws(HostError) -> Start {
        switch call {
        case .revoke:
            let desktop = try arguments.text()
            return text { $0.revoke(desktop, then: $1) }
        case .readmit:
            let desktop = try arguments.text()
            return text { $0.readmit(desktop, then: $1) }
        case .revoked: return text { $0.revoked(then: $1) }
        case .rekey: return text { $0.rekey(then: $1) }
        case .cancelRekey: return text { $0.cancelRekeyAndKey(then: $1) }
        case .confirmRekey:
            let (desktop, key, accept) = (try arguments.text(), try arguments.text(), try arguments.flag())
            return text { $0.confirmRekey(desktop, to: key, accept, then: $1) }
        case _: return text { $0.rekeyState(then: $1) }
        }
    }

    /// What is asked of a desktop: its id or `null`, the timeout, and what else the call has.
    private static func desktop(_ call: DeviceCall, _ arguments: inout CallArguments) throws(HostError) -> Start {
        let (desktop, timeout) = (try arguments.optionalText(), try arguments.integer())
        switch call {
        case .notification:
            guard let method = NotificationMethod(name: try arguments.text()) else {
                throw HostError(.unsupported, "unknown method", detail: ["field": "method"])
            }
            let command = try Device.Command(method, params: try arguments.optionalText())
            let identity = try CommandIdentity(&arguments)
            return { $0.invoke(command, identity, desktop: desktop, timeout: timeout, then: replying($1)) }
        case .invoke:
            let command = try Device.Command(try arguments.text(), params: try arguments.optionalText())
            let identity = try CommandIdentity(&arguments)
            return { $0.invoke(command, identity, desktop: desktop, timeout: timeout, then: replying($1)) }
        case .markRead: return change(try .markRead(try arguments.text()), desktop, timeout)
        case .markAllRead: return change(try .markAllRead(), desktop, timeout)
        case .delete: return change(try .delete(try arguments.text()), desktop, timeout)
        case .clear: return change(try .clear(), desktop, timeout)
        case _: return text { $0.refresh(desktop, timeout: timeout, then: $1) }
        }
    }

    private static func stored(_ call: DeviceCall, _ arguments: inout CallArguments) throws(HostError) -> Start {
        switch call {
        case .loadInbox:
            let query = try Device.InboxQuery(parsing: try arguments.optionalText())
            return text { $0.load(query, then: $1) }
        case .inboxSettings:
            let desktop = try arguments.optionalText()
            return text { $0.settings(of: desktop, then: $1) }
        case .queue: return text { $0.queue(then: $1) }
        case .removeQueued:
            let id = try arguments.text()
            return text { $0.removeQueued(id, then: $1) }
        case .retryQueued:
            let id = try arguments.optionalText()
            return text { $0.retryQueued(id, then: $1) }
        case .clearQueue:
            let moment = try arguments.integer()
            return text { $0.clearQueue(before: moment == 0 ? nil : moment, then: $1) }
        case _: return text { $0.inbox(then: $1) }
        }
    }

    private static func pushService(_ call: DeviceCall, _ arguments: inout CallArguments) throws(HostError) -> Start {
        switch call {
        case .token:
            guard let service = PushService(try arguments.text()) else { throw .invalidPushService }
            guard let token = PushToken(hex: try arguments.text()) else {
                throw HostError(.invalid, "not a token", detail: ["field": "token"])
            }
            return text { $0.give(token, for: service, then: $1) }
        case .clearToken:
            var service: PushService?
            if let name = try arguments.optionalText() {
                guard let named = PushService(name) else { throw .invalidPushService }
                service = named
            }
            let named = service
            return text { $0.takeBackToken(of: named, then: $1) }
        case .receive:
            let (service, payload) = (try arguments.text(), arguments.value().object ?? [:])
            guard JSONValue.object(payload).serializedCount <= PushServicePayload.limit else {
                throw HostError(
                    .limit, "payload_json has more than \(PushServicePayload.limit) bytes",
                    detail: ["field": "payload_json"])
            }
            return text { $0.receive(payload, service: service, then: $1) }
        case _:
            let (id, result) = (try arguments.text(), try arguments.text())
            return text { $0.complete(id, result, then: $1) }
        }
    }

    private static func alertRequest(
        _ call: DeviceCall, _ arguments: inout CallArguments
    ) throws(HostError) -> AlertRequest {
        switch call {
        case .requestAlerts: .requestAuthorization(isProvisional: try arguments.flag())
        case .authorizeAlerts: .authorize(status: try arguments.text(), until: try arguments.integer())
        case .inFront: .inFront(try arguments.flag())
        case .respond:
            .respond(
                desktop: try arguments.optionalText(), id: try arguments.text(), action: try arguments.text(),
                text: try arguments.optionalText())
        case .categories: .categories(arguments.value())
        case .alertSettings: .settings
        case .changeAlertSettings: .change(arguments.value().object ?? [:])
        case .deliveredAlerts: .delivered
        case .removeAlerts:
            .remove(
                desktop: try arguments.optionalText(), id: try arguments.optionalText(),
                thread: try arguments.optionalText())
        case .badge: .badge(try arguments.integer())
        case .addReminder: .addReminder(arguments.value().object ?? [:])
        case .reminders: .reminders
        case .removeReminders: .removeReminders(id: try arguments.optionalText(), thread: try arguments.optionalText())
        case .position:
            .position(
                latitude: try arguments.double(), longitude: try arguments.double(), accuracy: try arguments.double())
        case _: .state
        }
    }

    /// The time that a request waits for a person.
    private static func timeout(_ call: DeviceCall, _ arguments: inout CallArguments) throws(HostError) -> Int64 {
        call == .requestAlerts ? try arguments.integer() : 0
    }
}

extension Device: SharableRole {
    package var database: Database { core.context.database }

    package func prepare(_ call: HostCall) throws(HostError) -> SharableRole.Start {
        let request = try DeviceRequest(call)
        return { [self] in request.start(self, $0) }
    }

    package static func blocks(_ call: HostCall) -> Bool { call.name == DeviceCall.rekey.rawValue }

    package static func starts(_ call: HostCall) -> Bool { DeviceCall(rawValue: call.name)?.startsDevice ?? false }

    /// Also where it stays: a holder gives way to a program that shows alerts.
    package static func identified(_ call: HostCall, stays: Bool) -> HostCall { CommandIdentity.given(to: call) }

    package static func repeated(_ call: HostCall) -> HostCall? {
        DeviceCall(rawValue: call.name)?.reads == true ? call : CommandIdentity.again(call)
    }

    package static func delayed(_ call: HostCall) -> HostCall { CommandIdentity.delayed(call) }

    package static func timeout(of call: HostCall) -> UInt64? { CommandIdentity.timeout(of: call) }

    package static func check(_ call: HostCall) throws(HostError) { _ = try DeviceRequest(call) }
}
