import Identity
package import JSON
package import Wire

extension Sealer {
    /// Opens an `encrypted_body` (WireMessages, "Optional fields of a push"): a seal whose `body` is a text. `nil` if
    /// that peer didn't seal it to us.
    ///
    /// It comes inside a push, which has its own protection against replay: the seal's numbers aren't checked.
    package func openText(_ payload: JSONObject, from peer: PeerID) -> String? {
        // `{nonce, box}` alone is what stands in a push.
        var payload = payload
        if payload["type"] == nil, payload["v"] == nil { payload["v"] = 1 }
        guard peer != id, let envelope = try? SealedEnvelope(decoding: payload), let box = box(of: peer),
            let bytes = box.open(envelope.box, nonce: envelope.nonce), let value = try? JSONValue(parsing: bytes),
            value["from"]?.string.map({ PeerID($0) }) == peer, value["to"]?.string.map({ PeerID($0) }) == id
        else { return nil }
        return value["body"]?.string
    }
}
