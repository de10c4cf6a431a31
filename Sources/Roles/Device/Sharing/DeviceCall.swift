import Alerts
package import DeviceAlerts
package import Hosting
package import JSON
import Notifications
package import Peering
import Sharing
package import Wire

/// A call of the C interface that a device executes.
package enum DeviceCall: Sendable {
    case start, stop, suspend, resume, state

    /// Pairing calls use the relay of the program that makes them; `nil` = the device's.
    case scan(String, CallTimeout, relay: String? = nil)
    case show(CallTimeout, relay: String? = nil)
    case type(String, CallTimeout, relay: String? = nil)
    /// `nil` = all flows.
    case cancel(DevicePairingFlow?)
    /// The user's answer about the desktop that a flow has reported; `nil` = in the only flow that asks.
    case confirm(DevicePairingFlow?, accept: Bool)
    case desktops
    case rename(String, to: String)
    case unpair(String)
    case unpairAll
    case key(KeyCall)

    /// To that desktop; `nil` = to the only one.
    case ask(Request, of: String?, CallTimeout)

    case loadInbox(Device.InboxQuery)
    case inboxState
    /// The desktop's settings as last received.
    case inboxSettings(of: String?)

    case queue
    case removeQueued(String)
    /// `nil` = all that have failed.
    case retryQueued(String?)
    /// Removes failed commands that were given before that moment; 0 = all of them.
    case clearQueue(before: Int64)

    case give(PushService, PushToken)
    /// `nil` = the tokens of all services.
    case takeBackToken(PushService?)
    /// What a push service delivered.
    case receive(service: String, JSONObject)
    /// Ends a silent push.
    case complete(String, result: String)

    case alerts(AlertRequest)

    /// What a desktop is asked for.
    package enum Request: Sendable {
        case notification(Device.Command)
        case invoke(Device.Command)
        case refresh
        case change(Device.InboxRequest)
    }

    /// Errors: `invalid` for a negative moment.
    package static func clearQueue(checking moment: Int64) throws(HostError) -> DeviceCall {
        guard moment >= 0 else {
            throw HostError(.invalid, "older_than_ms must not be negative", detail: ["field": "older_than_ms"])
        }
        return .clearQueue(before: moment)
    }
}

extension DeviceCall: SharableCall {
    /// A holder gives way to a program that shows alerts.
    package static let isAlwaysIdentified = true

    /// The device's own calls, without those about keys and alerts.
    enum Name: String, CaseIterable {
        case start, stop, suspend, resume, state
        case scan = "pairing.scan"
        case show = "pairing.show"
        case type = "pairing.type"
        case cancel = "pairing.cancel"
        case confirm = "pairing.confirm"
        case desktops = "pairing.list"
        case rename = "pairing.rename"
        case unpair = "pairing.unpair"
        case unpairAll = "pairing.clear"
        case notification, invoke
        case refresh = "inbox.refresh"
        case markRead = "inbox.markRead"
        case markAllRead = "inbox.markAllRead"
        case delete = "inbox.delete"
        case clear = "inbox.clear"
        case loadInbox = "inbox.load"
        case inboxState = "inbox.state"
        case inboxSettings = "inbox.settings"
        case queue = "queue.list"
        case removeQueued = "queue.remove"
        case retryQueued = "queue.retry"
        case clearQueue = "queue.clear"
        case give = "token"
        case takeBackToken = "token.clear"
        case receive, complete
    }

    package init?(decoding name: String, _ arguments: inout CallArguments) throws(HostError) {
        if let call = try KeyCall(decoding: name, &arguments) {
            self = .key(call)
        } else if let request = try AlertRequest(decoding: name, &arguments) {
            self = .alerts(request)
        } else if let name = Name(rawValue: name) {
            self = try Self.decoded(name, &arguments)
        } else {
            return nil
        }
    }

