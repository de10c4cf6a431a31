package import JSON

/// The `data` of a notification: an object, or a string holding the JSON of one.
package enum NotificationData {
    /// `nil` when there is none, an empty text included.
    static func read(
        _ value: JSONValue?, in kind: MalformedPayload.Kind
    ) throws(MalformedPayload) -> JSONObject? {
        guard let value, !value.isNull, value != "" else { return nil }
        do throws(MalformedPayload) { return try EmbeddedObject.read(value, in: kind, field: "data").object } catch {
            throw MalformedPayload(.wrongType, in: kind, field: "data")
        }
    }

    /// Text -> text, as deployed phones read it: other values become their JSON, a null is left out.
    package static func texts(_ data: JSONObject) -> JSONObject {
        var texts = JSONObject()
        for member in data.members {
            switch member.value {
            case .null: break
            case .string: texts[member.key] = member.value
            case .bool, .integer, .double, .array, .object:
                texts[member.key] = .string(member.value.serialized())
            }
        }
        return texts
    }
}
