package import JSON
package import Wire

/// The parameters of `getHistory`: which rows, in which order, and which part of them.
package struct HistoryQuery: Sendable, Equatable {
    package enum Sort: String, Sendable, Hashable, CaseIterable {
        case newest, oldest
        /// The most urgent first, and the newest of each.
        case priority
        /// What was not read first, and the newest of each.
        case unread
    }

    package var limit: Int64 = 50
    package var offset: Int64 = 0
    package var unreadOnly = false
    /// Words that all stand in the title or the text.
    package var query: String?
    package var priority: Priority?
    package var source: NotificationSource?
    /// Created at this moment or later.
    package var since: EpochMilliseconds?
    /// Created at this moment or earlier.
    package var until: EpochMilliseconds?
    /// Begins after this row in the order that is asked for: the `next` of a page, or a notification's id.
    package var before: String?
    package var sort = Sort.newest

    package init() {}

    /// `limit` of a page.
    package static let pageLimit: ClosedRange<Int64> = 1...500

    /// The host's own parameters: every type and name is checked.
    package init(host params: JSONObject) throws(NotificationsError) {
        let reader = try ParameterReader(
            params,
            allowing: [
                "limit", "offset", "unreadOnly", "query", "priority", "source", "since", "until", "before", "sort",
            ])
        try self.init(reader)
        if let limit = try reader.integer("limit", in: HistoryQuery.pageLimit) { self.limit = limit }
    }

    /// A peer's parameters: unknown ones are ignored. Whoever wants more gets the largest page; `total` tells that there is
    /// more.
    package init(peer params: JSONObject) throws(NotificationsError) {
        let reader = ParameterReader(params)
        try self.init(reader)
        guard let limit = try reader.integer("limit") else { return }
        guard limit >= 1 else { throw .parameter("limit", "must be from 1 to 500") }
        self.limit = min(limit, HistoryQuery.pageLimit.upperBound)
    }

    private init(_ reader: ParameterReader) throws(NotificationsError) {
        offset = try reader.integer("offset") ?? 0
        guard offset >= 0 else { throw .parameter("offset", "must not be negative") }
        unreadOnly = try reader.flag("unreadOnly") ?? false
        query = try reader.text("query", limit: SearchText.limit)
        if let name = try reader.text("priority", limit: 64) {
            guard let known = Priority(name: name) else {
                throw .parameter("priority", "must be low, normal, high or urgent")
            }
            priority = known
        }
        if let name = try reader.text("source", limit: 64) {
            guard let known = NotificationSource(rawValue: name) else {
                throw .parameter("source", "must be pc or mobile")
            }
            source = known
        }
        since = try reader.moment("since", "startDate")
        until = try reader.moment("until", "endDate")
        before = try reader.present("before") == nil ? nil : reader.required("before", limit: MethodParameters.idLimit)
        guard before == nil || offset == 0 else { throw .parameter("offset", "goes without before") }
        if let name = try reader.text("sort", limit: 64) {
            guard let known = Sort(rawValue: name) else {
                throw .parameter("sort", "must be newest, oldest, priority or unread")
            }
            sort = known
        }
    }

    /// For any desktop: `since` also as `startDate` (`protocol.md` 3).
    package var wire: JSONObject {
        [
            "limit": .integer(limit),
            "offset": .integer(offset),
            "unreadOnly": .bool(unreadOnly),
            "query": query.map(JSONValue.string),
            "priority": priority.map { .string($0.name) },
            "source": source.map { .string($0.rawValue) },
            "since": since.map(JSONValue.integer),
            "startDate": since.map(JSONValue.integer),
            "until": until.map(JSONValue.integer),
            "before": before.map(JSONValue.string),
            "sort": sort == .newest ? nil : .string(sort.rawValue),
        ]
    }
}
