import JSON

/// The filter options of history and inbox.
enum HistoryFilter {
    /// Bellwire desktops and the inbox support these; other desktops support only ``plain``.
    static let special = [search, priority, source, since, until, before, sort]
    static let plain = [unread, limit, offset]
    static let options = special + plain

    private static let unread = Option("unread", "Only unread notifications.")
    private static let search = Option(
        "search", .required("WORDS"), "Only notifications that contain all these words; buil* matches a prefix.")
    private static let priority = Option(
        "priority", short: "p", .required("LEVEL"), "Only notifications with this priority; 1 to 5 as for send.",
        choices: Priority.words)
    private static let source = Option(
        "source", .required("SOURCE"), "Only notifications from the desktop (pc) or from devices (mobile).",
        choices: ["pc", "mobile"])
    private static let since = Option(
        "since", .required("TIME"),
        """
        Only notifications created at or after this time: 2026-11-22, "2026-11-22 14:30", 14:30 (today), today, \
        yesterday, or an age such as 90s, 15m, 2h, 3d, 1w.
        """)
    private static let until = Option("until", .required("TIME"), "Only notifications created at or before this time.")
    private static let before = Option(
        "before", .required("TIME"),
        "Only notifications created before this time; for the next page, that of the last notification.")
    private static let sort = Option(
        "sort", .required("ORDER"), "newest, oldest, priority (most urgent first) or unread (unread first).",
        initial: "newest",
        choices: ["newest", "oldest", "priority", "unread"])
    private static let limit = Option(
        "limit", short: "n", .required("N"), "Maximum number of notifications, 1 to 500.", initial: "50")
    private static let offset = Option("offset", .required("N"), "How many notifications to skip.", initial: "0")

    /// Whether there may be notifications that the given options leave out.
    static func isFiltered(_ arguments: Arguments) -> Bool {
        [unread, offset, search, priority, source, since, until, before].contains(where: arguments.has)
    }

    /// As parameters of notification.getHistory.
    static func params(_ arguments: Arguments, of command: String) throws(Failure) -> JSONObject {
        try arguments.exclude([until, before], of: command)
        let last = try moment(until, arguments)
        return [
            "limit": try arguments.integer(limit, in: 1...500).map { .integer(Int64($0)) },
            "offset": try arguments.integer(offset, in: 0...Int(Int32.max)).map { .integer(Int64($0)) },
            "unreadOnly": arguments.has(unread) ? true : nil,
            "query": arguments.text(search).map { .string($0) },
            "priority": arguments.text(priority).map { .string(Priority.name(of: $0)) },
            "source": arguments.text(source).map { .string($0) },
            "since": try moment(since, arguments).map { .integer($0) },
            "until": (try moment(before, arguments)?.advanced(by: -1) ?? last).map { .integer($0) },
            "sort": arguments.text(sort).map { .string($0) },
        ]
    }

    private static func moment(_ option: Option, _ arguments: Arguments) throws(Failure) -> Int64? {
        guard let text = arguments.text(option) else { return nil }
        guard let moment = Moment.parse(text) else {
            throw Failure(
                .usage,
                "--\(option.name): \"\(text)\" is not a time; examples: 2026-11-22, 14:30, today, 2h (see --help)")
        }
        return moment
    }
}
