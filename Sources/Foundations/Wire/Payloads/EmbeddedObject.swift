import JSON

/// An object that may come as a string with its JSON (WireDeployedPeers, "What a device accepts").
enum EmbeddedObject {
    static func read(
        _ value: JSONValue?, in kind: MalformedPayload.Kind, field: String?
    ) throws(MalformedPayload) -> (object: JSONObject, form: PayloadForm) {
        switch value ?? .null {
        case .object(let object): return (object, .object)
        case .string(let text):
            let parsed: JSONValue
            do throws(JSONError) { parsed = try JSONValue(parsing: text) } catch {
                throw MalformedPayload(.notJSON, in: kind, field: field)
            }
            guard let object = parsed.object else { throw MalformedPayload(.notAnObject, in: kind, field: field) }
            return (object, .text)
        case .null:
            throw MalformedPayload(field == nil ? .notAnObject : .missingField, in: kind, field: field)
        case .bool, .integer, .double, .array: throw MalformedPayload(.notAnObject, in: kind, field: field)
        }
    }
}

/// Members by type. An absent member and a JSON null are the same; another type is an error that names the field.
struct TypedMembers {
    let object: JSONObject
    let kind: MalformedPayload.Kind

    init(_ object: JSONObject, in kind: MalformedPayload.Kind) {
        self.object = object
        self.kind = kind
    }

    /// The first of `keys` that is there decides; an error carries the name of the first.
    func text(_ keys: String...) throws(MalformedPayload) -> String? {
        guard let value = first(of: keys) else { return nil }
        guard let text = value.string else { throw MalformedPayload(.wrongType, in: kind, field: keys.first) }
        return text
    }

    func integer(_ keys: String...) throws(MalformedPayload) -> Int64? {
        guard let value = first(of: keys) else { return nil }
        guard let integer = value.integer else { throw MalformedPayload(.wrongType, in: kind, field: keys.first) }
        return integer
    }

    /// An id: a text that is not empty.
    func requiredID(_ keys: String...) throws(MalformedPayload) -> String {
        guard let value = first(of: keys) else { throw MalformedPayload(.missingField, in: kind, field: keys.first) }
        guard let text = value.string else { throw MalformedPayload(.wrongType, in: kind, field: keys.first) }
        guard !text.isEmpty else { throw MalformedPayload(.missingField, in: kind, field: keys.first) }
        return text
    }

    private func first(of keys: [String]) -> JSONValue? {
        for key in keys {
            if let value = object[key], !value.isNull { return value }
        }
        return nil
    }
}
