/// Any text as one of letters, digits and few others, and back: `%xx` for every other byte.
enum PercentEncoding {
    static func encode(_ text: String, keeping kept: String = "-_.") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                bytes.append(byte)
            default:
                if kept.utf8.contains(byte) {
                    bytes.append(byte)
                } else {
                    bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `nil` for what ``encode(_:keeping:)`` does not make: a `%` without two digits, bytes that are no UTF-8.
    static func decode(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = value(rest.next()), let low = value(rest.next()) else { return nil }
            bytes.append(high << 4 | low)
        }
        let result = String(decoding: bytes, as: UTF8.self)
        return result.utf8.elementsEqual(bytes) ? result : nil
    }

    private static func value(_ digit: UInt8?) -> UInt8? {
        switch digit {
        case .some(let digit) where digit >= UInt8(ascii: "0") && digit <= UInt8(ascii: "9"):
            digit &- UInt8(ascii: "0")
        case .some(let digit) where digit >= UInt8(ascii: "A") && digit <= UInt8(ascii: "F"):
            digit &- UInt8(ascii: "A") &+ 10
        case .some, .none: nil
        }
    }
}
