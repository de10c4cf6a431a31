import Foundation
import TestSupport
import Testing
import Transport

@testable import HTTPClient

/// The web server of `Mocks/web.py`: on 127.0.0.2, which the tests allow, and on 127.0.0.1 and ::1, which they do not.
@EventLoop
final class WebServer {
    private static let shared = Task { try await WebServer() }

    /// One for all tests: it is started when a test first asks, and hears of nothing that was before.
    static func get() async throws -> WebServer {
        let server = try await shared.value
        _ = try await server.lines()
        return server
    }

    private let program: Program
    private let ready: [String: Any]

    private init() async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Mocks/web.py")
        program = try Program("/usr/bin/python3", [script.path])
        let line = try await program.lines.next(within: 30_000) { $0.contains("\"ready\"") }
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        ready = try #require(object["ready"] as? [String: Any])
    }

    func port(_ name: String = "secure") -> Int { ready[name] as? Int ?? 0 }

    func url(_ path: String, host: String = "127.0.0.2", at server: String = "secure") -> String {
        "https://\(host):\(port(server))/\(path)"
    }

    var options: FetchOptions {
        var options = FetchOptions()
        options.caFile = ready["authority"] as? String
        options.allowed = ["127.0.0.2"]
        // Tests of the timeout set their own: on a busy machine the server may take longer than the default.
        options.timeout = 60_000
        return options
    }

    private var questions = 0

    /// All that it has to say, once no connection is left: connections that it took, requests that it read.
    func lines() async throws -> [String] {
        questions += 1
        let answer = "{\"quiet\": \"\(questions)\"}"
        program.write("\(questions)")
        _ = try await program.lines.take("the end of all connections", #_sourceLocation, within: 30_000) {
            $0 == answer
        }
        return program.lines.drain()
    }

    func line(containing text: String) async throws -> String {
        try await program.lines.next { $0.contains(text) }
    }
}

/// A fetch that a test waits for.
@EventLoop
func fetched(
    _ url: String, by fetcher: Fetcher, within limit: UInt64 = 10_000
) async throws -> Result<Fetched, FetchError> {
    let results = Mailbox<Result<Fetched, FetchError>>()
    fetcher.fetch(url) { results.put($0) }
    let result = try await results.next(within: limit)
    return result
}
