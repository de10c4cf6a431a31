import JSON

/// A notification as one line for people: time, priority, source, title, body.
enum NotificationLine {
    static func text(_ notification: JSONValue) -> String {
        let time = Clock.text(ofEpochMilliseconds: notification["createdAt"]?.integer ?? 0)
        let priority = notification["priority"]?.string ?? "normal"
        let source = Printable.padded(Printable.line(notification["source"]?.string ?? "pc"), to: 6)
        let title = Printable.line(notification["title"]?.string ?? "")
        let body = Printable.line(notification["body"]?.string ?? "")
        let padded = Printable.padded(Printable.line(priority), to: 6)
        return [Style.dim.of(time), style(of: priority)?.of(padded) ?? padded, source, Style.bold.of(title), body]
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private static func style(of priority: String) -> Style? {
        switch priority {
        case "urgent": .alarming
        case "high": .yellow
        case "low": .dim
        default: nil
        }
    }
}
