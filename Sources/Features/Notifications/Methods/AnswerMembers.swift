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

    func text(_ name: String, or aliases: [String] = []) throws(NotificationsError) -> String? {
        guard let (name, value) = first(of: [name] + aliases) else { return nil }
        guard let text = value.string else { throw .answer(name, "\(name) is \(value.typeName)") }
        return text
    }

    func integer(_ name: String, or aliases: [String] = []) throws(NotificationsError) -> Int64? {
        guard let (name, value) = first(of: [name] + aliases) else { return nil }
        guard let integer = value.integer else { throw .answer(name, "\(name) is \(value.typeName)") }
        return integer
    }

    /// A number of things: not negative.
    func count(_ name: String, or aliases: [String] = []) throws(NotificationsError) -> Int64? {
        try integer(name, or: aliases).map { max(0, $0) }
    }

    /// An error as a text, or as an object with a message.
    var errorText: String? {
        guard let error = object["error"] else { return nil }
        return error.string ?? error["message"]?.string
    }

    /// A member of a method's result. Absent stays absent.
    func value(_ member: ResultMember) throws(NotificationsError) -> JSONValue? {
        switch member.kind {
        case .text: return try text(member.name, or: member.aliases).map(JSONValue.string)
        case .flag: return try flag(member.name).map(JSONValue.bool)
        case .moment: return try integer(member.name, or: member.aliases).map(JSONValue.integer)
        case .count: return try count(member.name, or: member.aliases).map(JSONValue.integer)
        // Desktops that don't count say "all" (WireDeployedPeers, "What a device accepts").
        case .countOrAll where object[member.name] == "all": return "all"
        case .countOrAll: return try count(member.name, or: member.aliases).map(JSONValue.integer)
        case .settings:
            guard let settings = object[member.name]?.object else { return nil }
            return .object(try Settings(decoding: settings).json)
        case .texts:
            guard let list = object[member.name]?.array else { return nil }
            return .array(list.filter { $0.string != nil })
        case .error: return errorText.map(JSONValue.string)
        }
    }

    private func first(of names: [String]) -> (String, JSONValue)? {
        for name in names {
            if let value = object[name], !value.isNull { return (name, value) }
        }
        return nil
    }
}
