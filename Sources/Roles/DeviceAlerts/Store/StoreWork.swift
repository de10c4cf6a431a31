import Alerts
import Store

/// One transaction that a unit asks for: run on the store's thread, and its outcome given back to the unit on the loop.
protocol StoreWork: Sendable {
    associatedtype Outcome: Sendable

    func run(_ store: AlertTransaction) throws(StoreError) -> Outcome

    /// Somebody waits for the outcome, so the unit gets it even after the alerts have ended.
    var isAwaited: Bool { get }

    /// What a failure is reported as; `nil` = whoever waits for the outcome hears of it.
    var failureReport: String? { get }
}

/// The objects that a job may use on the store's thread.
struct AlertTransaction {
    let connection: Connection
    let inbox: any AlertInbox
    /// Decides about alerts that enter the store; `nil` = nobody shows alerts.
    let judge: AlertJudge?
    /// Of digests.
    var language = AlertLanguage.english

    var alerts: AlertTable { AlertTable(connection) }
}
