package import Hosting
import JSON
import Notifications

extension Desktop {
    /// A notification of the host's own, its parameters checked.
    package struct Notice: Sendable {
        let method: NotificationMethod
        let params: JSONObject

        /// `{"title","body","priority"?,"deviceId"?,"data"?,…}`
        package init(parsing text: String?) throws(HostError) {
            let object = try Desktop.object(text)
            // A notice without a device is for all of them.
            method = object["deviceId"] == nil ? .broadcast : .sendToMobile
            params = try Desktop.check(method, object)
        }
    }

    /// A page of the history.
    package struct HistoryQuery: Sendable {
        let params: JSONObject

        package init(parsing text: String?) throws(HostError) {
            params = try Desktop.check(.getHistory, try Desktop.object(text))
        }
    }

    private static func check(
        _ method: NotificationMethod, _ object: JSONObject
    ) throws(HostError) -> JSONObject {
        do throws(NotificationsError) { return try MethodParameters.wire(method, from: object) } catch {
            throw HostError(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
        }
    }

    private static func object(_ text: String?) throws(HostError) -> JSONObject {
        try JSONObject(parameter: "params_json", text)
    }
}
