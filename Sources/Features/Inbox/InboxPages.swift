package import JSON
package import Listing
package import Notifications
package import Store
package import Wire

extension Inbox {
    /// One page of the inbox.
    package struct Page: Sendable, Equatable {
        package let items: [Item]
        /// How many rows match the query in all.
        package let total: Int64
        /// Where the next page begins, as its `before`; `nil` on the last page.
        package let next: String?
        /// The text index doesn't have the oldest rows yet: a search may miss them, also in `total`.
        package var isIncomplete = false
    }

    /// A row as hosts see it.
    package struct Item: Sendable, Equatable {
        package let desktop: PeerID
        package let notification: Notification
        /// The answer to a change was lost, so it may be read or deleted on the desktop. The next refresh tells.
        package let isUncertain: Bool

        /// As `bw_inbox_load` gives it.
        package var json: JSONObject {
            var object = notification.receivedData()
            object["desktop"] = .string(desktop.text)
            object["read"] = .bool(notification.read)
            object["readAt"] = notification.readAt.map(JSONValue.integer)
            if isUncertain { object["uncertain"] = true }
            return object
        }
    }
}

/// Answers questions about the inbox, page by page, and keeps its text index.
///
/// Made for one piece of work on the store, over its connection.
package struct InboxPages {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// The rows of one desktop, or of all, that match a query; `nil` if its `before` names no row.
    package func page(_ query: HistoryQuery, of desktop: PeerID?) throws(StoreError) -> Inbox.Page? {
        var cursor: HistoryCursor?
        if let before = query.before {
            cursor = HistoryCursor(before)
            if cursor == nil { cursor = try place(of: before, desktop) }
            guard cursor != nil else { return nil }
        }
        let words = query.query.flatMap(SearchText.expression)
        let indexer = TextIndexer(InboxTables.textIndex, connection)
        let isComplete = words == nil ? true : try indexer.catchUp()
        let total = Self.matching("count(*)", query, desktop, words)
        let page = Self.rows(query, of: desktop, words: words, after: cursor)
        let rows = try connection.query(page.sql, page.values) { (row) throws(StoreError) in try row.integer(0) }
        let shown = rows.prefix(Int(clamping: query.limit))
        var items: [Inbox.Item] = []
        var last: HistoryCursor?
        var size = 0
        var isCut = false
        for row in shown {
            guard let item = try item(row) else { continue }
            size &+= JSONValue.object(item.json).serializedCount
            isCut = size > HistoryQuery.pageBytes && last != nil
            if isCut { break }
            items.append(item)
            last = HistoryCursor(item.notification, row: row)
        }
        return Inbox.Page(
            items: items, total: try connection.integer(total.sql, total.values),
            next: isCut || rows.count > shown.count ? last?.text : nil, isIncomplete: !isComplete)
    }

    /// The numbers of a page's rows, and one more if there is a next page.
    static func rows(
        _ query: HistoryQuery, of desktop: PeerID?, words: String?, after cursor: HistoryCursor?
    ) -> SQLText {
        var page = matching("inbox.row", query, desktop, words)
        if let cursor {
            let rest = condition(query.sort, after: cursor)
            page.add(condition: rest.sql, rest.values)
        }
        page.add(
            " ORDER BY \(order(query.sort)) LIMIT ? OFFSET ?", [.integer(query.limit &+ 1), .integer(query.offset)])
        return page
    }

    private func item(_ row: Int64) throws(StoreError) -> Inbox.Item? {
        try connection.first(
            """
            SELECT (SELECT peer.id FROM peer WHERE peer.number = inbox.desktop), uncertain, \
            \(Inbox.notificationColumns)
            FROM inbox WHERE row = ?
            """, [.integer(row)]
        ) { (row) throws(StoreError) in
            Inbox.Item(
                desktop: PeerID(try row.text(0)), notification: try Inbox.notification(row, from: 2),
                isUncertain: try row.flag(1))
        }
    }

    private static func matching(
        _ columns: String, _ query: HistoryQuery, _ desktop: PeerID?, _ words: String?
    ) -> SQLText {
        // One index has all pages in order, and tells of a row what most queries ask.
        var text = SQLText("SELECT \(columns) FROM inbox INDEXED BY inbox_newest")
        // CROSS JOIN fixes SQLite's loop order: first the index, then its rows.
        if words != nil {
            text = SQLText("SELECT \(columns) FROM inbox_text CROSS JOIN inbox ON inbox.row = inbox_text.rowid")
        }
        if let words {
            text.add(condition: "inbox_text MATCH ?", [.text(words)])
            text.add(condition: "NOT (\(InboxTables.textIndex.isGone))")
        }
        text.add(condition: "inbox.hidden = 0")
        if let desktop { text.add(condition: "inbox.desktop = \(Inbox.number)", [.text(desktop.text)]) }
        if query.unreadOnly { text.add(condition: "inbox.read = 0") }
        if let source = query.source { text.add(condition: "inbox.source = ?", [.text(source.rawValue)]) }
        if let priority = query.priority { text.add(condition: "inbox.priority = ?", [.integer(priority.rawValue)]) }
        if let since = query.since { text.add(condition: "inbox.created_at >= ?", [.integer(since)]) }
        if let until = query.until { text.add(condition: "inbox.created_at <= ?", [.integer(until)]) }
        return text
    }

    private static func order(_ sort: HistoryQuery.Sort) -> String {
        switch sort {
        case .newest: "inbox.created_at DESC, inbox.row DESC"
        case .oldest: "inbox.created_at, inbox.row"
        case .priority: "inbox.priority DESC, inbox.created_at DESC, inbox.row DESC"
        case .unread: "inbox.read, inbox.created_at DESC, inbox.row DESC"
        }
    }

    /// The condition for rows after the cursor in that order.
    private static func condition(_ sort: HistoryQuery.Sort, after cursor: HistoryCursor) -> SQLText {
        let moment = Value.integer(cursor.createdAt)
        let row = Value.integer(cursor.row)
        let older = "(inbox.created_at, inbox.row) < (?, ?)"
        switch sort {
        case .newest: return SQLText(older, [moment, row])
        case .oldest: return SQLText("(inbox.created_at, inbox.row) > (?, ?)", [moment, row])
        case .priority:
            return SQLText(
                "(inbox.priority < ? OR inbox.priority = ? AND \(older))",
                [.integer(cursor.priority), .integer(cursor.priority), moment, row])
        case .unread:
            return SQLText(
                "(inbox.read > ? OR inbox.read = ? AND \(older))",
                [.flag(cursor.read), .flag(cursor.read), moment, row])
        }
    }

    private func place(of id: String, _ desktop: PeerID?) throws(StoreError) -> HistoryCursor? {
        try connection.first(
            """
            SELECT row, \(StoredNotification.columns) FROM inbox
            WHERE desktop IN (SELECT number FROM peer WHERE ?2 IS NULL OR peer.id = ?2) AND id = ?1
            ORDER BY created_at DESC LIMIT 1
            """, [.text(id), .optional(desktop?.text)]
        ) { (row) throws(StoreError) in
            HistoryCursor(try StoredNotification.read(row, from: 1), row: try row.integer(0))
        }
    }

    /// One step of the text index, which takes about a millisecond. `.done` = the index is complete.
    package func indexText() throws(StoreError) -> TextIndexer.Progress {
        try TextIndexer(InboxTables.textIndex, connection).step()
    }
}
