import Foundation
import Glibc
import Identity
import JSON
import Testing

@testable import Door
@testable import Transport

@Suite("Who may publish")
final class TokenTests {
    private let directory: String
    private var file: TokenFile { TokenFile(directory: directory) }

    init() throws {
        var name = Array("/tmp/bellwire-door-XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&name))
        directory = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["tokens.json", "tokens.json.lock", "tokens.json.new"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    private func add(_ name: String, perMinute: Int64 = 0) throws -> String {
        let secret = DoorToken.fresh()
        try file.change { (tokens) throws(TokenFile.Failure) in
            tokens.append(DoorToken(name: name, token: secret, group: "g", createdAt: 7, perMinute: perMinute))
        }
        return secret
    }

    private func head(_ authorizations: String...) -> HTTPRequestHead {
        HTTPRequestHead(
            method: "POST", target: "/t", headers: authorizations.map { .init(name: "authorization", value: $0) },
            asksForWebSocket: false)
    }

    private func basic(_ text: String) -> String { "Basic " + TextEncoding.base64.encode(Array(text.utf8)) }

    @Test("a token is a bearer's, a password, or a user without one; only its hash is stored")
    func spellings() throws {
        let secret = try add("ci")
        var gate = TokenGate(file, opensToLoopback: false)
        for header in [
            "Bearer \(secret)", "bearer  \(secret)", basic(":\(secret)"), basic("me:\(secret)"), basic("\(secret):"),
        ] {
            #expect(try gate.admit(head(header), isLoopback: false, now: 0).token?.name == "ci", "\(header)")
        }
        #expect(secret.hasPrefix("tk_") && secret.utf8.count == 32 && DoorToken.fresh() != secret)
        let stored = try String(contentsOfFile: "\(directory)/tokens.json", encoding: .utf8)
        #expect(!stored.contains(secret.dropFirst(3)))
        #expect(try file.tokens().map(\.group) == ["g"])
    }

    @Test("wrong, missing and doubled tokens are refused, on this machine as well")
    func wrong() throws {
        let secret = try add("ci")
        var gate = TokenGate(file, opensToLoopback: true)
        for header in [
            "Bearer \(secret)x", "Bearer", "Bearer ", "Basic \(secret)", basic(secret), basic("a:b"),
            "Digest \(secret)",
            "", "Bearer " + String(repeating: "x", count: 8_000),
        ] {
            #expect(throws: DoorError.unauthorized) { try gate.admit(head(header), isLoopback: true, now: 0) }
        }
        #expect(throws: DoorError.unauthorized) {
            try gate.admit(head("Bearer \(secret)", "Bearer \(secret)"), isLoopback: true, now: 0)
        }
        #expect(try gate.admit(head(), isLoopback: true, now: 0).token == nil)
        #expect(throws: DoorError.unauthorized) { try gate.admit(head(), isLoopback: false, now: 0) }
        var closed = TokenGate(file, opensToLoopback: false)
        #expect(throws: DoorError.unauthorized) { try closed.admit(head(), isLoopback: true, now: 0) }
    }

    @Test("a revoked token is refused at the next request, and a new one taken")
    func revoked() throws {
        let secret = try add("old")
        var gate = TokenGate(file, opensToLoopback: false)
        _ = try gate.admit(head("Bearer \(secret)"), isLoopback: true, now: 0)
        try file.change { (tokens) throws(TokenFile.Failure) in tokens.removeAll() }
        #expect(throws: DoorError.unauthorized) { try gate.admit(head("Bearer \(secret)"), isLoopback: true, now: 0) }
        let new = try add("new")
        _ = try gate.admit(head("Bearer \(new)"), isLoopback: true, now: 0)
        unlink("\(directory)/tokens.json")
        #expect(throws: DoorError.unauthorized) { try gate.admit(head("Bearer \(new)"), isLoopback: true, now: 0) }
    }

    @Test("each token has a limit of its own, which refills; a clock that goes back adds nothing")
    func rates() throws {
        let (slow, other) = (try add("slow", perMinute: 2), try add("other", perMinute: 2))
        var gate = TokenGate(file, opensToLoopback: false)
        for _ in 0..<2 { _ = try gate.admit(head("Bearer \(slow)"), isLoopback: true, now: 1_000) }
        #expect(throws: DoorError.tooMany) { try gate.admit(head("Bearer \(slow)"), isLoopback: true, now: 1_000) }
        _ = try gate.admit(head("Bearer \(other)"), isLoopback: true, now: 1_000)
        #expect(throws: DoorError.tooMany) { try gate.admit(head("Bearer \(slow)"), isLoopback: true, now: 0) }
        #expect(throws: DoorError.tooMany) { try gate.admit(head("Bearer \(slow)"), isLoopback: true, now: 30_000) }
        _ = try gate.admit(head("Bearer \(slow)"), isLoopback: true, now: 31_001)
    }

    @Test("a file that others can read, or that is damaged, lets nobody in")
    func files() throws {
        let secret = try add("ci")
        chmod("\(directory)/tokens.json", 0o644)
        var gate = TokenGate(file, opensToLoopback: false)
        #expect(throws: DoorError.unauthorized) { try gate.admit(head("Bearer \(secret)"), isLoopback: true, now: 0) }
        #expect(throws: TokenFile.Failure.self) { try file.tokens() }
        for text in ["", "{}", "\u{0}", #"{"tokens":[{}]}"#, #"{"tokens":[{"name":"a","sha256":"b"}]}"#] {
            try write(text)
            #expect(throws: TokenFile.Failure.self, "\(text)") { try file.tokens() }
            // What is there is not overwritten.
            #expect(throws: TokenFile.Failure.self) { try add("more") }
        }
    }

    @Test("there are at most 256 tokens")
    func limit() throws {
        try file.change { (tokens) throws(TokenFile.Failure) in
            for number in 0..<TokenFile.limit {
                tokens.append(DoorToken(name: "\(number)", token: "\(number)", group: nil, createdAt: 0))
            }
        }
        #expect(throws: TokenFile.Failure.self) { try add("one more") }
        #expect(try file.tokens().count == TokenFile.limit)
    }

    private func write(_ text: String) throws {
        let path = "\(directory)/tokens.json"
        unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(descriptor >= 0)
        let bytes = Array(text.utf8)
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
    }
}

@Suite("Web pages may not publish")
struct PageRuleTests {
    private let rule = PageRule(names: ["Bells.example"])

    private func error(_ headers: [(String, String)]) -> DoorError? {
        let head = HTTPRequestHead(
            method: "POST", target: "/t", headers: headers.map { .init(name: $0.0, value: $0.1) },
            asksForWebSocket: false)
        do throws(DoorError) { try rule.check(head) } catch { return error }
        return nil
    }

    @Test("programs give a host of ours and no origin")
    func programs() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:80", "192.168.1.7", "bells.EXAMPLE:1"] {
            #expect(error([("host", host)]) == nil, "\(host)")
        }
        #expect(error([("Host", "localhost"), ("Sec-Fetch-Site", "none")]) == nil)
    }

    @Test("browsers say where a page comes from, and a name that points here is not ours")
    func pages() {
        for origin in ["https://evil.example", "null", "http://localhost:8080", ""] {
            #expect(error([("Host", "localhost"), ("Origin", origin)]) == .foreignPage)
        }
        for site in ["cross-site", "same-origin", "same-site", ""] {
            #expect(error([("Host", "localhost"), ("Sec-Fetch-Site", site)]) == .foreignPage)
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3", "127.1"] {
            #expect(error([("Host", host)]) == .foreignHost, "\(host)")
        }
        #expect(error([]) == .notHTTP)
        #expect(error([("Host", "localhost"), ("Host", "evil.example")]) == .notHTTP)
        #expect(error([("Host", "")]) == .notHTTP)
    }
}
