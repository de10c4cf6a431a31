import JSON

/// Members of a desktop's answer by type. Absent and null are the same; another type makes the answer undecodable.
struct AnswerMembers {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    func flag(_ name: String) throws(NotificationsError) -> Bool? {
        switch object[name] ?? .null {
        case .null: return nil
        case .bool(let flag): return flag
        // The 0 and 1 of a database.
        case .integer(let number) where number == 0 || number == 1: return number == 1
        case let other: throw .answer(name, "\(name) is \(other.typeName)")
        }
    }

    func text(_ names: String...) throws(NotificationsError) -> String? {
        guard let (name, value) = first(of: names) else { return nil }
        guard let text = value.string else { throw .answer(name, "\(name) is \(value.typeName)") }
        return text
    }

    func integer(_ names: String...) throws(NotificationsError) -> Int64? {
        guard let (name, value) = first(of: names) else { return nil }
        guard let integer = value.integer else { throw .answer(name, "\(name) is \(value.typeName)") }
        return integer
    }

    /// A number of things: not negative.
    func count(_ names: String...) throws(NotificationsError) -> Int64? {
        guard let (name, value) = first(of: names) else { return nil }
        guard let integer = value.integer else { throw .answer(name, "\(name) is \(value.typeName)") }
        return max(0, integer)
    }

    /// A number of rows, or `"all"` from desktops that did not count (`protocol.md` 3, tolerance 7). Absent stays absent.
    func countOrAll(_ name: String) throws(NotificationsError) -> JSONValue? {
        if object[name] == "all" { return "all" }
        return try count(name).map(JSONValue.integer)
    }

    /// An error as a text, or as an object with a message.
    var errorText: String? {
        guard let error = object["error"] else { return nil }
        return error.string ?? error["message"]?.string
    }

    private func first(of names: [String]) -> (String, JSONValue)? {
        for name in names {
            if let value = object[name], !value.isNull { return (name, value) }
        }
        return nil
    }
}
