/// The `proof` of a register: whoever registers an id holds its key (Wire, "Proof of an id").
///
/// An Ed25519 signature over `bellwire-register-v1\n<origin>\n<peerId>\n<nonce>`, and over TLS `\n<exporter>` more, with
/// the 32 bytes of the RFC 9266 exporter in base64url. The signature is base64url too.
package struct RegistrationProof: Sendable, Equatable {
    /// Of a challenge's nonce, which is base64url on the wire.
    package static let nonceByteCount = 32

    /// As the challenge said it.
    package let nonce: String
    /// What the client dialled, such as `ws://192.168.1.5:9001`.
    package let origin: String
    /// base64url.
    package let signature: String

    /// As it came.
    package init(nonce: String, origin: String, signature: String) {
        self.nonce = nonce
        self.origin = origin
        self.signature = signature
    }

    /// Our own, for the id of `key`.
    ///
    /// - Parameter channelBinding: the exporter's bytes; `nil` without TLS.
    package init(signing nonce: String, origin: String, channelBinding: [UInt8]?, with key: SigningKey) {
        self.init(
            nonce: nonce, origin: origin,
            signature: TextEncoding.base64url.encode(
                key.sign(Self.message(origin: origin, peerID: key.did, nonce: nonce, channelBinding: channelBinding))))
    }

    /// Why a proof proves nothing.
    package enum Refusal: String, Sendable, Hashable {
        /// The id is no `did:key` of an Ed25519 key.
        case noKey = "no_key"
        /// Another challenge's, or none's.
        case wrongNonce = "wrong_nonce"
        /// Made for another relay, or carried over by one.
        case wrongOrigin = "wrong_origin"
        /// Not signed by the id's key, or not for this connection.
        case wrongSignature = "wrong_signature"
    }

    /// The relay's check; `nil` = proved. That the nonce is fresh and used once is the caller's to know.
    ///
    /// - Parameters:
    ///   - nonce: the one of the challenge that this connection was given.
    ///   - isOwnOrigin: is this an origin under which the relay is dialled?
    package func refusal(
        peerID: String, nonce: String, channelBinding: [UInt8]?, isOwnOrigin: (String) -> Bool
    ) -> Refusal? {
        guard let key = PublicKey(did: peerID) else { return .noKey }
        guard !nonce.isEmpty, Identity.constantTimeEqual(Array(self.nonce.utf8), Array(nonce.utf8)) else {
            return .wrongNonce
        }
        // A line break would let the parts be cut in another way.
        guard !origin.utf8.contains(UInt8(ascii: "\n")), isOwnOrigin(origin) else { return .wrongOrigin }
        let message = Self.message(origin: origin, peerID: peerID, nonce: nonce, channelBinding: channelBinding)
        guard signature.utf8.count <= 128, let bytes = TextEncoding.base64url.decode(signature),
            key.verifies(signature: bytes, for: message)
        else { return .wrongSignature }
        return nil
    }

    /// The text that is signed.
    static func message(origin: String, peerID: String, nonce: String, channelBinding: [UInt8]?) -> String {
        var message = "bellwire-register-v1\n\(origin)\n\(peerID)\n\(nonce)"
        if let channelBinding { message += "\n" + TextEncoding.base64url.encode(channelBinding) }
        return message
    }
}
