import CJansson

/// Writes compact JSON, as jansson does, into memory that is as large as ``count(of:)`` says.
struct JSONWriter {
    private var target: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ target: UnsafeMutableRawBufferPointer) { self.target = target }

    /// How many bytes of text a value becomes.
    static func count(of value: JSONValue) -> Int {
        switch value {
        case .null: 4
        case .bool(let value): value ? 4 : 5
        case .integer(let value): digits(value.magnitude) + (value < 0 ? 1 : 0)
        case .double(let value): text(value).utf8.count
        case .string(let value): count(of: value)
        case .array(let elements): elements.reduce(max(1, elements.count) + 1) { $0 + count(of: $1) }
        case .object(let object):
            object.members.reduce(max(1, object.members.count) + 1) {
                $0 + count(of: $1.key) + 1 + count(of: $1.value)
            }
        }
    }

    private static func count(of text: String) -> Int {
        var text = text
        return text.withUTF8 { EscapedText.count(of: UnsafeRawBufferPointer($0)) } + 2
    }

    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: put("null")
        case .bool(let value): put(value ? "true" : "false")
        case .integer(let value): write(value)
        case .double(let value):
            var text = Self.text(value)
            text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
        case .string(let value): write(value)
        case .array(let elements):
            put(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { put(UInt8(ascii: ",")) }
                isFirst = false
                write(element)
            }
            put(UInt8(ascii: "]"))
        case .object(let object):
            put(UInt8(ascii: "{"))
            var isFirst = true
            for member in object.members {
                if !isFirst { put(UInt8(ascii: ",")) }
                isFirst = false
                write(member.key)
                put(UInt8(ascii: ":"))
                write(member.value)
            }
            put(UInt8(ascii: "}"))
        }
    }

    @inline(__always)
    private mutating func put(_ byte: UInt8) {
        target[count] = byte
        count += 1
    }

    private mutating func put(_ text: StaticString) {
        copy(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: target[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    // MARK: Numbers

    private static func digits(_ magnitude: UInt64) -> Int {
        var (rest, count) = (magnitude, 1)
        while rest >= 10 { (rest, count) = (rest / 10, count + 1) }
        return count
    }

    private mutating func write(_ number: Int64) {
        if number < 0 { put(UInt8(ascii: "-")) }
        let end = count + Self.digits(number.magnitude)
        var (rest, place) = (number.magnitude, end)
        while place > count {
            place -= 1
            target[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count = end
    }

    /// As jansson writes it: 17 digits, in any locale. A number that JSON cannot say becomes `null`.
    private static func text(_ value: Double) -> String {
        guard value.isFinite, let number = json_real(value) else { return "null" }
        defer { json_decref(number) }
        return String(unsafeUninitializedCapacity: 64) { buffer in
            buffer.withMemoryRebound(to: CChar.self) {
                min(64, json_dumpb(number, $0.baseAddress, 64, Int(JSON_ENCODE_ANY)))
            }
        }
    }

    // MARK: Texts

    private mutating func write(_ text: String) {
        put(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { escape(UnsafeRawBufferPointer($0)) }
        put(UInt8(ascii: "\""))
    }

    private mutating func escape(_ text: UnsafeRawBufferPointer) {
        guard let start = text.baseAddress else { return }
        var (plain, offset) = (0, 0)
        while offset < text.count {
            if text.count - offset >= 8, !EscapedText.mayStop((start + offset).loadUnaligned(as: UInt64.self)) {
                offset += 8
                continue
            }
            let byte = text[offset]
            if EscapedText.stops(byte) {
                copy(UnsafeRawBufferPointer(rebasing: text[plain..<offset]))
                put(UInt8(ascii: "\\"))
                if let letter = EscapedText.escape(byte) { put(letter) } else { putScalar(byte) }
                plain = offset + 1
            }
            offset += 1
        }
        copy(UnsafeRawBufferPointer(rebasing: text[plain...]))
    }

    private mutating func putScalar(_ byte: UInt8) {
        put("u00")
        for digit in [byte >> 4, byte & 15] {
            put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10)
        }
    }
}
