import Testing

@testable import Transport

@Suite("A request's body")
struct HTTPBodyParserTests {
    private func head(_ headers: String, version: String = "1.1") throws -> HTTPHead {
        let text = "POST / HTTP/\(version)\r\nHost: a\r\n\(headers)\r\n"
        let outcome = Array(text.utf8).withUnsafeBytes { HTTPHeadParser(.request, limit: 10_000).take($0) }
        guard case .head(let head, _) = outcome else {
            throw TransportError(.badHTTP, "\(outcome)")
        }
        return head
    }

    /// Gives the outcome, the body, and what was left over.
    private func read(
        _ framing: HTTPBodyParser.Framing, _ text: String, limit: Int = 100, cut: Int = .max
    ) -> (HTTPBodyParser.Outcome, String, rest: String) {
        let parser = HTTPBodyParser(framing, limit: limit)
        var rest = Array(text.utf8)
        while !rest.isEmpty {
            let part = Array(rest.prefix(cut))
            let outcome = part.withUnsafeBytes { parser.take($0) }
            let body = String(decoding: parser.body, as: UTF8.self)
            switch outcome {
            case .needsMore: rest.removeFirst(part.count)
            case .whole(let consumed):
                return (outcome, body, rest: String(decoding: rest.dropFirst(consumed), as: UTF8.self))
            case .tooLarge, .malformed: return (outcome, body, rest: "")
            }
        }
        return (.needsMore, String(decoding: parser.body, as: UTF8.self), rest: "")
    }

    @Test("is the same whole and cut anywhere, and what follows it is left alone", arguments: [1, 2, 3, 7, .max])
    func cuts(_ cut: Int) {
        let length = read(.length(5), "helloPOST", cut: cut)
        #expect(length.1 == "hello")
        let chunked = read(.chunked, "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: 1\r\n\r\nPOST", cut: cut)
        #expect(chunked.1 == "hello")
        for found in [length, chunked] {
            guard case .whole = found.0 else { Issue.record("\(found)"); continue }
            #expect(found.rest == "POST")
        }
    }

    @Test("keeps both ends of more than it may keep", arguments: [1, 3, 40, .max])
    func shortened(_ cut: Int) {
        let text = (0..<500).map { "\($0 % 10)" }.joined()
        for (framing, wire) in [
            (HTTPBodyParser.Framing.length(500), text + "POST"),
            (.chunked, "64\r\n" + text.prefix(100) + "\r\n190\r\n" + text.dropFirst(100) + "\r\n0\r\n\r\nPOST"),
        ] {
            let parser = HTTPBodyParser(framing, limit: 500, kept: 40)
            var rest = Array(wire.utf8)
            var consumed: Int?
            while consumed == nil, !rest.isEmpty {
                let part = Array(rest.prefix(cut))
                switch part.withUnsafeBytes({ parser.take($0) }) {
                case .needsMore: rest.removeFirst(part.count)
                case .whole(let count):
                    consumed = count
                    rest.removeFirst(count)
                case .tooLarge, .malformed: rest = []
                }
                #expect(parser.body.count <= 40)
            }
            #expect(consumed != nil && String(decoding: rest, as: UTF8.self) == "POST")
            #expect(parser.body.count + parser.omitted == 500 && parser.body.count >= 20)
            #expect(String(decoding: parser.body, as: UTF8.self).hasPrefix("0123456789"))
            #expect(String(decoding: parser.body, as: UTF8.self).hasSuffix("0123456789"))
        }
        #expect(read(.length(501), "x", limit: 500).0 == .tooLarge)
    }

    @Test("has a limit, in chunks without end as well")
    func limits() {
        #expect(read(.length(101), "x").0 == .tooLarge)
        #expect(read(.chunked, "65\r\n" + String(repeating: "x", count: 101)).0 == .tooLarge)
        #expect(read(.chunked, String(repeating: "1\r\nx\r\n", count: 101), cut: 6).0 == .tooLarge)
        // Nothing but a chunk's extension, which no limit of the body counts.
        let endless = "1;" + String(repeating: "x", count: 40_000)
        #expect(read(.chunked, endless, cut: 1_000).0 == .tooLarge)
        #expect(read(.chunked, "0\r\n" + String(repeating: "A: b\r\n", count: 10_000), cut: 1_000).0 != .needsMore)
    }

    @Test(
        "in chunks that are none is malformed",
        arguments: ["xyz\r\n", "-1\r\n", "2\r\nhello\r\n", "fffffffffffffffff\r\n"])
    func malformed(_ text: String) {
        #expect(read(.chunked, text).0 == .malformed)
    }

    @Test("has one length, about which no two servers can disagree")
    func framing() throws {
        #expect(try HTTPBodyParser.Framing(try head("Content-Length: 5\r\n")) == .length(5))
        #expect(try HTTPBodyParser.Framing(try head("Transfer-Encoding: Chunked\r\n")) == .chunked)
        #expect(try HTTPBodyParser.Framing(try head("")) == .length(0))
        for headers in [
            "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: +5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: 0x5\r\n", "Content-Length: \r\n",
            "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: x\r\n",
        ] {
            #expect(throws: TransportError.self, "\(headers)") { try HTTPBodyParser.Framing(try head(headers)) }
        }
        // HTTP/1.0 has no other way to say where a body ends, and a body that isn't read would be lost.
        for headers in ["Transfer-Encoding: chunked\r\n", ""] {
            #expect(throws: TransportError.self, "\(headers)") {
                try HTTPBodyParser.Framing(try head(headers, version: "1.0"))
            }
        }
        #expect(try HTTPBodyParser.Framing(try head("Content-Length: 0\r\n", version: "1.0")) == .length(0))
    }

    @Test("comes with headers that are written as they should be")
    func names() throws {
        #expect(try head("X-A_b: c\td\r\n").isWellFormed)
        for headers in ["Content-Length : 5\r\n", "X Y: 1\r\n", "X: a\u{1}b\r\n"] {
            #expect((try? head(headers))?.isWellFormed != true, "\(headers)")
        }
    }
}
