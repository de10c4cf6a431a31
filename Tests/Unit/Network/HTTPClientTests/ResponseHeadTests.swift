import Testing

@testable import HTTPClient

@Suite("The head of an answer")
struct ResponseHeadTests {
    private func take(_ head: inout ResponseHead, _ status: Int, _ lines: String...) -> Bool {
        var isWanted = true
        for line in lines { isWanted = Array("\(line)\r\n".utf8).withUnsafeBytes { head.take($0, status: status) } }
        return isWanted
    }

    @Test("Of a 200 the body is wanted, of another answer nothing more")
    func wanted() {
        for (status, expected) in [(200, true), (302, false), (404, false), (204, false), (206, false), (0, false)] {
            var head = ResponseHead()
            #expect(take(&head, status, "HTTP/1.1 \(status) X", "A: b", "") == expected)
            #expect(head.isWhole)
        }
    }

    @Test("What comes in advance is passed over, with what it says")
    func informational() {
        var head = ResponseHead()
        #expect(take(&head, 103, "HTTP/1.1 103 Early Hints", "Location: https://a.test/", ""))
        #expect(!head.isWhole)
        #expect(
            !take(&head, 302, "HTTP/1.1 302 Found", "location:  https://b.test/ \t", "Location: https://c.test/", ""))
        #expect(head.isRedirect && head.location == "https://b.test/")
    }

    @Test("A head that is cut redirects nobody, and neither does a trailer")
    func cut() {
        var head = ResponseHead()
        _ = take(&head, 302, "HTTP/1.1 302 Found", "Location: https://a.test/")
        #expect(!head.isRedirect)
        head = ResponseHead()
        #expect(take(&head, 200, "HTTP/1.1 200 OK", "", "Location: https://a.test/", ""))
        #expect(head.location == nil && !head.isRedirect)
    }

    @Test("A place is a text without a NUL", arguments: ["", " ", "\0", "https://a.test/\0", "\t\r"])
    func places(value: String) {
        var head = ResponseHead()
        _ = take(&head, 302, "HTTP/1.1 302 Found", "Location:\(value)", "")
        #expect(head.location == "")
        var other = ResponseHead()
        _ = take(&other, 302, "HTTP/1.1 302 Found", "Locations: x", "X-Location: y", " Location: z", "Location", "")
        #expect(other.location == nil)
    }

    @Test("It has a largest size, over all its parts")
    func size() {
        var head = ResponseHead()
        let line = "X: \(String(repeating: "x", count: 1_000))"
        var count = 0
        while take(&head, 103, line), count < 1_000 { count += 1 }
        #expect(count == 65 && head.isTooLarge)
    }
}
