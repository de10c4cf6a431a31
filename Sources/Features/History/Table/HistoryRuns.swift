import Listing
import Notifications
import Store
import Wire

/// The part of a query that selects rows by columns with few values.
struct HistoryFacets {
    /// The rows that have all of these, in the order of time: one run of the index `history_facets`.
    struct Run {
        let source: NotificationSource
        let priority: Priority
        let read: Bool
    }

    let source: NotificationSource?
    let priority: Priority?
    let unreadOnly: Bool

    init(_ query: HistoryQuery) { (source, priority, unreadOnly) = (query.source, query.priority, query.unreadOnly) }

    /// At most sixteen.
    var runs: [Run] {
        var runs: [Run] = []
        for source in source.map({ [$0] }) ?? NotificationSource.allCases {
            for priority in priority.map({ [$0] }) ?? Priority.allCases {
                for read in unreadOnly ? [false] : [false, true] {
                    runs.append(Run(source: source, priority: priority, read: read))
                }
            }
        }
        return runs
    }
}

extension SQLText {
    mutating func add(_ run: HistoryFacets.Run) {
        add(" INDEXED BY history_facets")
        add(
            condition: "source = ? AND priority = ? AND read = ?",
            [.text(run.source.rawValue), .integer(run.priority.rawValue), .flag(run.read)])
    }
}

/// A question without words as SQL: its rows' numbers, in order, read along indices alone.
///
/// Several runs of `history_facets` are merged by SQLite, which takes from each only what it needs.
struct HistoryRuns {
    /// Without its limit; `nil` when nothing can match.
    let page: SQLText?

    init(_ query: HistoryQuery, after cursor: HistoryCursor?) {
        let order =
            switch query.sort {
            case .newest: "created_at DESC, row DESC"
            case .oldest: "created_at, row"
            case .priority: "priority DESC, created_at DESC, row DESC"
            case .unread: "read, created_at DESC, row DESC"
            }
        let arms = HistoryFacets(query).runs.compactMap { HistoryRuns.arm(query, $0, after: cursor) }
        guard !arms.isEmpty else {
            page = nil
            return
        }
        page = SQLText(
            arms.map(\.sql).joined(separator: " UNION ALL ") + " ORDER BY \(order)", arms.flatMap(\.values))
    }

    /// All rows, as `row` and `created_at` in that order of these two.
    static func all(_ order: String) -> String { "\(each.joined(separator: " UNION ALL ")) ORDER BY \(order)" }

    /// Each run of all rows.
    static let each = HistoryFacets(HistoryQuery()).runs.map { run in
        """
        SELECT row, created_at FROM history INDEXED BY history_facets WHERE source = '\(run.source.rawValue)' \
        AND priority = \(run.priority.rawValue) AND read = \(run.read ? 1 : 0)
        """
    }

    /// `nil` for a run that lies before the cursor as a whole.
    private static func arm(_ query: HistoryQuery, _ run: HistoryFacets.Run, after cursor: HistoryCursor?) -> SQLText? {
        // What the rows are ordered by stands among the columns, else they could not be merged.
        var arm: SQLText
        switch query.sort {
        case .newest, .oldest: arm = SQLText("SELECT row, created_at FROM history")
        case .priority: arm = SQLText("SELECT row, created_at, priority FROM history")
        case .unread: arm = SQLText("SELECT row, created_at, read FROM history")
        }
        arm.add(run)
        if let since = query.since { arm.add(condition: "created_at >= ?", [.integer(since)]) }
        if let until = query.until { arm.add(condition: "created_at <= ?", [.integer(until)]) }
        guard let cursor else { return arm }
        var isSameRank = true
        switch query.sort {
        case .newest, .oldest: break
        case .priority:
            guard run.priority.rawValue <= cursor.priority else { return nil }
            isSameRank = run.priority.rawValue == cursor.priority
        case .unread:
            guard run.read || !cursor.read else { return nil }
            isSameRank = run.read == cursor.read
        }
        if isSameRank {
            let comparison = query.sort == .oldest ? ">" : "<"
            arm.add(
                condition: "(created_at, row) \(comparison) (?, ?)", [.integer(cursor.createdAt), .integer(cursor.row)])
        }
        return arm
    }
}
