internal import CVector

/// Walks over JSON text and checks it, without keeping any of it.
///
/// Reads only between its two ends. Nesting is counted, not recursed, so that depth costs no stack.
struct JSONCursor {
    typealias Failure = EnvelopeScanner.Failure

    private(set) var position: UnsafeRawPointer
    private let end: UnsafeRawPointer
    /// What vector instructions read at once.
    private static let lane = 16
    /// Where the last bytes begin that are read at once; `nil` = there are fewer in all.
    private let lastLane: UnsafeRawPointer?

    init(_ start: UnsafeRawPointer, end: UnsafeRawPointer) {
        position = start
        lastLane = end - start >= Self.lane ? end - Self.lane : nil
        self.end = end
    }

    @inline(__always) var isAtEnd: Bool { position >= end }

    @inline(__always) var peek: UInt8? { position < end ? byte : nil }

    /// Only where something is left.
    @inline(__always) private var byte: UInt8 { position.load(as: UInt8.self) }

    @inline(__always) mutating func advance() { position += 1 }

    @inline(__always)
    mutating func skipSpace() {
        while position < end {
            let byte = byte
            // Space, tab, line feed, carriage return; nearly always there is none.
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    /// Skips a key, its quotes included. Returns whether it has escapes.
    @inline(__always)
    mutating func skipKey() throws(Failure) -> Bool {
        guard let quote = peek else { throw .cut }
        guard quote == UInt8(ascii: "\"") else { throw .syntax }
        let start = position
        let escaped = try skipString()
        // jansson keeps keys as C strings.
        if escaped, JSONText.spellsNUL(UnsafeRawBufferPointer(start: start, count: position - start)) { throw .syntax }
        return escaped
    }

    @inline(__always)
    mutating func expectColon() throws(Failure) {
        skipSpace()
        guard let colon = peek else { throw .cut }
        guard colon == UInt8(ascii: ":") else { throw .syntax }
        position += 1
        skipSpace()
    }

    /// After a member of an object: goes to the next key, or past the closing brace.
    @inline(__always)
    mutating func hasNextMember() throws(Failure) -> Bool {
        skipSpace()
        guard let next = peek else { throw .cut }
        position += 1
        if next == UInt8(ascii: "}") { return false }
        guard next == UInt8(ascii: ",") else { throw .syntax }
        skipSpace()
        return true
    }

    /// Skips one value that is a member of the top-level object.
    @inline(__always)
    mutating func skipValue() throws(Failure) -> Envelope.Field.Kind {
        guard let first = peek else { throw .cut }
        switch first {
        case UInt8(ascii: "{"):
            try skipContainer()
            return .object
        case UInt8(ascii: "["):
            try skipContainer()
            return .array
        default: return try skipScalar(first)
        }
    }

    // MARK: Containers

    private mutating func skipContainer() throws(Failure) {
        // A copy stays in registers.
        var cursor = self
        defer { self = cursor }
        try cursor.walkContainer()
    }

    @inline(__always)
    private mutating func walkContainer() throws(Failure) {
        // The top-level object is the first level.
        var nesting = Nesting(depth: 1)
        var isObject = byte == UInt8(ascii: "{")
        nesting.push(isObject)
        position += 1
        var isFirst = true
        while true {
            skipSpace()
            guard let next = peek else { throw .cut }
            if isFirst, next == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                position += 1
            } else {
                if isObject {
                    _ = try skipKey()
                    try expectColon()
                }
                guard let first = peek else { throw .cut }
                guard nesting.depth < EnvelopeScanner.maximumDepth else { throw .tooDeep }
                if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                    isObject = first == UInt8(ascii: "{")
                    nesting.push(isObject)
                    position += 1
                    isFirst = true
                    continue
                }
                _ = try skipScalar(first)
                isFirst = false
                if try isFollowedByComma(in: isObject) { continue }
            }
            // A container has ended, and perhaps those around it.
            while true {
                guard let outer = nesting.pop() else { return }
                isObject = outer
                isFirst = false
                if try isFollowedByComma(in: isObject) { break }
            }
        }
    }

    /// After a value: past the comma, or past the end of the container that holds it.
    @inline(__always)
    private mutating func isFollowedByComma(in object: Bool) throws(Failure) -> Bool {
        skipSpace()
        guard let next = peek else { throw .cut }
        position += 1
        if next == UInt8(ascii: ",") { return true }
        guard next == (object ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw .syntax }
        return false
    }

    /// Which of the open containers are objects: one bit each, 64 in a word, more words only below that.
    private struct Nesting {
        private(set) var depth: Int
        private var word: UInt64 = 0
        private var used = 0
        private var outer: [UInt64] = []

        init(depth: Int) { self.depth = depth }

