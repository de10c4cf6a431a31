import Calendar
package import JSON

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
    /// - Parameter place: stands before a name in an error: where these parameters are, such as `quietHours.`
    package init(_ params: JSONObject, allowing names: [String], in place: String = "") throws(NotificationsError) {
        for member in params.members where !names.contains(member.key) {
            throw .parameter(place + ParameterReader.shown(member.key), "is not a parameter of this method")
        }
        self.params = params
        self.place = place
    }

    package func text(_ names: String..., limit: Int) throws(NotificationsError) -> String? {
        for name in names {
            guard let value = present(name) else { continue }
            guard let text = value.string else { throw fault(name, "must be a text, not \(value.typeName)") }
            guard text.utf8.count <= limit else { throw fault(name, "is longer than \(limit) bytes") }
            return text
        }
        return nil
    }

    /// A text that is there and not empty.
    package func required(_ names: String..., limit: Int) throws(NotificationsError) -> String {
        for name in names {
            guard let text = try text(name, limit: limit) else { continue }
            guard !text.isEmpty else { throw fault(name, "must not be empty") }
            return text
        }
        throw fault(names.first ?? "", "is missing")
    }

    package func flag(_ name: String) throws(NotificationsError) -> Bool? {
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

    /// A time of day, `HH:mm`.
    package func timeOfDay(_ name: String) throws(NotificationsError) -> String? {
        guard let text = try text(name, limit: 64) else { return nil }
        guard TimeOfDay.isValid(text) else { throw fault(name, "must be a time of day as HH:mm") }
        return text
    }

    /// A whole number within bounds.
    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(NotificationsError) -> Int64? {
        guard let integer = try integer(name) else { return nil }
        guard range ~= integer else {
            throw fault(name, "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    /// A moment: milliseconds since 1970.
    func moment(_ names: String...) throws(NotificationsError) -> Int64? {
        for name in names {
            guard let moment = try integer(name) else { continue }
            guard moment >= 0 else { throw fault(name, "must not be negative") }
            return moment
        }
        return nil
    }

    /// A setting, checked; `nil` where it is absent.
    func setting(_ name: String, _ kind: SettingsField.Kind) throws(NotificationsError) -> JSONValue? {
        switch kind {
        case .flag: try flag(name).map(JSONValue.bool)
        case .timeOfDay: try timeOfDay(name).map(JSONValue.string)
        case .number(let range): try integer(name, in: range).map(JSONValue.integer)
        }
    }

    package func object(_ name: String, limit: Int) throws(NotificationsError) -> JSONObject? {
        guard let value = present(name) else { return nil }
        guard let object = value.object else { throw fault(name, "must be an object, not \(value.typeName)") }
        guard !value.isDeeper(than: JSONValue.parameterDepthLimit) else {
            throw fault(name, "is nested more than \(JSONValue.parameterDepthLimit) deep")
        }
        guard value.serialized().utf8.count <= limit else { throw fault(name, "is longer than \(limit) bytes") }
        return object
    }

    package func present(_ name: String) -> JSONValue? {
        guard let value = params[name], !value.isNull else { return nil }
        return value
    }

    package func fault(_ name: String, _ message: String) -> NotificationsError { .parameter(place + name, message) }

    /// A name that somebody made up goes into an error message only when it looks like a name.
    private static func shown(_ name: String) -> String {
        let isName = name.utf8.count <= 64 && name.utf8.allSatisfy { 0x21...0x7e ~= $0 }
        return isName ? name : "a parameter with an unusual name"
    }
}