    private static func decoded(_ name: Name, _ arguments: inout CallArguments) throws(HostError) -> DeviceCall {
        switch name {
        case .start: .start
        case .stop: .stop
        case .suspend: .suspend
        case .resume: .resume
        case .state: .state
        case .scan: .scan(try arguments.text(), try arguments.timeout(), relay: try arguments.relayURL())
        case .show: .show(try arguments.timeout(), relay: try arguments.relayURL())
        case .type: .type(try arguments.text(), try arguments.timeout(), relay: try arguments.relayURL())
        case .cancel: .cancel(try .named(try arguments.optionalText(), "flow"))
        case .confirm:
            .confirm(try .named(try arguments.optionalText(), "flow"), accept: try arguments.flag())
        case .desktops: .desktops
        case .rename: .rename(try arguments.text(), to: try arguments.text())
        case .unpair: .unpair(try arguments.text())
        case .unpairAll: .unpairAll
        case .notification, .invoke, .refresh, .markRead, .markAllRead, .delete, .clear:
            try asked(name, of: try arguments.optionalText(), try arguments.timeout(), &arguments)
        case .loadInbox: .loadInbox(try Device.InboxQuery(try arguments.object("params_json")))
        case .inboxState: .inboxState
        case .inboxSettings: .inboxSettings(of: try arguments.optionalText())
        case .queue: .queue
        case .removeQueued: .removeQueued(try arguments.text())
        case .retryQueued: .retryQueued(try arguments.optionalText())
        case .clearQueue: try .clearQueue(checking: try arguments.integer())
        case .give:
            .give(try PushService(parameter: try arguments.text()), try PushToken(argument: try arguments.text()))
        case .takeBackToken:
            .takeBackToken(
                try arguments.optionalText().map { (text) throws(HostError) in try PushService(parameter: text) })
        case .receive: try .receive(service: try arguments.text(), payload: try arguments.object("payload_json"))
        case .complete: .complete(try arguments.text(), result: try arguments.text())
        }
    }

    /// Errors: `limit` for a payload that is too long to be passed on to another program.
    package static func receive(service: String, payload: JSONObject) throws(HostError) -> DeviceCall {
        guard JSONValue.object(payload).serializedCount <= PushServicePayload.limit else {
            throw HostError(
                .limit, "payload_json has more than \(PushServicePayload.limit) bytes",
                detail: ["field": "payload_json"])
        }
        return .receive(service: service, payload)
    }

    private static func asked(
        _ name: Name, of desktop: String?, _ timeout: CallTimeout, _ arguments: inout CallArguments
    ) throws(HostError) -> DeviceCall {
        let request: Request =
            switch name {
            case .notification:
                .notification(
                    try Device.Command(
                        try NotificationMethod(argument: try arguments.text()), try arguments.object("params_json")))
            case .invoke: .invoke(try Device.Command(try arguments.text(), try arguments.object("params_json")))
            case .markRead: .change(try .markRead(try arguments.text()))
            case .markAllRead: .change(try .markAllRead())
            case .delete: .change(try .delete(try arguments.text()))
            case .clear: .change(try .clear())
            case _: .refresh
            }
        return .ask(request, of: desktop, timeout)
    }

