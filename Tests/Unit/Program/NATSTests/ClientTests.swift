import Foundation
import NATS
import Synchronization
import TestSupport
import Testing
import Transport

/// Over real sockets, with Debian's nats-server.
@Suite struct ClientTests {
    /// A client and what it reports.
    @EventLoop
    final class Peer {
        let events = Mailbox<NATSClient.Event>()
        let client: NATSClient

        init(_ urls: String..., login: String? = nil, tls: TLSClientOptions = .init(), unsent: Int? = nil) throws {
            var connection = NATSConnectionStateMachine.Options(
                servers: try urls.map { url in try NATSServer(url) }, name: "tests")
            connection.credentials = try login.map { text in try NATSCredentials(parsing: text) }
            var options = NATSClient.Options(connection)
            options.tls = tls
            if let unsent { options.maximumUnsent = unsent }
            client = NATSClient(options) { [events] in events.put($0) }
            client.start()
        }

        func up() async throws -> String {
            var name = ""
            _ = try await events.next("a connection") {
                if case .up(_, let server) = $0 { name = server }
                return !name.isEmpty
            }
            return name
        }

        func down(_ code: NATSError.Code) async throws {
            _ = try await events.next("\(code)") { if case .down(let error) = $0 { error.code == code } else { false } }
        }

        func request(
            _ subject: String, _ text: String = "", timeout: UInt64 = 5_000
        ) async -> Result<NATSMessage, NATSError> {
            await withCheckedContinuation { continuation in
                client.request(NATSMessage(subject: subject, payload: Array(text.utf8)), timeout: timeout) {
                    continuation.resume(returning: $0)
                }
            }
        }

        /// Answers with what it gets.
        func echo(_ subject: String, queue: String? = nil) throws {
            _ = try client.subscribe(subject, queue: queue) { [weak client] message in
                guard let reply = message.reply else { return }
                try? client?.publish(NATSMessage(subject: reply, headers: message.headers, payload: message.payload))
            }
        }

        func fails(_ code: NATSError.Code, _ message: NATSMessage) {
            #expect { try client.publish(message) } throws: { ($0 as? NATSError)?.code == code }
        }
    }

    static func code(_ result: Result<NATSMessage, NATSError>) -> NATSError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test @EventLoop func messagesRequestsAndQueues() async throws {
        let server = try await NATSProcess.start()
        let (one, two) = (try Peer(server.url), try Peer(server.url))
        #expect(try await one.up() == "127.0.0.1:\(server.port)")
        _ = try await two.up()
        let got = Mailbox<NATSMessage>()
        let id = try two.client.subscribe("news.>") { got.put($0) }
        try two.echo("echo")
        try await until("the echo answers") { Self.code(await one.request("echo")) == nil }
        for number in 0..<100 {
            try one.client.publish(NATSMessage(subject: "news.a.\(number)", payload: Array("\(number)".utf8)))
        }
        for number in 0..<100 {
            let message = try await got.next()
            #expect(message.subject == "news.a.\(number)" && message.payload == Array("\(number)".utf8))
        }
        var headers = NATSHeaders()
        try headers.add("Key", "value")
        let answer = await withCheckedContinuation { continuation in
            one.client.request(
                NATSMessage(subject: "echo", headers: headers, payload: [0, 13, 10, 255]), timeout: 5_000
            ) {
                continuation.resume(returning: $0)
            }
        }
        let message = try answer.get()
        #expect(message.headers["Key"] == "value" && message.payload == [0, 13, 10, 255])
        #expect(Self.code(await one.request("nobody.there")) == .noResponders)
        let silent = try two.client.subscribe("silent") { _ in }
        try await until("it is subscribed") { Self.code(await one.request("silent", timeout: 50)) == .timeout }
        two.client.unsubscribe(silent)
        two.client.unsubscribe(id)
        try await until("it is not subscribed") { Self.code(await one.request("silent")) == .noResponders }
        for peer in [one, two] { peer.client.stop() }
    }

    @Test @EventLoop func aLateAnswerIsPassedOnToWhoAskedForIt() async throws {
        let server = try await NATSProcess.start()
        let (one, two) = (try Peer(server.url), try Peer(server.url))
        _ = (try await one.up(), try await two.up())
        let held = Mailbox<NATSMessage>()
        _ = try two.client.subscribe("slow") { held.put($0) }
        let (results, late) = (Mailbox<NATSError.Code?>(), Mailbox<[UInt8]>())
        func ask() {
            one.client.request(NATSMessage(subject: "slow"), timeout: 20, late: { late.put($0.payload) }) {
                results.put(Self.code($0))
            }
        }
        // Until the subscription is there nobody is; a busy server may not say that in time.
        repeat {
            ask()
            _ = try await results.next()
        } while held.isEmpty
        let reply = try #require(try await held.next().reply)
        try two.client.publish(NATSMessage(subject: reply, payload: [7]))
        try two.client.publish(NATSMessage(subject: reply, payload: [8]))
        #expect(try await late.next() == [7])
        two.client.stop()
        one.client.stop()
        #expect(late.isEmpty && results.isEmpty)
    }

