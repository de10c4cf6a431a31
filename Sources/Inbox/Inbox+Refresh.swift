import JSON
import Listing
package import Notifications
package import Store
package import Wire

// What the desktop's history says: the source of truth.
extension Inbox {
    /// Brings in a row of the desktop's history: what is known of it is overwritten, but for how it came to us. A row that
    /// is new here is not handed over: it was asked for.
    package func merge(
        _ row: HistoryRow, from desktop: PeerID, receivedAt: EpochMilliseconds
    ) throws(StoreError) -> Insertion {
        try merge(row, from: desktop, receivedAt: receivedAt, run: 0).insertion
    }

    /// A refresh under way.
    package struct Run: Sendable, Equatable {
        package let number: Int64
        /// The youngest row at its beginning: what came after it, its pages may not know.
        package let through: Int64

        package init(number: Int64, through: Int64) { (self.number, self.through) = (number, through) }
    }

    package func beginRefresh(of desktop: PeerID) throws(StoreError) -> Run {
        let number = Value.integer(try peers.number(of: desktop))
        try connection.execute(
            """
            INSERT INTO inbox_desktop(desktop, refresh) VALUES (?, 1)
            ON CONFLICT(desktop) DO UPDATE SET refresh = refresh + 1
            """, [number])
        return Run(
            number: try connection.integer("SELECT refresh FROM inbox_desktop WHERE desktop = ?", [number]),
            through: try newestRow())
    }

    package func newestRow() throws(StoreError) -> Int64 {
        try connection.integer("SELECT ifnull(max(row), 0) FROM inbox")
    }

    package func newestRow(of desktop: PeerID) throws(StoreError) -> Int64 {
        try connection.integer(
            "SELECT ifnull(max(row), 0) FROM inbox WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
    }

    /// What a page has changed.
    package struct Merged: Sendable, Equatable {
        package var added = 0
        package var updated = 0
        /// Rows that no earlier page of this run had.
        package var newToRun = 0
        /// Everything of this desktop is here as it says.
        package var isInSync = false

        package init() {}
    }

    /// Brings in a page.
    ///
    /// - Parameter through: the youngest row when the page was asked for.
    package func merge(
        _ page: HistoryPage, from desktop: PeerID, run: Run, through: Int64, receivedAt: EpochMilliseconds
    ) throws(StoreError) -> Merged {
        var merged = Merged()
        // The oldest first, so that rows stand in the order in which they were made.
        for row in page.rows.reversed() {
            let (insertion, isChanged, wasSeen) = try merge(
                row, from: desktop, receivedAt: receivedAt, run: run.number)
            if insertion != .duplicate { merged.added += 1 } else if isChanged { merged.updated += 1 }
            if !wasSeen { merged.newToRun += 1 }
        }
        let known = try known(of: desktop, run: run, through: through)
        merged.isInSync =
            known.isComplete && page.skipped == 0 && known.total == page.total && known.unread == page.unreadCount
        return merged
    }

    /// How much of the desktop's history a refresh has seen.
    package enum Coverage: Sendable, Equatable {
        /// All is here as the desktop has it, though not every page was read.
        case inSync
        /// Every page.
        case all
        /// All that was created after this moment.
        case after(EpochMilliseconds)
        /// The history has changed while it was read: nothing can be said of rows that were not found.
        case unknown
    }

    /// Ends a refresh: rows that the desktop no longer has are dropped. Gives how many.
    package func finishRefresh(
        _ run: Run, of desktop: PeerID, coverage: Coverage, unread: Int64?, through: Int64, at moment: EpochMilliseconds
    ) throws(StoreError) -> Int {
        let id = Value.integer(try peers.number(of: desktop))
        var dropped = 0
        switch coverage {
        case .inSync, .unknown: break
        case .all:
            dropped = try take(
                out: "desktop = ? AND seen <> ? AND row <= ? AND hidden < 2",
                [id, .integer(run.number), .integer(run.through)])
        case .after(let moment):
            dropped = try take(
                out: "desktop = ? AND seen <> ? AND row <= ? AND hidden < 2 AND created_at > ?",
                [id, .integer(run.number), .integer(run.through), .integer(moment)])
        }
        let isComplete: Bool
        switch coverage {
        case .inSync, .all: isComplete = true
        case .after, .unknown: isComplete = false
        }
        try settle(desktop, run: isComplete ? nil : run.number)
        try connection.execute(
            "UPDATE inbox_desktop SET refreshed_at = ?, complete = ? WHERE desktop = ?",
            [.integer(moment), .flag(isComplete), id])
        if let unread {
            let known = try known(of: desktop, run: run, through: through)
            try connection.execute(
                "UPDATE inbox_desktop SET beyond = ? WHERE desktop = ?", [.integer(unread &- known.unread), id])
        }
        return dropped
    }

    /// Rows of a history that were missed as pushes: they enter as pushes, late, the oldest first. Gives those.
    ///
    /// What was read on the desktop already is no news, and enters as history.
    package func fill(
        _ rows: [HistoryRow], from desktop: PeerID, since moment: EpochMilliseconds, receivedAt: EpochMilliseconds
    ) throws(StoreError) -> [Notification] {
        var pushed: [Notification] = []
        for row in rows.sorted(by: { ($0.createdAt ?? receivedAt) < ($1.createdAt ?? receivedAt) }) {
            // One that does not say when it was made is news where it is new.
            let isNews: Bool
            if let createdAt = row.createdAt {
                isNews = createdAt >= moment
            } else {
                isNews = try !has(row.id, of: desktop)
            }
            guard !row.read, isNews else {
                _ = try merge(row, from: desktop, receivedAt: receivedAt)
                continue
            }
            let notification = Notification(row, receivedAt: receivedAt)
            if try insert(notification, from: desktop) != .duplicate { pushed.append(notification) }
        }
        return pushed
    }

    /// Since when pushes may be missing: that of the push that came last, until ``endGap(of:)``.
    package func beginGap(of desktop: PeerID, orSince pairedAt: EpochMilliseconds) throws(StoreError)
        -> EpochMilliseconds
    {
        let number = Value.integer(try peers.number(of: desktop))
        try connection.execute(
            """
            INSERT INTO inbox_desktop(desktop, gap_since) VALUES (?1, ?2)
            ON CONFLICT(desktop) DO UPDATE SET gap_since = coalesce(gap_since, last_push_at, ?2)
            """, [number, .integer(pairedAt)])
        return try connection.integer("SELECT gap_since FROM inbox_desktop WHERE desktop = ?", [number])
    }

    package func endGap(of desktop: PeerID) throws(StoreError) {
        try connection.execute(
            "UPDATE inbox_desktop SET gap_since = NULL WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
    }

    /// When the last refresh ended.
    package func refreshedAt(of desktop: PeerID) throws(StoreError) -> EpochMilliseconds? {
        try connection.first(
            "SELECT refreshed_at FROM inbox_desktop WHERE desktop = \(Inbox.number)", [.text(desktop.text)]
        ) { (row) throws(StoreError) in try row.optionalInteger(0) } ?? nil
    }

    // MARK: Rows

    private func has(_ id: NotificationID, of desktop: PeerID) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM inbox WHERE desktop = \(Inbox.number) AND id = ?",
            [.text(desktop.text), .text(id.text)]) > 0
    }

