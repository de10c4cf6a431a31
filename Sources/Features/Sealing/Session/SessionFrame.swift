import Identity
package import JSON

/// A frame of a session as the relay sees it: `{"type":"bellwire:s2","payload":{"v":2,"sid","n","box"}}` (WireSessions,
/// "Frames").
package struct SessionFrame: Sendable, Equatable {
    package static let type = "bellwire:s2"
    /// Of a padded plaintext: with it the frame stays well below 1 MiB, also when a relay stores it. It is a Padmé size.
    package static let plaintextLimit = SealedEnvelope.plaintextLimit
    private static let version: Int64 = 2

    package let id: SessionID
    package let counter: UInt64
    package let box: [UInt8]

    package init(id: SessionID, counter: UInt64, box: [UInt8]) {
        self.id = id
        self.counter = counter
        self.box = box
    }

    /// Reads the whole payload. Unknown members are ignored. Throws `malformed`, `counter_out_of_range`.
    package init(decoding payload: JSONObject) throws(SealError) {
        guard payload["type"]?.string == Self.type, let fields = payload["payload"]?.object else {
            throw SealError(.malformed, "the payload is not a session's frame")
        }
        guard case .integer(Self.version)? = fields["v"] else { throw SealError(.malformed, "unknown seal version") }
        guard let idText = fields["sid"]?.string, let id = SessionID(idText) else {
            throw SealError(.malformed, "the session id is not 16 bytes in base64url")
        }
        let counter: UInt64
        switch fields["n"] {
        case .integer(let number):
            guard let number = UInt64(exactly: number) else {
                throw SealError(.counterOutOfRange, "the counter is negative")
            }
            counter = number
        case .double: throw SealError(.counterOutOfRange, "the counter is not an integer of 64 bits")
        default: throw SealError(.malformed, "the counter is missing or has the wrong type")
        }
        let limit = (Self.plaintextLimit + TransportKeys.overhead) / 3 * 4 + 4
        guard let boxText = fields["box"]?.string, boxText.utf8.count <= limit,
            let box = PublicBase64URL.decode(boxText),
            box.count >= Padding.smallest + TransportKeys.overhead,
            box.count <= Self.plaintextLimit + TransportKeys.overhead
        else { throw SealError(.malformed, "the box is missing, not base64url, or has a length that no box has") }
        self.init(id: id, counter: counter, box: box)
    }

    /// The whole payload, for a `message` with `"sealed":true`.
    package var json: JSONObject {
        [
            "type": .string(Self.type),
            "payload": [
                "v": .integer(Self.version), "sid": .string(id.text),
                "n": .integer(Int64(clamping: counter)), "box": .string(PublicBase64URL.encode(box)),
            ],
        ]
    }
}
