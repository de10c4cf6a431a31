/// Identifies a notification of one desktop: unique there, and only there.
package struct NotificationID: WireID {
    package let text: String

    package init(_ text: String) { self.text = text }
}
