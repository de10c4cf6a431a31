import Inbox
import Notifications
import Store
import Wire

/// The store jobs of ``InboxSync``: each job is one transaction. The numbers are those of refreshes and gaps.
enum InboxJob: Sendable {
    /// - Parameter since: when nothing is known of the desktop's pushes.
    case beginGap(since: EpochMilliseconds)
    case fillGap(UInt64, [HistoryRow], since: EpochMilliseconds, at: EpochMilliseconds)
    case beginRefresh(UInt64)
    case merge(UInt64, HistoryPage, Inbox.Run, through: Int64, at: EpochMilliseconds)
    case finishRefresh(
        UInt64, Inbox.Run, coverage: Inbox.Coverage, unread: Int64?, through: Int64, at: EpochMilliseconds)

    enum Stored: Sendable {
        case gap(since: EpochMilliseconds)
        /// `last`: the last arrival of all pushes.
        case filled(last: Int64, unread: Int64)
        case begun(Inbox.Run)
        case merged(HistoryPage, Inbox.Merged, newest: Int64, unread: Int64)
        case finished(dropped: Int, ofDesktop: Int64, unread: Int64)
    }

    /// - Parameter pushed: gets each missed push that is handed over, in the same transaction.
    func run(
        _ connection: Connection, desktop: PeerID,
        pushed: (Notification, Connection) throws(StoreError) -> Void
    ) throws(StoreError) -> Stored {
        let inbox = Inbox(connection)
        switch self {
        case .beginGap(let since): return .gap(since: try inbox.history.beginGap(of: desktop, orSince: since))
        case .fillGap(_, let rows, let since, let moment):
            let missed = try inbox.history.fill(rows, from: desktop, since: since, receivedAt: moment)
            try inbox.history.endGap(of: desktop)
            for notification in missed { try pushed(notification, connection) }
            return .filled(last: try inbox.handover.watermarks().last, unread: try inbox.counts.unread())
        case .beginRefresh: return .begun(try inbox.history.beginRefresh(of: desktop))
        case .merge(_, let page, let run, let through, let moment):
            let merged = try inbox.history.merge(page, from: desktop, run: run, through: through, receivedAt: moment)
            return .merged(page, merged, newest: try inbox.newestRow(), unread: try inbox.counts.unread())
        case .finishRefresh(_, let run, let coverage, let unread, let through, let moment):
            let dropped = try inbox.history.finishRefresh(
                run, of: desktop, coverage: coverage, unread: unread, through: through, at: moment)
            return .finished(
                dropped: dropped, ofDesktop: try inbox.counts.unread(of: desktop), unread: try inbox.counts.unread())
        }
    }
}
