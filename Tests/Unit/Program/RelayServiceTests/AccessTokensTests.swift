import Testing

@testable import RelayService
@testable import Transport

@Suite("Who has a token may connect")
struct AccessTokensTests {
    private static let good = "abcdefghijklmnop-._~+/="

    private func tokens() throws -> AccessTokens {
        try AccessTokens(file: "# operators\n\n\(Self.good) of alice\n  another-token-of-bob\r\n", path: "tokens")
    }

    private func verdict(_ target: String, _ authorization: String? = nil) throws -> String {
        let headers = authorization.map { [HTTPRequestHead.Header(name: "authorization", value: $0)] } ?? []
        let head = HTTPRequestHead(method: "GET", target: target, headers: headers, asksForWebSocket: true)
        return switch try tokens().verdict(on: head) {
        case .permitted: "permitted"
        case .missing: "missing"
        case .wrong: "wrong"
        }
    }

    @Test("in the header or in the query; the header is what counts")
    func places() throws {
        #expect(try tokens().count == 2)
        #expect(try verdict("/", "Bearer \(Self.good)") == "permitted")
        #expect(try verdict("/", "bearer another-token-of-bob") == "permitted")
        #expect(try verdict("/?access_token=\(Self.good)") == "permitted")
        #expect(try verdict("/x?a=b&access_token=another-token-of-bob&c") == "permitted")
        #expect(try verdict("/") == "missing")
        #expect(try verdict("/?token=\(Self.good)") == "missing")
        #expect(try verdict("/", "Basic \(Self.good)") == "missing")
        #expect(try verdict("/", "Bearer") == "missing")
        #expect(try verdict("/", "Bearer \(Self.good)x") == "wrong")
        #expect(try verdict("/?access_token=\(Self.good)", "Bearer wrong") == "wrong")
        #expect(try verdict("/?access_token=") == "wrong")
        #expect(try verdict("/?access_token=" + String(repeating: "x", count: 4_000)) == "wrong")
    }

    @Test("a token that is short or has other characters is refused, with its line and without its text")
    func badFiles() {
        for line in ["short", "abcdefghijklmnopq\u{e4}", String(repeating: "x", count: 513), "abcdefghijklmnop&x=y"] {
            let error = #expect(throws: ServiceError.self) {
                _ = try AccessTokens(file: "# one\n\(line)\n", path: "tokens")
            }
            #expect(error?.code == .invalidFile && error?.message.contains("line 2") == true)
            #expect(error?.message.contains(line) == false)
        }
    }

    @Test("ids are read likewise")
    func ids() throws {
        let ids = try AllowedIDs.read(file: "did:key:z6Mk1\n# no\n\n did:key:z6Mk2 phone\n", path: "ids")
        #expect(ids == [Array("did:key:z6Mk1".utf8), Array("did:key:z6Mk2".utf8)])
        #expect(throws: ServiceError.self) {
            try AllowedIDs.read(file: String(repeating: "x", count: 257), path: "ids")
        }
    }
}
