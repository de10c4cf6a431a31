package import JSON

/// A sign of life between deployed peers (WireDeployedRequests, "Heartbeats").
package enum Heartbeat {
    /// The payload of a `message`.
    package static func payload(at now: EpochMilliseconds) -> JSONValue {
        ["type": .string(PayloadType.heartbeat), "payload": ["timestamp": .integer(now)]]
    }

    /// The answer to a heartbeat, in its form: Android reads only a text.
    package static func acknowledgement(of heartbeat: JSONValue, at now: EpochMilliseconds) -> JSONValue {
        let inner: JSONValue = ["timestamp": .integer(now)]
        let isText = heartbeat["payload"]?.string != nil
        return [
            "type": .string(PayloadType.heartbeatAck), "payload": isText ? .string(inner.serialized()) : inner,
        ]
    }
}
