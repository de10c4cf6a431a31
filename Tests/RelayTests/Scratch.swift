import Foundation
import JSON

/// A directory of a test's own, removed with it.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-relay-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
    }

    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}

/// A certificate for 127.0.0.1 that is its own authority, made by the `openssl` command when a test first asks for it.
struct TestCertificate: Sendable {
    private static let shared = Result { try TestCertificate() }

    /// Makes it away from the loop, which must not wait for a process.
    @concurrent
    static func get() async throws -> TestCertificate { try shared.get() }

    private let scratch: Scratch

    var authority: String { "\(scratch.path)/cert.pem" }
    var options: JSONValue {
        ["certificate_file": .string(authority), "key_file": .string("\(scratch.path)/cert.key")]
    }

    private struct Failed: Error {}

    private init() throws {
        scratch = try Scratch()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", "/CN=relay", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", "cert.key", "-out",
            "cert.pem",
        ]
        process.currentDirectoryURL = URL(fileURLWithPath: scratch.path)
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed() }
    }
}
