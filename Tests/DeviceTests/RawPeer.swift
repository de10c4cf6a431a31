import JSON
import Testing
import Transport

/// A deployed peer: a socket that says what a test wants it to say.
@EventLoop
final class RawPeer: WebSocketDelegate {
    let name: String
    private let frames = Mailbox<JSONValue>()
    private let opened = Mailbox<Bool>()
    private var webSocket: WebSocket?

    private init(_ name: String) { self.name = name }

    /// Connects to the relay and registers.
    static func register(
        _ name: String, at url: String, _ location: SourceLocation = #_sourceLocation
    ) async throws -> RawPeer {
        let peer = RawPeer(name)
        peer.webSocket = WebSocket.connect(
            to: try WebSocketURL(url), options: WebSocketClientOptions(), delegate: peer)
        try #require(try await peer.opened.take("a connection", location) { _ in true }, sourceLocation: location)
        peer.send(["type": "register", "peerId": .string(name)])
        _ = try await peer.frame(location) { $0["type"] == "registered" }
        return peer
    }

    func send(_ frame: JSONValue) { webSocket?.send(frame.serialized()) }

    /// A literal frame, as it stands.
    func send(text: String) { webSocket?.send(text) }

    func message(_ peer: String, _ payload: JSONValue) {
        send(["type": "message", "to": .string(peer), "payload": payload])
    }

    func close() { webSocket?.close() }

    func frame(
        _ location: SourceLocation = #_sourceLocation, where isWanted: @escaping (JSONValue) -> Bool
    ) async throws -> JSONValue {
        try await frames.take("such a frame", location, where: isWanted)
    }

    /// The payload of the next message with a payload of that type.
    func payload(_ type: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let frame = try await frame(location) {
            $0["type"] == "message" && $0["payload"]?["type"] == .string(type)
        }
        return try #require(frame["payload"], sourceLocation: location)
    }

    /// Asks the relay something: what was sent before is on its way.
    func settle() async throws {
        send(["type": "ping"])
        _ = try await frame { $0["type"] == "pong" }
    }

    func webSocketDidOpen(_ webSocket: WebSocket) { opened.put(true) }

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        guard let frame = try? JSONValue(parsing: text) else { return }
        frames.put(frame)
    }

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) { opened.put(false) }
}
