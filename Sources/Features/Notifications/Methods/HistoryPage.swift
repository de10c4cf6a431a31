package import JSON
package import Wire

/// A page of a desktop's history, in any of the forms in which it comes (WireDeployedPeers, "What a device accepts").
package struct HistoryPage: Sendable, Equatable {
    package var rows: [HistoryRow]
    package var total: Int64
    /// `nil` when the desktop did not say: ask it with `getUnreadCount`.
    package var unreadCount: Int64?
    /// Rows that could not be read, and were left out.
    package var skipped: Int
    /// Where the next page begins, from desktops that page so.
    package var next: String?
    /// The desktop still indexes its oldest texts: a search has not looked at those.
    package var isIncomplete = false

    package init(rows: [HistoryRow], total: Int64, unreadCount: Int64?, skipped: Int, next: String?) {
        self.rows = rows
        self.total = total
        self.unreadCount = unreadCount
        self.skipped = skipped
        self.next = next
    }

    package init(decoding result: JSONValue) throws(NotificationsError) {
        guard let object = result.object else { throw .answer(nil, "is not an object") }
        guard let elements = object["notifications"]?.array ?? object["items"]?.array else {
            throw .answer("notifications", "has no list of notifications")
        }
        rows = []
        skipped = 0
        for element in elements {
            do throws(MalformedPayload) { rows.append(try HistoryRow(decoding: element)) } catch { skipped += 1 }
        }
        total = max(0, object["total"]?.integer ?? Int64(elements.count))
        unreadCount = object["unreadCount"]?.integer.map { max(0, $0) }
        next = object["next"]?.string
        isIncomplete = object["incomplete"]?.bool ?? false
    }

    /// The canonical result of `getHistory`.
    package func json(unreadCount: Int64?, now: EpochMilliseconds) -> JSONObject {
        [
            "success": true,
            "notifications": .array(
                rows.map { .object(Notification($0, receivedAt: now).historyItem(isBellwire: true)) }),
            "total": .integer(total),
            "unreadCount": unreadCount.map(JSONValue.integer),
            "skipped": .integer(Int64(skipped)),
            "next": next.map(JSONValue.string),
            "incomplete": isIncomplete ? true : nil,
        ]
    }
}
