import Listing
import Notifications
import Store
import Wire

/// A question with words as SQL: read along the full-text index, in the order in which the notifications came.
struct HistorySearch {
    /// Without its limit.
    let page: SQLText
    let count: SQLText

    /// - Parameter withoutGone: whether the index holds texts of rows that are no more.
    init(_ query: HistoryQuery, words: String, after cursor: HistoryCursor?, withoutGone: Bool = false) {
        let isPlain =
            query.priority == nil && query.source == nil && !query.unreadOnly && query.since == nil
            && query.until == nil
        let order: String
        switch query.sort {
        case .newest: order = "history_text.rowid DESC"
        case .oldest: order = "history_text.rowid"
        case .priority: order = "history.priority DESC, history_text.rowid DESC"
        case .unread: order = "history.read, history_text.rowid DESC"
        }
        let isByRow = query.sort == .newest || query.sort == .oldest
        var count = HistorySearch.matches("count(*)", query, words, joined: !isPlain)
        var page = HistorySearch.matches("history_text.rowid", query, words, joined: !isPlain || !isByRow)
        if let cursor {
            let row = Value.integer(cursor.row)
            switch query.sort {
            case .newest: page.add(condition: "history_text.rowid < ?", [row])
            case .oldest: page.add(condition: "history_text.rowid > ?", [row])
            case .priority:
                page.add(
                    condition: "(history.priority, history.row) < (?, ?)", [.integer(cursor.priority), row])
            case .unread:
                let read = Value.flag(cursor.read)
                page.add(
                    condition: "(history.read > ? OR history.read = ? AND history.row < ?)", [read, read, row])
            }
        }
        if withoutGone {
            count.add(condition: "NOT (\(History.text.isGone))")
            page.add(condition: "NOT (\(History.text.isGone))")
        }
        page.add(" ORDER BY \(order)")
        self.page = page
        self.count = count
    }

    /// - Parameter joined: whether the rows themselves are needed to decide; each is a look-up more.
    private static func matches(_ columns: String, _ query: HistoryQuery, _ words: String, joined: Bool) -> SQLText {
        var text = SQLText("SELECT \(columns) FROM history_text")
        // CROSS JOIN is SQLite's way to fix the order of the loops: first the index, then its rows.
        if joined { text.add(" CROSS JOIN history ON history.row = history_text.rowid") }
        text.add(condition: "history_text MATCH ?", [.text(words)])
        if let source = query.source { text.add(condition: "history.source = ?", [.text(source.rawValue)]) }
        if let priority = query.priority {
            text.add(condition: "history.priority = ?", [.integer(priority.rawValue)])
        }
        if query.unreadOnly { text.add(condition: "history.read = 0") }
        if let since = query.since { text.add(condition: "history.created_at >= ?", [.integer(since)]) }
        if let until = query.until { text.add(condition: "history.created_at <= ?", [.integer(until)]) }
        return text
    }
}
