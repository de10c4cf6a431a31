import CBellwire
import JSON

/// One run of `bellwire inbox`.
struct InboxRun {
    private let arguments: Arguments
    private let action: String
    private let ids: [String]
    private let json: Bool
    private let session: DeviceSession

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        action = arguments.operands.first ?? "list"
        ids = Array(arguments.operands.dropFirst())
        json = arguments.has(.json)
        let takesIDs = action == "delete" || action == "read" && !arguments.has(Command.inboxAll)
        guard ["list", "refresh", "read", "delete", "clear"].contains(action) else {
            throw InboxRun.misuse("unknown action \"\(action)\"; actions are list, refresh, read, delete, clear")
        }
        guard takesIDs == !ids.isEmpty else {
            throw InboxRun.misuse(
                takesIDs
                    ? "\(action) needs the IDs of notifications\(action == "read" ? ", or --all" : "")"
                    : "\(action) takes no ID here")
        }
        if arguments.has(Command.inboxAll), action != "read" { throw InboxRun.misuse("--all requires read") }
        if action != "list", let option = HistoryFilter.options.first(where: arguments.has) {
            throw InboxRun.misuse("--\(option.name) requires list")
        }
        if action == "list" || action == "refresh", arguments.has(DesktopChange.queueOnly) {
            throw InboxRun.misuse("--queue requires read, delete or clear")
        }
        session = try DeviceSession(arguments)
    }

    private static func misuse(_ problem: String) -> Failure {
        Failure(.usage, "\(problem) (see bellwire inbox --help)")
    }

    func run() throws(Failure) -> Exit {
        switch action {
        case "refresh": return try refresh()
        case "read" where arguments.has(Command.inboxAll): try markAll()
        case "read", "delete": try change()
        case "clear": try clear()
        default: try list()
        }
        return .done
    }

    // MARK: Reading

    private func list() throws(Failure) {
        var params = try HistoryFilter.params(arguments, of: "inbox")
        if arguments.has(.desktop) { params["desktop"] = .string(try session.desktop(arguments).id) }
        let page = try load(params)
        if json { return Output.json(page) }
        NotificationLine.list(
            page, unread: page["unread"]?.integer,
            isFiltered: HistoryFilter.isFiltered(arguments) || arguments.has(.desktop), empty: "the inbox is empty")
    }

    private func load(_ params: JSONObject) throws(Failure) -> JSONValue {
        try result { bw_inbox_load(session.pointer, JSONValue.object(params).serialized(), $0) }
    }

    /// Of each desktop, or that of `--to`: those that are away hinder no others.
    private func refresh() throws(Failure) -> Exit {
        var desktops = try session.desktops()
        if desktops.isEmpty || arguments.has(.desktop) { desktops = [try session.desktop(arguments)] }
        let timeout = Int64(try arguments.milliseconds(DesktopChange.timeout))
        var end = Exit.done
        for desktop in desktops {
            let deadline = Clock.now &+ timeout
            do throws(Failure) {
                try session.connect(to: desktop, until: deadline)
                let answer = try session.answer(of: desktop, until: deadline) { left, completion, userData, destroy in
                    bw_inbox_refresh_async(session.pointer, desktop.id, left, completion, userData, destroy)
                }
                show(answer, of: desktop)
            } catch {
                if desktops.count == 1 || error.exit.isInterruption { throw error }
                Output.failure(error, json: json)
                end = error.exit
            }
        }
        return end
    }

    private func show(_ answer: JSONValue, of desktop: PairedPeer) {
        if json {
            var object: JSONObject = ["desktop": .string(desktop.id)]
            object.merge(answer.object ?? [:])
            return Output.json(.object(object))
        }
        let counts = ["added", "updated", "dropped"].map { "\(answer[$0]?.integer ?? 0) \($0)" }
        Output.line("\(desktop.name): \(counts.joined(separator: ", ")); \(answer["unread"]?.integer ?? 0) unread.")
    }

    // MARK: Changing

    private func markAll() throws(Failure) {
        let desktop = try session.desktop(arguments)
        let answer = try DesktopChange(session, desktop, arguments).carryOut { left, completion, userData, destroy in
            bw_inbox_mark_all_read_async(session.pointer, desktop.id, left, completion, userData, destroy)
        }
        DesktopChange.say(
            answer, of: desktop, json: json, done: "Marked all notifications from \(desktop.name) as read.")
    }

    private func clear() throws(Failure) {
        let desktop = try session.desktop(arguments)
        let answer = try DesktopChange(session, desktop, arguments).carryOut { left, completion, userData, destroy in
            bw_inbox_clear_async(session.pointer, desktop.id, left, completion, userData, destroy)
        }
        DesktopChange.say(answer, of: desktop, json: json, done: "Deleted all notifications from \(desktop.name).")
    }

    private func change() throws(Failure) {
        let only: JSONValue? = arguments.has(.desktop) ? .string(try session.desktop(arguments).id) : nil
        let rows = try InboxRow.find(ids, of: only, load: load)
        let paired = try session.desktops()
        var changes: [String: DesktopChange] = [:]
        for row in rows {
            // Rows of a desktop that is not paired any more are changed here alone.
            let peer = PairedPeer(["id": .string(row.desktop)])
            guard let desktop = paired.first(where: { $0.id == row.desktop }) ?? peer else { continue }
            let isPaired = paired.contains { $0.id == row.desktop }
            let change: DesktopChange
            if let begun = changes[row.desktop] {
                change = begun
            } else {
                change = try DesktopChange(session, desktop, arguments)
                changes[row.desktop] = change
            }
            if !isPaired { change.staysHere() }
            let answer = try change.carryOut { left, completion, userData, destroy in
                action == "read"
                    ? bw_inbox_mark_read_async(
                        session.pointer, row.desktop, row.id, left, completion, userData, destroy)
                    : bw_inbox_delete_async(session.pointer, row.desktop, row.id, left, completion, userData, destroy)
            }
            let done = "\(Printable.line(row.id)) is \(action == "read" ? "read" : "deleted")."
            let what: JSONObject = ["notificationId": .string(row.id)]
            DesktopChange.say(answer, of: desktop, json: json, what: what, done: done)
        }
    }
}

/// Identifies a row of the inbox.
struct InboxRow {
    let desktop: String
    let id: String

    /// The rows with these ids, or the only ones whose ids begin so.
    static func find(
        _ wanted: [String], of desktop: JSONValue?, load: (JSONObject) throws(Failure) -> JSONValue
    ) throws(Failure) -> [InboxRow] {
        var all: [InboxRow] = []
        var before: JSONValue?
        repeat {
            let page = try load(["limit": 500, "before": before, "desktop": desktop])
            all += (page["notifications"]?.array ?? []).compactMap { row in
                guard let desktop = row["desktop"]?.string, let id = row["id"]?.string else { return nil }
                return InboxRow(desktop: desktop, id: id)
            }
            before = page["next"]
        } while before != nil
        return try wanted.map { word throws(Failure) in
            let exact = all.filter { $0.id == word }
            let found = exact.isEmpty ? all.filter { !word.isEmpty && $0.id.hasPrefix(word) } : exact
            guard let row = found.first else {
                throw Failure(.notPaired, "no notification \"\(word)\" in the inbox (see bellwire inbox)")
            }
            guard found.count == 1 else {
                throw Failure(.usage, "\"\(word)\" matches \(found.count) notifications; give more of the id")
            }
            return row
        }
    }
}
