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

    /// Asks for an id without a proof of it; throws if it is refused.
    static func claim(_ name: String, at url: String) async throws {
        let peer = RawPeer(name)
        peer.webSocket = WebSocket.connect(
            to: try WebSocketURL(url), options: WebSocketClientOptions(), delegate: peer)
        _ = try await peer.opened.take("a connection", #_sourceLocation) { _ in true }
        peer.send(["type": "register", "peerId": .string(name)])
        let answer = try await peer.frame { $0["type"] == "registered" || $0["type"] == "error" }
        peer.close()
        guard answer["type"] == "registered" else { throw Refused() }
    }

    struct Refused: Error {}

    func send(_ frame: JSONValue) { webSocket?.send(frame.serialized()) }

    /// A literal frame, as it stands.
    func send(text: String) { webSocket?.send(text) }

    func message(_ peer: String, _ payload: JSONValue) {
        send(["type": "message", "to": .string(peer), "payload": payload])
    }

    /// What has come, and nobody has taken.
    var waitingFrames: [JSONValue] { frames.all }

    func close() { webSocket?.close() }

    func frame(
        _ location: SourceLocation = #_sourceLocation, where isWanted: @escaping (JSONValue) -> Bool
    ) async throws -> JSONValue {
        try await frames.take("such a frame", location, where: isWanted)
    }

    /// The payload of the next message with a payload of that type.
    func payload(_ type: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let frame = try await frame(location) {
            $0["type"] == "message" && $0["payload"]?["type"] == .string(type) && !Self.isOfTheDevice($0)
        }
        return try #require(frame["payload"], sourceLocation: location)
    }

    /// What a device asks by itself when it comes: who does not answer it is asked nothing more.
    private static func isOfTheDevice(_ frame: JSONValue) -> Bool {
        let request = frame["payload"]?["payload"]
        return request?["method"] == "notification.getHistory" && request?["params"]?["limit"] == 100
    }

    /// The next request for that method, also one that the device makes by itself.
    func request(_ method: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let frame = try await frame(location) {
            let payload = $0["payload"]
            return payload?["type"] == "chainlesschain:command:request"
                && payload?["payload"]?["method"] == .string(method)
        }
        return try #require(frame["payload"]?["payload"], sourceLocation: location)
    }

    /// Answers a request.
    func answer(_ request: JSONValue, of device: String, _ answer: JSONObject) {
        var payload = answer
        payload["id"] = request["id"]
        message(device, ["type": "chainlesschain:command:response", "payload": .object(payload)])
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
