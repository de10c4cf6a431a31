import Alerts
import JSON
import Wire

/// The outcome of an alert.
struct AlertReport: Sendable, Equatable {
    let key: AlertKey
    let isReminder: Bool
    let isLate: Bool
    /// Why it was not shown; `nil` = it was.
    let reason: String?
    /// What became of its image.
    var image: JSONObject?

    init(key: AlertKey, isReminder: Bool, isLate: Bool, reason: String?, image: JSONObject? = nil) {
        (self.key, self.isReminder, self.isLate, self.reason, self.image) = (key, isReminder, isLate, reason, image)
    }

    init(_ alert: AlertRow, _ reason: String?) {
        self.init(key: alert.key, isReminder: alert.isReminder, isLate: alert.isLate, reason: reason)
    }

    init(_ alert: NewAlert, _ reason: String?) {
        self.init(key: alert.key, isReminder: alert.isReminder, isLate: alert.isLate, reason: reason)
    }
}
