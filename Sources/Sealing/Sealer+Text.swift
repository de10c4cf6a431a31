import Identity
package import JSON
package import Wire

extension Sealer {
    /// Opens an `encrypted_body` (`protocol.md` 4.7): a seal as of 4.2 whose `body` is a text. `nil` = it is none of that
    /// peer's to us.
    ///
    /// It comes inside a push, which has its own protection from being played back: the seal's numbers are not looked at.
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
