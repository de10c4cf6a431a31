#if DEBUG
    package import JSON
    package import Transport

    /// A deployed relay on loopback, as its program behaves (WireDeployedRelays, "Compared").
    @EventLoop
    package final class NodeRelay: HTTPHandler, WebSocketDelegate {
        package enum Program: Sendable {
            /// Removes an id when any connection that had it ends, and closes who registers while registered.
            case standAlone
            /// Version 0.2: takes nothing from who hasn't registered, and closes who sends more than 120 frames in 10 s.
            case standAlone2
            /// As version 0.1, but it forwards the `from` of who hasn't registered as it is written.
            case desktopApp
            /// Reports no absent peers, forwards `from` as it is written, and delivers stored frames like live ones.
            case publicRelay

            fileprivate var losesIDs: Bool { self == .standAlone || self == .desktopApp }
        }

        private static let storedLimit = 50

        private final class Peer {
            let webSocket: WebSocket
            var id: String?
            /// What it has told of itself.
            var info: JSONValue?
            /// When the frames of the last 10 s came.
            var recent: [UInt64] = []

            init(_ webSocket: WebSocket) { self.webSocket = webSocket }
        }

        package let program: Program
        private var listener: HTTPListener?
        private var peers: [Peer] = []
        private var clients: [String: Peer] = [:]
        private var stored: [String: [JSONValue]] = [:]
        private var cuttingType: JSONValue?
        /// Connections that were closed because their peers sent too much.
        package private(set) var overloads = 0
        /// The connections that there are.
        package var connections: Int { peers.count }

        /// Every frame that came, with the id of its sender.
        package private(set) var received: [(from: String?, frame: JSONValue)] = []

        package init(_ program: Program) throws {
            self.program = program
            listener = try HTTPListener(host: "127.0.0.1", port: 0, handler: self)
        }

        package var url: String { "ws://127.0.0.1:\(listener?.port ?? 0)" }

        package func isListed(_ id: String) -> Bool { clients[id] != nil }

        package func stored(for id: String) -> [JSONValue] { stored[id] ?? [] }

        package func registrations(of id: String) -> Int {
            received.count { $0.frame["type"] == "register" && $0.frame["peerId"] == .string(id) }
        }

        /// Ends a peer's connection without a close frame.
        package func cut(_ id: String) { clients[id]?.webSocket.abort() }

        /// Ends the connection of whoever sends the next message with such a payload, right after it was forwarded.
        package func cutSenderOfNext(_ type: String) { cuttingType = .string(type) }

        package func close() {
            listener?.close()
            listener = nil
            for peer in peers { peer.webSocket.abort() }
            (peers, clients) = ([], [:])
        }

        // MARK: The program

        private func register(_ peer: Peer, _ id: String) {
            if let existing = clients[id], program.losesIDs || existing !== peer {
                existing.webSocket.close()
            }
            peer.id = id
            clients[id] = peer
            let waiting = stored.removeValue(forKey: id) ?? []
            switch program {
            case .standAlone, .standAlone2, .desktopApp:
                say(["type": "registered", "peerId": .string(id), "serverTime": 1_795_308_854_765], to: peer)
                for message in waiting {
                    say(
                        [
                            "type": "offline-message", "originalMessage": message, "storedAt": 1_795_308_850_000,
                            "deliveredAt": 1_795_308_854_765,
                        ], to: peer)
                }
                status(id, "online")
            case .publicRelay:
                say(["type": "registered", "peerId": .string(id)], to: peer)
                for message in waiting { say(message, to: peer) }
            }
        }

        private func route(_ frame: JSONValue, of sender: Peer) {
            guard let to = frame["to"]?.string, let payload = frame["payload"] else { return }
            if program == .standAlone2, sender.id == nil {
                return say(
                    [
                        "type": "error", "error": "Register before sending messages", "code": "REGISTRATION_REQUIRED",
                        "timestamp": 1_795_308_854_765,
                    ], to: sender)
            }
            let message: JSONValue =
                switch program {
                case .standAlone, .standAlone2, .desktopApp:
                    .object([
                        "type": "message",
                        "from": sender.id.map(JSONValue.string) ?? (program == .desktopApp ? frame["from"] : nil),
                        "payload": payload, "timestamp": 1_795_308_854_765,
                    ])
                case .publicRelay: frame
                }
            if let target = clients[to] {
                say(message, to: target)
                guard payload["type"] == cuttingType else { return }
                cuttingType = nil
                return sender.webSocket.abort()
            }
            stored[to, default: []].append(message)
            switch program {
            case .standAlone, .standAlone2:
                say(["type": "peer-offline", "peerId": .string(to), "messageId": "0e4c-invented"], to: sender)
            case .desktopApp:
                say(
                    [
                        "type": "peer-offline", "peerId": .string(to), "messageType": "message",
                        "timestamp": 1_795_308_854_765,
                    ], to: sender)
            case .publicRelay:
                if stored[to, default: []].count > Self.storedLimit { stored[to]?.removeFirst() }
            }
        }

        private func status(_ id: String, _ status: String) {
            for (other, peer) in clients where other != id {
                say(
                    [
                        "type": "peer-status", "peerId": .string(id), "status": .string(status),
                        "deviceInfo": status == "online" ? clients[id]?.info : nil, "timestamp": 1_795_308_854_765,
                    ], to: peer)
            }
        }

        private func list(for peer: Peer) {
            let others = clients.filter { $0.value !== peer }.map { id, other -> JSONValue in
                ["peerId": .string(id), "deviceType": "desktop", "deviceInfo": other.info ?? [:]]
            }
            say(["type": "peers-list", "peers": .array(others), "count": .integer(Int64(others.count))], to: peer)
        }

        private func say(_ frame: JSONValue, to peer: Peer) { peer.webSocket.send(frame.serialized()) }

        private func peer(_ webSocket: WebSocket) -> Peer? { peers.first { $0.webSocket === webSocket } }

        // MARK: The socket

        package func listener(
            _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
        ) -> HTTPAnswer { .upgrade }

        package func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) {
            webSocket.delegate = self
            peers.append(Peer(webSocket))
        }

        package func webSocketDidOpen(_ webSocket: WebSocket) {}

        package func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
            guard let peer = peer(webSocket), let frame = try? JSONValue(parsing: text) else { return }
            received.append((peer.id, frame))
            if program == .standAlone2, isOverloaded(peer) { return }
            switch frame["type"]?.string {
            case "register":
                peer.info = frame["deviceInfo"]
                if let id = frame["peerId"]?.string { register(peer, id) }
            case "get-peers" where program != .publicRelay: list(for: peer)
            case "message": route(frame, of: peer)
            case "ping": say(["type": "pong", "timestamp": 1_795_308_854_765], to: peer)
            default: break
            }
        }

        /// Whether the peer has sent more than 120 frames in 10 s: then it is sent away.
        private func isOverloaded(_ peer: Peer) -> Bool {
            let now = EventLoop.now
            peer.recent.removeAll { $0 + 10_000 <= now }
            peer.recent.append(now)
            guard peer.recent.count > 120 else { return false }
            overloads += 1
            say(
                [
                    "type": "error", "error": "Signaling server is overloaded", "code": "OVERLOADED",
                    "reason": "PEER_MESSAGE_LIMIT", "retryAfterMs": 1_000, "timestamp": 1_795_308_854_765,
                ], to: peer)
            peer.webSocket.close(code: 1_013)
            return true
        }

        package func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
            guard let peer = peer(webSocket) else { return }
            peers.removeAll { $0 === peer }
            guard let id = peer.id, program.losesIDs || clients[id] === peer else { return }
            clients[id] = nil
            if program != .publicRelay { status(id, "offline") }
        }
    }
#endif
