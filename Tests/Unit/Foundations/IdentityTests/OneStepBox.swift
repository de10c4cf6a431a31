import CSodium

@testable import Identity

/// libsodium's own box in one step, from keys that are converted here.
func oneStepOpen(_ box: [UInt8], nonce: [UInt8], by key: SigningKey, from peer: SigningKey) -> [UInt8]? {
    var (secret, point) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    var plaintext = [UInt8](repeating: 0, count: box.count - 16)
    guard crypto_sign_ed25519_sk_to_curve25519(&secret, key.secret.assumingMemoryBound(to: UInt8.self)) == 0,
        crypto_sign_ed25519_pk_to_curve25519(&point, peer.publicKey.bytes) == 0,
        crypto_box_curve25519xchacha20poly1305_open_easy(&plaintext, box, UInt64(box.count), nonce, point, secret) == 0
    else { return nil }
    return plaintext
}
