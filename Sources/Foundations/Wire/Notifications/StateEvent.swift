package import JSON

/// A change of the desktop's state, which it reports to the user's other devices (WireMessages, "State changes").
///
/// Only for Bellwire devices: deployed phones know `notification.received` alone.
package enum StateEvent: Sendable, Equatable {
    case read([NotificationID], at: EpochMilliseconds)
    case deleted([NotificationID])
    /// Everything that was created before this moment is gone.
    case cleared(before: EpochMilliseconds)
    /// All settings as they are now, with the revision that they have.
    case settingsChanged(JSONObject, revision: Int64)

    /// The `event` on the wire.
    package var name: String {
        switch self {
        case .read: Name.read
        case .deleted: Name.deleted
        case .cleared: Name.cleared
        case .settingsChanged: Name.settingsChanged
        }
    }

    /// What stands beside the `event`.
    package var fields: JSONObject {
        switch self {
        case .read(let ids, let moment): ["ids": StateEvent.texts(ids), "readAt": .integer(moment)]
        case .deleted(let ids): ["ids": StateEvent.texts(ids)]
        case .cleared(let moment): ["before": .integer(moment)]
        case .settingsChanged(let settings, let revision):
            ["settings": .object(settings), "revision": .integer(revision)]
        }
    }

    /// The payload of a `message`.
    package var payload: JSONValue {
        var inner: JSONObject = ["event": .string(name)]
        inner.merge(fields)
        return ["type": .string(PayloadType.event), "payload": .object(inner)]
    }

    /// Reads an event that ``Payload`` decodes as `otherEvent`; `nil` for any other name.
    package init?(name: String, _ fields: JSONObject) throws(MalformedPayload) {
        switch name {
        case Name.read:
            self = .read(try StateEvent.ids(fields), at: try StateEvent.moment(fields, "readAt"))
        case Name.deleted: self = .deleted(try StateEvent.ids(fields))
        case Name.cleared: self = .cleared(before: try StateEvent.moment(fields, "before"))
        case Name.settingsChanged:
            guard let settings = fields["settings"]?.object else {
                throw StateEvent.fault(fields["settings"], "settings")
            }
            self = .settingsChanged(settings, revision: try StateEvent.moment(fields, "revision"))
        default: return nil
        }
    }

    private enum Name {
        static let read = "notification.read"
        static let deleted = "notification.deleted"
        static let cleared = "notification.cleared"
        static let settingsChanged = "settings.changed"
    }

    private static func texts(_ ids: [NotificationID]) -> JSONValue { .array(ids.map { .string($0.text) }) }

    private static func ids(_ fields: JSONObject) throws(MalformedPayload) -> [NotificationID] {
        guard let elements = fields["ids"]?.array else { throw fault(fields["ids"], "ids") }
        var ids: [NotificationID] = []
        for element in elements {
            guard let text = element.string, !text.isEmpty else { throw fault(element, "ids") }
            ids.append(NotificationID(text))
        }
        return ids
    }

    private static func moment(_ fields: JSONObject, _ name: String) throws(MalformedPayload) -> Int64 {
        guard let integer = fields[name]?.integer else { throw fault(fields[name], name) }
        return integer
    }

    private static func fault(_ value: JSONValue?, _ field: String) -> MalformedPayload {
        MalformedPayload((value ?? .null).isNull ? .missingField : .wrongType, in: .event, field: field)
    }
}
