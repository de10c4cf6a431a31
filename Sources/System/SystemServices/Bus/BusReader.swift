import COnDemand
import Glibc

/// Reads a message's values, whatever they are, up to a limit.
struct BusReader {
    /// Values in a message, containers and what is in them.
    static let maximumValues = 2_048
    /// Bytes of all texts and byte arrays in a message.
    static let maximumBytes = 64 << 10
    /// Containers in containers.
    static let maximumDepth = 8

    private let message: RawMessage
    private var values = 0
    private var bytes = 0

    init(_ message: RawMessage) { self.message = message }

    /// All values of the message.
    static func values(of message: RawMessage) throws(BusError) -> [BusValue] {
        var reader = BusReader(message)
        return try reader.readAll(depth: 0)
    }

    private mutating func readAll(depth: Int) throws(BusError) -> [BusValue] {
        var values: [BusValue] = []
        while let value = try read(depth: depth) { values.append(value) }
        return values
    }

    /// The next value; `nil` at the end of the container or message.
    private mutating func read(depth: Int) throws(BusError) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        let result = bw_message_peek(message.pointer, &type, &contents)
        guard result >= 0 else { throw Self.malformed }
        guard result > 0 else { return nil }
        values &+= 1
        guard values <= Self.maximumValues, depth <= Self.maximumDepth else { throw Self.tooLarge }
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "y"): return .byte(try basic(type, UInt8(0)))
        case UInt8(ascii: "b"): return .bool(try basic(type, CInt(0)) != 0)
        case UInt8(ascii: "n"): return .int16(try basic(type, Int16(0)))
        case UInt8(ascii: "q"): return .uint16(try basic(type, UInt16(0)))
        case UInt8(ascii: "i"): return .int32(try basic(type, Int32(0)))
        case UInt8(ascii: "u"): return .uint32(try basic(type, UInt32(0)))
        case UInt8(ascii: "x"): return .int64(try basic(type, Int64(0)))
        case UInt8(ascii: "t"): return .uint64(try basic(type, UInt64(0)))
        case UInt8(ascii: "d"): return .double(try basic(type, Double(0)))
        case UInt8(ascii: "s"): return .text(try text(type))
        case UInt8(ascii: "o"): return .path(try text(type))
        case UInt8(ascii: "g"): return .signature(try text(type))
        case UInt8(ascii: "h"): return try descriptor(type)
        case UInt8(ascii: "a"): return try array(contents, depth: depth)
        case UInt8(ascii: "r"): return .structure(try container(type, contents, depth: depth))
        case UInt8(ascii: "v"): return try variant(type, contents, depth: depth)
        case UInt8(ascii: "e"): return try entry(type, contents, depth: depth)
        default: throw Self.malformed
        }
    }

    private func basic<T: BitwiseCopyable>(_ type: CChar, _ zero: T) throws(BusError) -> T {
        var value = zero
        guard bw_message_read(message.pointer, type, &value) > 0 else { throw Self.malformed }
        return value
    }

    private mutating func text(_ type: CChar) throws(BusError) -> String {
        guard let pointer = try basic(type, UnsafePointer<CChar>?.none) else { throw Self.malformed }
        let text = UnsafeBufferPointer(start: pointer, count: strnlen(pointer, Self.maximumBytes &+ 1))
        try take(text.count)
        return String(decoding: UnsafeRawBufferPointer(text), as: UTF8.self)
    }

    private func descriptor(_ type: CChar) throws(BusError) -> BusValue {
        guard let copy = BusDescriptor(copying: try basic(type, CInt(-1))) else {
            throw BusError(.malformed, "cannot keep the file descriptor that a service sent")
        }
        return .descriptor(copy)
    }

    private mutating func array(_ contents: UnsafePointer<CChar>?, depth: Int) throws(BusError) -> BusValue {
        guard let contents else { throw Self.malformed }
        let element = String(cString: contents)
        guard element == "y" else {
            return .array(try container(CChar(UInt8(ascii: "a")), contents, depth: depth), of: element)
        }
        var pointer: UnsafeRawPointer?
        var count = 0
        guard bw_message_read_bytes(message.pointer, &pointer, &count) >= 0 else { throw Self.malformed }
        try take(count)
        return .bytes(Array(UnsafeRawBufferPointer(start: pointer, count: pointer == nil ? 0 : count)))
    }

    private mutating func variant(
        _ type: CChar, _ contents: UnsafePointer<CChar>?, depth: Int
    ) throws(BusError) -> BusValue {
        guard let value = try container(type, contents, depth: depth).first else { throw Self.malformed }
        return .variant(value)
    }

    private mutating func entry(
        _ type: CChar, _ contents: UnsafePointer<CChar>?, depth: Int
    ) throws(BusError) -> BusValue {
        let values = try container(type, contents, depth: depth)
        guard let key = values.first, let value = values.dropFirst().first else { throw Self.malformed }
        return .entry(key, value)
    }

    private mutating func container(
        _ type: CChar, _ contents: UnsafePointer<CChar>?, depth: Int
    ) throws(BusError) -> [BusValue] {
        guard bw_message_enter(message.pointer, type, contents) > 0 else { throw Self.malformed }
        let values = try readAll(depth: depth &+ 1)
        guard bw_message_exit(message.pointer) >= 0 else { throw Self.malformed }
        return values
    }

    private mutating func take(_ count: Int) throws(BusError) {
        guard count <= Self.maximumBytes &- bytes else { throw Self.tooLarge }
        bytes &+= count
    }

    private static let malformed = BusError(.malformed, "a service sent an unreadable message")
    private static let tooLarge = BusError(.tooLarge, "a service sent a message that is too large")
}