    package var encoded: HostCall {
        switch self {
        case .start: HostCall(Name.start)
        case .stop: HostCall(Name.stop)
        case .suspend: HostCall(Name.suspend)
        case .resume: HostCall(Name.resume)
        case .state: HostCall(Name.state)
        case .scan(let code, let timeout, let relay):
            HostCall(Name.scan, .string(code), .timeout(timeout), .text(relay))
        case .show(let timeout, let relay): HostCall(Name.show, .timeout(timeout), .text(relay))
        case .type(let code, let timeout, let relay):
            HostCall(Name.type, .string(code), .timeout(timeout), .text(relay))
        case .cancel(let flow): HostCall(Name.cancel, .text(flow?.rawValue))
        case .confirm(let flow, let accept): HostCall(Name.confirm, .text(flow?.rawValue), .bool(accept))
        case .desktops: HostCall(Name.desktops)
        case .rename(let desktop, let name): HostCall(Name.rename, .string(desktop), .string(name))
        case .unpair(let desktop): HostCall(Name.unpair, .string(desktop))
        case .unpairAll: HostCall(Name.unpairAll)
        case .key(let call): call.encoded
        case .ask(let request, let desktop, let timeout):
            HostCall(request.name.rawValue, [.text(desktop), .timeout(timeout)] + request.arguments)
        case .loadInbox(let query): HostCall(Name.loadInbox, .object(query.given))
        case .inboxState: HostCall(Name.inboxState)
        case .inboxSettings(let desktop): HostCall(Name.inboxSettings, .text(desktop))
        case .queue: HostCall(Name.queue)
        case .removeQueued(let id): HostCall(Name.removeQueued, .string(id))
        case .retryQueued(let id): HostCall(Name.retryQueued, .text(id))
        case .clearQueue(let moment): HostCall(Name.clearQueue, .integer(moment))
        case .give(let service, let token): HostCall(Name.give, .string(service.text), .string(token.hex))
        case .takeBackToken(let service): HostCall(Name.takeBackToken, .text(service?.text))
        case .receive(let service, let payload): HostCall(Name.receive, .string(service), .object(payload))
        case .complete(let id, let result): HostCall(Name.complete, .string(id), .string(result))
        case .alerts(let request): request.encoded
        }
    }

    package var traits: CallTraits {
        switch self {
        case .start: CallTraits(.start)
        case .stop: CallTraits(.stop)
        case .state: CallTraits(.state)
        case .scan(_, let timeout, _), .show(let timeout, _), .type(_, let timeout, _):
            CallTraits(.startAndChange, timeout)
        case .desktops, .loadInbox, .inboxState, .inboxSettings, .queue: CallTraits(.read)
        case .suspend, .resume, .cancel, .confirm, .rename, .unpair, .unpairAll, .removeQueued, .retryQueued,
            .clearQueue, .give, .takeBackToken, .receive, .complete:
            CallTraits(.change)
        case .ask(.notification, _, let timeout), .ask(.invoke, _, let timeout): CallTraits(.command, timeout)
        case .ask(.refresh, _, let timeout), .ask(.change, _, let timeout): CallTraits(.change, timeout)
        case .key(let call): call.traits
        case .alerts(let request): request.traits
        }
    }
}

extension DeviceCall {
    package func asked(with options: JSONObject) -> DeviceCall {
        guard let relay = options["relay_url"]?.string else { return self }
        return switch self {
        case .scan(let code, let timeout, nil): .scan(code, timeout, relay: relay)
        case .show(let timeout, nil): .show(timeout, relay: relay)
        case .type(let code, let timeout, nil): .type(code, timeout, relay: relay)
        case _: self
        }
    }
}

extension DeviceCall.Request {
    fileprivate var name: DeviceCall.Name {
        switch self {
        case .notification: .notification
        case .invoke: .invoke
        case .refresh: .refresh
        case .change(let request):
            switch request.kind {
            case .read: .markRead
            case .allRead: .markAllRead
            case .delete: .delete
            case .clear: .clear
            }
        }
    }

    fileprivate var arguments: [JSONValue] {
        switch self {
        case .notification(let command), .invoke(let command): [.string(command.method), .object(command.given)]
        case .change(let request): request.id.map { [.string($0.text)] } ?? []
        case .refresh: []
        }
    }
}

extension PushService {
    /// Errors: `invalid`.
    package init(parameter text: String) throws(HostError) {
        guard let service = PushService(text) else {
            throw HostError(
                .invalid,
                "a service must have 1 to \(Self.maximumBytes) letters, digits, dots, dashes and underscores",
                detail: ["field": "service"])
        }
        self = service
    }
}

extension PushToken {
    fileprivate init(argument hex: String) throws(HostError) {
        guard let token = PushToken(hex: hex) else {
            throw HostError(
                .invalid, "a token must have 1 to \(Self.maximumBytes) bytes", detail: ["field": "length"])
        }
        self = token
    }
}

extension NotificationMethod {
    fileprivate init(argument name: String) throws(HostError) {
        guard let method = NotificationMethod(name: name) else {
            throw HostError(.unsupported, "unknown method", detail: ["field": "method"])
        }
        self = method
    }
}
