package import Hosting
import Identity
import JSON
import Sealing
package import Store
package import Wire

/// Validates hosts' requests about revoked keys; the same on both sides (WireRekey, "Revocation").
package enum RevocationRequest {
    /// The key to revoke. It may be that of a paired peer, or any `did:key`.
    ///
    /// Errors: `invalid` for this side's own key, and for a text that is neither; the detail names the `field`.
    package static func key(
        _ id: String, field: String, own: PeerID, isPaired: (PeerID) -> Bool
    ) throws(HostError) -> PeerID {
        let key = PeerID(id)
        guard key != own else {
            throw HostError(
                .invalid, "this is this machine's own key; to replace it, move to a new key",
                detail: ["field": .string(field)])
        }
        guard isPaired(key) || PublicKey(did: id) != nil else {
            throw HostError(
                .invalid, "neither the id of a paired peer nor a did:key", detail: ["field": .string(field)])
        }
        return key
    }

    /// As `bw_device_revoked()` and `bw_desktop_revoked()` give them.
    package static func list(_ database: Database, then: @escaping Then) {
        database.submit { (connection) throws(StoreError) in
            JSONValue.array(try RevokedKeys(connection).all().map(\.json))
        } then: { result in
            then(result.map { HostReply($0) }.mapError { HostError($0) })
        }
    }
}

extension HostError {
    package static var tooManyRevoked: Self {
        HostError(
            .limit, "\(RevokedKeys.limit) keys are already revoked; readmit some that are no longer a risk")
    }
    package static var notRevoked: Self { HostError(.notFound, "no such key is revoked") }
    /// A pairing code of a revoked key.
    package static var revokedKey: Self {
        HostError(
            .denied, "this key was revoked; the other side needs a new one", detail: ["reason": "revoked"])
    }
}
