import JSON

/// Parameters by type. Absent and null are the same; what is wrong is an error that names the field.
struct ParameterReader {
    let params: JSONObject

    /// For a peer's parameters: unknown ones are ignored.
    init(_ params: JSONObject) { self.params = params }

    /// For the host's parameters: unknown ones are errors.
    init(_ params: JSONObject, allowing names: [String]) throws(NotificationsError) {
        for member in params.members where !names.contains(member.key) {
            throw .parameter(ParameterReader.shown(member.key), "is not a parameter of this method")
        }
        self.params = params
    }

    func text(_ names: String..., limit: Int) throws(NotificationsError) -> String? {
        for name in names {
            guard let value = present(name) else { continue }
            guard let text = value.string else { throw .parameter(name, "must be a text, not \(value.typeName)") }
            guard text.utf8.count <= limit else { throw .parameter(name, "is longer than \(limit) bytes") }
            return text
        }
        return nil
    }

    /// A text that is there and not empty.
    func required(_ names: String..., limit: Int) throws(NotificationsError) -> String {
        for name in names {
            guard let text = try text(name, limit: limit) else { continue }
            guard !text.isEmpty else { throw .parameter(name, "must not be empty") }
            return text
        }
        throw .parameter(names.first ?? "", "is missing")
    }

    func flag(_ name: String) throws(NotificationsError) -> Bool? {
        guard let value = present(name) else { return nil }
        guard let flag = value.bool else { throw .parameter(name, "must be true or false, not \(value.typeName)") }
        return flag
    }

    func integer(_ name: String) throws(NotificationsError) -> Int64? {
        guard let value = present(name) else { return nil }
        guard case .integer(let integer) = value else {
            // 50.0 is a whole number as well.
            if let double = value.double, let integer = value.integer, Double(integer) == double { return integer }
            throw .parameter(name, "must be a whole number")
        }
        return integer
    }

    /// A time of day, `HH:mm`.
    func timeOfDay(_ name: String) throws(NotificationsError) -> String? {
        guard let text = try text(name, limit: 64) else { return nil }
        guard TimeOfDay.isValid(text) else { throw .parameter(name, "must be a time of day as HH:mm") }
        return text
    }

    func object(_ name: String, limit: Int) throws(NotificationsError) -> JSONObject? {
        guard let value = present(name) else { return nil }
        guard let object = value.object else { throw .parameter(name, "must be an object, not \(value.typeName)") }
        guard value.serialized().utf8.count <= limit else { throw .parameter(name, "is longer than \(limit) bytes") }
        return object
    }

    func present(_ name: String) -> JSONValue? {
        guard let value = params[name], !value.isNull else { return nil }
        return value
    }

    /// A name that somebody made up goes into an error message only when it looks like a name.
    private static func shown(_ name: String) -> String {
        let isName = name.utf8.count <= 64 && name.utf8.allSatisfy { 0x21...0x7e ~= $0 }
        return isName ? name : "a parameter with an unusual name"
    }
}

/// `HH:mm`, local to the desktop.
enum TimeOfDay {
    static func isValid(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return false }
        guard let hour = number(bytes[0], bytes[1]), let minute = number(bytes[3], bytes[4]) else { return false }
        return hour < 24 && minute < 60
    }

    private static func number(_ tens: UInt8, _ ones: UInt8) -> Int? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard digits ~= tens, digits ~= ones else { return nil }
        return Int(tens - digits.lowerBound) * 10 + Int(ones - digits.lowerBound)
    }
}
