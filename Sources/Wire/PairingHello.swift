package import JSON

/// What a device sends a desktop that it is paired with, sealed: first as the answer to a confirmation (WirePairing,
/// "The desktop scans"), then after each register, which starts the resend (WireSealing, "Delivery of pushes").
package struct PairingHello: Sendable, Equatable {
    package static let type = "bellwire:hello"
    package static let version: Int64 = 1

    /// The last push that the device has stored; 0 = none.
    package var lastPushSeq: Int64

    package init(lastPushSeq: Int64) { self.lastPushSeq = lastPushSeq }

    /// Reads the inner payload, as ``Payload/bellwire(type:_:)`` has it. Only `v` is required.
    package init(payload: JSONObject) throws(PairingFailure) {
        guard case .integer(Self.version)? = payload["v"] else { throw PairingFailure(.badField, detail: "v") }
        lastPushSeq = max(0, payload["lastPushSeq"]?.integer ?? 0)
    }

    /// The whole payload of a `message`.
    package var json: JSONValue {
        [
            "type": .string(Self.type),
            "payload": ["v": .integer(Self.version), "lastPushSeq": .integer(lastPushSeq)],
        ]
    }
}
