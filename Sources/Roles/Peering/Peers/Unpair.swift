import Identity
package import JSON
import Wire

/// The payload with which either side ends a sealed pairing (WireSealing, "Unpairing").
package enum Unpair {
    package static let type = "bellwire:unpair"
    package static let payload: JSONValue = ["type": .string(type), "payload": [:]]

    /// With a proof of the pairing's preshared key, if there is one. It counts once: each pairing has another key.
    static func payload(provedBy key: PresharedKey, from sender: PeerID, to receiver: PeerID) -> JSONValue {
        guard key.isFromPairing else { return payload }
        let mac = PublicBase64URL.encode(key.mac(text(from: sender, to: receiver)))
        return ["type": .string(type), "payload": ["mac": .string(mac)]]
    }

    static func isProved(
        _ payload: JSONValue, by key: PresharedKey, from sender: PeerID, to receiver: PeerID
    ) -> Bool {
        guard key.isFromPairing, payload["type"]?.string == type, let text = payload["payload"]?["mac"]?.string,
            text.utf8.count <= 64, let mac = PublicBase64URL.decode(text)
        else { return false }
        return key.verifies(mac, Self.text(from: sender, to: receiver))
    }

    private static func text(from sender: PeerID, to receiver: PeerID) -> String {
        "bellwire-unpair-v1\n\(sender.text)\n\(receiver.text)"
    }
}
