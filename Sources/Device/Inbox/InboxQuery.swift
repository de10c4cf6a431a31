package import Hosting
import Inbox
import JSON
import Notifications
import Wire

extension Device {
    /// Which part of the inbox a host wants to see, its parameters checked.
    package struct InboxQuery: Sendable {
        /// `nil` = all.
        let desktop: PeerID?
        let query: HistoryQuery

        /// `{"desktop"?, …}`, and what `getHistory` takes.
        package init(parsing text: String?) throws(HostError) {
            var params = try JSONObject(parameter: "params_json", text)
            switch params["desktop"] ?? .null {
            case .null: desktop = nil
            case .string(let id): desktop = PeerID(id)
            case .bool, .integer, .double, .array, .object:
                throw HostError(.invalid, "desktop: must be a string", detail: ["field": "desktop"])
            }
            params["desktop"] = nil
            do throws(NotificationsError) { query = try HistoryQuery(host: params) } catch {
                throw HostError(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
            }
        }
    }

    /// A change in the inbox that a host wants, its parameters checked.
    package struct InboxRequest: Sendable {
        let kind: InboxEffect
        /// `nil` for a change that is about all of a desktop.
        let id: NotificationID?
        let command: Command

        private init(_ kind: InboxEffect, _ id: String?) throws(HostError) {
            self.kind = kind
            self.id = id.map { NotificationID($0) }
            let params: JSONObject = ["notificationId": id.map(JSONValue.string)]
            command = try Command(kind.method, params: JSONValue.object(params).serialized())
        }

        package static func markRead(_ id: String) throws(HostError) -> InboxRequest { try Self(.read, id) }
        package static func delete(_ id: String) throws(HostError) -> InboxRequest { try Self(.delete, id) }
        package static func markAllRead() throws(HostError) -> InboxRequest { try Self(.allRead, nil) }
        package static func clear() throws(HostError) -> InboxRequest { try Self(.clear, nil) }
    }
}

extension InboxEffect {
    /// The method whose row has this effect.
    fileprivate var method: NotificationMethod {
        switch self {
        case .read: .markAsRead
        case .allRead: .markAllAsRead
        case .delete: .delete
        case .clear: .clearAll
        }
    }
}
