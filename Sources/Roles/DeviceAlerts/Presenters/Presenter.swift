package import Alerts
import Transport

/// Shows alerts.
@EventLoop
protocol Presenter: AnyObject {
    var state: PresenterState { get }

    /// False: the host has not said yet who shows its alerts, so they wait. A missing notification server is not meant.
    var isThere: Bool { get }

    func start()
    func stop()

    /// Calls `then` once: with the handle that identifies the banner while its server lives, or why there is none.
    ///
    /// - Parameter permit: looked at once more right before the alert is handed over.
    func show(
        _ alert: PresentedAlert, replacing handle: String?, _ permit: ShowPermit,
        then: @escaping @EventLoop (Result<String?, PresenterError>) -> Void)

    /// Takes a banner off the screen, if it is there.
    func withdraw(_ key: AlertKey, handle: String?)

    /// 0 removes the badge.
    func setBadge(_ count: Int64)
}

/// What is known of a presenter (bellwire.h, `bw_alerts_state`).
struct PresenterState: Sendable {
    /// `system`, `host` or `none`.
    var kind: String
    var isReady: Bool
    var server: String?
    var capabilities: [String]?
    var problem: String?
    /// The desktop environment shows no notifications at the moment; `nil` = it doesn't say.
    var doNotDisturb: Bool?
}

/// Why an alert is not on the screen, for people.
package struct PresenterError: Error {
    package let message: String
}

/// What presenters report.
package enum PresenterEvent: Sendable {
    /// It is there, for the first time or again.
    case ready
    case gone(String)
    /// The person did something: `default`, `dismiss`, or an action's id.
    case responded(AlertKey, action: String, text: String?)
    /// The banner left the screen, and nobody answered it.
    case closed(AlertKey)
    /// These banners are gone with their server. The handles of others may be asked about, too.
    case lost(@Sendable (_ handle: String) -> Bool)
}
