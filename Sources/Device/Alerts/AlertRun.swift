import Alerts
import HTTPClient
import Hosting
import JSON
import Transport

/// One alert on its way to the screen.
@EventLoop
final class AlertRun {
    let row: Int64
    let key: AlertKey
    /// As its author wrote it, and what was found since.
    var content: AlertContent
    let isReminder: Bool
    let isLate: Bool
    /// Authorized provisionally.
    let isQuiet: Bool
    let imageURL: String?
    /// The banner whose place it takes.
    let place: String?
    var machine = AlertRunStateMachine()
    var fetch: Fetch?
    /// An image may still come.
    var isEnriching = false
    /// The person has answered it before its presenter said that it is there.
    var isAnswered = false
    /// What became of the image, for `notification.presented`.
    var image: JSONObject?
    private let expired: @EventLoop (AlertRun) -> Void
    private lazy var timer = LoopTimer { [weak self] in
        guard let self else { return }
        expired(self)
    }

    init(
        _ alert: AlertRow, imageURL: String?, isQuiet: Bool, isLate: Bool,
        expired: @escaping @EventLoop (AlertRun) -> Void
    ) {
        row = alert.row
        key = alert.key
        content = alert.content
        isReminder = alert.isReminder
        self.isLate = isLate
        place = alert.handle
        self.imageURL = imageURL
        self.isQuiet = isQuiet
        self.expired = expired
    }

    func armTimer() { timer.start(at: machine.deadline) }

    func end() {
        timer.stop()
        fetch?.cancel()
        fetch = nil
        isEnriching = false
    }
}
