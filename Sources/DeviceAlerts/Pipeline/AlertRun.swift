import Alerts
import JSON

/// One alert on its way to the screen.
struct AlertRun: Sendable {
    /// Tells this run from a later one of the same row.
    struct Ticket: Hashable, Sendable {
        let row: Int64
        let number: UInt64
    }

    let ticket: Ticket
    let key: AlertKey
    /// As its author wrote it, with the image once that is there.
    var content: AlertContent
    let isReminder: Bool
    let isLate: Bool
    /// Authorized provisionally.
    let isQuiet: Bool
    let imageURL: String?
    /// The banner that it replaces.
    let place: String?
    var machine = AlertRunStateMachine()
    /// Its image may still come.
    var isEnriching = false
    /// Its presenter has not reported yet whether it is on the screen.
    var isBeingShown = false
    /// The person responded before its presenter said that it is on the screen.
    var isAnswered = false
    /// What became of the image, for `notification.presented`.
    var image: JSONObject?

    init(_ alert: AlertRow, number: UInt64, imageURL: String?, isQuiet: Bool, isLate: Bool) {
        ticket = Ticket(row: alert.row, number: number)
        key = alert.key
        content = alert.content
        isReminder = alert.isReminder
        self.isLate = isLate
        place = alert.handle
        self.imageURL = imageURL
        self.isQuiet = isQuiet
    }

    func report(_ reason: String?) -> AlertReport {
        AlertReport(key: key, isReminder: isReminder, isLate: isLate, reason: reason, image: image)
    }
}
