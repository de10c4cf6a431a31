/// The name of a program, such as `org.example.App`: of its .desktop file, of its icon, and of itself on the bus.
package struct ApplicationID: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    /// `nil` unless it is a name that a bus takes: two parts or more, of letters, digits, `-` and `_`, that do not begin
    /// with a digit; at most 255 bytes.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 255, parts.count >= 2, parts.allSatisfy(Self.isPart) else { return nil }
        self.text = text
    }

    private static func isPart(_ part: Substring.UTF8View) -> Bool {
        guard let first = part.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return part.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    package var description: String { text }

    /// Where its `org.freedesktop.Application` is (Desktop Entry Specification, "D-Bus Activation").
    package var path: String {
        let bytes = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "."): UInt8(ascii: "/")
            case UInt8(ascii: "-"): UInt8(ascii: "_")
            default: byte
            }
        }
        return "/" + String(decoding: bytes, as: UTF8.self)
    }
}
