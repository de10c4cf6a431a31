import Alerts
import Transport
import Wire

/// Where alerts are shown.
@EventLoop
protocol Presenter: AnyObject {
    /// `system` or `host`, and what is known of it (bellwire.h, `bw_alerts_state`).
    var state: PresenterState { get }

    /// `false`: the host has not said yet who shows its alerts; they wait. A server that is not there is none of that.
    var isThere: Bool { get }

    func start()
    func stop()

    /// `then` comes once: with what tells the shown alert from others as long as the server lives, or why it is not shown.
    func show(
        _ alert: PresentedAlert, replacing handle: String?,
        then: @escaping @EventLoop (Result<String?, PresenterError>) -> Void)

    /// Takes it from the screen, as far as it is there.
    func withdraw(_ key: AlertKey, handle: String?)

    /// 0 takes it away.
    func setBadge(_ count: Int64)
}

struct PresenterState: Sendable {
    var kind: String
    var isReady: Bool
    var server: String?
    var capabilities: [String]?
    var problem: String?
}

/// Why an alert is not on the screen, for people.
struct PresenterError: Error {
    let message: String
}

/// What presenters tell.
enum PresenterEvent: Sendable {
    /// It is there, for the first time or again.
    case ready
    case gone(String)
    /// The user did something: `default`, `dismiss`, or an action's id.
    case responded(AlertKey, action: String, text: String?)
    /// It is on the screen no more, and nobody has answered it.
    case closed(AlertKey)
}

/// An alert as it is to be shown.
struct PresentedAlert: Sendable {
    let key: AlertKey
    let content: AlertContent
    let actions: [Categories.Action]
    let presentation: Presentation
    /// Without light or sound: authorized provisionally.
    let isQuiet: Bool
    let isReminder: Bool
    /// It stays until it is answered: the library's own, whether alerts may be shown.
    var isQuestion = false
}
