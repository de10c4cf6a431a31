/// The `mac` in the `bw` of a pairing frame: only a peer that saw the code can make it
/// (WirePairingProofs, "The lines of a proof").
///
/// HMAC-SHA256 over `bellwire-pair-v1\n<kind>\n<device id>\n<desktop id>\n<code>\n<timestamp>`, and a line for each part of
/// the transcript, base64url.
package enum PairingProof {
    /// The frame that carries it.
    package enum Kind: String, Sendable, Hashable {
        case ack, challenge, confirmation, hello
    }

    /// - Parameters:
    ///   - code: of the offer: the QR's six digits, or the nameplate of a typed code.
    ///   - timestamp: the frame's own, in epoch milliseconds.
    ///   - transcript: what both sides of revision 1 have said so far: revision, commitment, random bytes.
    package static func mac(
        _ secret: PairingSecret, kind: Kind, deviceID: String, desktopID: String, code: String, timestamp: Int64,
        transcript: [String] = []
    ) -> String {
        TextEncoding.base64url.encode(bytes(secret, kind, [deviceID, desktopID, code, String(timestamp)] + transcript))
    }

    /// Is `mac` the one of this frame? In constant time. Never for an id or a code with a line break in it: the parts
    /// could be cut in another way.
    package static func verifies(
        _ mac: String, _ secret: PairingSecret, kind: Kind, deviceID: String, desktopID: String, code: String,
        timestamp: Int64, transcript: [String] = []
    ) -> Bool {
        guard mac.utf8.count <= 64, let given = TextEncoding.base64url.decode(mac) else { return false }
        let parts = [deviceID, desktopID, code, String(timestamp)] + transcript
        for part in parts where part.utf8.contains(UInt8(ascii: "\n")) { return false }
        return Identity.constantTimeEqual(given, bytes(secret, kind, parts))
    }

    private static func bytes(_ secret: PairingSecret, _ kind: Kind, _ parts: [String]) -> [UInt8] {
        HMAC.sha256(
            key: secret.bytes, over: (["bellwire-pair-v1", kind.rawValue] + parts).joined(separator: "\n"))
    }
}
