package import Hosting
import JSON
package import Notifications
import OfflineQueue
import Wire

extension Device {
    /// A command with checked parameters, ready to be sent.
    package struct Command: Sendable {
        enum Kind: Sendable {
            case notification(NotificationMethod)
            /// One of the eleven methods, with the desktop's result unchanged; programs get less of it.
            case unread(NotificationMethod)
            /// Passed as it is, and so is its result.
            case other(String)
        }

        let kind: Kind
        /// As they go on the wire.
        let params: JSONObject
        /// How long it may wait in the queue, in milliseconds, where its program has asked for that.
        var queueTime: Int64?

        /// One of the eleven methods, with its parameters as JSON; `nil` = none.
        package init(_ method: NotificationMethod, params: String?) throws(HostError) {
            let object = try JSONObject(parameter: "params_json", params)
            do throws(NotificationsError) { self.params = try method.row.wire(from: object) } catch {
                throw HostError(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
            }
            kind = .notification(method)
            queueTime = object[Parameter.queueMilliseconds.name]?.integer
        }

        /// Any other method.
        package init(_ method: String, params: String?) throws(HostError) {
            guard !method.isEmpty, method.utf8.count <= 256 else {
                throw HostError(.invalid, "method must have 1 to 256 bytes", detail: ["field": "method"])
            }
            self.params = try JSONObject(parameter: "params_json", params)
            kind = NotificationMethod(name: method).map(Kind.notification) ?? .other(method)
        }
    }
}

extension Device.Command {
    /// One of the eleven, its parameters as they go on the wire.
    init(_ method: NotificationMethod, wire: JSONObject) {
        kind = .notification(method)
        params = wire
    }

    /// A page of the history.
    init(history query: HistoryQuery) {
        kind = .unread(.getHistory)
        params = query.wire
    }

    /// From the queue: its parameters were checked when it was given.
    init(_ queued: QueuedCommand) {
        kind = NotificationMethod(name: queued.method).map(Kind.notification) ?? .other(queued.method)
        params = queued.params
    }

    /// Whether it changes nothing at the desktop.
    var reads: Bool {
        switch kind {
        case .notification(let method), .unread(let method): method.row.risk == .safe
        case .other: false
        }
    }

    var method: String {
        switch kind {
        case .notification(let method), .unread(let method): method.name
        case .other(let name): name
        }
    }

    var isNotification: Bool {
        switch kind {
        case .notification, .unread: true
        case .other: false
        }
    }

    /// Whether it is kept for a desktop that is away.
    ///
    /// - Parameter executesOnce: the desktop knows a command by its id. Another one could show a notification twice.
    func canWait(executesOnce: Bool) -> Bool {
        switch kind {
        case .notification(let method): method.row.canWait || queueTime != nil && executesOnce
        case .unread, .other: false
        }
    }
}
