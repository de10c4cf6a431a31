/// Reads well-formed JSON without building jansson's tree first.
///
/// It accepts only text that jansson accepts, with the same values. For everything else it returns `nil`: invalid text,
/// and rare cases such as deep nesting, many members or escapes in keys. jansson then reads that text and reports
/// errors. So both always accept the same texts.
struct JSONReader {
    /// Containers nested more than this are left to jansson: depth costs stack here.
    private static let levelLimit = 64
    /// Objects with more members are left to jansson, which finds duplicates in a hash table.
    private static let memberLimit = 32

    private var position: UnsafeRawPointer
    private let end: UnsafeRawPointer

    static func read(_ bytes: UnsafeRawBufferPointer, depth: Int) -> JSONValue? {
        guard let start = bytes.baseAddress else { return nil }
        var reader = JSONReader(position: start, end: start + bytes.count)
        reader.skipSpace()
        guard let value = reader.value(levels: min(depth, levelLimit)) else { return nil }
        reader.skipSpace()
        // Not `? value : nil`, which would be the JSON null.
        guard reader.position == reader.end else { return nil }
        return value
    }

    private var next: UInt8? {
        @inline(__always) get { position < end ? position.load(as: UInt8.self) : nil }
    }

    /// Goes past this byte if it is the next one.
    @inline(__always)
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    @inline(__always)
    private mutating func skipSpace() {
        while let byte = next, byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            position += 1
        }
    }

    private mutating func value(levels: Int) -> JSONValue? {
        switch next {
        case UInt8(ascii: "\""):
            position += 1
            return string(isKey: false).map(JSONValue.string)
        case UInt8(ascii: "{"):
            guard levels > 0 else { return nil }
            return object(levels: levels - 1)
        case UInt8(ascii: "["):
            guard levels > 0 else { return nil }
            return array(levels: levels - 1)
        case UInt8(ascii: "t"): return literal("true", .bool(true))
        case UInt8(ascii: "f"): return literal("false", .bool(false))
        case UInt8(ascii: "n"): return literal("null", .null)
        default: return number()
        }
    }

    private mutating func object(levels: Int) -> JSONValue? {
        position += 1
        skipSpace()
        if skip(UInt8(ascii: "}")) { return .object(JSONObject()) }
        var members: [JSONObject.Member] = []
        members.reserveCapacity(8)
        // One bit for each key that came, by its length and first bytes: where the bit is new, so is the key.
        var seen: UInt64 = 0
        while true {
            guard skip(UInt8(ascii: "\"")) else { return nil }
            let start = position
            guard members.count < Self.memberLimit, let key = string(isKey: true) else { return nil }
            let bit = Self.bit(start, position - start - 1)
            if seen & bit != 0, members.contains(where: { $0.has(key) }) { return nil }
            seen |= bit
            skipSpace()
            guard skip(UInt8(ascii: ":")) else { return nil }
            skipSpace()
            guard let value = value(levels: levels) else { return nil }
            members.append(JSONObject.Member(key: key, value: value))
            skipSpace()
            if skip(UInt8(ascii: "}")) { return .object(JSONObject(unique: members)) }
            guard skip(UInt8(ascii: ",")) else { return nil }
            skipSpace()
        }
    }

    private static func bit(_ key: UnsafeRawPointer, _ count: Int) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: count)
        for offset in 0..<min(count, 8) {
            hash = hash &* 31 &+ UInt64((key + offset).load(as: UInt8.self))
        }
        return 1 << ((hash &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }

    private mutating func array(levels: Int) -> JSONValue? {
        position += 1
        skipSpace()
        if skip(UInt8(ascii: "]")) { return .array([]) }
        var elements: [JSONValue] = []
        while true {
            guard let value = value(levels: levels) else { return nil }
            elements.append(value)
            skipSpace()
            if skip(UInt8(ascii: "]")) { return .array(elements) }
            guard skip(UInt8(ascii: ",")) else { return nil }
            skipSpace()
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) -> JSONValue? {
        let count = text.utf8CodeUnitCount
        guard end - position >= count else { return nil }
        for offset in 0..<count where (position + offset).load(as: UInt8.self) != text.utf8Start[offset] { return nil }
        position += count
        return value
    }

    // MARK: Numbers

    private mutating func number() -> JSONValue? {
        let start = position
        let isNegative = skip(UInt8(ascii: "-"))
        let digits = position
        var magnitude: Int64 = 0
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            magnitude = magnitude &* 10 &+ Int64(byte - UInt8(ascii: "0"))
            position += 1
        }
        let count = position - digits
        // 18 digits always fit.
        guard count > 0, count == 1 || digits.load(as: UInt8.self) != UInt8(ascii: "0") else { return nil }
        switch next {
        case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return janssonNumber(from: start)
        default: return count > 18 ? janssonNumber(from: start) : .integer(isNegative ? -magnitude : magnitude)
        }
    }

    /// Fractions, exponents and long integers, as jansson rounds or refuses them.
    private mutating func janssonNumber(from start: UnsafeRawPointer) -> JSONValue? {
        while let byte = next {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"),
                UInt8(ascii: "+"), UInt8(ascii: "-"):
                position += 1
            default:
                return try? JSONValue(jansson: UnsafeRawBufferPointer(start: start, count: position - start), depth: 1)
            }
        }
        return try? JSONValue(jansson: UnsafeRawBufferPointer(start: start, count: position - start), depth: 1)
    }

    // MARK: Strings

    /// The text up to the closing quote; the opening one is behind.
    private mutating func string(isKey: Bool) -> String? {
        let start = position
        let isASCII = skipPlain()
        switch next {
        case UInt8(ascii: "\""):
            let text = UnsafeRawBufferPointer(start: start, count: position - start)
            position += 1
            return isASCII ? String(decoding: text, as: UTF8.self) : String(validating: text, as: UTF8.self)
        case UInt8(ascii: "\\"): return isKey ? nil : escapedString(from: start)
        default: return nil
        }
    }

    /// Goes to the next quote, backslash or control character, or to the end. Whether all on the way was ASCII.
    @inline(__always)
    private mutating func skipPlain() -> Bool {
        var bits: UInt64 = 0
        while end - position >= 8 {
            let word = position.loadUnaligned(as: UInt64.self)
            if EscapedText.mayStop(word) { break }
            bits |= word
            position += 8
        }
        while position < end {
            let byte = position.load(as: UInt8.self)
            if EscapedText.stops(byte) { break }
            bits |= UInt64(byte)
            position += 1
        }
        return bits & 0x8080_8080_8080_8080 == 0
    }

    private mutating func escapedString(from start: UnsafeRawPointer) -> String? {
        var text = [UInt8](UnsafeRawBufferPointer(start: start, count: position - start))
        while true {
            switch next {
            case UInt8(ascii: "\""):
                position += 1
                return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                guard unescape(into: &text) else { return nil }
            default: return nil
            }
            let plain = position
            _ = skipPlain()
            text.append(contentsOf: UnsafeRawBufferPointer(start: plain, count: position - plain))
        }
    }

    /// What follows a backslash.
    private mutating func unescape(into text: inout [UInt8]) -> Bool {
        guard let byte = next else { return false }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard let scalar = escapedScalar() else { return false }
            text.append(contentsOf: Character(scalar).utf8)
        default: return false
        }
        return true
    }

    /// Four hexadecimal digits, or two times four that make one scalar.
    private mutating func escapedScalar() -> Unicode.Scalar? {
        guard let high = hexadecimal() else { return nil }
        guard high >= 0xD800, high < 0xDC00 else { return Unicode.Scalar(high) }
        guard skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")), let low = hexadecimal(), low >= 0xDC00, low < 0xE000
        else { return nil }
        return Unicode.Scalar(0x1_0000 + (high - 0xD800) << 10 + (low - 0xDC00))
    }

    private mutating func hexadecimal() -> UInt32? {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next else { return nil }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): number = number << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
            position += 1
        }
        return number
    }
}
