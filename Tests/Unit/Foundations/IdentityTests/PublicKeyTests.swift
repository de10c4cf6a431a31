import Testing

@testable import Identity

@Suite struct PublicKeyTests {
    /// Seeds and ids of the did:key method's own test vectors (W3C CCG, ed25519).
    private static let vectors: [(lastSeedByte: UInt8, did: String)] = [
        (0, "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"),
        (1, "did:key:z6MkjchhfUsD6mmvni8mCdXHw216Xrm9bQe2mBH1P5RDjVJG"),
        (2, "did:key:z6MknGc3ocHs3zdPiJbnaaqDi58NGb4pk1Sp9WxWufuXSdxf"),
    ]

    @Test("a key has the did:key of the published vectors", arguments: vectors)
    func publishedVectors(lastSeedByte: UInt8, did: String) throws {
        let key = try SigningKey(seed: [UInt8](repeating: 0, count: 31) + [lastSeedByte])
        #expect(key.did == did)
        #expect(PublicKey(did: did) == key.publicKey)
    }

    @Test("the did:key of the specification's introduction names a key and is written the same again")
    func specification() {
        let did = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
        #expect(PublicKey(did: did)?.did == did)
    }

    @Test(
        "what is not written exactly like a did:key of an Ed25519 key names no key",
        arguments: [
            "", "did:key:", "did:key:z", "did:key:z6Mk", "6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            "did:web:example.org", "DID:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            " did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK ",
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK#z6Mk",
            "did:key:z16MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do0",
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doKK",
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2dö",
            // X25519 and secp256k1, of the specification.
            "did:key:z6LSeu9HkTHSfLLeUs2nnzUSNedgDUevfNQgQjQC23ZCit6F",
            "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme",
            String(repeating: "did:key:z6Mk", count: 10_000),
        ])
    func malformed(did: String) {
        #expect(PublicKey(did: did) == nil)
    }

    @Test("bytes that are no point of the curve, or one of small order, are no key")
    func badPoints() throws {
        try Identity.start()
        #expect(PublicKey(bytes: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(PublicKey(bytes: [1] + [UInt8](repeating: 0, count: 31)) == nil)
        #expect(PublicKey(bytes: [UInt8](repeating: 0xff, count: 32)) == nil)
        #expect(PublicKey(bytes: [UInt8](repeating: 7, count: 31)) == nil)
        let smallOrder = "did:key:z" + Base58.encode([0xed, 0x01, 1] + [UInt8](repeating: 0, count: 31))
        #expect(PublicKey(did: smallOrder) == nil)
    }

    @Test("base58btc agrees with its published examples, leading zeros included")
    func base58() {
        let examples: [(text: String, bytes: [UInt8])] = [
            ("2NEpo7TZRRrLZSi2U", Array("Hello World!".utf8)),
            (
                "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
                Array("The quick brown fox jumps over the lazy dog.".utf8)
            ),
            ("11233QC4", [0, 0, 0x28, 0x7f, 0xb4, 0xcd]),
            ("", []),
            ("1", [0]),
        ]
        for example in examples {
            #expect(Base58.encode(example.bytes) == example.text)
            #expect(Base58.decode(example.text.utf8) == example.bytes)
        }
        #expect(Base58.decode("0".utf8) == nil)
        #expect(Base58.decode("l".utf8) == nil)
    }
}
