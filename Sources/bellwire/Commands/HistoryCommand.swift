import CBellwire
import JSON

extension Command {
    static let history = Command(
        name: "history",
        summary: "Shows a desktop's past notifications, newest first.",
        about: [
            """
            Asks a paired desktop for its history and prints a line for each notification: * where it is unread, time, \
            priority, source, title, body. With --json, the desktop's answer, an object with "notifications", "total" \
            and "unreadCount".
            """
        ],
        operands: [],
        ownOptions: [limit, offset, unread, .desktop, historyTimeout] + DeviceSession.options,
        examples: [
            Example(line: "bellwire history --limit 10 --unread", says: "The ten newest that nobody has read."),
            Example(line: "bellwire history --json | jq -r '.notifications[].title'", says: "The titles."),
        ],
        run: { arguments throws(Failure) in try runHistory(arguments) })

    private static let limit = Option(
        "limit", short: "n", .required("N"), "How many at most (1 to 500).", initial: "50")
    private static let offset = Option("offset", .required("N"), "How many of the newest to leave out.", initial: "0")
    private static let unread = Option("unread", "Only those that are unread.")
    private static let historyTimeout = Option.timeout(30, "How long to wait for the connection and the answer.")

    private static func runHistory(_ arguments: Arguments) throws(Failure) -> Exit {
        let timeout = try arguments.milliseconds(historyTimeout)
        let deadline = Clock.now &+ Int64(timeout)
        let params: JSONValue = [
            "limit": try arguments.integer(limit, in: 1...500).map { .integer(Int64($0)) },
            "offset": try arguments.integer(offset, in: 0...Int(Int32.max)).map { .integer(Int64($0)) },
            "unreadOnly": .bool(arguments.has(unread)),
        ]
        let session = try DeviceSession(arguments)
        let desktop = try session.desktop(arguments)
        try session.connect(to: desktop, until: deadline)
        let left = Int32(clamping: max(1, deadline &- Clock.now))
        let answer = try session.handle.completion { completion, userData, destroy in
            bw_notification_get_history_async(
                session.pointer, desktop.id, params.serialized(), left, completion, userData, destroy)
        }
        if arguments.has(.json) {
            Output.json(answer)
            return .done
        }
        let rows = answer["notifications"]?.array ?? []
        for row in rows { Output.line("\(row["read"]?.bool == true ? " " : "*") \(NotificationLine.text(row))") }
        if Output.isTerminal || rows.isEmpty {
            let total = answer["total"]?.integer ?? Int64(rows.count)
            Output.notice("\(rows.count) of \(total) shown, \(answer["unreadCount"]?.integer ?? 0) unread")
        }
        return .done
    }
}
