import Foundation
import Testing
import Transport

@testable import HTTPClient

@Suite("libcurl, loaded when it is used", .serialized)
@EventLoop
struct CurlLibraryTests {
    private nonisolated static let gnutls = "libcurl-gnutls.so.4"

    private nonisolated static var hasGnuTLS: Bool {
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
            .contains { FileManager.default.fileExists(atPath: "\($0)/\(gnutls)") }
    }

    @Test("Nobody asks for it before the first transfer")
    func lazily() async throws {
        let library = CurlLibrary(named: ["libcurl.so.4"])
        let fetcher = Fetcher(FetchOptions(), library: library)
        for url in ["http://a.test/", "https://127.0.0.1/", "https://localhost/"] {
            _ = try await fetched(url, by: fetcher)
        }
        #expect(!library.isAsked)
    }

    @Test("Without it nothing is fetched, and that is said", arguments: ["libnothing-of-this-name.so.4", "libc.so.6"])
    func without(name: String) async throws {
        let server = try await WebServer.get()
        let fetcher = Fetcher(server.options, library: CurlLibrary(named: [name]))
        guard case .failure(let error) = try await fetched(server.url("png"), by: fetcher) else { throw Unexpected() }
        #expect(error.code == .unavailable)
        #expect(error.message.contains(name))
        #expect(try await server.lines().isEmpty)
    }

    @Test(
        "The first that is there is used: also the build with GnuTLS, with all that is checked", .enabled(if: hasGnuTLS)
    )
    func gnuTLS() async throws {
        let server = try await WebServer.get()
        let library = CurlLibrary(named: ["libnothing-of-this-name.so.4", Self.gnutls])
        let fetcher = Fetcher(server.options, library: library) { _, then in
            EventLoop.post { then(.success([[127, 0, 0, 2]])) }
        }
        for (url, expected) in [
            (server.url("png"), "ok"), (server.url("png", host: "image.test"), "ok"), (server.url("hops/5"), "ok"),
            (server.url("png", at: "elsewhere"), "tls_failed"), (server.url("png", at: "unknown"), "tls_failed"),
            (server.url("png", at: "expired"), "tls_failed"), (server.url("png", at: "old"), "tls_failed"),
            (server.url("status/404"), "status_404"), (server.url("endless"), "too_large"),
            (server.url("cut"), "interrupted"), (server.url("png", host: "[::1]"), "refused_address"),
        ] {
            let result = try await fetched(url, by: fetcher)
            switch result {
            case .success: #expect(expected == "ok", "\(url)")
            case .failure(let error): #expect(error.code.name == expected, "\(url): \(error)")
            }
        }
    }
}