        @inline(__always)
        mutating func push(_ isObject: Bool) {
            if used == 64 {
                outer.append(word)
                used = 0
            }
            word = word << 1 | (isObject ? 1 : 0)
            used &+= 1
            depth &+= 1
        }

        /// Ends the innermost container. Returns whether the one around it is an object; `nil` when it was the last.
        @inline(__always)
        mutating func pop() -> Bool? {
            word >>= 1
            used &-= 1
            depth &-= 1
            if used == 0 {
                guard let previous = outer.popLast() else { return nil }
                word = previous
                used = 64
            }
            return word & 1 == 1
        }
    }

    // MARK: Scalars

    @inline(__always)
    private mutating func skipScalar(_ first: UInt8) throws(Failure) -> Envelope.Field.Kind {
        switch first {
        case UInt8(ascii: "\""): return try skipString() ? .escapedString : .string
        case UInt8(ascii: "t"):
            try skipLiteral("true")
            return .yes
        case UInt8(ascii: "f"):
            try skipLiteral("false")
            return .no
        case UInt8(ascii: "n"):
            try skipLiteral("null")
            return .null
        default:
            try skipNumber()
            return .number
        }
    }

    private mutating func skipLiteral(_ literal: StaticString) throws(Failure) {
        let length = literal.utf8CodeUnitCount
        guard end - position >= length else { throw .cut }
        guard UnsafeRawBufferPointer(start: position, count: length).matches(literal) else { throw .syntax }
        position += length
    }

    private mutating func skipNumber() throws(Failure) {
        if peek == UInt8(ascii: "-") { position += 1 }
        guard let lead = peek else { throw .cut }
        position += 1
        if lead != UInt8(ascii: "0") {
            guard lead >= UInt8(ascii: "1"), lead <= UInt8(ascii: "9") else { throw .syntax }
            skipDigits()
        }
        if peek == UInt8(ascii: ".") {
            position += 1
            try requireDigits()
        }
        if let exponent = peek, exponent | 0x20 == UInt8(ascii: "e") {
            position += 1
            if let sign = peek, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try requireDigits()
        }
    }

    private mutating func requireDigits() throws(Failure) {
        guard let digit = peek else { throw .cut }
        guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { throw .syntax }
        skipDigits()
    }

    @inline(__always)
    private mutating func skipDigits() {
        while position < end, byte &- UInt8(ascii: "0") < 10 { position += 1 }
    }

    // MARK: Strings

    /// Skips a string, its quotes included. Returns whether it has escapes.
    @inline(__always)
    mutating func skipString() throws(Failure) -> Bool {
        position += 1
        var escaped = false
        while true {
            skipPlain()
            guard position < end else { throw .cut }
            let byte = byte
            position += 1
            if byte == UInt8(ascii: "\"") { return escaped }
            if byte < 0x20 { throw .syntax }
            if byte == UInt8(ascii: "\\") {
                escaped = true
                try skipEscape()
            }
        }
    }

    /// Goes to the next quote, backslash or control character, or to the end. Of a short frame it may skip nothing.
    @inline(__always)
    private mutating func skipPlain() {
        guard let lastLane else { return }
        while position <= lastLane {
            let stops = vector_json_stops(position)
            guard stops == 0 else {
                position += stops.trailingZeroBitCount
                return
            }
            position += Self.lane
        }
        // Fewer bytes are left than are read at once: these, and what stands before them.
        let seen = position - lastLane
        let stops = vector_json_stops(lastLane) >> UInt32(truncatingIfNeeded: seen)
        position = stops == 0 ? end : position + stops.trailingZeroBitCount
    }

    /// After a backslash.
    private mutating func skipEscape() throws(Failure) {
        guard let kind = peek else { throw .cut }
        position += 1
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            let unit = try hexUnit()
            guard unit & 0xF800 == 0xD800 else { return }
            // Half of a pair alone is no character.
            guard unit & 0xFC00 == 0xD800 else { throw .syntax }
            guard end - position >= 6 else { throw .cut }
            guard byte == UInt8(ascii: "\\"), (position + 1).load(as: UInt8.self) == UInt8(ascii: "u") else {
                throw .syntax
            }
            position += 2
            guard try hexUnit() & 0xFC00 == 0xDC00 else { throw .syntax }
        default: throw .syntax
        }
    }

    private mutating func hexUnit() throws(Failure) -> UInt32 {
        guard end - position >= 4 else { throw .cut }
        var unit: UInt32 = 0
        for index in 0..<4 {
            guard let digit = JSONText.hexDigit((position + index).load(as: UInt8.self)) else { throw .syntax }
            unit = unit << 4 | UInt32(digit)
        }
        position += 4
        return unit
    }
}
