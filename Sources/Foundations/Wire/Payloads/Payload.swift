package import JSON

/// A message between peers: the `payload` of a `message` frame, distinguished by its `type`.
///
/// Decoding never fails: an invalid payload is ``malformed(_:)``, an unknown one ``other(type:_:)``.
package enum Payload: Sendable, Equatable {
    case request(CommandRequest)
    case response(CommandResponse)
    case cancel(CommandCancel)
    /// `notification.received`, in any of the three shapes in which it comes.
    case event(NotificationEvent)
    /// Any other event, with all of its fields.
    case otherEvent(name: String, JSONObject)
    /// The whole payload, which Pairing reads.
    case pairAck(JSONObject)
    case pairingConfirmation(JSONObject)
    case pairingReject(JSONObject)
    /// The inner payload.
    case iceConfig(JSONObject)
    /// A payload of Bellwire peers, by its whole `type`, with its inner payload (empty if it has none).
    case bellwire(type: String, JSONObject)
    /// A type that is not ours, with the whole payload.
    case other(type: String, JSONValue)
    case malformed(MalformedPayload)
}

extension Payload {
    /// Reads a payload in every form that peers send (WireDeployedPeers, "What a device accepts").
    package init(decoding value: JSONValue) {
        do throws(MalformedPayload) { self = try Payload(reading: value) } catch { self = .malformed(error) }
    }

    private init(reading value: JSONValue) throws(MalformedPayload) {
        let (whole, _) = try EmbeddedObject.read(value, in: .payload, field: nil)
        guard let type = whole["type"]?.string, !type.isEmpty else {
            throw MalformedPayload(.missingType, in: .payload, field: "type")
        }
        switch type {
        case PayloadType.request: self = .request(try CommandRequest(decoding: whole))
        case PayloadType.response: self = .response(try CommandResponse(decoding: whole))
        case PayloadType.cancel: self = .cancel(try CommandCancel(decoding: whole))
        case PayloadType.event, PayloadType.notificationEvent, PayloadType.notificationReceived:
            self = try Payload(event: whole, ofType: type)
        case PayloadType.pairAck: self = .pairAck(whole)
        case PayloadType.pairingConfirmation: self = .pairingConfirmation(whole)
        case PayloadType.pairingReject: self = .pairingReject(whole)
        case PayloadType.iceConfig:
            self = .iceConfig(try EmbeddedObject.read(whole["payload"], in: .iceConfig, field: "payload").object)
        case let type where type.hasPrefix(PayloadType.bellwirePrefix):
            let inner = whole["payload"] ?? .null
            let fields = inner.isNull ? [:] : try EmbeddedObject.read(inner, in: .payload, field: "payload").object
            self = .bellwire(type: type, fields)
        default: self = .other(type: type, value)
        }
    }

    /// All three types are read alike: a name under `event` or `method`, the fields under `params` or right there.
    private init(event whole: JSONObject, ofType type: String) throws(MalformedPayload) {
        let (inner, _) = try EmbeddedObject.read(whole["payload"], in: .event, field: "payload")
        var fields = inner
        if let params = inner["params"], !params.isNull, inner["event"] == nil {
            fields = try EmbeddedObject.read(params, in: .event, field: "params").object
        }
        let name: String
        switch inner["event"] ?? inner["method"] ?? .null {
        case .string(let text): name = text
        case .null where type == PayloadType.event:
            throw MalformedPayload(.missingField, in: .event, field: "event")
        case .null: name = EventName.notificationReceived
        case .bool, .integer, .double, .array, .object:
            throw MalformedPayload(.wrongType, in: .event, field: "event")
        }
        if name == EventName.notificationReceived {
            self = .event(try NotificationEvent(decoding: fields))
        } else {
            self = .otherEvent(name: name, fields)
        }
    }
}
