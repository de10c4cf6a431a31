package import Hosting
package import JSON
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
    }

    /// A notification of the host's own, its parameters checked.
    package struct Notice: Sendable {
        /// As the host gave it.
        let given: JSONObject
        let method: NotificationMethod
        let params: JSONObject

        /// `{"title","body","priority"?,"deviceId"?,"data"?,…}`
        package init(_ given: JSONObject) throws(HostError) {
            self.given = given
            // A notice without a device is for all of them.
            method = given["deviceId"] == nil ? .broadcast : .sendToMobile
            params = try Desktop.check(method, given)
        }
    }

    /// A page of the history.
    package struct HistoryQuery: Sendable {
        let given: JSONObject
        let params: JSONObject

        package init(_ given: JSONObject) throws(HostError) {
            self.given = given
            params = try Desktop.check(.getHistory, given)
        }
    }

    /// A command of the desktop's own user, its parameters checked.
    package struct OwnCommand: Sendable {
        enum Kind: Sendable {
            case method(NotificationMethod, JSONObject)
            case own(OwnRequest)
        }

        let name: String
        let given: JSONObject
        let kind: Kind

        /// Whether it changes nothing.
        var isReading: Bool {
            switch kind {
            case .method(let method, _): method.row.risk == .safe
            case .own(let request): request.isReading
            }
        }

        package init(_ name: String, _ given: JSONObject) throws(HostError) {
            (self.name, self.given) = (name, given)
            if let request = try OwnRequest(name, given) {
                kind = .own(request)
            } else if let method = NotificationMethod(name: name) {
                kind = .method(method, try Desktop.check(method, given))
            } else {
                throw HostError(.unsupported, "no such desktop method", detail: ["field": "method"])
            }
        }
    }

    private static func check(
        _ method: NotificationMethod, _ object: JSONObject
    ) throws(HostError) -> JSONObject {
        do throws(NotificationsError) { return try method.row.wire(from: object) } catch {
            throw HostError(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
        }
    }
}
