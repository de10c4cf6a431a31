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

    private func anonymous(_ headers: [(String, String)], target: String = "/t", method: String = "POST")
        -> HTTPRequestHead
    {
        HTTPRequestHead(
            method: method, target: target, headers: headers.map { .init(name: $0.0, value: $0.1) },
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
        #expect(throws: DoorError.noTokens) { try gate.admit(head("Bearer \(secret)"), isLoopback: true, now: 0) }
        #expect(throws: TokenFile.Failure.self) { try file.tokens() }
        for text in ["", "{}", "\u{0}", #"{"tokens":[{}]}"#, #"{"tokens":[{"name":"a","sha256":"b"}]}"#] {
            try write(text)
            #expect(throws: TokenFile.Failure.self, "\(text)") { try file.tokens() }
            // What is there is not overwritten.
            #expect(throws: TokenFile.Failure.self) { try add("more") }
        }
    }

    @Test("a moment in which the file can't be read passes")
    func unreadable() throws {
        let secret = try add("ci")
        let path = "\(directory)/tokens.json"
        var gate = TokenGate(file, opensToLoopback: false)
        // A link is not opened: like a lack of descriptors, that is an error of a system call.
        try #require(rename(path, path + ".away") == 0 && symlink(path + ".away", path) == 0)
        for _ in 0..<2 {
            #expect(throws: DoorError.noTokens) { try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0) }
        }
        #expect(gate.takeNotices().count == 1 && gate.takeNotices().isEmpty)
        try #require(rename(path + ".away", path) == 0)
        #expect(try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0).token?.name == "ci")
    }

    @Test("a file that can't be used doesn't make a token wrong; without a token nothing changes")
    func unusable() throws {
        let secret = try add("ci")
        let path = "\(directory)/tokens.json"
        var gate = TokenGate(file, opensToLoopback: true)
        func check(_ what: String) {
            for _ in 0..<2 {
                #expect(throws: DoorError.noTokens, "\(what)") {
                    try gate.admit(head("Bearer \(secret)"), isLoopback: true, now: 0)
                }
            }
            #expect(throws: DoorError.unauthorized) { try gate.admit(head(), isLoopback: false, now: 0) }
            #expect((try? gate.admit(head(), isLoopback: true, now: 0)) != nil)
        }
        let whole = try String(contentsOfFile: path, encoding: .utf8)
        for text in ["", String(whole.prefix(50)), "\u{0}\u{0}"] {
            try write(text)
            check(text)
        }
        for isPipe in [true, false] {
            try #require(unlink(path) == 0 && (isPipe ? mkfifo(path, 0o600) : mkdir(path, 0o700)) == 0)
            check(isPipe ? "a pipe" : "a directory")
            #expect(throws: TokenFile.Failure.self) { try add("more") }
            if !isPipe { rmdir(path) }
        }
        try write(whole)
        #expect(try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0).token?.name == "ci")
    }

    @Test("a directory that can't be searched is not one without tokens")
    func unsearchable() throws {
        let secret = try add("ci")
        var gate = TokenGate(TokenFile(directory: "\(directory)/tokens.json/x"), opensToLoopback: false)
        #expect(throws: DoorError.noTokens) { try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0) }
    }

    @Test("a change of the file's mode counts, although its content and its time are the same")
    func modes() throws {
        let secret = try add("ci")
        let path = "\(directory)/tokens.json"
        var gate = TokenGate(file, opensToLoopback: false)
        for _ in 0..<2 {
            chmod(path, 0o640)
            #expect(throws: DoorError.noTokens) {
                try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0)
            }
            chmod(path, 0o600)
            #expect(try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0).token?.name == "ci")
        }
        #expect(gate.takeNotices().count == 1)
    }

    @Test("what is left of a limit stays while the file can't be used")
    func limitsStay() throws {
        let secret = try add("ci", perMinute: 1)
        var gate = TokenGate(file, opensToLoopback: false)
        _ = try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0)
        chmod("\(directory)/tokens.json", 0o644)
        #expect(throws: DoorError.noTokens) { try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0) }
        chmod("\(directory)/tokens.json", 0o600)
        #expect(throws: DoorError.tooMany) { try gate.admit(head("Bearer \(secret)"), isLoopback: false, now: 0) }
    }

    @Test("few lines say that tokens are at their limits, whatever the number of requests and tokens")
    func notices() throws {
        let secrets = try (0..<20).map { try add("token \($0)", perMinute: 1) }
        var gate = TokenGate(file, opensToLoopback: false)
        for now in [UInt64(0), 1, 2, 599_999] {
            for secret in secrets { _ = try? gate.admit(head("Bearer \(secret)"), isLoopback: false, now: now) }
        }
        let texts = gate.takeNotices()
        #expect(texts.count == 11 && texts[0].contains("token 0") && !texts.contains { $0.contains(secrets[0]) })
        for _ in 0..<2 { _ = try? gate.admit(head("Bearer \(secrets[3])"), isLoopback: false, now: 600_000) }
        #expect(gate.takeNotices().count == 1)
    }

    @Test("without a trusted proxy, a request that a proxy passed on is not from this machine")
    func forwarded() throws {
        let secret = try add("ci")
        var gate = TokenGate(file, opensToLoopback: true)
        for name in [
            "X-Forwarded-For", "Forwarded", "x-real-ip", "X-Forwarded-Host", "X-Forwarded-Proto", "Via",
            "CF-Connecting-IP",
            "CF-Ray", "True-Client-IP", "X-Client-IP", "X-Cluster-Client-IP", "Fastly-Client-IP", "Fly-Client-IP",
            "X-Original-Forwarded-For", "X-Envoy-External-Address", "CDN-Loop", "X-Azure-ClientIP", "X-Forwarded",
            "Tailscale-User-Login", "X-Nginx-Proxy", "Fly-Forwarded-Proto", "X-ARR-LOG-ID", "Remote-User",
            "X-Remote-Addr", "Ngrok-Trace-Id", "CloudFront-Viewer-Address", "X-Appengine-User-IP", "X-Amzn-Trace-Id",
            "DO-Connecting-IP", "X-NF-Client-Connection-IP", "X-Originating-IP", "X-Amz-Cf-Id", "Forwarded-For",
            "Forwarded-Proto", "X-Forward-For", "Z-Forwarded-For", "X_Forwarded_For", "HTTP_X_FORWARDED_FOR",
            "REMOTE_ADDR",
            "Client_IP", "X-RealIP", "X-Source-IP", "X-Peer-IP", "X-Client-Address", "X-Connecting-IP", "X-Url-Scheme",
            "HTTP_VIA", "X-Via", "Client-Cert",
        ] {
            for value in ["203.0.113.9", "127.0.0.1", ""] {
                let error = #expect(throws: DoorError.self) {
                    try gate.admit(anonymous([(name, value)]), isLoopback: true, now: 0)
                }
                #expect(error?.status == 401 && error?.message.contains(name) == true, "\(name)")
            }
            let both = anonymous([(name, "203.0.113.9"), ("Authorization", "Bearer \(secret)")])
            #expect(try gate.admit(both, isLoopback: true, now: 0).token?.name == "ci")
        }
        for name in [
            "X-Request-Id", "Proxy-Connection", "User-Agent", "X-Title", "Client", "X-Priority", "X-Client-Version",
            "Accept",
            "Content_Type", "traceparent", "X-GitHub-Event", "X-Gitlab-Event", "X-Ip-Count",
        ] {
            #expect(try gate.admit(anonymous([(name, "x")]), isLoopback: true, now: 0).token == nil)
        }
    }

    @Test("a URL may have the header in its query, and GET needs a token even on this machine")
    func queries() throws {
        let secret = try add("ci")
        var gate = TokenGate(file, opensToLoopback: true)
        for value in ["Bearer \(secret)", basic(":\(secret)"), basic("\(secret):")] {
            let url = TextEncoding.base64url.encode(Array(value.utf8))
            let plain = TextEncoding.base64.encode(Array(value.utf8))
            for text in [url, plain, url + "%3D%3D"] {
                for name in ["auth", "authorization", "AUTH"] {
                    let head = anonymous(
                        [("Authorization", "Basic eDp5")], target: "/t/send?\(name)=\(text)", method: "GET")
                    #expect(try gate.admit(head, isLoopback: false, now: 0).token?.name == "ci", "\(name)=\(text)")
                }
            }
        }
        for target in ["/t?auth=!!", "/t?auth=\(secret)", "/t?auth=QmVhcmVyIHg"] {
            #expect(throws: DoorError.unauthorized) {
                try gate.admit(anonymous([], target: target), isLoopback: true, now: 0)
            }
        }
        #expect(throws: DoorError.getNeedsToken) {
            try gate.admit(anonymous([], target: "/t/publish", method: "GET"), isLoopback: true, now: 0)
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

    private func error(_ headers: [(String, String)], isHTTP11: Bool = true) -> DoorError? {
        let head = HTTPRequestHead(
            method: "POST", target: "/t", headers: headers.map { .init(name: $0.0, value: $0.1) },
            asksForWebSocket: false, isHTTP11: isHTTP11)
        do throws(DoorError) { try rule.check(head) } catch { return error }
        return nil
    }

    @Test("programs give a host of ours and no origin")
    func programs() {
        for host in [
            "localhost", "LOCALHOST:80", "ip6-localhost", "localhost.localdomain", "127.0.0.1:8080", "[::1]:80",
            "192.168.1.7", "bells.EXAMPLE:1", "[fe80::1%eth0]:80", "[fe80::1%25eth0]",
        ] {
            #expect(error([("host", host)]) == nil, "\(host)")
        }
        #expect(error([("Host", "localhost"), ("Sec-Fetch-Site", "none")]) == nil)
        // As old clients do.
        #expect(error([], isHTTP11: false) == nil)
        #expect(error([("Origin", "null")], isHTTP11: false) == .foreignPage)
        #expect(error([("Host", "evil.example")], isHTTP11: false) == .foreignHost)
    }

    @Test("names in full, and this machine's own")
    func ownNames() {
        var bytes = [CChar](repeating: 0, count: 256)
        #expect(gethostname(&bytes, 255) == 0)
        let own = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let first = String(own.prefix { $0 != "." })
        for host in [
            "localhost.", "localhost.:80", "bells.example.:1", "desk.localhost", own, own.uppercased() + ":80", first,
            "\(first).local", "\(own).",
        ] {
            #expect(error([("Host", host)]) == nil, "\(host)")
        }
        for host in ["\(first).evil.example", "x\(first)", "localhost..", "evillocalhost"] {
            #expect(error([("Host", host)]) == .foreignHost, "\(host)")
        }
    }

    @Test("browsers say where a page comes from, and a name that points here is not ours")
    func pages() {
        for origin in ["https://evil.example", "null", "http://localhost:8080", ""] {
            #expect(error([("Host", "localhost"), ("Origin", origin)]) == .foreignPage)
        }
        for site in ["cross-site", "same-origin", "same-site", ""] {
            #expect(error([("Host", "localhost"), ("Sec-Fetch-Site", site)]) == .foreignPage)
        }
        for host in [
            "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "1.2.3", "127.1", "[evil.example%eth0]",
            "127.0.0.1%x",
        ] {
            #expect(error([("Host", host)]) == .foreignHost, "\(host)")
        }
        #expect(error([]) == .notHTTP)
        #expect(error([("Host", "localhost"), ("Host", "evil.example")]) == .notHTTP)
        #expect(error([("Host", "")]) == .notHTTP)
    }
}
