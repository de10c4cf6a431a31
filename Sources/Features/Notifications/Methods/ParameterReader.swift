import Calendar
package import JSON
import Wire

/// Parameters by type. Absent and null are the same; what is wrong is an error that names the field.
package struct ParameterReader {
    package let params: JSONObject
    /// Stands before a name in an error.
    private let place: String

    /// For a peer's parameters: unknown ones are ignored.
    package init(_ params: JSONObject) {
        self.params = params
        place = ""
    }

    /// For parameters of which unknown ones are errors: the host's, and settings.
    ///
    /// - Parameters:
    ///   - names: the known ones; `nil` = unknown ones are ignored.
    ///   - place: stands before a name in an error: where these parameters are, such as `quietHours.`
    package init(_ params: JSONObject, allowing names: [String]?, in place: String = "") throws(NotificationsError) {
        for member in params.members where names?.contains(member.key) == false {
            throw .parameter(place + ParameterReader.shown(member.key), "is not a parameter of this method")
        }
        self.params = params
        self.place = place
    }

    /// The checked value of a parameter, as it is sent; `nil` if it is absent.
    package func value(_ parameter: Parameter) throws(NotificationsError) -> JSONValue? {
        let name = parameter.names.first { present($0) != nil } ?? parameter.name
        guard parameter.isRequired || present(name) != nil else { return nil }
        switch parameter.kind {
        case .text(let limit) where parameter.isRequired: return .string(try filled(name, limit: limit))
        case .text(let limit): return try text(name, limit: limit).map(JSONValue.string)
        case .id: return .string(try filled(name, limit: Parameter.idLimit))
        case .flag: return try flag(name).map(JSONValue.bool)
        case .integer: return try integer(name).map(JSONValue.integer)
        case .natural:
            guard let integer = try integer(name) else { return nil }
            guard integer >= 0 else { throw fault(name, "must not be negative") }
            return .integer(integer)
        case .number(let range):
            guard let integer = try integer(name) else { return nil }
            guard range ~= integer else {
                throw fault(name, "must be from \(range.lowerBound) to \(range.upperBound)")
            }
            return .integer(integer)
        case .timeOfDay:
            guard let text = try text(name, limit: 64) else { return nil }
            guard TimeOfDay.isValid(text) else { throw fault(name, "must be a time of day as HH:mm") }
            return .string(text)
        case .choice(let names):
            guard let text = try text(name, limit: 64) else { return nil }
            guard names.contains(text) else { throw fault(name, "must be \(ParameterReader.listed(names))") }
            return .string(text)
        case .priority:
            guard let text = try text(name, limit: 64) else { return nil }
            guard let priority = Priority(name: text) else {
                throw fault(name, "must be \(ParameterReader.listed(Priority.allCases.map(\.name)))")
            }
            return .string(priority.name)
        case .object(let limit): return try object(name, limit: limit).map(JSONValue.object)
        }
    }

    private func text(_ name: String, limit: Int) throws(NotificationsError) -> String? {
        guard let value = present(name) else { return nil }
        guard let text = value.string else { throw fault(name, "must be a string, not \(value.typeName)") }
        guard text.utf8.count <= limit else { throw fault(name, "is longer than \(limit) bytes") }
        return text
    }

    /// A text that is there and not empty.
    private func filled(_ name: String, limit: Int) throws(NotificationsError) -> String {
        guard let text = try text(name, limit: limit) else { throw fault(name, "is missing") }
        guard !text.isEmpty else { throw fault(name, "must not be empty") }
        return text
    }

    /// A list of ids that is not empty, each of them once; `nil` if it is absent.
    package func ids(_ name: String, limit: Int) throws(NotificationsError) -> [String]? {
        guard let value = present(name) else { return nil }
        guard let list = value.array, 1...limit ~= list.count else {
            throw fault(name, "must be a list of 1 to \(limit) ids")
        }
        var ids: [String] = []
        var known: Set<String> = []
        for element in list {
            guard let id = element.string, 1...Parameter.idLimit ~= id.utf8.count else {
                throw fault(name, "must hold ids of 1 to \(Parameter.idLimit) bytes")
            }
            if known.insert(id).inserted { ids.append(id) }
        }
        return ids
    }

    private func flag(_ name: String) throws(NotificationsError) -> Bool? {
        guard let value = present(name) else { return nil }
        guard let flag = value.bool else { throw fault(name, "must be true or false, not \(value.typeName)") }
        return flag
    }

    package func integer(_ name: String) throws(NotificationsError) -> Int64? {
        guard let value = present(name) else { return nil }
        guard case .integer(let integer) = value else {
            // 50.0 is a whole number as well.
            if let double = value.double, let integer = value.integer, Double(integer) == double { return integer }
            throw fault(name, "must be a whole number")
        }
        return integer
    }

    private func object(_ name: String, limit: Int) throws(NotificationsError) -> JSONObject? {
        guard let value = present(name) else { return nil }
        guard let object = value.object else { throw fault(name, "must be an object, not \(value.typeName)") }
        guard !value.isDeeper(than: JSONValue.parameterDepthLimit) else {
            throw fault(name, "is nested more than \(JSONValue.parameterDepthLimit) levels deep")
        }
        guard value.serialized().utf8.count <= limit else { throw fault(name, "is longer than \(limit) bytes") }
        return object
    }

    package func present(_ name: String) -> JSONValue? {
        guard let value = params[name], !value.isNull else { return nil }
        return value
    }

    private func fault(_ name: String, _ message: String) -> NotificationsError { .parameter(place + name, message) }

    /// `a, b or c`
    private static func listed(_ names: [String]) -> String {
        names.count < 2 ? names.joined() : names.dropLast().joined(separator: ", ") + " or " + names.suffix(1).joined()
    }

    /// An error message quotes an unknown name only if it looks like a name.
    private static func shown(_ name: String) -> String {
        let isName = name.utf8.count <= 64 && name.utf8.allSatisfy { 0x21...0x7e ~= $0 }
        return isName ? name : "a parameter with an invalid name"
    }
}
