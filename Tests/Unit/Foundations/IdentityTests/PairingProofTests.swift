import Testing

@testable import Identity

@Suite struct PairingProofTests {
    private let secret: PairingSecret
    private let other: PairingSecret
    private let device = "did:key:zDevice"
    private let desktop = "did:key:zDesktop"

    init() throws {
        secret = try #require(PairingSecret(bytes: Array(0..<16)))
        other = try #require(PairingSecret(bytes: Array(1..<17)))
    }

    private func mac(_ kind: PairingProof.Kind = .ack, code: String = "012345", timestamp: Int64 = 1_700) -> String {
        PairingProof.mac(
            secret, kind: kind, deviceID: device, desktopID: desktop, code: code, timestamp: timestamp)
    }

    @Test("a secret is 16 bytes, written in base64url, equal by its bytes, and is not printed")
    func secrets() {
        #expect(secret.base64url == "AAECAwQFBgcICQoLDA0ODw")
        #expect(PairingSecret(base64url: "AAECAwQFBgcICQoLDA0ODw") == secret)
        #expect(secret != other)
        #expect(PairingSecret.random() != PairingSecret.random())
        for text in ["", "AAEC", "AAECAwQFBgcICQoLDA0ODw==", "AAECAwQFBgcICQoLDA0ODxA", "AAECAwQFBgcICQoLDA0OD/"] {
            #expect(PairingSecret(base64url: text) == nil)
        }
        #expect(PairingSecret(base64url: String(repeating: "A", count: 100_000)) == nil)
        #expect(PairingSecret(bytes: []) == nil)
        var dumped = ""
        dump([secret], to: &dumped)
        #expect(!dumped.contains("AAEC") && !"\(secret)".contains("AAEC"))
        #expect(!dumped.contains("0x"))
    }

    @Test("MACs are HMAC-SHA256 over the literal text: figures of Python's hmac")
    func figures() {
        #expect(mac() == "Qpn1GLzJGErLRqJKUhplO_n5ZwiBovCWRrQ1H3PuJzE")
        #expect(mac(.confirmation) == "yIN_bn9FIqwS3Zpf-qn67GMMMfi9Bb0qdZsMO2GrAAA")
    }

    @Test("HMAC-SHA256 is that of RFC 4231, test cases 1, 2 and 6")
    func hmac() throws {
        let cases: [(key: [UInt8], text: String, mac: String)] = [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
        for (key, text, mac) in cases {
            #expect(TextEncoding.hex.encode(HMAC.sha256(key: try #require(SecretBytes(key)), over: text)) == mac)
        }
    }

    @Test("a MAC verifies for its own frame alone")
    func verifies() {
        func verifies(
            _ mac: String, _ secret: PairingSecret, _ kind: PairingProof.Kind = .ack, device: String? = nil,
            desktop: String? = nil, code: String = "012345", timestamp: Int64 = 1_700
        ) -> Bool {
            PairingProof.verifies(
                mac, secret, kind: kind, deviceID: device ?? self.device, desktopID: desktop ?? self.desktop,
                code: code, timestamp: timestamp)
        }
        #expect(verifies(mac(), secret))
        #expect(!verifies(mac(), other))
        #expect(!verifies(mac(), secret, .confirmation))
        #expect(!verifies(mac(), secret, device: "did:key:zEvil"))
        #expect(!verifies(mac(), secret, desktop: "did:key:zEvil"))
        #expect(!verifies(mac(), secret, device: desktop, desktop: device))
        #expect(!verifies(mac(), secret, code: "12345"))
        #expect(!verifies(mac(), secret, timestamp: 1_701))
        #expect(!verifies(mac(), secret, timestamp: .min))
        for text in [
            "", "A", String(mac().dropLast()), mac() + "A", mac() + "=", String(repeating: "A", count: 99_999),
        ] {
            #expect(!verifies(text, secret))
        }
        // The same bytes, cut in another way.
        let cut = PairingProof.mac(
            secret, kind: .ack, deviceID: "a\nb", desktopID: "c", code: "1", timestamp: 1)
        #expect(cut == PairingProof.mac(secret, kind: .ack, deviceID: "a", desktopID: "b\nc", code: "1", timestamp: 1))
        #expect(!verifies(cut, secret, device: "a\nb", desktop: "c", code: "1", timestamp: 1))
    }

    @Test("the short strings are the first 20 bits: figures of Python's hmac")
    func shortString() {
        let string = ShortAuthenticationString(secret: secret, deviceID: device, desktopID: desktop)
        #expect(string.bits == 560934)
        #expect(string.digits == "560934")
        #expect(string.words == [WordList.words[string.bits >> 10], WordList.words[string.bits & 1_023]])
        #expect(ShortAuthenticationString(bits: string.bits) == string)
    }

    @Test("they differ when a key is swapped, on one side or on both, and with another secret")
    func swapped() {
        func string(_ secret: PairingSecret, _ device: String, _ desktop: String) -> ShortAuthenticationString {
            ShortAuthenticationString(secret: secret, deviceID: device, desktopID: desktop)
        }
        let honest = string(secret, device, desktop)
        for swapped in [
            string(secret, "did:key:zEvil", desktop), string(secret, device, "did:key:zEvil"),
            string(secret, desktop, device), string(other, device, desktop),
        ] {
            #expect(swapped != honest && swapped.digits != honest.digits && swapped.words != honest.words)
        }
    }

    @Test("every number of 20 bits has six digits and two words; no other number is one")
    func forms() {
        for bits in [0, 7, 999_999, 1_000_000, 1_048_575] {
            let string = ShortAuthenticationString(bits: bits)
            #expect(string?.digits.utf8.count == 6)
            #expect(string?.words.count == 2)
        }
        #expect(ShortAuthenticationString(bits: 7)?.digits == "000007")
        #expect(ShortAuthenticationString(bits: 1_000_007)?.digits == "000007")
        #expect(ShortAuthenticationString(bits: -1) == nil)
        #expect(ShortAuthenticationString(bits: 1 << 20) == nil)
    }

    @Test("the list has 1,024 short words in order, none like another in its first four letters, and never changes")
    func words() {
        let words = WordList.words
        #expect(words.count == 1_024)
        #expect(words == words.sorted())
        #expect(Set(words.map { $0.prefix(4) }).count == 1_024)
        for word in words {
            #expect((3...6).contains(word.utf8.count) && word.utf8.allSatisfy { (97...122).contains($0) })
        }
        // What both sides show depends on each word's place.
        let hash = HMAC.sha256(key: secret.bytes, over: words.joined(separator: " "))
        #expect(TextEncoding.hex.encode(hash) == "8f141b378682b94aaab2fff85d52b615762436ce979ad4075fb014ed87d95bfb")
    }
}
