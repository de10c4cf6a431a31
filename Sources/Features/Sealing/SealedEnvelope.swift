import Identity
package import JSON

/// A sealed frame as the relay sees it: `{"type":"bellwire:sealed","payload":{"v":1,"nonce","box"}}` (WireSealing, "The
/// seal").
package struct SealedEnvelope: Sendable, Equatable {
    package static let type = "bellwire:sealed"
    /// Of a plaintext: with it the frame stays well below 1 MiB, also when a relay stores it.
    package static let plaintextLimit = 720 * 1_024
    private static let version: Int64 = 1

    package let nonce: [UInt8]
    package let box: [UInt8]

    init(nonce: [UInt8], box: [UInt8]) {
        self.nonce = nonce
        self.box = box
    }

    /// Reads the whole payload, or its inner one. Other fields are ignored. Throws `malformed`.
    package init(decoding payload: JSONObject) throws(SealError) {
        var fields = payload
        if let type = payload["type"] {
            guard type.string == Self.type, let inner = payload["payload"]?.object else {
                throw SealError(.malformed, "the payload is not sealed")
            }
            fields = inner
        }
        guard fields["v"]?.integer == Self.version else {
            throw SealError(.malformed, "unknown seal version")
        }
        guard let nonceText = fields["nonce"]?.string, nonceText.utf8.count <= 64,
            let nonce = TextEncoding.base64url.decode(nonceText), nonce.count == Box.nonceByteCount
        else { throw SealError(.malformed, "the seal's nonce is not 24 bytes in base64url") }
        let limit = (Self.plaintextLimit + Box.overhead) / 3 * 4 + 4
        guard let boxText = fields["box"]?.string, boxText.utf8.count <= limit,
            let box = PublicBase64URL.decode(boxText), box.count > Box.overhead
        else { throw SealError(.malformed, "the seal's box is missing, too long or not base64url") }
        self.init(nonce: nonce, box: box)
    }

    /// The whole payload, for a `message` with `"sealed":true`.
    package var json: JSONObject {
        [
            "type": .string(Self.type),
            "payload": [
                "v": .integer(Self.version), "nonce": .string(TextEncoding.base64url.encode(nonce)),
                "box": .string(PublicBase64URL.encode(box)),
            ],
        ]
    }
}
