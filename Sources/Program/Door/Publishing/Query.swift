import Transport

/// The query of a request's target.
struct Query {
    private let pairs: [(name: String, value: String)]

    init(_ head: HTTPRequestHead) {
        var pairs: [(name: String, value: String)] = []
        for pair in head.target.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            pairs.append((Self.unescaped(parts[0]).lowercased(), Self.unescaped(parts.count > 1 ? parts[1] : "")))
        }
        self.pairs = pairs
    }

    /// The first value of that name, in any case. Empty counts as absent.
    subscript(_ name: String) -> String? {
        let name = name.lowercased()
        return pairs.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// `+` and `%20` are blanks; a `%` without two digits is itself. Bytes that are not UTF-8 are of another character set,
    /// as in a body.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 & 0xdf }),
                    let value = UInt8(String(decoding: Array(digits), as: UTF8.self), radix: 16)
                else {
                    bytes.append(byte)
                    continue
                }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? Charset.guess(bytes)
    }
}
