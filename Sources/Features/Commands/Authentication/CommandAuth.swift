package import JSON
package import Wire

/// The `auth` of a command: who sends it (WireMessages, "Authentication").
package enum CommandAuth {
    /// What a device sends: `{"mobileDid","did","timestamp","nonce","signature"}`.
    ///
    /// - Parameters:
    ///   - nonce: fresh random text, never used twice.
    ///   - sign: gives the base64 of the Ed25519 signature over the bytes.
    package static func signed<E: Error>(
        by device: PeerID, method: String, timestamp: EpochMilliseconds, nonce: String,
        sign: (_ message: [UInt8]) throws(E) -> String
    ) throws(E) -> JSONObject {
        let signature = try sign(message(method: method, timestamp: timestamp, nonce: nonce))
        return [
            "mobileDid": .string(device.text),
            "did": .string(device.text),
            "timestamp": .integer(timestamp),
            "nonce": .string(nonce),
            "signature": .string(signature),
        ]
    }

    /// What is signed: JSON with exactly these keys in exactly this order, and no spaces.
    package static func message(method: String, timestamp: EpochMilliseconds, nonce: String) -> [UInt8] {
        let object: JSONValue = ["method": .string(method), "timestamp": .integer(timestamp), "nonce": .string(nonce)]
        return [UInt8](object.serialized().utf8)
    }

    /// What deployed Android phones sign.
    package static func textMessage(method: String, timestamp: EpochMilliseconds, nonce: String) -> [UInt8] {
        [UInt8]("\(method):\(timestamp):\(nonce)".utf8)
    }
}
