/// Who somebody is on the wire: a DID for a device, a peer id for a deployed desktop, an alias while pairing.
///
/// An opaque text. Two ids are the same when their texts are.
package struct PeerID: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

extension PeerID: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral value: String) { self.init(value) }
    package var description: String { text }
}
