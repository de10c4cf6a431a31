package import Hosting
package import JSON

/// A host's request about its alerts (bellwire.h, "Alerts" and "Reminders").
package enum AlertRequest: CallCoding {
    case state
    case requestAuthorization(isProvisional: Bool, CallTimeout)
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

    /// Errors: `invalid` for a negative count.
    package static func badge(checking count: Int64) throws(HostError) -> AlertRequest {
        guard count >= 0 else {
            throw HostError(.invalid, "badge must not be negative; 0 clears it", detail: ["field": "badge"])
        }
        return .badge(count)
    }
}

extension AlertRequest {
    enum Name: String, CaseIterable {
        case state = "alerts.state"
        case request = "alerts.request"
        case authorize = "alerts.authorize"
        case inFront = "alerts.inFront"
        case respond = "alerts.respond"
        case categories = "alerts.categories"
        case settings = "alerts.settings"
        case setSettings = "alerts.setSettings"
        case delivered = "alerts.delivered"
        case remove = "alerts.remove"
        case badge = "alerts.badge"
        case addReminder = "reminder.add"
        case reminders = "reminder.list"
        case removeReminders = "reminder.remove"
        case position = "reminder.position"
    }

    package init?(decoding name: String, _ arguments: inout CallArguments) throws(HostError) {
        guard let name = Name(rawValue: name) else { return nil }
        self =
            switch name {
            case .state: .state
            case .request: .requestAuthorization(isProvisional: try arguments.flag(), try arguments.timeout())
            case .authorize: .authorize(status: try arguments.text(), until: try arguments.integer())
            case .inFront: .inFront(try arguments.flag())
            case .respond:
                .respond(
                    desktop: try arguments.optionalText(), id: try arguments.text(), action: try arguments.text(),
                    text: try arguments.optionalText())
            case .categories: .categories(try arguments.value("categories_json"))
            case .settings: .settings
            case .setSettings: .change(try arguments.object("settings_json"))
            case .delivered: .delivered
            case .remove:
                .remove(
                    desktop: try arguments.optionalText(), id: try arguments.optionalText(),
                    thread: try arguments.optionalText())
            case .badge: try .badge(checking: try arguments.integer())
            case .addReminder: .addReminder(try arguments.object("reminder_json"))
            case .reminders: .reminders
            case .removeReminders:
                .removeReminders(id: try arguments.optionalText(), thread: try arguments.optionalText())
            case .position:
                .position(
                    latitude: try arguments.double(), longitude: try arguments.double(),
                    accuracy: try arguments.double())
            }
    }

    package var encoded: HostCall {
        switch self {
        case .state: HostCall(Name.state)
        case .requestAuthorization(let isProvisional, let timeout):
            HostCall(Name.request, .bool(isProvisional), .timeout(timeout))
        case .authorize(let status, let until): HostCall(Name.authorize, .string(status), .integer(until))
        case .inFront(let isInFront): HostCall(Name.inFront, .bool(isInFront))
        case .respond(let desktop, let id, let action, let text):
            HostCall(Name.respond, .text(desktop), .string(id), .string(action), .text(text))
        case .categories(let categories): HostCall(Name.categories, categories)
        case .settings: HostCall(Name.settings)
        case .change(let settings): HostCall(Name.setSettings, .object(settings))
        case .delivered: HostCall(Name.delivered)
        case .remove(let desktop, let id, let thread): HostCall(Name.remove, .text(desktop), .text(id), .text(thread))
        case .badge(let count): HostCall(Name.badge, .integer(count))
        case .addReminder(let reminder): HostCall(Name.addReminder, .object(reminder))
        case .reminders: HostCall(Name.reminders)
        case .removeReminders(let id, let thread): HostCall(Name.removeReminders, .text(id), .text(thread))
        case .position(let latitude, let longitude, let accuracy):
            HostCall(Name.position, .number(latitude), .number(longitude), .number(accuracy))
        }
    }

    package var traits: CallTraits {
        switch self {
        case .state, .settings, .delivered, .reminders: CallTraits(.read)
        case .requestAuthorization(_, let timeout): CallTraits(.change, timeout)
        case .authorize, .inFront, .respond, .categories, .change, .remove, .badge, .addReminder, .removeReminders,
            .position:
            CallTraits(.change)
        }
    }

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
