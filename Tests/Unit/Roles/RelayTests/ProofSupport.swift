import Identity
import JSON
import Testing

@testable import Relay

/// An id with its key.
struct Prover: Sendable {
    let key: SigningKey
    var did: String { key.did }

    /// Each number its own key, the same in each run.
    init(_ number: UInt8) throws { key = try SigningKey(seed: Array(repeating: number, count: 32)) }

    func claim(_ fields: JSONObject = [:]) -> JSONValue {
        var frame: JSONObject = ["type": "register", "peerId": .string(did), "bellwire": 1]
        frame.merge(fields)
        return .object(frame)
    }

    func proof(_ nonce: String, origin: String, binding: [UInt8]? = nil) -> JSONValue {
        let proof = RegistrationProof(signing: nonce, origin: origin, channelBinding: binding, with: key)
        return [
            "nonce": .string(proof.nonce), "origin": .string(proof.origin), "signature": .string(proof.signature),
        ]
    }
}
