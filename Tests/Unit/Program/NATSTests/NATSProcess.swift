import Foundation
import TestSupport
import Testing

/// A nats-server on a loopback port, with a directory of its own. It ends with the test.
final class NATSProcess: Sendable {
    let port: UInt16
    private let program: Program
    private let directory: URL

    var url: String { "nats://127.0.0.1:\(port)" }

    /// Starts one and waits until it listens, away from the loop.
    @concurrent
    static func start(port: UInt16? = nil, configuration: String = "") async throws -> NATSProcess {
        let server = try NATSProcess(port ?? freePort(), configuration)
        try await until("nats-server listens on port \(server.port)") { isListening(server.port) }
        return server
    }

    private init(_ port: UInt16, _ configuration: String) throws {
        self.port = port
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-nats-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appendingPathComponent("server.conf").path
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        let log = directory.appendingPathComponent("log").path
        program = try Program(
            "/usr/bin/env",
            ["nats-server", "--addr", "127.0.0.1", "--port", "\(port)", "--config", file, "--log", log])
    }

    deinit {
        program.end(with: SIGKILL)
        try? FileManager.default.removeItem(at: directory)
    }

    func signal(_ signal: CInt) { program.signal(signal) }

    func end(with signal: CInt = SIGTERM) { program.end(with: signal) }

    /// One that nobody uses now.
    static func freePort() throws -> UInt16 {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(probe, $0, length) == 0 && getsockname(probe, $0, &length) == 0
            }
        }
        try #require(isBound)
        return UInt16(bigEndian: address.sin_port)
    }

    private static func isListening(_ port: UInt16) -> Bool {
        let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        var address = loopback(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(probe, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
