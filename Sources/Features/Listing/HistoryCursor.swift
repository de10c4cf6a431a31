package import Notifications
package import Wire

/// A place in the history, in every order in which it can be read. It stays good when its row is gone.
package struct HistoryCursor: Sendable, Equatable {
    package let createdAt: EpochMilliseconds
    package let row: Int64
    package let priority: Int64
    package let read: Bool

    package init(_ notification: Notification, row: Int64) {
        createdAt = notification.createdAt
        self.row = row
        priority = notification.priority.rawValue
        read = notification.read
    }

    /// `nil` for a text that is none, such as a notification's id.
    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "~") else { return nil }
        let parts = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let createdAt = Int64(parts[0]), let row = Int64(parts[1]),
            let priority = Int64(parts[2]), let read = Int64(parts[3])
        else { return nil }
        self.createdAt = createdAt
        self.row = row
        self.priority = priority
        self.read = read != 0
    }

    package var text: String { "~\(createdAt).\(row).\(priority).\(read ? 1 : 0)" }
}
