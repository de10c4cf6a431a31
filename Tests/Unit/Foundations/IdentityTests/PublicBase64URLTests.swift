import Testing

@testable import Identity

@Suite struct PublicBase64URLTests {
    @Test("it writes and reads what libsodium does, of every length")
    func same() {
        var bytes: [UInt8] = []
        for count in 0...300 {
            let text = TextEncoding.base64url.encode(bytes)
            #expect(PublicBase64URL.encode(bytes) == text)
            #expect(PublicBase64URL.decode(text) == bytes)
            bytes.append(UInt8(truncatingIfNeeded: count &* 167 &+ 13))
        }
    }

    @Test("it refuses what libsodium refuses: every character at every place, cut texts, padding, surplus bits")
    func strict() {
        for text in ["AAAA", "AAA", "AA", "A", "AAAAAAAA", "AAAAAAA", "AAAAAA", "AAAAA", "AA==", "AAA=", "A A"] {
            #expect(PublicBase64URL.decode(text) == TextEncoding.base64url.decode(text), "\(text)")
            for place in 0..<text.utf8.count {
                for character in UInt8(0)...127 {
                    var changed = Array(text.utf8)
                    changed[place] = character
                    let text = String(decoding: changed, as: UTF8.self)
                    #expect(PublicBase64URL.decode(text) == TextEncoding.base64url.decode(text), "\(text)")
                }
            }
        }
    }
}
