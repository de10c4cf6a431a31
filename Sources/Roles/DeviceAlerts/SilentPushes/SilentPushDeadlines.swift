import Wire

/// Pushes without an alert, on which the host works for a limited time.
///
/// `now` is the loop's monotonic milliseconds.
package struct SilentPushDeadlines {
    /// How long the host has for one, in milliseconds; after that it counts as failed.
    package static let limit: UInt64 = 30_000
    /// At most this many are under way.
    package static let capacity = 256

    /// The host's result.
    package enum Result: String, CaseIterable {
        case newData = "new_data"
        case noData = "no_data"
        case failed
    }

    package enum Start: Equatable {
        case begun
        case underWay
        case tooMany
    }

    private var deadlines: [NotificationID: UInt64] = [:]
    private(set) var total: Int64 = 0
    private(set) var failed: Int64 = 0

    /// When ``expire(now:)`` is due.
    var next: UInt64? { deadlines.values.min() }

    mutating func begin(_ id: NotificationID, now: UInt64) -> Start {
        guard deadlines[id] == nil else { return .underWay }
        guard deadlines.count < Self.capacity else { return .tooMany }
        total &+= 1
        deadlines[id] = now &+ Self.limit
        return .begun
    }

    /// `false` = no such push is in progress.
    mutating func complete(_ id: NotificationID, _ result: Result) -> Bool {
        guard deadlines.removeValue(forKey: id) != nil else { return false }
        if result == .failed { failed &+= 1 }
        return true
    }

    mutating func expire(now: UInt64) {
        let expired = deadlines.filter { $0.value <= now }
        for id in expired.keys { deadlines[id] = nil }
        failed &+= Int64(expired.count)
    }

    mutating func end() { deadlines = [:] }
}
