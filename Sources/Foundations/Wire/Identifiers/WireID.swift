import Glibc

/// An opaque text that names something on the wire. Two are the same when their bytes are.
///
/// Swift's string comparison treats canonically equivalent texts as equal, such as the two forms of é: a peer could
/// then impersonate another one, and a push could pass for an earlier one.
package protocol WireID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
where StringLiteralType == String {
    var text: String { get }
    init(_ text: String)
}

extension WireID {
    package init(stringLiteral value: String) { self.init(value) }
    package var description: String { text }

    // Inlined into the equality of every frame, it would take 30 KB.
    @inline(never)
    package static func == (left: Self, right: Self) -> Bool {
        left.withBytes { left in
            right.withBytes { right in
                guard left.count == right.count else { return false }
                guard let left = left.baseAddress, let start = right.baseAddress else { return true }
                return memcmp(left, start, right.count) == 0
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xff))
    }

    private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = text
        return copy.withUTF8(body)
    }
}
