/// A value for a statement's parameter.
package enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    package static func integer(_ value: Int) -> Value { .integer(Int64(value)) }
    package static func flag(_ value: Bool) -> Value { .integer(value ? 1 : 0) }
    /// A Swift `nil` becomes an SQL NULL.
    package static func optional(_ value: String?) -> Value { value.map(Value.text) ?? .null }
    package static func optional(_ value: [UInt8]?) -> Value { value.map(Value.blob) ?? .null }
    package static func optional(_ value: Int64?) -> Value { value.map(Value.integer) ?? .null }
}

extension Value: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByFloatLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(floatLiteral value: Double) { self = .real(value) }
}
