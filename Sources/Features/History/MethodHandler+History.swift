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

    func markAllAsRead(_ bound: CommandBound?) throws(StoreError) -> Handled {
        let ids = try history.markAllAsRead(at: context.now, extent(bound))
        return answer(
            ["success": true, "markedCount": .integer(Int64(ids.count))],
            announcing: Self.events(ids) { .read($0, at: context.now) })
    }

    /// One event for each ``idsPerEvent``.
    private static func events(_ ids: [NotificationID], _ event: ([NotificationID]) -> StateEvent) -> [StateEvent] {
        let named = ids.prefix(idLimit)
        return stride(from: 0, to: named.count, by: idsPerEvent).map { start in
            event(Array(named[start..<min(start + idsPerEvent, named.count)]))
        }
    }

    /// The rows that a command with this bound concerns; `nil` = all.
    private func extent(_ bound: CommandBound?) throws(StoreError) -> HistoryExtent? {
        let last = try row(bound)
        guard case .device(let peer, _) = caller else {
            guard let last else { return nil }
            return try HistoryExtent(through: last, for: nil, history.connection)
        }
        let extent = try HistoryExtent(through: last ?? .max, for: peer, history.connection)
        if last != nil { return extent }
        return try extent.leavesOut(history.connection) ? extent : nil
    }

    /// The newest row that a command with this bound concerns; `nil` = all.
    private func row(_ bound: CommandBound?) throws(StoreError) -> Int64? {
        guard let bound else { return nil }
        if let row = try history.newestRow(of: bound.ids) { return row }
        guard let moment = bound.moment else { return 0 }
        let row = try history.newestRow(createdBy: moment)
        // A device's clock can be wrong, but what still waits for the device it has not seen.
        guard bound.ids.isEmpty, case .device(let peer, _) = caller,
            let waiting = try Outbox(history.connection).oldestRow(waitingFor: peer)
        else { return row }
        return min(row, waiting - 1)
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

    func clearAll(_ bound: CommandBound?) throws(StoreError) -> Handled {
        if let extent = try extent(bound), try extent.leavesOut(history.connection) { return try clear(extent) }
        let cleared = try history.clear()
        try Outbox(history.connection).withdrawAll()
        var events: [StateEvent] = []
        if let newest = cleared.newest {
            // The clock may have been set back since.
            events = [.cleared(before: max(newest, context.now) &+ 1)]
        }
        return answer(["success": true, "clearedCount": .integer(cleared.count)], announcing: events)
    }

    /// Deletes these rows, and withdraws them from the devices that do not have them yet.
    private func clear(_ extent: HistoryExtent) throws(StoreError) -> Handled {
        try Outbox(history.connection).withdrawAll(extent)
        let cleared = try history.clear(extent)
        let before = cleared.before.map { [StateEvent.cleared(before: $0)] } ?? []
        return answer(
            ["success": true, "clearedCount": .integer(cleared.count)],
            announcing: before + Self.events(cleared.named) { .deleted($0) })
    }
}
