import Delivery
import JSON
import Notifications
import Store
import Wire

// What is read, marked and taken away.
extension MethodHandler {
    /// An event names at most so many notifications: it stays far below what a frame may hold.
    static let idsPerEvent = 1_000
    /// The rows of a page that goes over the wire: sealed, it stays within a frame.
    static let pageBytes = 640 * 1_024
    /// Beyond so many, the newest are named, and the devices' next refresh tells of the others.
    static let idLimit = 20_000

    func page(_ query: HistoryQuery) throws(StoreError) -> Handled {
        let bytes = caller == .host ? HistoryQuery.pageBytes : Self.pageBytes
        guard let page = try history.page(query, bytes: bytes) else {
            return refuse(.parameter("before", "is not a position in the history"))
        }
        return answer([
            "success": true,
            "notifications": .array(page.notifications.map { .object($0.historyItem(isBellwire: isBellwire)) }),
            "total": .integer(page.total),
            "unreadCount": .integer(page.unreadCount),
            "next": isBellwire ? page.next.map(JSONValue.string) : nil,
            // Only of a search, and only while there is something that it could not look at.
            "incomplete": isBellwire && !page.isComplete ? true : nil,
        ])
    }

    func getUnreadCount() throws(StoreError) -> Handled {
        answer(["success": true, "count": .integer(try history.unreadCount())])
    }

    func markAsRead(_ ids: [NotificationID]) throws(StoreError) -> Handled {
        var marked: [NotificationID] = []
        for id in ids where try history.markAsRead(id, at: context.now) > 0 { marked.append(id) }
        return answer(
            ["success": true, "markedCount": .integer(Int64(marked.count))],
            announcing: marked.isEmpty ? [] : [.read(marked, at: context.now)])
    }

    func markAllAsRead() throws(StoreError) -> Handled {
        let ids = try history.markAllAsRead(at: context.now)
        let named = ids.prefix(Self.idLimit)
        let events = stride(from: 0, to: named.count, by: Self.idsPerEvent).map { start in
            StateEvent.read(Array(named[start..<min(start + Self.idsPerEvent, named.count)]), at: context.now)
        }
        return answer(["success": true, "markedCount": .integer(Int64(ids.count))], announcing: events)
    }

    /// Deleting a missing row is not a failure, so that a repeated command succeeds; the answer reports it.
    func delete(_ id: NotificationID) throws(StoreError) -> Handled {
        try Outbox(history.connection).withdraw(id)
        let deleted = try history.delete(id)
        // One that was scheduled is nowhere else yet.
        let isCancelled = try ScheduleTable(history.connection).remove(id)
        return answer(
            [
                "success": true,
                "deletedCount": .integer(Int64(deleted) &+ (isCancelled ? 1 : 0)),
                "error": deleted == 0 && !isCancelled ? "no notification has this id" : nil,
            ], announcing: deleted > 0 ? [.deleted([id])] : [])
    }

    func clearAll() throws(StoreError) -> Handled {
        let cleared = try history.clear()
        try Outbox(history.connection).withdrawAll()
        var events: [StateEvent] = []
        if let newest = cleared.newest {
            // The clock may have been set back since.
            events = [.cleared(before: max(newest, context.now) &+ 1)]
        }
        return answer(["success": true, "clearedCount": .integer(cleared.count)], announcing: events)
    }
}
