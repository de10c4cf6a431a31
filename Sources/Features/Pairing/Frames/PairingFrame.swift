package import JSON
package import Wire

/// A payload as it came, opened where it was sealed: what the machines are told of it.
///
/// Whoever carries a machine out gives it every payload of its peer; it takes what is of use.
package struct PairingFrame: Sendable, Equatable {
    /// The whole payload, `type` included. Empty where it is no object.
    package var payload: JSONObject
    /// Written by the relay; of a sealed payload also who has sealed it.
    package var from: PeerID
    /// It came in a valid seal (WireSealing, "The seal").
    package var isSealed: Bool
    /// The replay window refuses it. It counts where its MAC proves it, for a pairing that nobody has taken yet
    /// (WireSealing, "Replay protection").
    package var isStale: Bool
    /// The sender is paired sealed: its plaintext counts for nothing, whoever wrote it.
    package var isOfSecurePeer: Bool
    package var form: PayloadForm
    package var delivery: SignallingDelivery

    package init(
        _ payload: JSONObject, from: PeerID, isSealed: Bool = false, isStale: Bool = false,
        isOfSecurePeer: Bool = false,
        form: PayloadForm = .object, delivery: SignallingDelivery = .live
    ) {
        self.payload = payload
        self.from = from
        self.isSealed = isSealed
        self.isStale = isStale
        self.isOfSecurePeer = isOfSecurePeer
        self.form = form
        self.delivery = delivery
    }

    /// The payload of a `message`: an object, or a text that holds the JSON of one. Anything else is an empty one.
    package init(
        reading value: JSONValue, from: PeerID, isSealed: Bool = false, isStale: Bool = false,
        isOfSecurePeer: Bool = false, delivery: SignallingDelivery = .live
    ) {
        self.init(
            value.embeddedObject ?? [:], from: from, isSealed: isSealed, isStale: isStale,
            isOfSecurePeer: isOfSecurePeer, form: value.string == nil ? .object : .text, delivery: delivery)
    }

    var type: String? { payload["type"]?.string }

    /// The inner payload, where the type has one.
    var inner: JSONObject { payload["payload"]?.embeddedObject ?? [:] }
}

extension JSONValue {
    fileprivate var embeddedObject: JSONObject? {
        switch self {
        case .object(let object): object
        case .string(let text): (try? JSONValue(parsing: text))?.object
        case .null, .bool, .integer, .double, .array: nil
        }
    }
}
