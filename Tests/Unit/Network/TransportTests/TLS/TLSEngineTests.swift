import TestSupport
import Testing

@testable import Transport

@Suite("TLS, bytes in and bytes out")
struct TLSEngineTests {
    private let certificates: TestCertificates

    init() async throws { certificates = try await TestCertificates.get() }

    /// What became of one end.
    private struct End {
        let engine: TLSEngine
        var isSecured = false
        var received: [UInt8] = []
        var hasEnded = false
        var failure: TransportError?

        init(_ engine: TLSEngine) { self.engine = engine }

        mutating func read() {
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            while failure == nil, !hasEnded {
                switch buffer.withUnsafeMutableBytes({ engine.read(into: $0) }) {
                case .bytes(let count): received += buffer.prefix(count)
                case .secured: isSecured = true
                case .wantsMore: return
                case .ended: hasEnded = true
                case .failed(let error): failure = error
                }
            }
        }

        /// Encrypts and gives out what is to be sent.
        func take(_ plain: [UInt8] = []) -> [UInt8] {
            var queue = ByteQueue()
            plain.withUnsafeBytes { queue.append($0) }
            var wire = ByteQueue()
            #expect(engine.encrypt(&queue, into: &wire) == nil)
            return Array(wire.bytes)
        }
    }

    /// Carries bytes to and fro, `step` at a time, until nothing moves.
    private func shake(_ client: inout End, _ server: inout End, step: Int = .max) {
        for _ in 0..<20 {
            let out = client.take()
            deliver(out, to: &server, step)
            let back = server.take()
            deliver(back, to: &client, step)
            if out.isEmpty, back.isEmpty { return }
        }
    }

    private func deliver(_ bytes: [UInt8], to end: inout End, _ step: Int) {
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(bytes.count, start + min(step, bytes.count))])
            start += piece.count
            piece.withUnsafeBytes { end.engine.receive($0) }
            end.read()
        }
    }

    private func pair(
        host: String, ca: String?, server options: TLSServerOptions, step: Int = .max
    ) throws -> (client: End, server: End) {
        var client = End(try .client(try .client(TLSClientOptions(caFile: ca)), host: host))
        var server = End(try .server(try .server(options)))
        #expect(client.engine.handshake() == nil)
        _ = server.engine.handshake()
        shake(&client, &server, step: step)
        return (client, server)
    }

    @Test(
        "The right certificate secures both ends, for each of its names",
        arguments: [
            "localhost", "127.0.0.1", "::1", "a.wild.example", "localhost.",
        ])
    func good(host: String) throws {
        let (client, server) = try pair(host: host, ca: certificates.authority, server: certificates.good)
        #expect(client.isSecured, "\(client.failure?.message ?? "")")
        #expect(server.isSecured)
        let binding = try #require(client.engine.channelBinding)
        #expect(binding.count == 32)
        #expect(binding == server.engine.channelBinding)
    }

    @Test("Bytes arrive one by one as well as at once, and the end is told")
    func data() throws {
        var (client, server) = try pair(
            host: "localhost", ca: certificates.authority, server: certificates.good, step: 1)
        let text = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        deliver(client.take(text), to: &server, 1_000)
        #expect(server.received == text)
        server.engine.sayEnd()
        deliver(server.take(), to: &client, 7)
        #expect(client.hasEnded)
    }

    @Test("Another connection has another channel binding")
    func binding() throws {
        let first = try pair(host: "localhost", ca: certificates.authority, server: certificates.good)
        let second = try pair(host: "localhost", ca: certificates.authority, server: certificates.good)
        #expect(first.client.engine.channelBinding != second.client.engine.channelBinding)
    }

    @Test(
        "A certificate for another name is refused, and the error says so",
        arguments: [
            "localhost", "127.0.0.1", "b.elsewhere.example",
        ])
    func wrongName(host: String) throws {
        let (client, server) = try pair(host: host, ca: certificates.authority, server: certificates.elsewhere)
        let error = try #require(client.failure)
        #expect(error.code == .tlsFailed)
        #expect(error.message.contains("not for \(host)"))
        #expect(server.failure != nil)
    }

    @Test("A name that stands in the subject alone counts for nothing (RFC 9525)")
    func subjectOnly() throws {
        let (client, _) = try pair(host: "localhost", ca: certificates.authority, server: certificates.nameless)
        #expect(client.failure?.code == .tlsFailed)
        #expect(client.failure?.message.contains("not for localhost") == true)
    }

    @Test("An expired certificate is refused by name")
    func expired() throws {
        let (client, _) = try pair(host: "localhost", ca: certificates.authority, server: certificates.expired)
        #expect(client.failure?.message.contains("expired") == true)
    }

    @Test("An unknown authority is refused by name, the system's being the default")
    func unknownAuthority() throws {
        for ca in [nil, certificates.otherAuthority] {
            let (client, _) = try pair(host: "localhost", ca: ca, server: certificates.good)
            #expect(client.failure?.message.contains("unknown authority") == true)
        }
    }

    @Test("A peer that speaks no TLS is told as that")
    func noTLS() throws {
        var client = End(try .client(try .client(TLSClientOptions()), host: "localhost"))
        _ = client.engine.handshake()
        deliver(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), to: &client, .max)
        #expect(client.failure?.code == .tlsFailed)
        #expect(client.failure?.message.contains("does not speak TLS") == true)
    }

    @Test("Files that cannot be used are named")
    func files() throws {
        let nowhere = certificates.path("nowhere.pem")
        func failure(_ body: () throws -> Void) -> TransportError? {
            do {
                try body()
                return nil
            } catch { return error as? TransportError }
        }
        let ca = failure { _ = try TLSContext.client(TLSClientOptions(caFile: nowhere)) }
        #expect(ca?.code == .tlsFailed)
        #expect(ca?.message.contains(nowhere) == true)
        let certificate = failure {
            _ = try TLSContext.server(.init(certificateFile: nowhere, keyFile: certificates.path("good.key")))
        }
        #expect(certificate?.message.contains("certificate file \(nowhere)") == true)
        let key = failure {
            _ = try TLSContext.server(
                .init(certificateFile: certificates.path("good.pem"), keyFile: certificates.path("expired.key")))
        }
        #expect(key?.code == .tlsFailed)
        let locked = failure {
            _ = try TLSContext.server(
                .init(certificateFile: certificates.path("good.pem"), keyFile: certificates.path("locked.key")))
        }
        #expect(locked?.message.contains("without a password") == true)
    }
}
