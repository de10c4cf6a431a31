import Alerts
import JSON
import Wire

extension AlertContent {
    /// What a desktop's `notification.received` says, as the alert of a push that says the same.
    init(notification: JSONValue) {
        func text(_ name: String) -> String? { notification[name]?.string }
        self.init(
            push: text("title") ?? "", subtitle: text("subtitle"), body: text("body") ?? "",
            priority: text("priority").flatMap { Wire.Priority(name: $0) } ?? .normal,
            source: text("source").flatMap { NotificationSource(rawValue: $0) } ?? .pc, category: text("category"),
            thread: text("threadId"), badge: nil, sound: text("sound"), data: notification["data"]?.object,
            deepLink: text("deepLink"))
    }
}
