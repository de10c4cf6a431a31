package import Hosting
import Inbox
package import JSON
import Notifications
import Wire

extension Device {
    /// A host's question about the inbox, its parameters checked.
    package struct InboxQuery: Sendable {
        /// As the host gave it.
        let given: JSONObject
        /// `nil` = all.
        let desktop: PeerID?
        let query: HistoryQuery

        /// `{"desktop"?, …}`, and what `getHistory` takes.
        package init(_ given: JSONObject) throws(HostError) {
            self.given = given
            var params = given
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

    /// A host's change of the inbox, its parameters checked.
    package struct InboxRequest: Sendable {
        let kind: InboxEffect
        /// `nil` for a change of everything from a desktop.
        let id: NotificationID?
        let command: Command

        private init(_ kind: InboxEffect, _ id: String? = nil) throws(HostError) {
            self.kind = kind
            self.id = id.map { NotificationID($0) }
            let method: NotificationMethod =
                switch kind {
                case .read: .markAsRead
                case .allRead: .markAllAsRead
                case .delete: .delete
                case .clear: .clearAll
                }
            command = try Command(method, ["notificationId": id.map(JSONValue.string)])
        }

        package static func markRead(_ id: String) throws(HostError) -> InboxRequest { try Self(.read, id) }
        package static func delete(_ id: String) throws(HostError) -> InboxRequest { try Self(.delete, id) }
        package static func markAllRead() throws(HostError) -> InboxRequest { try Self(.allRead) }
        package static func clear() throws(HostError) -> InboxRequest { try Self(.clear) }
    }
}
