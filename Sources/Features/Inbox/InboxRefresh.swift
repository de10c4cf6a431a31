package import Notifications
package import Wire

/// One refresh of a desktop's history: which page to ask for next, and when all has been seen.
///
/// A pure state machine. Bellwire desktops give the place of the next page, others are paged by offset: there rows move
/// when the history changes meanwhile, so it begins anew once, and then only brings in what it finds.
package struct InboxRefresh: Sendable {
    package static let pageSize: Int64 = 100
    /// A refresh reads at most so many rows, and so many pages.
    package static let rowLimit: Int64 = 10_000
    package static let pageLimit = 200

    package enum Step: Sendable, Equatable {
        case ask(HistoryQuery)
        /// The desktop does not say in its pages how many are unread.
        case askUnreadCount
        case finish(Inbox.Coverage, unread: Int64?)
    }

    private var offset: Int64 = 0
    private var pages = 0
    private var total: Int64?
    private var beganAnew = false
    /// The desktop names the next page: its pages fit together, whatever comes meanwhile.
    private var isByPlace = false
    /// When the oldest row that was read was created.
    private var oldest: EpochMilliseconds?
    private var coverage: Inbox.Coverage?
    /// Only what was created since then, of which nothing is dropped.
    private let since: EpochMilliseconds?

    private let rowLimit: Int64

    package init(since: EpochMilliseconds? = nil, rowLimit: Int64 = InboxRefresh.rowLimit) {
        (self.since, self.rowLimit) = (since, rowLimit)
    }

    package func begin() -> Step { .ask(query(before: nil)) }

    /// A page was brought in.
    package mutating func received(_ page: HistoryPage, _ merged: Inbox.Merged) -> Step {
        pages += 1
        let count = Int64(clamping: page.rows.count &+ page.skipped)
        if page.next != nil { isByPlace = true }
        if !isByPlace, let total, total != page.total { return changed(page) }
        total = page.total
        offset &+= count
        for row in page.rows {
            if let createdAt = row.createdAt { oldest = min(oldest ?? createdAt, createdAt) }
        }
        if merged.isInSync { return end(.inSync, page) }
        if count == 0 || page.next == nil && (isByPlace || offset >= page.total) { return end(.all, page) }
        // A desktop that gives the same page again and again does not know offsets.
        if merged.newToRun == 0, !isByPlace, page.skipped == 0 { return end(.unknown, page) }
        if offset >= rowLimit || pages >= Self.pageLimit { return end(oldest.map { .after($0) } ?? .unknown, page) }
        return .ask(query(before: page.next))
    }

    package mutating func received(unreadCount: Int64?) -> Step { .finish(coverage ?? .unknown, unread: unreadCount) }

    private mutating func changed(_ page: HistoryPage) -> Step {
        guard !beganAnew, pages < Self.pageLimit else { return end(.unknown, page) }
        beganAnew = true
        (offset, total, oldest) = (0, nil, nil)
        return .ask(query(before: nil))
    }

    private mutating func end(_ coverage: Inbox.Coverage, _ page: HistoryPage) -> Step {
        if let unread = page.unreadCount { return .finish(coverage, unread: unread) }
        self.coverage = coverage
        return .askUnreadCount
    }

    private func query(before: String?) -> HistoryQuery {
        var query = HistoryQuery()
        query.limit = Self.pageSize
        query.since = since
        if let before { query.before = before } else { query.offset = offset }
        return query
    }
}
