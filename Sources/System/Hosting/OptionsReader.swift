package import JSON
import Transport

/// Reads an options object so that nothing in it is overlooked.
///
/// Each call takes one key. ``finish()`` then refuses the remaining ones: an unknown key is a mistake of the caller,
/// and the error names it.
package struct OptionsReader {
    private var object: JSONObject
    /// `"tls."` while reading the object of the key `tls`.
    private let path: String

    package init(_ object: JSONObject, path: String = "") {
        self.object = object
        self.path = path
    }

    /// The options of a JSON text; `nil` means none.
    package init(parsing text: String?) throws(HostError) { self.init(try JSONObject(parameter: "options_json", text)) }

    package mutating func text(_ key: String, maximumBytes: Int = 4096) throws(HostError) -> String? {
        guard let value = take(key) else { return nil }
        guard let text = value.string else { throw wrongType(key, "a text", value) }
        guard text.utf8.count <= maximumBytes, !text.utf8.contains(0) else {
            throw invalid(key, "is longer than \(maximumBytes) bytes or contains NUL")
        }
        return text
    }

    /// A relay's URL, checked here so that a mistake is an error at once, not a connection that never succeeds.
    package mutating func relayURL(_ key: String) throws(HostError) -> String? {
        guard let text = try text(key) else { return nil }
        do throws(TransportError) { _ = try WebSocketURL(text) } catch { throw invalid(key, ": \(error.message)") }
        return text
    }

    package mutating func flag(_ key: String) throws(HostError) -> Bool? {
        guard let value = take(key) else { return nil }
        guard let flag = value.bool else { throw wrongType(key, "true or false", value) }
        return flag
    }

    package mutating func integer(_ key: String, in range: ClosedRange<Int64>) throws(HostError) -> Int64? {
        guard let value = take(key) else { return nil }
        guard case .integer(let number) = value else { throw wrongType(key, "a whole number", value) }
        guard range.contains(number) else {
            throw invalid(key, "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    package mutating func texts(_ key: String, maximum: Int) throws(HostError) -> [String]? {
        guard let value = take(key) else { return nil }
        guard let array = value.array else { throw wrongType(key, "an array of strings", value) }
        guard array.count <= maximum else { throw invalid(key, "has more than \(maximum) members") }
        var texts: [String] = []
        for element in array {
            guard let text = element.string, !text.utf8.contains(0) else {
                throw invalid(key, "must be an array of strings")
            }
            texts.append(text)
        }
        return texts
    }

    package mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, of type: Choice.Type
    ) throws(HostError) -> Choice? where Choice.RawValue == String {
        guard let text = try text(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw invalid(key, "must be one of \(names)")
        }
        return choice
    }

    package mutating func object(_ key: String) throws(HostError) -> OptionsReader? {
        guard let value = take(key) else { return nil }
        guard let object = value.object else { throw wrongType(key, "an object", value) }
        return OptionsReader(object, path: "\(path)\(key).")
    }

    /// The whole object of a key, for a module that reads it by itself.
    package mutating func rawObject(_ key: String) throws(HostError) -> JSONObject? {
        guard let value = take(key) else { return nil }
        guard let object = value.object else { throw wrongType(key, "an object", value) }
        return object
    }

    /// Refuses unknown keys.
    package func finish() throws(HostError) {
        guard let key = object.keys.first else { return }
        throw HostError(
            .invalid, "unknown option \"\(path)\(key)\"; see the header for the list",
            detail: ["field": .string(path + key)])
    }

    package func invalid(_ key: String, _ problem: String) -> HostError {
        HostError(.invalid, "option \"\(path)\(key)\" \(problem)", detail: ["field": .string(path + key)])
    }

    private func wrongType(_ key: String, _ expected: String, _ value: JSONValue) -> HostError {
        invalid(key, "must be \(expected), not \(value.typeName)")
    }

    private mutating func take(_ key: String) -> JSONValue? {
        defer { object[key] = nil }
        return object[key]
    }
}