    /// What the desktop has said of rows that it can have known when a page was asked for.
    private func known(
        of desktop: PeerID, run: Run, through: Int64
    ) throws(StoreError) -> (total: Int64, unread: Int64, isComplete: Bool) {
        let counts = try connection.first(
            """
            SELECT count(*), count(*) FILTER (WHERE said_read = 0) FROM inbox
            WHERE desktop = (SELECT number FROM peer WHERE id = ?1) AND hidden < 2 AND (row <= ?2 OR seen = ?3)
            """, [.text(desktop.text), .integer(through), .integer(run.number)]
        ) { (row) throws(StoreError) in (try row.integer(0), try row.integer(1)) }
        let isComplete = try connection.first(
            "SELECT complete FROM inbox_desktop WHERE desktop = \(Inbox.number)", [.text(desktop.text)]
        ) { (row) throws(StoreError) in try row.flag(0) }
        return (counts?.0 ?? 0, counts?.1 ?? 0, isComplete ?? false)
    }

    private func merge(
        _ row: HistoryRow, from desktop: PeerID, receivedAt: EpochMilliseconds, run: Int64
    ) throws(StoreError) -> (insertion: Insertion, isChanged: Bool, wasSeen: Bool) {
        let notification = Notification(row, receivedAt: receivedAt)
        let number = try peers.number(of: desktop)
        let insertion = try insert(notification, from: number, arrival: 0, run: run)
        guard insertion == .duplicate else { return (insertion, false, false) }
        let place: [Value] = [.integer(number), .text(row.id.text)]
        let known = try connection.first("SELECT row, seen FROM inbox WHERE desktop = ? AND id = ?", place) {
            (row) throws(StoreError) in (row: try row.integer(0), seen: try row.integer(1))
        }
        guard let known else { return (insertion, false, false) }
        let changed = try connection.execute(
            """
            UPDATE inbox SET title = ?2, body = ?3, priority = ?4, source = ?5, created_at = ifnull(?6, created_at),
                said_read = ?7, read_at = ?8, data = ifnull(?9, data), search = ?10
            WHERE row = ?1 AND ((title, body, priority, source, said_read) IS NOT (?2, ?3, ?4, ?5, ?7)
                OR ?6 IS NOT NULL AND created_at <> ?6 OR ?8 IS NOT NULL AND read_at IS NOT ?8)
            """,
            [
                .integer(known.row), .text(row.title), .text(row.body), .integer(row.priority.rawValue),
                .text(row.source.rawValue), .optional(row.createdAt), .flag(row.read), .optional(row.readAt),
                .optional(row.data.map { JSONValue.object($0).serialized() }),
                .optional(SearchText.of(title: row.title, body: row.body)),
            ])
        if changed > 0 { try show("row = ?", .integer(known.row)) }
        if run > 0 {
            try connection.execute(
                "UPDATE inbox SET seen = ? WHERE row = ?", [.integer(run), .integer(known.row)])
        }
        return (insertion, changed > 0, run > 0 && known.seen == run)
    }
}
