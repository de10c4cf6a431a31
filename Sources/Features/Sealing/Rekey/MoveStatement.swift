package import Identity
package import JSON
package import Wire

/// The statement of a key's owner to one peer: from now on this key takes the place of that one (WireRekey,
/// "Statement").
///
/// Both keys sign it: the old one because only its owner may give it up, the new one because nobody may bring in a key of
/// somebody else.
package struct MoveStatement: Sendable, Equatable {
    package let old: PeerID
    package let new: PeerID
    /// For whom it was made.
    package let peer: PeerID
    /// By the owner's clock. A later statement of the same key is another move.
    package let timestamp: EpochMilliseconds
    let oldSignature: [UInt8]
    let newSignature: [UInt8]

    private enum Signer: String {
        case old
        case new
    }

    package init(from old: SigningKey, to new: SigningKey, for peer: PeerID, at timestamp: EpochMilliseconds) {
        (self.old, self.new) = (PeerID(old.did), PeerID(new.did))
        (self.peer, self.timestamp) = (peer, timestamp)
        func text(_ signer: Signer) -> String {
            Self.text(by: signer, old: old.did, new: new.did, peer: peer, timestamp: timestamp)
        }
        oldSignature = old.sign(text(.old))
        newSignature = new.sign(text(.new))
    }

    /// The fields of a frame. Throws `malformed`; nothing is proved yet.
    package init(decoding fields: JSONObject) throws(SealError) {
        guard case .integer(let timestamp)? = fields["timestamp"], timestamp > 0,
            let old = Self.id(fields["old"]), let new = Self.id(fields["new"]), let peer = Self.id(fields["peer"]),
            let oldSignature = Self.signature(fields["oldSignature"]),
            let newSignature = Self.signature(fields["newSignature"])
        else { throw SealError(.malformed, "a move to another key can't be read") }
        (self.old, self.new, self.peer, self.timestamp) = (old, new, peer, timestamp)
        (self.oldSignature, self.newSignature) = (oldSignature, newSignature)
    }

    package var fields: JSONObject {
        [
            "v": 1, "old": .string(old.text), "new": .string(new.text), "peer": .string(peer.text),
            "timestamp": .integer(timestamp),
            "oldSignature": .string(TextEncoding.base64url.encode(oldSignature)),
            "newSignature": .string(TextEncoding.base64url.encode(newSignature)),
        ]
    }

    /// Checks that both keys have signed it for us.
    ///
    /// - Parameter own: our id, and the one that we have moved away from ourselves.
    ///
    /// Throws `misaddressed` if it is for somebody else, `malformed` if it moves a key to itself or to us, `forged` if a
    /// signature is wrong or an id is not a key.
    package func verify(for own: [PeerID]) throws(SealError) {
        guard own.contains(peer) else {
            throw SealError(.misaddressed, "a move to another key was stated to another peer")
        }
        guard old != new, !own.contains(old), !own.contains(new) else {
            throw SealError(.malformed, "a move leads to the same key, or to ours")
        }
        guard verifies(oldSignature, by: .old, old), verifies(newSignature, by: .new, new) else {
            throw SealError(.forged, "a move to another key is not signed by both keys")
        }
    }

    private func verifies(_ signature: [UInt8], by signer: Signer, _ id: PeerID) -> Bool {
        guard let key = PublicKey(did: id.text) else { return false }
        let text = Self.text(by: signer, old: old.text, new: new.text, peer: peer, timestamp: timestamp)
        return key.verifies(signature: signature, for: text)
    }

    /// An id that is a key has no line break in it, so the lines can't be cut in another way.
    private static func text(
        by signer: Signer, old: String, new: String, peer: PeerID, timestamp: EpochMilliseconds
    ) -> String {
        "bellwire-rekey-v1\n\(signer.rawValue)\n\(old)\n\(new)\n\(peer.text)\n\(timestamp)"
    }

    private static func id(_ value: JSONValue?) -> PeerID? {
        guard let text = value?.string, (1...256).contains(text.utf8.count) else { return nil }
        return PeerID(text)
    }

    private static func signature(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count <= 128, let bytes = TextEncoding.base64url.decode(text),
            bytes.count == PublicKey.signatureByteCount
        else { return nil }
        return bytes
    }
}
