import Foundation
import TestSupport
import Testing
import Transport

@testable import HTTPClient

@Suite("Fetching from a server", .serialized)
@EventLoop
struct FetcherTests {
    private func code(_ result: Result<Fetched, FetchError>) -> String {
        switch result {
        case .success: "ok"
        case .failure(let error): error.code.name
        }
    }

    private func fetch(_ path: String, _ change: (inout FetchOptions) -> Void = { _ in }) async throws -> String {
        let server = try await WebServer.get()
        var options = server.options
        change(&options)
        return code(try await fetched(server.url(path), by: Fetcher(options)))
    }

    @Test("An image comes whole, with its type and its place; the request says nothing of its sender")
    func whole() async throws {
        let server = try await WebServer.get()
        let fetcher = Fetcher(server.options)
        let result = try await fetched(server.url("png"), by: fetcher).get()
        #expect(result.bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        #expect(result.contentType == "image/png")
        #expect(result.url == server.url("png"))
        let request = try await server.line(containing: "request")
        #expect(request.contains("\"Accept\": \"image/webp, image/png, image/jpeg, image/gif\""))
        #expect(request.contains("\"User-Agent\": \"bellwire\""))
        for word in ["Cookie", "Authorization", "Referer", "Encoding"] { #expect(!request.contains(word)) }
        #expect(fetcher.count == 0)
    }

    @Test("Without a Content-Type there is none")
    func untyped() async throws {
        let server = try await WebServer.get()
        let result = try await fetched(server.url("untyped"), by: Fetcher(server.options)).get()
        #expect(result.contentType == nil)
        #expect(result.bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }

    // MARK: Where to

    @Test("Plain http is refused before anything is connected to")
    func plain() async throws {
        let server = try await WebServer.get()
        let url = "http://127.0.0.2:\(server.port("plain"))/png"
        #expect(code(try await fetched(url, by: Fetcher(server.options))) == "not_https")
        #expect(try await server.lines().isEmpty)
    }

    @Test(
        "What leads to a private address is refused before anything is connected to",
        arguments: [
            "127.0.0.1", "localhost", "LOCALHOST.", "sub.localhost", "[::1]", "[::ffff:127.0.0.2]", "[64:ff9b::7f00:2]",
            "[2002:7f00:2::]", "[::127.0.0.2]", "0.0.0.0", "[::]", "169.254.169.254",
        ])
    func privateAddresses(host: String) async throws {
        let server = try await WebServer.get()
        #expect(
            code(try await fetched(server.url("png", host: host), by: Fetcher(server.options))) == "refused_address")
        #expect(try await server.lines().isEmpty)
    }

    @Test(
        "Addresses that can be read in more than one way are none",
        arguments: [
            "127.1", "2130706434", "0x7f000002", "0177.0.0.2", "user@127.0.0.2", "127.0.0.2\\@x", "127.0.0.2%2f",
        ])
    func ambiguous(host: String) async throws {
        let server = try await WebServer.get()
        #expect(code(try await fetched(server.url("png", host: host), by: Fetcher(server.options))) == "bad_url")
        #expect(try await server.lines().isEmpty)
    }

    @Test("A redirect is followed, whichever way it is written", arguments: ["moved/301", "moved/308", "relative/x"])
    func redirects(path: String) async throws {
        let server = try await WebServer.get()
        let result = try await fetched(server.url(path), by: Fetcher(server.options)).get()
        #expect(result.url == server.url("png"))
    }

    @Test("Five redirects are followed, and not six, nor a loop, nor one to nowhere")
    func manyRedirects() async throws {
        #expect(try await fetch("hops/5") == "ok")
        #expect(try await fetch("hops/6") == "redirect_refused")
        #expect(try await fetch("loop") == "redirect_refused")
        #expect(try await fetch("nowhere") == "redirect_refused")
    }

    @Test(
        "A redirect to what is no https address is refused, and nothing is connected to",
        arguments: [
            "http://127.0.0.2:PLAIN/png", "http://example.com/", "file:///etc/passwd", "ftp://127.0.0.2/", "//a@b/",
        ])
    func redirectsElsewhere(place: String) async throws {
        let server = try await WebServer.get()
        let place = place.replacingOccurrences(of: "PLAIN", with: "\(server.port("plain"))")
        let result = try await fetched(server.url("to/=\(place)"), by: Fetcher(server.options))
        #expect(code(result) == "redirect_refused")
        #expect(try await server.lines().filter { $0.contains("connected") }.count == 1)
    }

    @Test(
        "A redirect to a private address, or to a name that leads to one, is refused",
        arguments: ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.2]"])
    func redirectsInside(host: String) async throws {
        let server = try await WebServer.get()
        let place = server.url("png", host: host)
        let result = try await fetched(server.url("to/=\(place)"), by: Fetcher(server.options))
        #expect(code(result) == "refused_address")
        #expect(try await server.lines().filter { $0.contains("connected") && !$0.contains("127.0.0.2") }.isEmpty)
    }

    // MARK: Names

    private func fetcher(_ server: WebServer, _ answers: [[String]], _ asked: Mailbox<String> = Mailbox()) -> Fetcher {
        let turn = Turn(answers.map { $0.compactMap(bytes) })
        return Fetcher(server.options) { host, then in
            asked.put(host)
            let answer = turn.next()
            EventLoop.post { then(.success(answer)) }
        }
    }

    @Test("A name is looked up once, and the address that was checked is the one that is used")
    func pinned() async throws {
        let server = try await WebServer.get()
        let asked = Mailbox<String>()
        // A name service that changes its mind between the check and the use.
        let fetcher = fetcher(server, [["127.0.0.2"], ["127.0.0.1"]], asked)
        let result = try await fetched(server.url("png", host: "image.test"), by: fetcher).get()
        #expect(result.url == server.url("png", host: "image.test"))
        #expect(asked.drain() == ["image.test"])
        #expect(try await server.line(containing: "request").contains("\"Host\": \"image.test:\(server.port())\""))
        // The next fetch asks anew.
        #expect(code(try await fetched(server.url("png", host: "image.test"), by: fetcher)) == "refused_address")
        #expect(try await server.lines().allSatisfy { !$0.contains("127.0.0.1") })
    }

    @Test("Of several addresses only those that may be connected to are used")
    func several() async throws {
        let server = try await WebServer.get()
        let fetcher = fetcher(server, [["127.0.0.1", "::1", "127.0.0.2", "::ffff:127.0.0.1"]])
        #expect(code(try await fetched(server.url("png", host: "image.test"), by: fetcher)) == "ok")
        #expect(try await server.lines().filter { $0.contains("connected") } == [#"{"connected": "127.0.0.2"}"#])
    }

    @Test("IPv6 is pinned as well, and a numeric host is used as it stands", .enabled(if: hasIPv6))
    func pinnedIPv6() async throws {
        let server = try await WebServer.get()
        var options = server.options
        options.allowed = ["::1"]
        let fetcher = Fetcher(options) { _, then in
            EventLoop.post { then(.success([[UInt8](repeating: 0, count: 15) + [1], [127, 0, 0, 2]])) }
        }
        #expect(code(try await fetched(server.url("png", host: "image.test"), by: fetcher)) == "ok")
        #expect(code(try await fetched(server.url("png", host: "[0::1]"), by: fetcher)) == "ok")
        #expect(
            try await server.lines().filter { $0.contains("connected") }.allSatisfy { $0 == #"{"connected": "::1"}"# })
    }

    private nonisolated static var hasIPv6: Bool {
        ((try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8)) ?? "").contains(" lo")
    }

    @Test("A name after a redirect is looked up and judged like the first")
    func nameAfterRedirect() async throws {
        let server = try await WebServer.get()
        let fetcher = fetcher(server, [["10.0.0.1"]])
        let place = server.url("png", host: "image.test")
        #expect(code(try await fetched(server.url("to/=\(place)"), by: fetcher)) == "refused_address")
    }

    @Test("A name without an address is told as that")
    func noAddress() async throws {
        let server = try await WebServer.get()
        #expect(code(try await fetched("https://image.test/", by: fetcher(server, [[]]))) == "resolve_failed")
    }

    @Test("A socket is checked once more before it connects")
    func sockets() async throws {
        let server = try await WebServer.get()
        let results = Mailbox<FetchStateMachine.Outcome>()
        let url = try HTTPSURLFixture.url(server.url("png", host: "image.test"))
        // As if the check before had been wrong.
        let transfer = Transfer(
            url, pins: [try HTTPSURLFixture.address("127.0.0.1")], options: server.options, rule: server.rule,
            functions: try CurlLibrary.shared.functions().get()
        ) { results.put($0) }
        guard case .failed(let error) = try await results.next() else { throw Unexpected() }
        #expect(error.code == .refusedAddress)
        #expect(try await server.lines().isEmpty)
        transfer.end()
    }

    // MARK: Who answers

    @Test("A certificate of somebody else, of nobody known, or of yesterday is refused, and so is old TLS")
    func certificates() async throws {
        let server = try await WebServer.get()
        for name in ["elsewhere", "unknown", "expired", "old"] {
            let result = try await fetched(server.url("png", at: name), by: Fetcher(server.options))
            #expect(code(result) == "tls_failed", "\(name)")
        }
        #expect(try await server.lines().filter { $0.contains("request") }.isEmpty)
        // A server without TLS.
        let result = try await fetched("https://127.0.0.2:\(server.port("plain"))/png", by: Fetcher(server.options))
        #expect(code(result) == "tls_failed")
        // With the system's authorities ours is unknown.
        var options = server.options
        options.caFile = nil
        #expect(code(try await fetched(server.url("png"), by: Fetcher(options))) == "tls_failed")
        options.caFile = "/nonexistent.pem"
        #expect(code(try await fetched(server.url("png"), by: Fetcher(options))) == "tls_failed")
    }

    @Test("Nobody there is told as that")
    func nobody() async throws {
        let server = try await WebServer.get()
        #expect(code(try await fetched("https://127.0.0.2:1/", by: Fetcher(server.options))) == "connect_failed")
    }

    // MARK: What comes

    @Test("A status other than 200 is an error, at once, however its page goes on")
    func statuses() async throws {
        #expect(try await fetch("status/404") == "status_404")
        #expect(try await fetch("status/204") == "status_204")
        #expect(try await fetch("status/304") == "status_304")
        #expect(try await fetch("demanding") == "status_401")
        // Whoever waited for their ends would wait past the deadline of this test's own wait.
        #expect(try await fetch("endless-error") { $0.timeout = 60_000 } == "status_500")
        #expect(try await fetch("stalled-error") { $0.timeout = 60_000 } == "status_404")
        #expect(try await fetch("endless-redirect") { $0.timeout = 60_000 } == "ok")
    }

    @Test("A body is taken up to the limit, and not a byte more")
    func limit() async throws {
        #expect(try await fetch("size/1000") { $0.maximumBytes = 1_000 } == "ok")
        #expect(try await fetch("size/1001") { $0.maximumBytes = 1_000 } == "too_large")
        #expect(try await fetch("size/\(10 << 20)") == "ok")
        #expect(try await fetch("size/\(10 << 20 + 1)") == "too_large")
    }

    @Test(
        "What does not end, or boasts, is too large",
        arguments: ["endless", "endless-chunks", "boasting", "endless-head", "endless-continue"])
    func endless(path: String) async throws {
        #expect(try await fetch(path) == "too_large")
    }

    @Test("A head of one endless line is refused")
    func endlessLine() async throws {
        #expect(["too_large", "system"].contains(try await fetch("endless-line")))
    }

    @Test("What stalls, or drips, has its time and no more", arguments: ["silent", "stalled", "dripping"])
    func stalling(path: String) async throws {
        let server = try await WebServer.get()
        var options = server.options
        options.timeout = 300
        // Timers of the same loop: however slow the machine is, they fire in their order.
        var isEarly = true
        var isLate = false
        let earliest = LoopTimer { isEarly = false }
        let latest = LoopTimer { isLate = true }
        earliest.start(after: 250)
        latest.start(after: 3_000)
        let ends = Mailbox<(code: String, isInTime: Bool)>()
        let fetcher = Fetcher(options)
        fetcher.fetch(server.url(path)) { result in ends.put((self.code(result), !isEarly && !isLate)) }
        let end = try await ends.next()
        #expect(end.code == "timeout")
        #expect(end.isInTime)
    }

    @Test("Redirects share one time")
    func sharedTime() async throws {
        let server = try await WebServer.get()
        var options = server.options
        options.timeout = 400
        let result = try await fetched(server.url("to/=\(server.url("dripping"))"), by: Fetcher(options))
        #expect(code(result) == "timeout")
    }

    @Test("What is compressed stays so: it does not grow here")
    func compressed() async throws {
        let server = try await WebServer.get()
        let result = try await fetched(server.url("zipped"), by: Fetcher(server.options)).get()
        #expect(result.bytes.starts(with: [0x1f, 0x8b]))
        #expect(result.bytes.count < 1 << 20)
    }

    @Test("An answer that is cut, empty or no HTTP is an error")
    func broken() async throws {
        #expect(try await fetch("cut") == "interrupted")
        #expect(try await fetch("nothing") == "interrupted")
        #expect(try await fetch("garbage") == "bad_http")
    }

    @Test("Whatever a server says, a fetch ends in its time, and nothing of it stays")
    func anything() async throws {
        let server = try await WebServer.get()
        var options = server.options
        options.timeout = 1_000
        let fetcher = Fetcher(options)
        let ended = Mailbox<String>()
        var codes: Set<String> = []
        for round in 0..<8 {
            for number in 0..<40 { fetcher.fetch(server.url("random/\(round * 40 + number)")) { ended.put(code($0)) } }
            for _ in 0..<40 { codes.insert(try await ended.next(within: 30_000)) }
        }
        #expect(codes.count > 2)
        #expect(fetcher.count == 0)
    }

    @Test("A place in a trailer redirects nobody")
    func trailer() async throws {
        let server = try await WebServer.get()
        let result = try await fetched(server.url("trailer"), by: Fetcher(server.options)).get()
        #expect(result.bytes == Array("abc".utf8))
    }

    @Test("A cookie is not kept, from a redirect to its end or from one fetch to the next")
    func cookies() async throws {
        let server = try await WebServer.get()
        let fetcher = Fetcher(server.options)
        for _ in 0..<2 { #expect(code(try await fetched(server.url("cookie"), by: fetcher)) == "ok") }
        #expect(try await server.lines().allSatisfy { !$0.contains("\"Cookie\"") })
    }

    @Test("A proxy of the environment is not used")
    func proxy() async throws {
        for name in ["https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] { setenv(name, "http://127.0.0.1:1", 1) }
        defer { for name in ["https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] { unsetenv(name) } }
        #expect(try await fetch("png") == "ok")
    }
}
