import Alerts
import JSON
import Wire

/// One alert on its way to the screen.
struct AlertRun: Sendable {
    /// Tells this run from a later one of the same row. Sorted in the order of showing.
    struct Ticket: Hashable, Comparable, Sendable {
        let row: Int64
        let number: UInt64
        let comesFirst: Bool

        init(_ alert: AlertRow, number: UInt64 = 0) {
            (row, self.number, comesFirst) = (alert.row, number, alert.comesFirst)
        }

        static func < (left: Ticket, right: Ticket) -> Bool {
            left.comesFirst == right.comesFirst ? left.row < right.row : left.comesFirst
        }
    }

    /// Where it is on its way. Only ``showing`` takes up room on the way to the screen.
    enum Stage: Sendable {
        /// Its image may still come.
        case enriching
        /// Its image is settled, and it waits for its turn.
        case ready
        case showing
    }

    /// What of it never changes. A class, so that a run is small to copy.
    private final class Origin: Sendable {
        let alert: AlertRow
        let subject: AlertSubject
        let imageURL: String?

        init(_ alert: AlertRow, _ subject: AlertSubject, _ imageURL: String?) {
            (self.alert, self.subject, self.imageURL) = (alert, subject, imageURL)
        }
    }

    let ticket: Ticket
    private let origin: Origin
    /// As its author wrote it, with the image once that is there.
    var content: AlertContent
    /// Authorized provisionally.
    var isQuiet = false
    var stage = Stage.showing
    /// Its image is being fetched.
    var isFetching = false
    var machine = AlertRunStateMachine()
    /// Its presenter has not reported yet whether it is on the screen.
    var isBeingShown = false
    /// The person responded before its presenter said that it is on the screen.
    var isAnswered = false
    /// What became of the image, for `notification.presented`.
    var image: JSONObject?

    init(_ alert: AlertRow, _ subject: AlertSubject, number: UInt64, imageURL: String?) {
        ticket = Ticket(alert, number: number)
        origin = Origin(alert, subject, imageURL)
        content = alert.content
    }

    var alert: AlertRow { origin.alert }
    /// What decides whether it is still shown.
    var subject: AlertSubject { origin.subject }
    var imageURL: String? { origin.imageURL }
    var key: AlertKey { alert.key }

    func report(_ reason: String?) -> AlertReport {
        AlertReport(
            key: alert.key, isReminder: alert.isReminder, isLate: subject.isLate, reason: reason, image: image)
    }
}
