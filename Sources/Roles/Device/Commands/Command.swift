package import Hosting
package import JSON
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
        /// As the host gave them.
        let given: JSONObject
        /// As they go on the wire.
        private(set) var params: JSONObject
        /// How long it may wait in the queue, in milliseconds, where its program has asked for that.
        var queueTime: Int64?

        fileprivate init(kind: Kind, given: JSONObject, params: JSONObject) {
            (self.kind, self.given, self.params) = (kind, given, params)
        }

        /// One of the eleven methods.
        package init(_ method: NotificationMethod, _ given: JSONObject) throws(HostError) {
            do throws(NotificationsError) { params = try method.row.wire(from: given) } catch {
                throw HostError(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
            }
            (kind, self.given) = (.notification(method), given)
            queueTime = given[Parameter.queueMilliseconds.name]?.integer
        }

        /// Any method, with its parameters as they go on the wire.
        package init(_ method: String, _ given: JSONObject) throws(HostError) {
            guard !method.isEmpty, method.utf8.count <= 256 else {
                throw HostError(.invalid, "method must have 1 to 256 bytes", detail: ["field": "method"])
            }
            kind = NotificationMethod(name: method).map(Kind.notification) ?? .other(method)
            (self.given, params) = (given, given)
        }
    }
}

extension Device.Command {
    /// A command about everything that ends there.
    func bounded(by bound: CommandBound?) -> Device.Command {
        guard let bound else { return self }
        var bounded = self
        bounded.params.merge(bound.params)
        return bounded
    }

    /// Whether it concerns everything of its desktop.
    var isOfAll: Bool {
        if case .notification(let method) = kind { method.row.effect?.isOfAll == true } else { false }
    }

    /// One of the eleven, its parameters as they go on the wire.
    init(_ method: NotificationMethod, wire: JSONObject) {
        kind = .notification(method)
        (given, params) = (wire, wire)
    }

    /// Makes the device known at a deployed desktop, also at one that has no such method.
    static var presence: Device.Command {
        Device.Command(kind: .other(NotificationMethod.getUnreadCount.name), given: [:], params: [:])
    }

    /// A page of the history.
    init(history query: HistoryQuery) {
        kind = .unread(.getHistory)
        (given, params) = (query.wire, query.wire)
    }

    /// From the queue: its parameters were checked when it was given.
    init(_ queued: QueuedCommand) {
        let wire = queued.wire
        kind = NotificationMethod(name: wire.method).map(Kind.notification) ?? .other(wire.method)
        (given, params) = (wire.params, wire.params)
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
