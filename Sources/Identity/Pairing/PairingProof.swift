/// The `mac` in the `bw` of an ack or a confirmation: only a peer that saw the code can make it (WirePairing, "Proof of
/// the code").
///
/// HMAC-SHA256 over `bellwire-pair-v1\n<ack|confirmation>\n<device id>\n<desktop id>\n<code>\n<timestamp>`, base64url.
package enum PairingProof {
    /// The frame that carries it.
    package enum Kind: String, Sendable, Hashable {
        case ack, confirmation
    }

    /// - Parameters:
    ///   - code: of the offer: the QR's six digits, or the nameplate of a typed code.
    ///   - timestamp: the frame's own, in epoch milliseconds.
    package static func mac(
        _ secret: PairingSecret, kind: Kind, deviceID: String, desktopID: String, code: String, timestamp: Int64
    ) -> String {
        TextEncoding.base64url.encode(
            bytes(secret, kind, deviceID, desktopID, code, timestamp))
    }

    /// Is `mac` the one of this frame? In constant time. Never for an id or a code with a line break in it: the parts
    /// could be cut in another way.
    package static func verifies(
        _ mac: String, _ secret: PairingSecret, kind: Kind, deviceID: String, desktopID: String, code: String,
        timestamp: Int64
    ) -> Bool {
        guard mac.utf8.count <= 64, let given = TextEncoding.base64url.decode(mac) else { return false }
        for part in [deviceID, desktopID, code] where part.utf8.contains(UInt8(ascii: "\n")) { return false }
        return Identity.constantTimeEqual(given, bytes(secret, kind, deviceID, desktopID, code, timestamp))
    }

    private static func bytes(
        _ secret: PairingSecret, _ kind: Kind, _ deviceID: String, _ desktopID: String, _ code: String,
        _ timestamp: Int64
    ) -> [UInt8] {
        HMAC.sha256(
            key: secret.bytes,
            over: "bellwire-pair-v1\n\(kind.rawValue)\n\(deviceID)\n\(desktopID)\n\(code)\n\(timestamp)")
    }
}
