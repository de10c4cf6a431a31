import JSON

/// A notification as one line of text: time, priority, source, title, body.
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

    /// Prints a page of a history, one line per notification: * if unread, and at the end its id, which commands take as
    /// an operand. On a terminal also prints the counts.
    ///
    /// - Parameters:
    ///   - isFiltered: whether only some were asked for.
    ///   - empty: the sentence for a history without notifications.
    static func list(_ page: JSONValue, unread: Int64?, isFiltered: Bool, empty: String) {
        let rows = page["notifications"]?.array ?? []
        for row in rows {
            let mark = row["read"]?.bool == true ? " " : Style.bold.of("*")
            let id = Style.dim.of(Printable.line(row["id"]?.string ?? ""))
            Output.line("\(mark) \(text(row))  \(id)")
        }
        if rows.isEmpty { return Output.notice(isFiltered ? "no notification matches" : empty) }
        guard Output.isTerminal else { return }
        let total = page["total"]?.integer ?? Int64(rows.count)
        Output.notice("\(rows.count) of \(total) shown, \(unread ?? 0) unread")
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
