package import Notifications
package import Store
package import Transport
package import Wire

/// The interface that alerts need from their device.
@EventLoop
package protocol AlertHost: AnyObject {
    /// Marks a notification as read, at its desktop or by the offline queue.
    func markRead(_ notification: NotificationID, of desktop: PeerID)

    /// Tells the desktop whether its push was shown. Best effort.
    func sendReceipt(id: NotificationID, presented: Bool, to desktop: PeerID)

    /// The desktop's name, if its alerts must tell it: more than one is paired.
    func sender(_ desktop: PeerID) -> String?
}

/// The alerts' view of the inbox, within one store job.
package protocol AlertInbox: Sendable {
    /// `nil` = the inbox does not have it any more.
    func notification(
        _ id: NotificationID, of desktop: PeerID, _ connection: Connection
    ) throws(StoreError) -> Notification?

    /// Whether the notification is there and unread.
    func isUnread(_ id: NotificationID, of desktop: PeerID, _ connection: Connection) throws(StoreError) -> Bool

    func unreadCount(_ connection: Connection) throws(StoreError) -> Int64

    /// The id of a desktop that had this one before; `nil` = it has not moved.
    func successor(of desktop: PeerID, _ connection: Connection) throws(StoreError) -> PeerID?
}