    @Test @EventLoop func itComesBackWithItsSubscriptions() async throws {
        let server = try await NATSProcess.start()
        let (one, two) = (try Peer(server.url), try Peer(server.url))
        _ = (try await one.up(), try await two.up())
        try two.echo("echo")
        try await until("the echo answers") { Self.code(await one.request("echo")) == nil }
        _ = try two.client.subscribe("slow") { _ in }
        try await until("it is subscribed") { Self.code(await one.request("slow", timeout: 20)) == .timeout }
        async let lost = one.request("slow", timeout: 60_000)
        server.end(with: SIGKILL)
        #expect(Self.code(await lost) == .disconnected, "a request ends with its connection")
        try await one.down(.disconnected)
        #expect(!one.client.isUp)
        #expect(Self.code(await one.request("echo")) == .disconnected)
        one.fails(.disconnected, NATSMessage(subject: "a"))
        let again = try await NATSProcess.start(port: server.port)
        _ = (try await one.up(), try await two.up())
        try await until("the echo answers again") { Self.code(await one.request("echo")) == nil }
        for peer in [one, two] { peer.client.stop() }
        again.end()
    }

    @Test @EventLoop func aServerThatIsNotThereYetIsFoundAndAFrozenOneIsLeft() async throws {
        let port = try NATSProcess.freePort()
        let peer = try Peer("nats://127.0.0.1:\(port)")
        try await peer.down(.disconnected)
        let first = try await NATSProcess.start(port: port)
        #expect(try await peer.up() == "127.0.0.1:\(port)")
        peer.client.stop()
        let second = try await NATSProcess.start()
        let either = try Peer(first.url, second.url)
        #expect(try await either.up() == "127.0.0.1:\(first.port)")
        let begin = ContinuousClock.now
        first.signal(SIGSTOP)
        try await either.down(.unresponsive)
        #expect(ContinuousClock.now - begin >= .seconds(4), "two pings went unanswered")
        #expect(try await either.up() == "127.0.0.1:\(second.port)")
        first.signal(SIGCONT)
        either.client.stop()
    }

    @Test @EventLoop func limitsAreErrors() async throws {
        let server = try await NATSProcess.start(configuration: "max_payload: 2000")
        let peer = try Peer(server.url, unsent: 10_000)
        peer.fails(.disconnected, NATSMessage(subject: "a"))
        _ = try await peer.up()
        var headers = NATSHeaders()
        try headers.add("a", "b")
        try peer.client.publish(NATSMessage(subject: "a", payload: Array(repeating: 0, count: 2_000)))
        peer.fails(.tooLarge, NATSMessage(subject: "a", payload: Array(repeating: 0, count: 2_001)))
        peer.fails(.tooLarge, NATSMessage(subject: "a", headers: headers, payload: Array(repeating: 0, count: 1_990)))
        for subject in ["", "a b", "a.*", "a\r\nPUB b 0\r\n"] {
            peer.fails(.invalidName, NATSMessage(subject: subject))
        }
        for _ in 0..<4 {
            try peer.client.publish(NATSMessage(subject: "a", payload: Array(repeating: 0, count: 1_900)))
        }
        peer.fails(.overloaded, NATSMessage(subject: "a", payload: Array(repeating: 0, count: 1_900)))
        #expect(Self.code(await peer.request("a b")) == .invalidName)
        #expect(peer.client.isUp)
        peer.client.stop()
    }

    @Test @EventLoop func loginsAreCheckedByTheServer() async throws {
        let configuration = """
            authorization { users: [
                { user: ada, password: "p@ss" }
                { nkey: \(ServerTests.publicKey), permissions: { publish: "ok.>", subscribe: "_INBOX.>" } }
            ] }
            """
        let server = try await NATSProcess.start(configuration: configuration)
        let address = "127.0.0.1:\(server.port)"
        for wrong in ["nats://\(address)", "nats://ada:wrong@\(address)", "nats://token@\(address)"] {
            let peer = try Peer(wrong)
            try await peer.down(.unauthorized)
            peer.client.stop()
        }
        let right = try Peer("nats://ada:p%40ss@\(address)")
        _ = try await right.up()
        right.client.stop()
        let key = try Peer("nats://\(address)", login: ServerTests.seed)
        _ = try await key.up()
        try key.client.publish(NATSMessage(subject: "secret"))
        _ = try await key.events.next("a problem") {
            if case .problem(let error) = $0 { error.code == .forbidden } else { false }
        }
        #expect(key.client.isUp)
        key.client.stop()
    }

    @Test @EventLoop func tlsChecksTheServer() async throws {
        let certificates = try await TestCertificates.get()
        let files = certificates.good
        let configuration = "tls { cert_file: \"\(files.certificateFile)\", key_file: \"\(files.keyFile)\" }"
        let server = try await NATSProcess.start(configuration: configuration)
        let trusting = TLSClientOptions(caFile: certificates.authority)
        // The server asks for TLS by itself, so the scheme makes no difference.
        for scheme in ["nats", "tls"] {
            let peer = try Peer("\(scheme)://localhost:\(server.port)", tls: trusting)
            _ = try await peer.up()
            try peer.echo("echo")
            try await until("the echo answers") {
                (try? await peer.request("echo", String(repeating: "x", count: 100_000)).get().payload.count) == 100_000
            }
            peer.client.stop()
        }
        let distrusting = try Peer(server.url, tls: TLSClientOptions(caFile: certificates.otherAuthority))
        try await distrusting.down(.disconnected)
        distrusting.client.stop()
        let plain = try await NATSProcess.start()
        let insisting = try Peer("tls://127.0.0.1:\(plain.port)", tls: trusting)
        try await insisting.down(.unsupported)
        insisting.client.stop()
    }
}
