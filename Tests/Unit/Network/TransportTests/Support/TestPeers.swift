import TestSupport
import Testing

@testable import Transport

/// What a WebSocket told its delegate.
enum Heard: Equatable, Sendable {
    case open
    case text(String)
    case closed(code: UInt16?, error: String?, byPeer: Bool)
}

/// A delegate that writes everything down.
@EventLoop
final class Listener: WebSocketDelegate {
    let heard = Mailbox<Heard>()
    var onText: ((WebSocket, UnsafeRawBufferPointer) -> Void)?
    private(set) var lastReason: CloseReason?

    nonisolated init() {}

    func webSocketDidOpen(_ webSocket: WebSocket) { heard.put(.open) }

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        if let onText { return onText(webSocket, text) }
        heard.put(.text(String(decoding: text, as: UTF8.self)))
    }

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        lastReason = reason
        heard.put(.closed(code: reason.code, error: reason.error?.code.name, byPeer: reason.byPeer))
    }

    /// Skips messages until the end.
    func end() async throws -> CloseReason {
        while true {
            if case .closed = try await heard.next(), let lastReason { return lastReason }
        }
    }
}

/// A server whose sockets come out of a mailbox, each with a delegate of its own.
@EventLoop
final class TestServer: HTTPHandler {
    struct Accepted: Sendable {
        let webSocket: WebSocket
        let listener: Listener
    }

    let sockets = Mailbox<Accepted>()
    let requests = Mailbox<HTTPRequestHead>()
    let problems = Mailbox<String>()
    private var kept: HTTPListener?
    private var delegates: [Listener] = []
    var onText: ((WebSocket, UnsafeRawBufferPointer) -> Void)?

    init(
        host: String = "127.0.0.1", port: UInt16 = 0, tls: TLSServerOptions? = nil,
        options: HTTPListenerOptions = HTTPListenerOptions()
    ) throws {
        kept = try HTTPListener(host: host, port: port, tls: tls, options: options, handler: self)
    }

    var port: UInt16 { kept?.port ?? 0 }
    var http: HTTPListener? { kept }

    func url(_ host: String = "127.0.0.1", secure: Bool = false) throws -> WebSocketURL {
        try WebSocketURL("\(secure ? "wss" : "ws")://\(host):\(port)")
    }

    func close() {
        kept?.close()
        kept = nil
    }

    func listener(_ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress) -> HTTPAnswer {
        requests.put(head)
        if head.asksForWebSocket { return .upgrade }
        if head.path == "/body" {
            return .receive(limit: 1_000_000, kept: .max) { exchange, body in
                exchange.respond(HTTPReply(status: 200, contentType: "text/plain", text: "\(body)"))
            }
        }
        return head.path == "/health"
            ? .respond(status: 200, contentType: "application/json", text: "{\"status\":\"ok\"}")
            : head.path == "/upgrade" ? .upgrade : .respond(status: 404, contentType: "text/plain", text: "no\n")
    }

    func listener(_ listener: HTTPListener, cannotAccept error: TransportError) { problems.put(error.code.name) }

    func listenerDidRecover(_ listener: HTTPListener) { problems.put("recovered") }

    func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) {
        let delegate = Listener()
        delegate.onText = onText
        webSocket.delegate = delegate
        delegates.append(delegate)
        sockets.put(Accepted(webSocket: webSocket, listener: delegate))
    }
}

/// A TCP peer of plain bytes, for what no WebSocket of ours would send.
@EventLoop
final class RawPeer: ConnectionConsumer {
    private(set) var received: [UInt8] = []
    private(set) var hasEnded = false
    private var wanted: (count: Int, until: [UInt8]?) = (Int.max, nil)
    private let arrived = Mailbox<Bool>()
    private(set) var connection: Connection?
    private var dialer: Dialer?
    private let connected = Mailbox<String?>()

    nonisolated init() {}

    /// Dials a server of ours.
    static func dial(_ port: UInt16, host: String = "127.0.0.1") async throws -> RawPeer {
        let peer = RawPeer()
        peer.dialer = Dialer(host: host, port: port) { result in
            switch result {
            case .success(let tcp):
                peer.adopt(tcp)
                peer.connected.put(nil)
            case .failure(let error): peer.connected.put(error.message)
            }
        }
        try #require(try await peer.connected.next() == nil)
        return peer
    }

    func adopt(_ tcp: TCPHandle) {
        let connection = Connection(tcp)
        self.connection = connection
        connection.start(self)
    }

    func send(_ bytes: [UInt8]) {
        guard let connection else { return }
        bytes.withUnsafeBytes { connection.out.append($0) }
        connection.didWrite()
        connection.flush()
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func close() { connection?.close() }

    func connectionDidSecure(_ connection: Connection) {}

    func connection(_ connection: Connection, didReceive bytes: UnsafeMutableRawBufferPointer) {
        received.append(contentsOf: bytes)
        arrived.put(true)
    }

    func connectionDidEnd(_ connection: Connection, _ error: TransportError?) {
        hasEnded = true
        arrived.put(true)
    }

    /// Waits until the peer's bytes satisfy `condition`, or the peer ended.
    func wait(_ condition: ([UInt8]) -> Bool) async throws -> [UInt8] {
        while !condition(received), !hasEnded { _ = try await arrived.next() }
        return received
    }

    func waitForEnd() async throws -> [UInt8] {
        while !hasEnded { _ = try await arrived.next() }
        return received
    }

    func waitForHead() async throws -> String {
        String(decoding: try await wait { String(decoding: $0, as: UTF8.self).contains("\r\n\r\n") }, as: UTF8.self)
    }

    func forget(_ count: Int) { received.removeFirst(min(count, received.count)) }

    /// Sends a client's upgrade and waits for the 101.
    func upgrade(_ extra: String = "") async throws {
        send(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(extra)\r\n")
        let head = try await waitForHead()
        try #require(head.hasPrefix("HTTP/1.1 101"))
        forget((head.firstRange(of: "\r\n\r\n")?.upperBound.utf16Offset(in: head)) ?? 0)
    }
}

/// A server that takes connections and leaves the rest to the test.
@EventLoop
final class RawServer {
    let peers = Mailbox<RawPeer>()
    private var acceptor: Acceptor?

    init() throws {
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: 0))
        acceptor = try Acceptor(address, backlog: 16) { [weak self] event in
            guard case .accepted(let tcp) = event else { return }
            let peer = RawPeer()
            peer.adopt(tcp)
            self?.peers.put(peer)
        }
    }

    var port: UInt16 { acceptor?.address.port ?? 0 }

    func close() { acceptor?.close() }
}

/// Bytes from text like `"81 05 48 65"`.
func hex(_ text: String) -> [UInt8] {
    text.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
}
