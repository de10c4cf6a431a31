import JSON
import Sealing

/// The payload with which a push service carries a sealed push (WirePrekeys, "Payloads").
struct ServicePayload {
    /// Which shape it has.
    enum Form: Sendable, Equatable {
        /// An APNs payload, with an alert for where nothing can open the push.
        case apns(alert: String)
        /// Data of an FCM message, and for any other service.
        case data

        init(service: String, alert: String) { self = service == "apns" ? .apns(alert: alert) : .data }
    }

    /// What APNs and FCM carry at most.
    static let limit = 4_096
    static let defaultAlert = "New notification"
    /// Of an alert's title, in bytes of JSON.
    static let alertLimit = 100

    let form: Form
    let sealed: SealedPush

    var json: JSONValue {
        switch form {
        case .apns(let alert):
            [
                "aps": ["alert": ["title": .string(alert)], "mutable-content": 1],
                "bellwire": .string(sealed.text),
            ]
        case .data: ["data": ["bellwire": .string(sealed.text)]]
        }
    }
}
