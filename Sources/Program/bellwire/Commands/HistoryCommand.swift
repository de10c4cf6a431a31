import CBellwire
import JSON

extension Command {
    static let history = Command(
        name: "history",
        summary: "Shows a desktop's past notifications, newest first.",
        about: [
            """
            Asks a paired desktop for its history and prints a line for each notification: * if unread, time, \
            priority, source, title, body, id. With --json it prints the desktop's answer, an object with "notifications", \
            "total" and "unreadCount". To see this device's stored copy, also while the desktop is offline, use \
            bellwire inbox.
            """
        ],
        operands: [],
        ownOptions: HistoryFilter.options + [.desktop, historyTimeout] + DeviceSession.options,
        examples: [
            Example(line: "bellwire history --limit 10 --unread", says: "The ten newest unread notifications."),
            Example(
                line: "bellwire history --search 'build fail*' --since 2d", says: "Failed builds of the last two days."),
            Example(line: "bellwire history --json | jq -r '.notifications[].title'", says: "Only the titles."),
        ],
        run: { arguments throws(Failure) in try runHistory(arguments) })

    private static let historyTimeout = Option.timeout(30, "How long to wait for the connection and the answer.")

    private static func runHistory(_ arguments: Arguments) throws(Failure) -> Exit {
        let timeout = try arguments.milliseconds(historyTimeout)
        let deadline = Clock.now &+ Int64(timeout)
        let params = JSONValue.object(try HistoryFilter.params(arguments, of: "history")).serialized()
        let session = try DeviceSession(arguments)
        let desktop = try session.desktop(arguments)
        if let option = HistoryFilter.special.first(where: arguments.has), !desktop.isEncrypted {
            Output.notice("\(desktop.name) may ignore --\(option.name); bellwire inbox supports it")
        }
        try session.connect(to: desktop, until: deadline)
        let answer = try session.answer(of: desktop, until: deadline) { left, completion, userData, destroy in
            bw_notification_get_history_async(
                session.pointer, desktop.id, params, left, completion, userData, destroy)
        }
        if arguments.has(.json) {
            Output.json(answer)
            return .done
        }
        NotificationLine.list(
            answer, unread: answer["unreadCount"]?.integer, isFiltered: HistoryFilter.isFiltered(arguments),
            empty: "the history of \(desktop.name) is empty")
        return .done
    }
}
