package import Hosting
import Inbox
import JSON
import Notifications
import Wire

extension Device {
    /// A host's question about the inbox, its parameters checked.
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

    /// A host's change of the inbox, its parameters checked.
    package struct InboxRequest: Sendable {
        let kind: InboxEffect
        /// `nil` for a change of everything from a desktop.
        let id: NotificationID?
        let command: Command

        /// - Parameter method: one with an effect on the inbox.
        private init(_ method: NotificationMethod, _ id: String?) throws(HostError) {
            guard let effect = method.row.effect else { preconditionFailure("\(method.name) doesn't change the inbox") }
            kind = effect
            self.id = id.map { NotificationID($0) }
            let params: JSONObject = ["notificationId": id.map(JSONValue.string)]
            command = try Command(method, params: JSONValue.object(params).serialized())
        }

        package static func markRead(_ id: String) throws(HostError) -> InboxRequest { try Self(.markAsRead, id) }
        package static func delete(_ id: String) throws(HostError) -> InboxRequest { try Self(.delete, id) }
        package static func markAllRead() throws(HostError) -> InboxRequest { try Self(.markAllAsRead, nil) }
        package static func clear() throws(HostError) -> InboxRequest { try Self(.clearAll, nil) }
    }
}
