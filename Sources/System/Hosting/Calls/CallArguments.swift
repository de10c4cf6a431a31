package import JSON
import Transport

/// Reads the arguments of another program's call, in order.
package struct CallArguments {
    private let name: String
    private let values: [JSONValue]
    private var place = 0

    package init(_ call: HostCall) { (name, values) = (call.name, call.arguments) }

    package mutating func text() throws(HostError) -> String {
        guard let text = try optionalText() else { throw invalid("a text") }
        return text
    }

    /// A host's texts end at a NUL, so none contains one.
    package mutating func optionalText() throws(HostError) -> String? {
        switch next() {
        case .null: return nil
        case .string(let text) where !text.utf8.contains(0): return text
        case .string, .bool, .integer, .double, .array, .object: throw invalid("a text")
        }
    }

    /// A relay's URL, checked as the option of that kind is.
    package mutating func relayURL() throws(HostError) -> String? {
        guard let text = try optionalText() else { return nil }
        do throws(TransportError) { _ = try WebSocketURL(text) } catch { throw invalid("a relay's URL") }
        return text
    }

    package mutating func integer() throws(HostError) -> Int64 {
        guard case .integer(let number) = next() else { throw invalid("a whole number") }
        return number
    }

    package mutating func timeout() throws(HostError) -> CallTimeout { try CallTimeout(try integer()) }

    package mutating func flag() throws(HostError) -> Bool {
        guard case .bool(let flag) = next() else { throw invalid("true or false") }
        return flag
    }

    /// JSON has no infinity and no NaN: `null` stands for them.
    package mutating func double() throws(HostError) -> Double {
        let value = next()
        if value.isNull { return .nan }
        guard let number = value.double else { throw invalid("a number") }
        return number
    }

    /// The JSON of a parameter of that name.
    package mutating func value(_ parameter: String) throws(HostError) -> JSONValue {
        let value = next()
        guard !value.isDeeper(than: JSONValue.parameterDepthLimit) else {
            throw HostError(
                .invalid, "\(parameter) has more than \(JSONValue.parameterDepthLimit) levels",
                detail: ["field": .string(parameter)])
        }
        return value
    }

    package mutating func object(_ parameter: String) throws(HostError) -> JSONObject {
        guard case .object(let object) = try value(parameter) else { throw invalid("an object") }
        return object
    }

    private mutating func next() -> JSONValue {
        defer { place += 1 }
        return place < values.count ? values[place] : .null
    }

    private func invalid(_ expected: String) -> HostError {
        HostError(.undecodable, "argument \(place) of \(name) must be \(expected)")
    }
}

extension JSONValue {
    /// An optional text as an argument.
    package static func text(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

    package static func timeout(_ timeout: CallTimeout) -> JSONValue { .integer(Int64(clamping: timeout.milliseconds)) }

    /// JSON has no infinity and no NaN.
    package static func number(_ number: Double) -> JSONValue { number.isFinite ? .double(number) : .null }

    /// Whether containers are nested more deeply than that.
    fileprivate func isDeeper(than levels: Int) -> Bool {
        switch self {
        case .null, .bool, .integer, .double, .string: false
        case .array(let elements): levels <= 0 || elements.contains { $0.isDeeper(than: levels - 1) }
        case .object(let object): levels <= 0 || object.members.contains { $0.value.isDeeper(than: levels - 1) }
        }
    }
}
