/// Which command of one device: unique there, and only there.
package struct RequestID: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

extension RequestID: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral value: String) { self.init(value) }
    package var description: String { text }
}
