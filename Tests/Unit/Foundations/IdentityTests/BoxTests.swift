import Testing

@testable import Identity

@Suite struct BoxTests {
    private let nonce = [UInt8](1...24)

    @Test("what one seals the other opens; nobody else does")
    func roundTrip() throws {
        let (alice, bob, carol) = (
            try SigningKey.generate(), try SigningKey.generate(), try SigningKey.generate()
        )
        let sealing = try Box(alice, with: bob.publicKey)
        let opening = try Box(bob, with: alice.publicKey)
        for count in [0, 1, 15, 16, 17, 1_000, 100_000] {
            let plaintext = Identity.randomBytes(count)
            let box = sealing.seal(plaintext, nonce: nonce)
            #expect(box.count == count + Box.overhead)
            #expect(opening.open(box, nonce: nonce) == plaintext)
            #expect(try Box(carol, with: alice.publicKey).open(box, nonce: nonce) == nil)
            #expect(try Box(bob, with: carol.publicKey).open(box, nonce: nonce) == nil)
        }
    }

    @Test("it is the box of the two keys' X25519 forms, as libsodium makes it from keys of its own")
    func form() throws {
        let alice = try SigningKey(seed: [UInt8](repeating: 1, count: 32))
        let bob = try SigningKey(seed: [UInt8](repeating: 2, count: 32))
        let box = try Box(alice, with: bob.publicKey).seal(Array("hello".utf8), nonce: nonce)
        #expect(oneStepOpen(box, nonce: nonce, by: bob, from: alice) == Array("hello".utf8))
    }

    @Test("a change of any byte, of the box or of the nonce, is refused; so is a box that was cut")
    func tampered() throws {
        let (alice, bob) = (try SigningKey.generate(), try SigningKey.generate())
        let box = try Box(alice, with: bob.publicKey).seal(Array("attack at dawn".utf8), nonce: nonce)
        let opening = try Box(bob, with: alice.publicKey)
        for index in box.indices {
            for bit in 0..<8 {
                var changed = box
                changed[index] ^= 1 << UInt8(bit)
                #expect(opening.open(changed, nonce: nonce) == nil)
            }
        }
        for index in nonce.indices {
            var changed = nonce
            changed[index] ^= 1
            #expect(opening.open(box, nonce: changed) == nil)
        }
        for count in 0..<box.count { #expect(opening.open(Array(box.prefix(count)), nonce: nonce) == nil) }
        #expect(opening.open(box, nonce: []) == nil)
        #expect(opening.open(box + [0], nonce: nonce) == nil)
        #expect(opening.open(box, nonce: nonce) == Array("attack at dawn".utf8))
    }

    /// Points of small order, as libsodium and RFC 7748's errata list them, and one outside of the main subgroup.
    private static let weak: [String] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "02",
    ]

    @Test("a key of small order is no key, and could not be sealed to if it were one", arguments: weak)
    func weakKeys(hex: String) throws {
        let key = try SigningKey.generate()
        let bytes = try #require(TextEncoding.hex.decode(hex))
        #expect(PublicKey(bytes: bytes) == nil)
        do throws(IdentityError) {
            _ = try Box(key, with: bytes)
            Issue.record("it was taken")
        } catch {
            #expect(error.code == .weakKey)
            #expect(!error.message.contains(hex))
        }
    }
}
