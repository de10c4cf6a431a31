/// An opaque text that names something on the wire. Two are the same when their bytes are.
///
/// Swift's own comparison of strings would take two texts for one that only look the same, such as é in its two forms: a
/// peer could then pass for another one, and a push for one that came before.
package protocol WireID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
where StringLiteralType == String {
    var text: String { get }
    init(_ text: String)
}

extension WireID {
    package init(stringLiteral value: String) { self.init(value) }
    package var description: String { text }

    package static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xff))
    }
}
