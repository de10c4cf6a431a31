import Testing

@testable import Transport

@Suite("SHA-1 and base64 of the WebSocket handshake")
struct SHA1Tests {
    @Test(
        "Digests are those of FIPS 180",
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ])
    func digest(text: String, expected: String) {
        let digits = Array("0123456789abcdef")
        let found = SHA1.digest(of: Array(text.utf8)).map { String([digits[Int($0 >> 4)], digits[Int($0 & 15)]]) }
        #expect(found.joined() == expected)
    }

    @Test(
        "Base64 is that of RFC 4648",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64(text: String, expected: String) {
        #expect(WebSocketUpgrade.base64(Array(text.utf8)) == expected)
    }
}
