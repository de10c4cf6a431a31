/// A peer's id on the wire: a DID for a device, a peer id for a deployed desktop, an alias while pairing.
///
/// An opaque text.
package struct PeerID: WireID {
    package let text: String

    package init(_ text: String) { self.text = text }
}
