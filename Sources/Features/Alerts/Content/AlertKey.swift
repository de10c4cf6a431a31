package import Wire

/// Identifies an alert: a push's is unique with its desktop, a reminder's by itself.
package struct AlertKey: Hashable, Sendable {
    /// `nil` for the program's own: reminders, digests.
    package let desktop: PeerID?
    package let id: AlertID

    package init(desktop: PeerID?, id: AlertID) { (self.desktop, self.id) = (desktop, id) }
}

/// The id of an alert; of a push's, the push's.
package struct AlertID: WireID {
    package let text: String

    package init(_ text: String) { self.text = text }
}
