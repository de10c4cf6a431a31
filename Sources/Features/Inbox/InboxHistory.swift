import JSON
import Listing
package import Notifications
package import Store
package import Wire

extension Inbox {
    /// A refresh under way.
    package struct Run: Sendable, Equatable {
        package let number: Int64
        /// The newest row when it began. Its pages may not have rows that came later.
        package let through: Int64

        package init(number: Int64, through: Int64) { (self.number, self.through) = (number, through) }
    }

    /// What a page has changed.
    package struct Merged: Sendable, Equatable {
        package var added = 0
        package var updated = 0
        /// Rows that weren't on an earlier page of this run.
        package var newToRun = 0
        /// Whether the inbox has this desktop's history exactly.
        package var isInSync = false

        package init() {}
    }

    /// How much of the desktop's history a refresh has seen.
    package enum Coverage: Sendable, Equatable {
        /// Not every page was read, but the inbox has the desktop's history exactly.
        case inSync
        /// Every page was read.
        case all
        /// Everything created after this moment.
        case after(EpochMilliseconds)
        /// The history changed while it was read, so rows that weren't found may still exist.
        case unknown
    }
}

/// Merges desktops' histories, the source of truth, into the inbox: refreshes, and gaps in the pushes. The table
/// `inbox_desktop`.
///
/// Made for one piece of work on the store, over its connection.
package struct InboxHistory {
    private let connection: Connection
    private let inbox: Inbox

    package init(_ connection: Connection) {
        self.connection = connection
        inbox = Inbox(connection)
    }

    /// Merges a row of the desktop's history. It overwrites what is known, except when and how the row came. A new row
    /// isn't handed to the host. A hint stays one: the history doesn't have all of its fields (WirePrekeys, "Hints").
    package func merge(
        _ row: HistoryRow, from desktop: PeerID, receivedAt: EpochMilliseconds
    ) throws(StoreError) -> Inbox.Insertion {
        try merge(row, from: desktop, receivedAt: receivedAt, run: 0).insertion
    }

    package func beginRefresh(of desktop: PeerID) throws(StoreError) -> Inbox.Run {
        let number = Value.integer(try inbox.peers.number(of: desktop))
        try connection.execute(
            """
            INSERT INTO inbox_desktop(desktop, refresh) VALUES (?, 1)
            ON CONFLICT(desktop) DO UPDATE SET refresh = refresh + 1
            """, [number])
        return Inbox.Run(
            number: try connection.integer("SELECT refresh FROM inbox_desktop WHERE desktop = ?", [number]),
            through: try inbox.newestRow())
    }

    /// Merges a page.
    ///
    /// - Parameter through: the newest row when the page was requested.
    package func merge(
        _ page: HistoryPage, from desktop: PeerID, run: Inbox.Run, through: Int64, receivedAt: EpochMilliseconds
    ) throws(StoreError) -> Inbox.Merged {
        var merged = Inbox.Merged()
        // Oldest first, so that row numbers follow their creation.
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

    /// Ends a refresh and drops rows that the desktop no longer has. Returns how many.
    package func finishRefresh(
        _ run: Inbox.Run, of desktop: PeerID, coverage: Inbox.Coverage, unread: Int64?, through: Int64,
        at moment: EpochMilliseconds
    ) throws(StoreError) -> Int {
        let id = Value.integer(try inbox.peers.number(of: desktop))
        var dropped = 0
        switch coverage {
        case .inSync, .unknown: break
        case .all:
            dropped = try inbox.take(
                out: "desktop = ? AND seen <> ? AND row <= ? AND hidden < 2",
                [id, .integer(run.number), .integer(run.through)])
        case .after(let moment):
            dropped = try inbox.take(
                out: "desktop = ? AND seen <> ? AND row <= ? AND hidden < 2 AND created_at > ?",
                [id, .integer(run.number), .integer(run.through), .integer(moment)])
        }
        let isComplete: Bool
        switch coverage {
        case .inSync, .all: isComplete = true
        case .after, .unknown: isComplete = false
        }
        try inbox.changes.settle(desktop, run: isComplete ? nil : run.number)
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

    /// Adds rows of a history whose pushes were missed, as late pushes, oldest first. Returns them.
    ///
    /// Rows already read on the desktop are merged as history instead.
    package func fill(
        _ rows: [HistoryRow], from desktop: PeerID, since moment: EpochMilliseconds, receivedAt: EpochMilliseconds
    ) throws(StoreError) -> [Notification] {
        var pushed: [Notification] = []
        for row in rows.sorted(by: { ($0.createdAt ?? receivedAt) < ($1.createdAt ?? receivedAt) }) {
            // Without a creation time it is news if the inbox doesn't have it.
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
            if try inbox.insert(notification, from: desktop) != .duplicate { pushed.append(notification) }
        }
        return pushed
    }

    /// Since when pushes may be missing: since the newest one, until ``endGap(of:)``.
    package func beginGap(of desktop: PeerID, orSince pairedAt: EpochMilliseconds) throws(StoreError)
        -> EpochMilliseconds
    {
        let number = Value.integer(try inbox.peers.number(of: desktop))
        let since =
            try connection.first("SELECT last_push_at FROM push_count WHERE peer = ?", [number]) {
                (row) throws(StoreError) in try row.optionalInteger(0)
            } ?? nil
        try connection.execute(
            """
            INSERT INTO inbox_desktop(desktop, gap_since) VALUES (?1, ?2)
            ON CONFLICT(desktop) DO UPDATE SET gap_since = ifnull(gap_since, ?2)
            """, [number, .integer(since ?? pairedAt)])
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

    /// The desktop was unpaired.
    func forget(_ desktop: PeerID) throws(StoreError) {
        try connection.execute(
            "DELETE FROM inbox_desktop WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
        try connection.execute(
            "UPDATE push_count SET last_push_at = NULL WHERE peer = \(Inbox.number)", [.text(desktop.text)])
    }

    // MARK: Rows

    private func has(_ id: NotificationID, of desktop: PeerID) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM inbox WHERE desktop = \(Inbox.number) AND id = ?",
            [.text(desktop.text), .text(id.text)]) > 0
    }

    /// Totals of the rows that the desktop could have known when a page was requested.
    private func known(
        of desktop: PeerID, run: Inbox.Run, through: Int64
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
    ) throws(StoreError) -> (insertion: Inbox.Insertion, isChanged: Bool, wasSeen: Bool) {
        let notification = Notification(row, receivedAt: receivedAt)
        let number = try inbox.peers.number(of: desktop)
        let insertion = try inbox.insert(notification, from: number, run: run)
        guard insertion == .duplicate else { return (insertion, false, false) }
        let place: [Value] = [.integer(number), .text(row.id.text)]
        let known = try connection.first("SELECT row, seen FROM inbox WHERE desktop = ? AND id = ?", place) {
            (row) throws(StoreError) in (row: try row.integer(0), seen: try row.integer(1))
        }
        guard let known else { return (insertion, false, false) }
        let changed = try connection.execute(
            """
            UPDATE inbox SET title = ?2, body = ?3, priority = ?4, source = ?5, created_at = ifnull(?6, created_at),
                said_read = ?7, read_at = ?8, data = CASE hint WHEN 0 THEN ifnull(?9, data) ELSE data END, search = ?10,
                hint = CASE WHEN hint = 1 AND (title, body, priority, source, created_at)
                    IS NOT (?2, ?3, ?4, ?5, ifnull(?6, created_at)) THEN 2 ELSE hint END
            WHERE row = ?1 AND ((title, body, priority, source, said_read) IS NOT (?2, ?3, ?4, ?5, ?7)
                OR ?6 IS NOT NULL AND created_at <> ?6 OR ?8 IS NOT NULL AND read_at IS NOT ?8)
            """,
            [
                .integer(known.row), .text(row.title), .text(row.body), .integer(row.priority.rawValue),
                .text(row.source.rawValue), .optional(row.createdAt), .flag(row.read), .optional(row.readAt),
                .optional(row.data.map { JSONValue.object($0).serialized() }),
                .optional(SearchText.of(title: row.title, body: row.body)),
            ])
        if changed > 0 { try inbox.changes.show("row = ?", .integer(known.row)) }
        if run > 0 {
            try connection.execute(
                "UPDATE inbox SET seen = ? WHERE row = ?", [.integer(run), .integer(known.row)])
        }
        return (insertion, changed > 0, run > 0 && known.seen == run)
    }
}
