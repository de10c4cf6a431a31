import TestSupport
import Testing

@testable import Addresses

@Suite("Addresses on the web")
struct HTTPSURLTests {
    private func problem(_ text: String) -> HTTPSURL.Problem? {
        do throws(HTTPSURL.Problem) {
            _ = try HTTPSURL(text)
            return nil
        } catch { return error }
    }

    @Test(
        "An address is put together anew from its parts",
        arguments: [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://Example.COM/A?b=C#d", "https://example.com/A?b=C"),
            ("https://example.com:443/", "https://example.com/"),
            ("https://example.com.:8443/x", "https://example.com:8443/x"),
            ("https://example.com?x=1", "https://example.com/?x=1"),
            ("https://1.2.3.4/", "https://1.2.3.4/"),
            ("https://[2001:DB8:0::1]:1/", "https://[2001:db8::1]:1/"),
            ("https://xn--bcher-kva.example/%C3%BC", "https://xn--bcher-kva.example/%C3%BC"),
            ("https://a_b.example/%2F..%2F", "https://a_b.example/%2F..%2F"),
            ("https://1.2.3.4.example/", "https://1.2.3.4.example/"),
        ])
    func parts(text: String, expected: String) throws {
        #expect(try HTTPSURL(text).text == expected)
        #expect(try HTTPSURL(expected).text == expected)
    }

    @Test(
        "Other schemes, and none, are told as that",
        arguments: [
            "http://example.com/", "ftp://example.com/", "file:///etc/passwd", "javascript://x", "example.com/x.png",
            "",
            "//example.com/", "https:/example.com", "https", ":", "://", "httpss://example.com/",
            "data:image/png;base64,AA",
        ])
    func schemes(text: String) {
        #expect(problem(text) == .notHTTPS)
    }

    @Test(
        "What can be read in two ways is malformed",
        arguments: [
            "https://", "https:///x", "https://?x", "https://#x", "https://:443/", "https://example.com:/",
            "https://example.com:0/", "https://example.com:65536/", "https://example.com:+1/",
            "https://example.com:1 /",
            "https://user@example.com/", "https://user:word@example.com/", "https://example.com@127.0.0.1/",
            "https://example.com\\@127.0.0.1/", "https://example.com\\/", "https://example.com/\\x",
            "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/",
            "https://0177.0.0.1/",
            "https://127.0.0.1.5/", "https://127.0.0.01/", "https://x.0x/", "https://1.2.3/", "https://256.0.0.1/",
            "https://example..com/", "https://.example.com/", "https://-a.example/", "https://a-.example/",
            "https://./",
            "https://exa%6dple.com/", "https://exämple.com/", "https://\u{212a}.example/",
            "https://example.com\u{3002}x/",
            "https://[::1/", "https://::1/", "https://[::1]x/", "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/",
            "https://[127.0.0.1]/", "https://[]/", "https://[v1.x]/", "https://a[b]/",
            "https://example.com/\u{0}", "https://example.com\u{0}.x/", "https://example.com/\n",
            "\thttps://example.com/",
            "https://example.com/ x", "https://example.com/é", "https://example.com/<x>", "https://example.com/\"",
            "https://example.com/%", "https://example.com/%2", "https://example.com/%zz", "https://example.com/?%0",
        ])
    func malformed(text: String) {
        #expect(problem(text) != nil)
    }

    @Test("It has a longest length, and so has a name")
    func lengths() {
        let start = "https://example.com/"
        #expect(problem(start + String(repeating: "x", count: HTTPSURL.maximumLength - start.utf8.count)) == nil)
        #expect(problem(start + String(repeating: "x", count: HTTPSURL.maximumLength)) == .malformed)
        #expect(problem("https://\(String(repeating: "a", count: 63)).example/") == nil)
        #expect(problem("https://\(String(repeating: "a", count: 64)).example/") == .malformed)
        #expect(problem("https://\(String(repeating: "a.", count: 127))example/") == .malformed)
    }

    @Test("Whatever comes is read or refused, and what is read is read the same again")
    func anything() {
        var generator = SeededGenerator(seed: 1)
        let alphabet = Array("https://[]:@.%?#\\0x17f/ée \u{0}a-_")
        for _ in 0..<100_000 {
            let count = Int.random(in: 0..<24, using: &generator)
            let rest = String((0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
            guard let url = try? HTTPSURL("https://\(rest)") else { continue }
            #expect((try? HTTPSURL(url.text)) == url)
            #expect(url.address == IPAddress(url.host))
        }
    }
}
