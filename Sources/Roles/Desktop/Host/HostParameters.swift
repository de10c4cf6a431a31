package import Hosting
import JSON
import Notifications
import Peering

extension Desktop {
    /// A way to pair.
    package enum Flow: String, Sendable, CaseIterable {
        /// It shows a QR code.
        case offer
        /// It scans a device's.
        case scan
        /// It shows a code that is typed.
        case code

        var pairing: PairingFlow {
            switch self {
            case .offer: .offer
            case .scan: .scan
            case .code: .code
            }
        }

        /// `nil` for a host that names none.
        package static func named(_ text: String?) throws(HostError) -> Flow? {
            guard let text else { return nil }
            guard let flow = Flow(rawValue: text) else {
                let names = allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
                throw HostError(.invalid, "flow must be one of \(names), or NULL", detail: ["field": "flow"])
            }
            return flow
        }
    }

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

    /// A notification method, carried out for the desktop's own user.
    package struct OwnCommand: Sendable {
        let method: NotificationMethod
        let params: JSONObject

        package init(_ name: String, params text: String?) throws(HostError) {
            guard let method = NotificationMethod(name: name) else {
                throw HostError(.unsupported, "no such desktop method", detail: ["field": "method"])
            }
            self.method = method
            params = try Desktop.check(method, try Desktop.object(text))
        }
    }

    private static func check(
        _ method: NotificationMethod, _ object: JSONObject
    ) throws(HostError) -> JSONObject {
        do throws(NotificationsError) { return try method.row.wire(from: object) } catch {
            throw HostError(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
        }
    }

    private static func object(_ text: String?) throws(HostError) -> JSONObject {
        try JSONObject(parameter: "params_json", text)
    }
}
