import CSodium

/// The functions of draft-irtf-cfrg-cpace-21 for CPACE-RISTR255-SHA512, under the draft's names (sections 8 and A).
enum CPaceFunctions {
    static let pointByteCount = Int(crypto_core_ristretto255_BYTES)
    static let scalarByteCount = Int(crypto_core_ristretto255_SCALARBYTES)
    static let sessionByteCount = 16
    static let hashByteCount = Int(crypto_hash_sha512_BYTES)

    /// `G.DSI`.
    private static let domain = "CPaceRistretto255"
    /// SHA-512's input block, `H.s_in_bytes`.
    private static let blockByteCount = 128

    /// `lv_cat`: each part behind its length in LEB128.
    static func lvCat(_ parts: [UInt8]...) -> [UInt8] {
        var joined: [UInt8] = []
        // At once: an array that grows leaves copies of what it held.
        joined.reserveCapacity(parts.reduce(0) { $0 + $1.count + 10 })
        for part in parts {
            joined += prefix(part.count)
            joined += part
        }
        return joined
    }

    private static func prefix(_ length: Int) -> [UInt8] {
        var prefix: [UInt8] = []
        var rest = length
        while rest >= 128 {
            prefix.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        prefix.append(UInt8(rest))
        return prefix
    }

    /// Fills the first block of the hash, so that its work does not depend on the password's length. The caller wipes it.
    static func generatorString(password: [UInt8], channel: [UInt8], session: [UInt8]) -> [UInt8] {
        let domain = Array(domain.utf8)
        let taken = 1 + prefix(password.count).count + password.count + prefix(domain.count).count + domain.count
        let padding = [UInt8](repeating: 0, count: max(0, blockByteCount - taken))
        return lvCat(domain, password, padding, channel, session)
    }

    /// `calculate_generator`: who knows it can try passwords at leisure, so it is a secret.
    static func generator(password: [UInt8], channel: [UInt8], session: [UInt8]) -> SecretBytes? {
        var text = generatorString(password: password, channel: channel, session: session)
        defer { Identity.wipe(&text) }
        var hash = [UInt8](repeating: 0, count: hashByteCount)
        defer { Identity.wipe(&hash) }
        crypto_hash_sha512(&hash, text, UInt64(text.count))
        return SecretBytes(count: pointByteCount) { crypto_core_ristretto255_from_hash($0, hash) == 0 }
    }

    /// `sample_scalar`: 252 bits of the randomness; `nil` for zero, or for another length.
    static func scalar(_ randomness: [UInt8]) -> SecretBytes? {
        guard randomness.count == scalarByteCount, sodium_is_zero(randomness, scalarByteCount) == 0 else { return nil }
        return SecretBytes(count: scalarByteCount) { target in
            for (index, byte) in randomness.enumerated() { target[index] = byte }
            target[scalarByteCount - 1] &= 0x0f
            return sodium_is_zero(target, scalarByteCount) == 0
        }
    }

    /// `scalar_mult`, of our generator.
    static func multiply(_ scalar: SecretBytes, generator: SecretBytes) -> [UInt8]? {
        var share = [UInt8](repeating: 0, count: pointByteCount)
        let result = scalar.withBytes { scalar in
            generator.withBytes { crypto_scalarmult_ristretto255(&share, scalar, $0) }
        }
        return result == 0 ? share : nil
    }

    /// Whether a share that came is a point other than the neutral one. Public, so nothing here takes a constant time.
    static func isPoint(_ share: [UInt8]) -> Bool {
        share.count == pointByteCount && sodium_is_zero(share, pointByteCount) == 0
            && crypto_core_ristretto255_is_valid_point(share) == 1
    }

    /// `scalar_mult_vfy` of a received share; `nil` stands for `G.I`, on which the draft requires to abort.
    static func multiplyVerified(_ scalar: SecretBytes, share: [UInt8]) -> SecretBytes? {
        guard share.count == pointByteCount else { return nil }
        // libsodium refuses what is no canonical point, and the neutral one as a result.
        return SecretBytes(count: pointByteCount) { target in
            scalar.withBytes { crypto_scalarmult_ristretto255(target, $0, share) } == 0
        }
    }

    /// `transcript_ir`: the initiator's message first.
    static func transcript(
        initiator: (share: [UInt8], data: [UInt8]), responder: (share: [UInt8], data: [UInt8])
    ) -> [UInt8] {
        lvCat(initiator.share, initiator.data) + lvCat(responder.share, responder.data)
    }

    /// The session key out of the secret point.
    static func sessionKey(session: [UInt8], point: SecretBytes, transcript: [UInt8]) -> SecretBytes? {
        var secret = point.withBytes { Array(UnsafeBufferPointer(start: $0, count: point.count)) }
        defer { Identity.wipe(&secret) }
        var head = lvCat(Array((domain + "_ISK").utf8), session, secret)
        defer { Identity.wipe(&head) }
        var state = crypto_hash_sha512_state()
        defer { sodium_memzero(&state, MemoryLayout<crypto_hash_sha512_state>.size) }
        crypto_hash_sha512_init(&state)
        crypto_hash_sha512_update(&state, head, UInt64(head.count))
        crypto_hash_sha512_update(&state, transcript, UInt64(transcript.count))
        return SecretBytes(count: hashByteCount) { crypto_hash_sha512_final(&state, $0) == 0 }
    }
}
