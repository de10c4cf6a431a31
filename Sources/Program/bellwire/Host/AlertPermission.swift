import CBellwire
import JSON

/// The user's permission for this device to show alerts, in the words of the command line.
enum AlertPermission: String, CaseIterable {
    case allowed
    case denied
    /// The next program that shows alerts asks.
    case ask

    /// The setting's name in `bellwire settings --device`.
    static let key = "alerts"

    init(word: String) throws(Failure) {
        guard let permission = AlertPermission(rawValue: word) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure(.usage, "alerts: \"\(word)\" must be one of \(words)")
        }
        self = permission
    }

    /// As `bw_alerts_authorize()` names it.
    private var status: String {
        switch self {
        case .allowed: "authorized"
        case .denied: "denied"
        case .ask: "notDetermined"
        }
    }

    func set(_ device: Handle) throws(Failure) { try check(bw_alerts_authorize(device.pointer, status, 0)) }

    /// The current one: `quiet` for alerts that are shown without sound until the user has answered.
    static func now(_ device: Handle) throws(Failure) -> String {
        let state = try result { bw_alerts_state(device.pointer, $0) }
        return switch state["authorization"]?["status"]?.string {
        case "authorized", "ephemeral": allowed.rawValue
        case "denied": denied.rawValue
        case "provisional": "quiet"
        default: ask.rawValue
        }
    }
}
