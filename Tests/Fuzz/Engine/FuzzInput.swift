import JSON

/// Turns bytes into choices, so that each byte that a fuzzer changes changes one decision.
///
/// Bytes that have run out read as 0: every input is a valid sequence of choices.
struct FuzzInput {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// 0 to `count` - 1.
    mutating func choice(_ count: Int) -> Int { count > 1 ? Int(byte()) % count : 0 }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        let raw = UInt64(byte()) | UInt64(byte()) << 8
        return range.lowerBound + Int(raw % UInt64(range.count))
    }

    /// Any number; often one at the edge of its type.
    mutating func integer() -> Int64 {
        let kind = byte()
        if kind < 128 { return Int64(kind) - 8 }
        let edges: [Int64] = [.min, .max, .min + 1, .max - 1, 1 << 53, -(1 << 53), 1 << 32, -(1 << 31), 0, 4_096]
        if kind < 192 { return edges[Int(kind) % edges.count] &+ Int64(byte() % 5) &- 2 }
        return (0..<8).reduce(0) { value, _ in value << 8 | Int64(byte()) }
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        let taken = Array(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return taken + [UInt8](repeating: 0, count: count - taken.count)
    }

    mutating func rest() -> [UInt8] {
        defer { bytes = [] }
        return Array(bytes)
    }

    mutating func element<Element>(_ elements: [Element]) -> Element { elements[choice(elements.count)] }

    /// A short text of valid UTF-8.
    mutating func text(_ limit: Int = 24) -> String { String(decoding: bytes(choice(limit)), as: UTF8.self) }

    /// A key: no JSON that is read has a NUL in one.
    private mutating func name() -> String { String(text(8).unicodeScalars.filter { $0 != "\0" }.map(Character.init)) }

    /// A JSON value of few levels, with keys out of `keys` where there are any.
    mutating func json(_ keys: [String], depth: Int = 3) -> JSONValue {
        switch choice(depth > 0 ? 9 : 6) {
        case 0: return .null
        case 1: return .bool(flag())
        case 2: return .integer(integer())
        case 3: return .string(text())
        case 4: return .double(element([0.5, -1.5, 1e300, -1e300, 2e-308, 9.007_199_254_740_994e15, 1e19, 50]))
        case 5: return .string(element(keys.isEmpty ? [""] : keys))
        case 6: return .array((0..<choice(5)).map { _ in json(keys, depth: depth - 1) })
        default: return .object(object(keys, depth: depth - 1))
        }
    }

    mutating func object(_ keys: [String], depth: Int = 2) -> JSONObject {
        var object: JSONObject = [:]
        for _ in 0..<choice(8) { object[keys.isEmpty ? name() : element(keys)] = json(keys, depth: depth) }
        return object
    }
}

/// A generator whose numbers are the input's bytes, and after them a fixed sequence.
struct FuzzGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
