package import Hosting
import JSON
package import Notifications
import Wire

extension Device {
    /// A command whose parameters have been checked: ready to be sent.
    package struct Command: Sendable {
        enum Kind: Sendable {
            case notification(NotificationMethod)
            /// Passed as it is, and so is its result.
            case other(String)
        }

        let kind: Kind
        /// As they go on the wire.
        let params: JSONObject

        var method: String {
            switch kind {
            case .notification(let method): method.name
            case .other(let name): name
            }
        }

        /// A notification method, with its parameters as JSON; `nil` = none.
        package init(_ method: NotificationMethod, params: String?) throws(HostError) {
            let object = try JSONObject(parameter: "params_json", params)
            do throws(NotificationsError) { self.params = try method.row.wire(from: object) } catch {
                throw HostError(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
            }
            kind = .notification(method)
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
