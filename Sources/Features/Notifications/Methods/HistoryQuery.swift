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
    /// A page for a program ends before its rows have more bytes as JSON, escapes included; one row there is always.
    package static let pageBytes = 2 << 20

    /// The host's own parameters: every type and name is checked.
    package init(host params: JSONObject) throws(NotificationsError) {
        try self.init(peer: NotificationMethod.getHistory.row.wire(from: params))
    }

    /// A peer's parameters: unknown ones are ignored. Whoever wants more gets the largest page; `total` tells that there is
    /// more.
    package init(peer params: JSONObject) throws(NotificationsError) {
        let reader = ParameterReader(params)
        offset = try reader.value(.offset)?.integer ?? 0
        unreadOnly = try reader.value(.unreadOnly)?.bool ?? false
        query = try reader.value(.query)?.string
        priority = try reader.value(.historyPriority)?.string.flatMap(Priority.init(name:))
        source = try reader.value(.source)?.string.flatMap(NotificationSource.init(rawValue:))
        since = try reader.value(.since)?.integer
        until = try reader.value(.until)?.integer
        before = try reader.value(.before)?.string
        sort = try reader.value(.sort)?.string.flatMap(Sort.init(rawValue:)) ?? .newest
        _ = try HistoryQuery.rule(wire)
        guard let limit = try reader.integer("limit") else { return }
        guard limit >= 1 else { throw .parameter("limit", "must be from 1 to 500") }
        self.limit = min(limit, HistoryQuery.pageLimit.upperBound)
    }

    /// Two ways to say where a page begins.
    static func rule(_ wire: JSONObject) throws(NotificationsError) -> JSONObject {
        guard wire["before"] == nil || wire["offset"] == 0 else {
            throw .parameter("offset", "cannot be combined with before")
        }
        return wire
    }

    /// For any desktop.
    package var wire: JSONObject {
        let values: JSONObject = [
            "limit": .integer(limit),
            "offset": .integer(offset),
            "unreadOnly": .bool(unreadOnly),
            "query": query.map(JSONValue.string),
            "priority": priority.map { .string($0.name) },
            "source": source.map { .string($0.rawValue) },
            "since": since.map(JSONValue.integer),
            "until": until.map(JSONValue.integer),
            "before": before.map(JSONValue.string),
            "sort": .string(sort.rawValue),
        ]
        var wire: JSONObject = [:]
        for parameter in HistoryQuery.parameters {
            if let value = values[parameter.name] { parameter.write(value, to: &wire) }
        }
        return wire
    }
}

extension HistoryQuery {
    static let parameters: [Parameter] = [
        .limit, .offset, .unreadOnly, .query, .historyPriority, .source, .since, .until, .before, .sort,
    ]
}

extension Parameter {
    fileprivate static let limit = Parameter("limit", .number(HistoryQuery.pageLimit)).standard(50)
    fileprivate static let offset = Parameter("offset", .natural).standard(0)
    fileprivate static let unreadOnly = Parameter("unreadOnly", .flag).standard(false)
    fileprivate static let query = Parameter("query", .text(limit: SearchText.limit))
    fileprivate static let historyPriority = Parameter("priority", .priority)
    fileprivate static let source = Parameter("source", .choice(["pc", "mobile"]))
    fileprivate static let since = Parameter("since", .natural).also("startDate")
    fileprivate static let until = Parameter("until", .natural).alias("endDate")
    fileprivate static let before = Parameter("before", .id)
    fileprivate static let sort = Parameter("sort", .choice(HistoryQuery.Sort.allCases.map(\.rawValue)))
        .written(.unless("newest"))
}
