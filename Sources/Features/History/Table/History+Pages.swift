import JSON
import Listing
package import Notifications
package import Store
import Wire

extension History {
    /// A part of the history.
    package struct Page: Sendable, Equatable {
        package let notifications: [Notification]
        /// How many the same question matches in all.
        package let total: Int64
        /// How many of the whole history are unread.
        package let unreadCount: Int64
        /// Where the next page begins, as its `before`; `nil` on the last page.
        package let next: String?
        /// False for a search while the oldest texts are still being indexed: those are not found, nor counted.
        package var isComplete = true
    }

    /// Answers a question; `nil` when its `before` names no row.
    /// A search reads along the full-text index, in order of arrival; everything else is in order of creation time. The
    /// two differ only if the desktop's clock was set back.
    ///
    /// - Parameter bytes: ends the page before its rows, as JSON, are more; one row there is always.
    package func page(_ query: HistoryQuery, bytes: Int = HistoryQuery.pageBytes) throws(StoreError) -> Page? {
        var cursor: HistoryCursor?
        if let before = query.before {
            cursor = try place(of: before)
            guard cursor != nil else { return nil }
        }
        let found: (rows: [Int64], total: Int64)
        var isComplete = true
        if let words = query.query.flatMap(SearchText.expression) {
            let indexer = TextIndexer(History.text, connection)
            isComplete = try indexer.catchUp()
            let search = HistorySearch(query, words: words, after: cursor, withoutGone: try indexer.hasGone())
            found = (try rows(search.page, query), try connection.integer(search.count.sql, search.count.values))
        } else {
            found = (try rows(HistoryRuns(query, after: cursor).page, query), try count(query))
        }
        // One more than asked for was looked up, to see whether there is one.
        let shown = found.rows.prefix(Int(clamping: query.limit))
        var notifications: [Notification] = []
        var last: HistoryCursor?
        var size = 0
        var isCut = false
        for row in shown {
            guard let notification = try read(row) else { continue }
            size &+= JSONValue.object(notification.historyItem(isBellwire: true)).serializedCount
            isCut = size > bytes && last != nil
            if isCut { break }
            notifications.append(notification)
            last = HistoryCursor(notification, row: row)
        }
        let next = isCut || found.rows.count > shown.count ? last?.text : nil
        return Page(
            notifications: notifications, total: found.total, unreadCount: try counts().unread, next: next,
            isComplete: isComplete)
    }

    private func rows(_ page: SQLText?, _ query: HistoryQuery) throws(StoreError) -> [Int64] {
        guard let page else { return [] }
        return try connection.query(
            "\(page.sql) LIMIT ? OFFSET ?", page.values + [.integer(query.limit &+ 1), .integer(query.offset)]
        ) { (row) throws(StoreError) in try row.integer(0) }
    }

    private func place(of before: String) throws(StoreError) -> HistoryCursor? {
        if let cursor = HistoryCursor(before) { return cursor }
        return try connection.first(
            "SELECT row, \(StoredNotification.columns) FROM history WHERE id = ?", [.text(before)]
        ) { (row) throws(StoreError) in
            HistoryCursor(try StoredNotification.read(row, from: 1), row: try row.integer(0))
        }
    }

    private func read(_ row: Int64) throws(StoreError) -> Notification? {
        try connection.first(
            "SELECT \(StoredNotification.columns) FROM history WHERE row = ?", [.integer(row)]
        ) { (row) throws(StoreError) in try StoredNotification.read(row) }
    }

    // MARK: Counting

    /// How many rows a question without words matches: whole days by their tally, the rest along an index.
    private func count(_ query: HistoryQuery) throws(StoreError) -> Int64 {
        let facets = HistoryFacets(query)
        guard query.since != nil || query.until != nil else {
            guard query.source != nil || query.priority != nil else {
                let (total, unread) = try counts()
                return query.unreadOnly ? unread : total
            }
            return try tally(facets, days: nil)
        }
        // So far no clock goes, and no arithmetic overflows.
        let far: Int64 = 1 << 53
        let (since, until) = (min(query.since ?? 0, far), min(query.until ?? far, far))
        guard since <= until else { return 0 }
        let day = History.dayLength
        let firstWhole = (since + day - 1) / day
        let lastWhole = (until + 1) / day - 1
        guard firstWhole <= lastWhole else { return try countRows(facets, from: since, through: until) }
        return try tally(facets, days: firstWhole...lastWhole)
            + countRows(facets, from: since, through: firstWhole * day - 1)
            + countRows(facets, from: (lastWhole + 1) * day, through: until)
    }

    private func tally(_ facets: HistoryFacets, days: ClosedRange<Int64>?) throws(StoreError) -> Int64 {
        try HistoryCounts(connection).tally()
        var text = SQLText("SELECT ifnull(sum(n), 0) FROM history_tally")
        if let days {
            text.add(condition: "day >= ? AND day <= ?", [.integer(days.lowerBound), .integer(days.upperBound)])
        }
        if let source = facets.source { text.add(condition: "source = ?", [.text(source.rawValue)]) }
        if let priority = facets.priority { text.add(condition: "priority = ?", [.integer(priority.rawValue)]) }
        if facets.unreadOnly { text.add(condition: "read = 0") }
        return try connection.integer(text.sql, text.values)
    }

    private func countRows(
        _ facets: HistoryFacets, from since: Int64, through until: Int64
    ) throws(StoreError) -> Int64 {
        guard since <= until else { return 0 }
        var count: Int64 = 0
        for run in facets.runs {
            var text = SQLText("SELECT count(*) FROM history")
            text.add(run)
            text.add(condition: "created_at >= ? AND created_at <= ?", [.integer(since), .integer(until)])
            count &+= try connection.integer(text.sql, text.values)
        }
        return count
    }
}
