#if DEBUG
    package import JSON
    package import Testing
    package import Transport
    import Wire

    @testable import Relay

    /// A scripted peer at a ``MemoryRelay``: a deployed one, or a hostile one.
    @EventLoop
    package final class MemoryPeer: MemoryEnd {
        package nonisolated let name: String
        /// Received frames that nobody has taken.
        package let frames = Mailbox<JSONValue>()
        /// It has this end.
        private weak var relay: MemoryRelay?
        private var id: ConnectionID?

        init(_ name: String, at relay: MemoryRelay) {
            self.name = name
            self.relay = relay
            id = relay.open(self, of: PeerID(name))
        }

        package var isConnected: Bool { id != nil }

        package func register() { send(["type": "register", "peerId": .string(name)]) }

        package func send(_ frame: JSONValue) { send(text: frame.serialized()) }

        /// A literal frame, as it stands.
        package func send(text: String) {
            guard let id else { return }
            EventLoop.post { self.relay?.received(Array(text.utf8), from: id) }
        }

        package func message(_ peer: String, _ payload: JSONValue) {
            send(["type": "message", "to": .string(peer), "payload": payload])
        }

        package func frame(
            _ location: SourceLocation = #_sourceLocation, where isWanted: @escaping (JSONValue) -> Bool
        ) async throws -> JSONValue {
            try await frames.take("such a frame", location, where: isWanted)
        }

        /// The payload of the next message with a payload of that type.
        package func payload(
            _ type: String, _ location: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            let frame = try await frame(location) { $0["type"] == "message" && $0["payload"]?["type"] == .string(type) }
            return frame["payload"] ?? .null
        }

        /// Waits for a round trip to the relay: frames sent before have been routed.
        package func settle() async throws {
            send(["type": "ping"])
            _ = try await frame { $0["type"] == "pong" }
        }

        package func close() {
            guard let id else { return }
            self.id = nil
            EventLoop.post { self.relay?.closed(id) }
        }

        func deliver(_ bytes: [UInt8]) {
            EventLoop.post {
                guard self.id != nil, let frame = try? JSONValue(parsing: bytes) else { return }
                self.frames.put(frame)
            }
        }

        func closed(_ why: String) { id = nil }
    }
#endif
