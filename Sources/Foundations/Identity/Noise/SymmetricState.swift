import CSodium

/// Noise's `SymmetricState` with its `CipherState` of the handshake (sections 5.1 and 5.2): chaining key, hash and key.
struct SymmetricState {
    /// Where each secret of a handshake lies in its protected memory.
    private enum Place {
        static let chainingKey = 0
        static let output = 32
        static let scratch = 128
        static let shared = 160
        static let byteCount = 192
    }

    /// `h`: covers all that was said. Public.
    private(set) var hash: [UInt8]
    private var secrets = WipedBytes(count: Place.byteCount)
    /// `CipherState.n`; `nil` = no key yet.
    private var nonce: UInt64?

    /// `InitializeSymmetric`.
    init(protocolName: String) {
        let name = Array(protocolName.utf8)
        let byteCount = NoiseFunctions.hashByteCount
        hash =
            name.count <= byteCount
            ? name + [UInt8](repeating: 0, count: byteCount - name.count) : NoiseFunctions.sha256(name)
        secrets.withBytes(at: Place.chainingKey) { target in
            for (index, byte) in hash.enumerated() { target[index] = byte }
        }
    }

    /// With secrets of its own, so that a message that turns out to be forged changes nothing here.
    func copy() -> SymmetricState {
        var copy = self
        copy.secrets = WipedBytes(copying: secrets)
        return copy
    }

    mutating func mixHash(_ data: [UInt8]) { hash = NoiseFunctions.sha256(hash, data) }

    /// `MixKey` with bytes that are no secret.
    mutating func mixKey(_ material: [UInt8]) {
        material.withUnsafeBytes { mix($0, outputs: 2) }
        nonce = 0
    }

    /// `MixKey(DH(key, peer))`. Throws `invalid_point`.
    mutating func mixAgreement(_ key: AgreementKey, _ peer: AgreementPublicKey) throws(NoiseError) {
        try secrets.withBytes(at: Place.shared) { (shared) throws(NoiseError) in
            defer { sodium_memzero(shared, AgreementPublicKey.byteCount) }
            try key.agree(with: peer, into: shared)
            mix(UnsafeRawBufferPointer(start: shared, count: AgreementPublicKey.byteCount), outputs: 2)
        }
        nonce = 0
    }

    /// `MixKeyAndHash` with the preshared key.
    mutating func mixKeyAndHash(_ presharedKey: PresharedKey) {
        presharedKey.bytes.withBytes { key in
            mix(UnsafeRawBufferPointer(start: key, count: presharedKey.bytes.count), outputs: 3)
        }
        // Of three outputs, the second belongs to the hash and the third is the key.
        var mixed = secrets.withBytes(at: Place.output + NoiseFunctions.hashByteCount) { output in
            Array(UnsafeBufferPointer(start: output, count: NoiseFunctions.hashByteCount))
        }
        mixHash(mixed)
        Identity.wipe(&mixed)
        secrets.withBytes(at: Place.output) { output in
            let (second, third) = (output + NoiseFunctions.hashByteCount, output + 2 * NoiseFunctions.hashByteCount)
            second.update(from: third, count: NoiseFunctions.keyByteCount)
            sodium_memzero(third, NoiseFunctions.keyByteCount)
        }
        nonce = 0
    }

    /// `EncryptAndHash`.
    mutating func encryptAndHash(_ plaintext: [UInt8]) -> [UInt8] {
        guard let nonce else { preconditionFailure("this pattern encrypts only under a key") }
        let ciphertext = withKey { key in
            NoiseFunctions.encrypt(key: key, nonce: nonce, data: hash, plaintext: plaintext)
        }
        self.nonce = nonce + 1
        mixHash(ciphertext)
        return ciphertext
    }

    /// `DecryptAndHash`. Throws `forged`.
    mutating func decryptAndHash(_ ciphertext: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard let nonce else { preconditionFailure("this pattern decrypts only under a key") }
        let plaintext = withKey { key in
            NoiseFunctions.decrypt(key: key, nonce: nonce, data: hash, ciphertext: ciphertext)
        }
        guard let plaintext else { throw .forged }
        self.nonce = nonce + 1
        mixHash(ciphertext)
        return plaintext
    }

    /// `Split`: the initiator's key, then the responder's, in protected memory of their own.
    func split() -> WipedBytes {
        let keys = WipedBytes(count: 2 * NoiseFunctions.keyByteCount)
        keys.withBytes(at: 0) { keys in
            secrets.withBytes(at: Place.chainingKey) { chainingKey in
                secrets.withBytes(at: Place.scratch) { scratch in
                    NoiseFunctions.hkdf(
                        chainingKey: chainingKey, material: UnsafeRawBufferPointer(start: nil, count: 0), outputs: 2,
                        into: keys, scratch: scratch)
                }
            }
        }
        return keys
    }

    /// The handshake's key: the second output, wherever it came from.
    private func withKey<T>(_ body: (UnsafePointer<UInt8>) -> T) -> T {
        secrets.withBytes(at: Place.output + NoiseFunctions.hashByteCount) { body($0) }
    }

    /// The first output becomes the chaining key; the others stay in place.
    private func mix(_ material: UnsafeRawBufferPointer, outputs: Int) {
        secrets.withBytes(at: Place.chainingKey) { chainingKey in
            secrets.withBytes(at: Place.output) { output in
                secrets.withBytes(at: Place.scratch) { scratch in
                    NoiseFunctions.hkdf(
                        chainingKey: chainingKey, material: material, outputs: outputs, into: output, scratch: scratch)
                    chainingKey.update(from: output, count: NoiseFunctions.hashByteCount)
                    sodium_memzero(output, NoiseFunctions.hashByteCount)
                }
            }
        }
    }
}
