import Alerts
import CBellwire
import DeviceAlerts
import JSON
import Transport

/// Shows what devices send to a desktop as alerts of the desktop environment, as a device shows its pushes.
///
/// An alert leaves the screen once its notification is read or deleted, by whomever. "Mark as read" marks it in the
/// desktop's history. What cannot be shown is reported once.
final class DesktopAlerts {
    private enum Message: Sendable {
        case failed(String)
        case marked(String)
    }

    private let handle: Handle
    private let mail: LoopMail<Message>
    private let screen: AlertScreen
    private var hasFailed = false

    var descriptor: Int32 { mail.descriptor }

    init(_ handle: Handle) throws(Failure) {
        self.handle = handle
        let mail = try LoopMail<Message>()
        self.mail = mail
        screen = AlertScreen { event in
            switch event {
            case .failed(let message): mail.put(.failed(message))
            case .marked(let id): mail.put(.marked(id))
            }
        }
        EventLoop.post { [screen] in screen.start() }
    }

    /// Banners stay on the screen.
    func close() {
        EventLoop.post { [screen] in screen.stop() }
    }

    /// An event of the desktop's.
    func take(_ event: String, _ data: JSONValue) {
        switch event {
        case "notification.received":
            guard let id = data["id"]?.string, data["silenced"]?.bool != true else { return }
            let content = AlertContent(notification: data)
            let moment = data["createdAt"]?.integer ?? 0
            EventLoop.post { [screen] in screen.show(id, content, createdAt: moment) }
        case "notification.read", "notification.deleted":
            let ids = (data["ids"]?.array ?? []).compactMap(\.string)
            EventLoop.post { [screen] in screen.withdraw { id, _ in ids.contains(id) } }
        case "notification.cleared":
            guard let before = data["before"]?.integer else { return }
            EventLoop.post { [screen] in screen.withdraw { _, createdAt in createdAt < before } }
        default: break
        }
    }

    /// To be called when ``descriptor`` is readable.
    func serve() throws(Failure) {
        for message in mail.take() {
            switch message {
            case .failed(let problem):
                if !hasFailed { Output.notice("cannot show alerts (--no-alerts turns them off): \(problem)", .yellow) }
                hasFailed = true
            case .marked(let id):
                let params: JSONValue = ["notificationId": .string(id)]
                try handle.begin { completion, userData, destroy in
                    bw_desktop_invoke_async(
                        handle.pointer, "notification.markAsRead", params.serialized(), 10_000, completion, userData,
                        destroy)
                } then: { result in
                    if case .failure(let error) = result { Output.notice(error.message) }
                }
            }
        }
    }
}
