import Testing

@testable import Transport

private let request =
    "GET /chat?room=1 HTTP/1.1\r\nHost: server.example\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

/// Parses `text` in pieces; the head, how many bytes it took, or the error's code.
private func parse(
    _ text: String, _ kind: HTTPHeadParser.Kind = .request, limit: Int = 16 << 10, step: Int = .max
) -> (head: HTTPHead?, consumed: Int, error: String?) {
    let parser = HTTPHeadParser(kind, limit: limit)
    let bytes = Array(text.utf8)
    var start = 0
    while start < bytes.count {
        let piece = Array(bytes[start..<min(bytes.count, start + min(step, bytes.count))])
        switch piece.withUnsafeBytes({ parser.take($0) }) {
        case .needsMore: start += piece.count
        case .head(let head, let consumed): return (head, start + consumed, nil)
        case .failed(let error): return (nil, start, error.code.name)
        }
    }
    return (nil, start, nil)
}

@Suite("HTTP heads and the upgrade")
struct HTTPHeadParserTests {
    @Test("A request split at each byte is the same, and what follows is left alone")
    func split() throws {
        for step in 1...request.utf8.count {
            let result = parse(request + "\u{1}\u{2}", step: step)
            let head = try #require(result.head)
            #expect(result.consumed == request.utf8.count)
            #expect(head.method == "GET")
            #expect(head.target == "/chat?room=1")
            #expect(head["HOST"] == "server.example")
            #expect(WebSocketUpgrade.verdict(on: head) == .accepted(key: "dGhlIHNhbXBsZSBub25jZQ=="))
        }
    }

    @Test("Of a target in absolute form, the host counts and not that of the header")
    func absoluteForm() throws {
        for (target, host, rest) in [
            ("http://desk.example:80/t?a=http://b/c", "desk.example:80", "/t?a=http://b/c"),
            ("HTTPS://desk/", "desk", "/"),
            ("http://[::1]:8080?x", "[::1]:8080", "/?x"), ("http://desk", "desk", "/"),
        ] {
            for headers in ["Host: other.example\r\n", ""] {
                let head = try #require(parse("POST \(target) HTTP/1.1\r\n\(headers)X: y\r\n\r\n").head)
                #expect(head.target == rest && head["host"] == host && head.count(of: "Host") == 1, "\(target)")
                #expect(head["X"] == "y")
            }
        }
        // Two headers are wrong whatever the target is.
        let doubled = try #require(parse("POST http://a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").head)
        #expect(doubled.count(of: "Host") == 2)
        #expect(try #require(parse("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").head).target == "*")
    }

    @Test("A header's value is UTF-8, or else ISO-8859-1")
    func values() throws {
        let parser = HTTPHeadParser(.request, limit: 1_000)
        let bytes = Array("GET / HTTP/1.1\r\nA: caf\u{e9}\r\nB: caf".utf8) + [0xe9] + Array("\r\n\r\n".utf8)
        guard case .head(let head, _) = bytes.withUnsafeBytes({ parser.take($0) }) else {
            Issue.record("no head")
            return
        }
        #expect(head["A"] == "caf\u{e9}" && head["B"] == "caf\u{e9}")
    }

    @Test(
        "A header's value that was cut inside a character of UTF-8 is still UTF-8",
        arguments: [
            (Array("Größe Ma".utf8) + [0xc3], "Größe Ma\u{FFFD}"), (Array("ä €".utf8.dropLast()), "ä \u{FFFD}"),
            (Array("done 😀".utf8.dropLast()), "done \u{FFFD}"), (Array("done 😀".utf8.dropLast(2)), "done \u{FFFD}"),
            (Array("caf".utf8) + [0xe9], "café"), ([0x47, 0xf6, 0xdf, 0xc3], "GößÃ"), ([0xe4, 0xc3], "äÃ"),
            ([0xe9, 0xbb], "é»"),
        ] as [([UInt8], String)])
    func cutValues(_ value: [UInt8], _ text: String) throws {
        let bytes = Array("GET / HTTP/1.1\r\nA: ".utf8) + value + Array("\r\n\r\n".utf8)
        let parser = HTTPHeadParser(.request, limit: 1_000)
        guard case .head(let head, _) = bytes.withUnsafeBytes({ parser.take($0) }) else {
            Issue.record("no head")
            return
        }
        #expect(head["A"] == text)
    }

    @Test("User and password of a target in absolute form are no part of the host")
    func userInfo() throws {
        for (target, host) in [
            ("http://u:p@localhost/t", "localhost"), ("http://u@localhost:80?a@b", "localhost:80"),
            ("http://localhost/u@evil", "localhost"),
        ] {
            let head = try #require(parse("POST \(target) HTTP/1.1\r\nHost: evil\r\n\r\n").head)
            #expect(head["Host"] == host, "\(target)")
        }
    }

    @Test("A head over the limit fails by name, whole or in pieces")
    func tooLarge() {
        let large = "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 17_000))\r\n\r\n"
        #expect(parse(large).error == "head_too_large")
        #expect(parse(large, step: 100).error == "head_too_large")
        #expect(parse(request, limit: request.utf8.count).head != nil)
        #expect(parse(request, limit: request.utf8.count - 1).error == "head_too_large")
    }

