#if DEBUG
    package import JSON
    package import Testing
    package import Transport

    /// A deployed peer: it says what a test wants it to say, at a relay in memory or over a socket.
    @EventLoop
    package final class RawPeer: WebSocketDelegate {
        private enum Line {
            case memory(MemoryPeer)
            case socket(WebSocket)
        }

        package let name: String
        private var frames = Mailbox<JSONValue>()
        private let opened = Mailbox<Bool>()
        private var line: Line?
        private var isStranger = false
        private var info: JSONValue?

        private init(_ name: String) { self.name = name }

        /// Connects, and asks for the id.
        private func begin(at url: String, _ location: SourceLocation) async throws {
            if let relay = BenchRelay.find(url) {
                let peer = relay.peer(name)
                frames = peer.frames
                line = .memory(peer)
                return
            }
            line = .socket(
                WebSocket.connect(to: try WebSocketURL(url), options: WebSocketClientOptions(), delegate: self))
            try #require(try await opened.take("a connection", location) { _ in true }, sourceLocation: location)
            if !isStranger { send(["type": "register", "peerId": .string(name), "deviceInfo": info]) }
        }

        /// Connects to a relay over a socket, and registers nothing.
        package static func stranger(
            at url: String, _ location: SourceLocation = #_sourceLocation
        ) async throws -> RawPeer {
            let peer = RawPeer("")
            peer.isStranger = true
            try await peer.begin(at: url, location)
            return peer
        }

        /// Connects to the relay and registers.
        ///
        /// - Parameter info: what it tells the relay of itself.
        package static func register(
            _ name: String, at url: String, info: JSONValue? = nil, _ location: SourceLocation = #_sourceLocation
        ) async throws -> RawPeer {
            let peer = RawPeer(name)
            peer.info = info
            try await peer.begin(at: url, location)
            _ = try await peer.frame(location) { $0["type"] == "registered" }
            return peer
        }

        /// Asks for an id without a proof of it; throws if it is refused.
        package static func claim(_ name: String, at url: String) async throws {
            let peer = RawPeer(name)
            try await peer.begin(at: url, #_sourceLocation)
            let answer = try await peer.frame { $0["type"] == "registered" || $0["type"] == "error" }
            peer.close()
            guard answer["type"] == "registered" else { throw Refused() }
        }

        package struct Refused: Error {}

        package func send(_ frame: JSONValue) { send(text: frame.serialized()) }

        /// A literal frame, as it stands.
        package func send(text: String) {
            switch line {
            case .memory(let peer): peer.send(text: text)
            case .socket(let webSocket): webSocket.send(text)
            case nil: break
            }
        }

        package func message(_ peer: String, _ payload: JSONValue) {
            send(["type": "message", "to": .string(peer), "payload": payload])
        }

        /// What has come, and nobody has taken.
        package var waitingFrames: [JSONValue] { frames.all }

        package func close() {
            switch line {
            case .memory(let peer): peer.close()
            case .socket(let webSocket): webSocket.close()
            case nil: break
            }
        }

        package func frame(
            _ location: SourceLocation = #_sourceLocation, where isWanted: @escaping (JSONValue) -> Bool
        ) async throws -> JSONValue {
            try await frames.take("such a frame", location, where: isWanted)
        }

        /// The payload of the next message with a payload of that type.
        package func payload(_ type: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
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
        package func request(_ method: String, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue
        {
            let frame = try await frame(location) {
                let payload = $0["payload"]
                return payload?["type"] == "chainlesschain:command:request"
                    && payload?["payload"]?["method"] == .string(method)
            }
            return try #require(frame["payload"]?["payload"], sourceLocation: location)
        }

        /// Answers a request.
        package func answer(_ request: JSONValue, of device: String, _ answer: JSONObject) {
            var payload = answer
            payload["id"] = request["id"]
            message(device, ["type": "chainlesschain:command:response", "payload": .object(payload)])
        }

        /// Asks the relay something: what was sent before is on its way.
        package func settle() async throws {
            send(["type": "ping"])
            _ = try await frame { $0["type"] == "pong" }
        }

        package func webSocketDidOpen(_ webSocket: WebSocket) { opened.put(true) }

        package func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
            guard let frame = try? JSONValue(parsing: text) else { return }
            frames.put(frame)
        }

        package func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) { opened.put(false) }
    }
#endif
