import Testing

@testable import Identity

@Suite struct TextEncodingTests {
    /// RFC 4648, 10.
    private static let vectors = [
        ("", "", "", ""), ("f", "Zg==", "Zg", "66"), ("fo", "Zm8=", "Zm8", "666f"),
        ("foo", "Zm9v", "Zm9v", "666f6f"), ("foob", "Zm9vYg==", "Zm9vYg", "666f6f62"),
        ("fooba", "Zm9vYmE=", "Zm9vYmE", "666f6f6261"), ("foobar", "Zm9vYmFy", "Zm9vYmFy", "666f6f626172"),
    ]

    @Test("bytes are written and read as in RFC 4648", arguments: vectors)
    func publishedVectors(text: String, base64: String, base64url: String, hex: String) {
        let bytes = Array(text.utf8)
        let forms: [(TextEncoding, String)] = [(.base64, base64), (.base64url, base64url), (.hex, hex)]
        for (encoding, written) in forms {
            #expect(encoding.encode(bytes) == written)
            #expect(encoding.decode(written) == bytes)
        }
    }

    @Test("base64url has its own two letters and no padding")
    func alphabets() {
        #expect(TextEncoding.base64.encode([0xfb, 0xff, 0xfe]) == "+//+")
        #expect(TextEncoding.base64url.encode([0xfb, 0xff, 0xfe]) == "-__-")
        #expect(TextEncoding.base64url.decode("+//+") == nil)
        #expect(TextEncoding.base64.decode("-__-") == nil)
        #expect(TextEncoding.base64url.decode("Zg==") == nil)
        #expect(TextEncoding.base64.decode("Zg") == nil)
    }

    @Test(
        "what is not exactly of the encoding is refused",
        arguments: ["Zg=", "Z", " Zg==", "Zg==\n", "Zh==", "Zm9v Zm9v", "é", "Zg==Zg==", "Zm9\u{0}"])
    func strict(text: String) {
        #expect(TextEncoding.base64.decode(text) == nil)
    }

    @Test("letters beyond ASCII are of no encoding")
    func beyondASCII() {
        for text in ["A\u{FFFD}", "\u{FFFD}A", "AA\u{E9}", "\u{FF}\u{FF}"] {
            for encoding in [TextEncoding.base64, .base64url, .hex] { #expect(encoding.decode(text) == nil) }
            #expect(PublicBase64URL.decode(text) == nil)
        }
    }

    @Test("hex is read in either case, and in whole bytes only")
    func hex() {
        #expect(TextEncoding.hex.decode("00fFAb") == [0, 0xff, 0xab])
        #expect(TextEncoding.hex.decode("0") == nil)
        #expect(TextEncoding.hex.decode("0g") == nil)
        #expect(TextEncoding.hex.decode("00 ff") == nil)
    }

    @Test("random bytes come in the length asked for, and differ")
    func random() {
        #expect(Identity.randomBytes(0).isEmpty)
        #expect(Identity.randomBytes(-1).isEmpty)
        #expect(Identity.randomBytes(32).count == 32)
        #expect(Identity.randomBytes(32) != Identity.randomBytes(32))
    }

    @Test("secrets compare by their bytes, and a wiped one is empty")
    func compareAndWipe() {
        #expect(Identity.constantTimeEqual([], []))
        #expect(Identity.constantTimeEqual([1, 2], [1, 2]))
        #expect(!Identity.constantTimeEqual([1, 2], [1, 3]))
        #expect(!Identity.constantTimeEqual([1, 2], [1, 2, 3]))
        var secret: [UInt8] = [1, 2, 3]
        Identity.wipe(&secret)
        #expect(secret.isEmpty)
    }
}
