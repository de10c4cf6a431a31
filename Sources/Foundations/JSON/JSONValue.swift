/// One JSON value.
///
/// Integers keep all 64 bits; every other number is a double.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

extension JSONValue {
    package var isNull: Bool { self == .null }

    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The number as an integer: a double is rounded towards zero; `nil` where it does not fit in 64 bits.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        // 2^63 is exact as a double; NaN fails both comparisons.
        case .double(let value): value >= -0x1p63 && value < 0x1p63 ? Int64(value) : nil
        case .null, .bool, .string, .array, .object: nil
        }
    }

    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The JSON name of the value's type, for messages.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .double: "a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The member of an object; `nil` for anything else.
    package subscript(key: String) -> JSONValue? { object?[key] }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// A member whose value is a Swift `nil` is left out; write `.null` for a JSON null.
    package init(dictionaryLiteral elements: (String, JSONValue?)...) {
        self = .object(JSONObject(elements))
    }
}
