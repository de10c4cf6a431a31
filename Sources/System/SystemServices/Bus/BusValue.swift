/// A value of a D-Bus message.
package indirect enum BusValue: Sendable, Equatable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case text(String)
    case path(String)
    case signature(String)
    /// Of a message that came: not sent.
    case descriptor(BusDescriptor)
    /// An array of bytes.
    case bytes([UInt8])
    /// Any other array; `of` is the signature of its elements.
    case array([BusValue], of: String)
    case structure([BusValue])
    /// An element of a dictionary, which is an array of these.
    case entry(BusValue, BusValue)
    case variant(BusValue)

    /// A dictionary of texts.
    package static func texts(_ pairs: [String: String]) -> BusValue {
        .array(pairs.map { .entry(.text($0.key), .text($0.value)) }, of: "{ss}")
    }

    /// D-Bus's name of the type.
    var type: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .text: "s"
        case .path: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .bytes: "ay"
        case .array(_, let element): "a\(element)"
        case .structure(let fields): "(\(fields.map(\.type).joined()))"
        case .entry(let key, let value): "{\(key.type)\(value.type)}"
        case .variant: "v"
        }
    }
}
