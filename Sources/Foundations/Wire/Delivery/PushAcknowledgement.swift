package import JSON

/// A device has stored all pushes through this one (WireSealing, "Delivery of pushes").
package struct PushAcknowledgement: Sendable, Equatable {
    package static let type = "bellwire:ack"

    package var pushSeq: Int64
    /// The epoch in which the desktop sealed the push of that number; 0 = the device doesn't know it; `nil` = the
    /// device doesn't send epochs.
    package var epoch: Int64?

    package init(pushSeq: Int64, epoch: Int64? = nil) {
        self.pushSeq = pushSeq
        self.epoch = epoch
    }

    /// Reads the inner payload; `nil` when it is none.
    package init?(payload: JSONObject) {
        guard case .integer(let seq)? = payload["pushSeq"], PushSeq.isOne(seq) else { return nil }
        pushSeq = seq
        guard let value = payload["epoch"], !value.isNull else { return }
        guard case .integer(let epoch) = value, epoch >= 0 else { return nil }
        self.epoch = epoch
    }

    /// The whole payload of a `message`.
    package var json: JSONValue {
        [
            "type": .string(Self.type),
            "payload": ["pushSeq": .integer(pushSeq), "epoch": epoch.map(JSONValue.integer)],
        ]
    }
}

/// The number of a push, counted per desktop and device; 0 = none yet.
package enum PushSeq {
    /// Nobody counts as far, so what counts on from one never overflows.
    package static let limit: Int64 = 1 << 53

    package static func isOne(_ seq: Int64) -> Bool { (0...limit).contains(seq) }
}
