package import JSON

/// A host's request about its alerts (bellwire.h, "Alerts" and "Reminders").
package enum AlertRequest: Sendable {
    case state
    case requestAuthorization(isProvisional: Bool)
    case authorize(status: String, until: Int64)
    case inFront(Bool)
    case respond(desktop: String?, id: String, action: String, text: String?)
    case categories(JSONValue)
    case settings
    case change(JSONObject)
    case delivered
    case remove(desktop: String?, id: String?, thread: String?)
    case badge(Int64)
    case addReminder(JSONObject)
    case reminders
    case removeReminders(id: String?, thread: String?)
    case position(latitude: Double, longitude: Double, accuracy: Double)
}

extension AlertRequest {
    /// Refused where nobody shows alerts.
    var needsAlerts: Bool {
        switch self {
        case .requestAuthorization, .badge, .addReminder, .position: true
        case .state, .authorize, .inFront, .respond, .categories, .settings, .change, .delivered, .remove, .reminders,
            .removeReminders:
            false
        }
    }
}
