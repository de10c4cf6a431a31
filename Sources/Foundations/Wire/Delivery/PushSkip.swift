package import JSON

/// Sent by a desktop in place of pushes that expired or were replaced: the device continues after them (WireSealing,
/// "Delivery of pushes").
package struct PushSkip: Sendable, Equatable {
    package static let type = "bellwire:skip"

    package var through: Int64

    package init(through: Int64) { self.through = through }

    /// Reads the inner payload; `nil` when it is none.
    package init?(payload: JSONObject) {
        guard case .integer(let seq)? = payload["through"], PushSeq.isOne(seq) else { return nil }
        through = seq
    }

    /// The whole payload of a `message`.
    package var json: JSONValue {
        ["type": .string(Self.type), "payload": ["through": .integer(through)]]
    }
}
