/// Which notification of one desktop: unique there, and only there.
package struct NotificationID: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

extension NotificationID: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral value: String) { self.init(value) }
    package var description: String { text }
}