    @Test(
        "What is no HTTP fails by name",
        arguments: [
            "hello\r\n\r\n", "\u{16}\u{3}\u{1}", "GET / HTTP/9x\r\n\r\n", "GET\r\n\r\n",
            "GET / HTTP/1.1\r\nNo Colon\r\n\r\n",
        ])
    func noHTTP(text: String) {
        #expect(parse(text).error == "bad_http")
        #expect(parse(text, step: 1).error == "bad_http")
    }

    @Test("A plain request is told from an upgrade, with its body and keep-alive")
    func plain() throws {
        let get = try #require(parse("GET /health HTTP/1.1\r\nHost: a\r\n\r\n").head)
        #expect(WebSocketUpgrade.verdict(on: get) == .plain)
        #expect(get.keepsAlive && !get.hasBody)
        let post = try #require(parse("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc").head)
        #expect(post.hasBody)
        let old = try #require(parse("GET / HTTP/1.0\r\n\r\n").head)
        #expect(!old.keepsAlive)
    }

    @Test("The accept value is the RFC's")
    func accept() {
        #expect(WebSocketUpgrade.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test(
        "An upgrade that breaks the RFC is refused with its status",
        arguments: [
            ("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8", 426),
            ("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", 400),
            ("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j!!==", 400),
            ("Host: server.example\r\n", "", 400),
            ("GET", "PUT", 400),
            ("HTTP/1.1", "HTTP/1.0", 400),
        ])
    func refused(part: String, replacement: String, status: Int) throws {
        let changed = request.split(separator: part, omittingEmptySubsequences: false).joined(separator: replacement)
        let head = try #require(parse(changed).head)
        guard case .refused(let given, _) = WebSocketUpgrade.verdict(on: head) else {
            Issue.record("accepted")
            return
        }
        #expect(given == status)
    }

    @Test(
        "A client takes the right answer only",
        arguments: [
            ("", "", true),
            ("101 Switching", "200 Fine", false),
            ("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "AAAALMBiTxaQ9kYGzzhZRbK+xOo=", false),
            ("Upgrade: websocket\r\n", "", false),
            ("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", false),
            ("\r\n\r\n", "\r\nSec-WebSocket-Protocol: chat\r\n\r\n", false),
        ])
    func answer(part: String, replacement: String, isFine: Bool) throws {
        var text = String(decoding: WebSocketUpgrade.agreement(key: "dGhlIHNhbXBsZSBub25jZQ=="), as: UTF8.self)
        if !part.isEmpty {
            text = text.split(separator: part, omittingEmptySubsequences: false).joined(separator: replacement)
        }
        for step in [Int.max, 1] {
            let result = parse(text + "\u{1}", .response, step: step)
            let head = try #require(result.head)
            #expect((WebSocketUpgrade.refusal(of: head, key: "dGhlIHNhbXBsZSBub25jZQ==") == nil) == isFine)
            if isFine { #expect(result.consumed == text.utf8.count) }
        }
    }

    @Test("Extra headers that would begin another header are left out")
    func extraHeaders() throws {
        let url = try WebSocketURL("ws://host/")
        let bytes = WebSocketUpgrade.request(
            to: url, key: "k", headers: [("X-Fine", "1"), ("X-Bad", "1\r\nX-Evil: 1"), ("Bad Name", "1"), ("", "1")])
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("X-Fine: 1\r\n"))
        #expect(!text.contains("Evil") && !text.contains("Bad"))
    }

    @Test(
        "Origin: programs and the own host pass, pages of others do not",
        arguments: [
            (nil, "127.0.0.1:9001", true),
            ("http://127.0.0.1:9001", "127.0.0.1:9001", true),
            ("ws://relay.local:9001", "relay.local:9001", true),
            ("https://page.example", "127.0.0.1:9001", true),
            ("HTTPS://PAGE.example", "127.0.0.1:9001", true),
            ("http://relay.local", "relay.local:80", true),
            ("http://[::1]:9001", "[::1]:9001", true),
            ("http://evil.example", "127.0.0.1:9001", false),
            ("http://127.0.0.1:3000", "127.0.0.1:9001", false),
            ("null", "127.0.0.1:9001", false),
            ("", "127.0.0.1:9001", false),
            ("http://127.0.0.1:9001", nil, false),
            ("http://127.0.0.1:99999", "127.0.0.1:99999", false),
        ] as [(String?, String?, Bool)])
    func origin(origin: String?, host: String?, isPermitted: Bool) {
        let rule = OriginRule(allowed: ["https://page.example"], isSecure: false)
        #expect(rule.permits(origin: origin, host: host, isLoopback: false) == isPermitted)
    }

    @Test("Origin: a name that was pointed at this machine is not the own host")
    func rebinding() {
        let rule = OriginRule(allowed: [], isSecure: false)
        #expect(!rule.permits(origin: "http://evil.example:9001", host: "evil.example:9001", isLoopback: true))
        #expect(rule.permits(origin: "http://localhost:9001", host: "localhost:9001", isLoopback: true))
    }
}
