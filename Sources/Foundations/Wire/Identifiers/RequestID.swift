/// Identifies a command of one device: unique there, and only there.
package struct RequestID: WireID {
    package let text: String

    package init(_ text: String) { self.text = text }
}
