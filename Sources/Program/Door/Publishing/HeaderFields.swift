import Transport

/// The values that a request gives beside its body: in headers, or else in its query.
struct HeaderFields {
    private let head: HTTPRequestHead
    private let query: [(name: String, value: String)]

    init(_ head: HTTPRequestHead) throws(DoorError) {
        self.head = head
        let text = head.target.drop { $0 != "?" }.dropFirst()
        var query: [(name: String, value: String)] = []
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.unescaped(parts[0]), let value = Self.unescaped(parts.count > 1 ? parts[1] : "")
            else { throw .notUTF8 }
            query.append((name.lowercased(), value))
        }
        self.query = query
    }

    /// The first of these names that has a value, without blanks around it. Empty counts as absent.
    func value(_ names: String...) throws(DoorError) -> String? {
        for name in names {
            if let text = head[name], !text.isEmpty { return try Self.decoded(text) }
        }
        for name in names {
            if let value = query.first(where: { $0.name == name.lowercased() })?.value, !value.isEmpty { return value }
        }
        return nil
    }

    func flag(_ names: String...) throws(DoorError) -> Bool {
        for name in names {
            if let text = try value(name) { return ["1", "true", "yes"].contains(text.lowercased()) }
        }
        return false
    }

    /// Header values that were no UTF-8 were repaired on the way, which shows.
    private static func decoded(_ text: String) throws(DoorError) -> String {
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw .notUTF8 }
        return EncodedWord.decode(text)
    }

    /// `+` and `%20` are blanks. `nil` = no UTF-8, or no escape.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 & 0xdf }),
                    let value = UInt8(String(decoding: Array(digits), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
