package import Notifications
package import Sealing
package import Wire

/// A push that has come to a device, decoded, on its way into the inbox.
package struct ReceivedPush: Sendable {
    /// The desktop that it is from, or the name of a push service.
    package let desktop: PeerID
    package let notification: Notification
    /// Its number, from desktops that number pushes (WireSealing, "Delivery of pushes").
    package let seq: Int64?
    /// The number that a desktop gave it that sealed it for a push service. It is checked, not counted: the push comes in a
    /// session too (WirePrekeys, "Hints").
    package let hintNumber: Int64?
    /// To be saved in the transaction of its row; `nil` = it came in plain text.
    package let mark: SealMark?
    /// The route that it came over; `nil` = none.
    package let route: RouteID?
    /// Names the call, or the desktop's request, that waits for what becomes of it.
    package var ticket: UInt64?

    package init(
        desktop: PeerID, notification: Notification, seq: Int64? = nil, hintNumber: Int64? = nil,
        mark: SealMark? = nil, route: RouteID? = nil, ticket: UInt64? = nil
    ) {
        self.desktop = desktop
        self.notification = notification
        self.seq = seq
        self.hintNumber = hintNumber
        self.mark = mark
        self.route = route
        self.ticket = ticket
    }
}

/// A desktop has no more pushes through this number (WireSealing, "Delivery of pushes").
package struct ReceivedSkip: Sendable, Equatable {
    package let desktop: PeerID
    package let through: Int64
    package let mark: SealMark
    package let route: RouteID?

    package init(desktop: PeerID, through: Int64, mark: SealMark, route: RouteID? = nil) {
        self.desktop = desktop
        self.through = through
        self.mark = mark
        self.route = route
    }
}
