package import JSON
package import Sealing
import Signalling
package import Wire

/// A received payload, opened if it was sealed.
package struct Incoming: Sendable, Equatable {
    package let from: PeerID
    /// An object, or a string holding the JSON of one. Sealed payloads are always objects.
    package let payload: JSONValue
    package let delivery: SignallingDelivery
    /// Save it together with the payload's effect; `nil` = plain text.
    package let mark: SealMark?
    /// By the sender's clock: informational only.
    package let sealedAt: EpochMilliseconds?

    package var isSealed: Bool { mark != nil }
    package var isLive: Bool { delivery == .live }

    package init(
        from: PeerID, payload: JSONValue, delivery: SignallingDelivery = .live, mark: SealMark? = nil,
        sealedAt: EpochMilliseconds? = nil
    ) {
        self.from = from
        self.payload = payload
        self.delivery = delivery
        self.mark = mark
        self.sealedAt = sealedAt
    }

    init(plain message: PeerMessage) {
        self.init(from: message.from, payload: message.payload, delivery: message.delivery)
    }

    init(_ opened: Sealer.Opened, of message: PeerMessage) {
        self.init(
            from: message.from, payload: .object(opened.body), delivery: message.delivery, mark: opened.mark,
            sealedAt: opened.timestamp)
    }

    init(_ opened: PeerSessions.Opened, of message: PeerMessage) {
        self.init(
            from: message.from, payload: .object(opened.body), delivery: message.delivery, mark: opened.mark,
            sealedAt: opened.timestamp)
    }

    /// The sealed payload of a message, also if it is embedded in a string; `nil` = plain.
    static func sealedPayload(of message: PeerMessage) -> JSONObject? {
        switch message.payload {
        case .object(let object): isSealed(object) ? object : nil
        case .string(let text): embedded(text)
        case .null, .bool, .integer, .double, .array: nil
        }
    }

    private static func embedded(_ text: String) -> JSONObject? {
        guard let object = (try? JSONValue(parsing: text))?.object, isSealed(object) else { return nil }
        return object
    }

    private static func isSealed(_ object: JSONObject) -> Bool { object["type"]?.string == SealedEnvelope.type }
}
