package import Hosting
package import JSON

/// One function of the C interface as text: its name and its arguments. What a guest asks of its holder.
package struct HostCall: Sendable, Equatable {
    package let name: String
    package let arguments: [JSONValue]

    package init(_ name: String, _ arguments: [JSONValue] = []) { (self.name, self.arguments) = (name, arguments) }
}

/// The result of a call.
package struct HostReply: Sendable, Equatable {
    package let json: String
    /// It was not carried out yet; `json` names the queued command.
    package let isQueued: Bool

    package init(_ json: String, isQueued: Bool = false) { (self.json, self.isQueued) = (json, isQueued) }
}

/// Takes what a call came to; called exactly once, on any thread.
package typealias ReplyThen = @Sendable (Result<HostReply, HostError>) -> Void

/// Reads the arguments of a call, in order. Another program sends them, so each is checked.
package struct CallArguments {
    private let name: String
    private let values: [JSONValue]
    private var place = 0

    package init(_ call: HostCall) { (name, values) = (call.name, call.arguments) }

    package mutating func text() throws(HostError) -> String {
        guard let text = try optionalText() else { throw invalid("a text") }
        return text
    }

    package mutating func optionalText() throws(HostError) -> String? {
        switch next() {
        case .null: return nil
        case .string(let text): return text
        case .bool, .integer, .double, .array, .object: throw invalid("a text")
        }
    }

    package mutating func integer() throws(HostError) -> Int64 {
        guard case .integer(let number) = next() else { throw invalid("a whole number") }
        return number
    }

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

    package mutating func value() -> JSONValue { next() }

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
}
