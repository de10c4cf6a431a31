import Notifications
import Store
import Wire

extension History {
    /// The rows that a notification replaces: those for the same devices with its `collapseKey` (WireMessages,
    /// "Optional fields of a push"). In the outboxes they are replaced when it enters there.
    func rows(replacedBy notification: Notification, target: PeerID?) throws(StoreError) -> [Int64] {
        guard let key = notification.richer.collapseKey else { return [] }
        return try connection.query(
            "SELECT row FROM history WHERE collapse_key = ? AND target IS ?", [.text(key), .optional(target?.text)]
        ) { (row) throws(StoreError) in try row.integer(0) }
    }
}
