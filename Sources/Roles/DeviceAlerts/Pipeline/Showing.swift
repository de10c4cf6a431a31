import Alerts
import Notifications

extension AlertPipeline {
    /// What is to be shown of a run.
    struct Showing: Sendable {
        let run: AlertRun
        let presentation: Presentation
    }

    /// An alert that waits in the store, with the push that it is made of.
    final class Due: Sendable {
        let alert: AlertRow
        let push: Notification?

        init(alert: AlertRow, push: Notification?) { (self.alert, self.push) = (alert, push) }
    }
}
