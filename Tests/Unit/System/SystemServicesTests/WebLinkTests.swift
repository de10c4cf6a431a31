import Testing

@testable import SystemServices

@Suite("Links that may be opened")
struct WebLinkTests {
    @Test(
        "Web addresses, as they are",
        arguments: [
            "https://example.org/", "http://10.0.0.1:8080/a?b=c&d=%20#e", "HTTPS://Example.ORG", "https://[::1]/~x",
        ])
    func good(link: String) { #expect(WebLink.checked(link) == link) }

    @Test(
        "Nothing else",
        arguments: [
            "", "https", "https:", "https://", "https:/x", "file:///etc/passwd", "javascript:alert(1)", "app://task/1",
            "-https://x", "--help", "https://x/ y", "https://x/\n", "https://x/'", "https://x/\"", "https://x/`id`",
            "https://x/\\", "https://x/<", "https://x/ü", "https://x/\u{0}", " https://x", "//x", "/bin/sh",
            "https://" + String(repeating: "x", count: 2_048),
        ])
    func bad(link: String) {
        #expect(WebLink.checked(link) == nil)
        #expect(WebLink.open(link) == "it is not a web address")
    }
}
