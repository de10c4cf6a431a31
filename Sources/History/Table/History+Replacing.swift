import Notifications
import Store
import Wire

extension History {
    /// Takes out what a notification replaces: its likes for the same devices, by their `collapseKey` (`protocol.md` 4.7).
    /// In the outboxes they are replaced when it enters there.
    func removeReplaced(by notification: Notification, target: PeerID?) throws(StoreError) {
        guard let key = notification.richer.collapseKey else { return }
        let ids = try connection.query(
            "SELECT id FROM history WHERE collapse_key = ? AND target IS ?", [.text(key), .optional(target?.text)]
        ) { (row) throws(StoreError) in NotificationID(try row.text(0)) }
        for id in ids { _ = try delete(id) }
    }
}
