import JSON

/// A notification as one line for people: time, priority, source, title, body.
enum NotificationLine {
    static func text(_ notification: JSONValue) -> String {
        let time = Clock.text(ofEpochMilliseconds: notification["createdAt"]?.integer ?? 0)
        let priority = Printable.padded(notification["priority"]?.string ?? "normal", to: 6)
        let source = Printable.padded(notification["source"]?.string ?? "pc", to: 6)
        let title = Printable.line(notification["title"]?.string ?? "")
        let body = Printable.line(notification["body"]?.string ?? "")
        return [time, Printable.line(priority), Printable.line(source), title, body]
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }
}
