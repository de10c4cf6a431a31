import JSON
import Testing
import Transport

@testable import Relay

/// A client on a real socket, which speaks frames as JSON.
///
/// Everything it waits for has a deadline of ten seconds; what comes too late is an issue, not a hang.
@EventLoop
final class TestPeer: WebSocketDelegate {
    private enum Waiting {
        case frame(@EventLoop (JSONValue) -> Bool, CheckedContinuation<JSONValue?, Never>)
        case close(CheckedContinuation<CloseReason?, Never>)
        case open(CheckedContinuation<Bool, Never>)
    }

    private(set) var frames: [JSONValue] = []
    private(set) var closeReason: CloseReason?
    private var webSocket: WebSocket?
    private var isOpen = false
    private var waiting: Waiting?
    private var deadline: LoopTimer?
    /// Counts what arrives instead of keeping it.
    var countsOnly = false
    private(set) var count = 0

    private init() {}

    /// Connects; `nil` when it was refused.
    static func connect(
        _ port: UInt16, origin: String? = nil, maximumMessage: Int = 1 << 20, caFile: String? = nil
    ) async throws -> TestPeer? {
        let peer = TestPeer()
        var options = WebSocketClientOptions()
        options.webSocket.maximumMessage = maximumMessage
        options.webSocket.maximumUnsent = 256 << 20
        if let origin { options.headers = [("Origin", origin)] }
        options.tls.caFile = caFile
        let scheme = caFile == nil ? "ws" : "wss"
        peer.webSocket = WebSocket.connect(
            to: try WebSocketURL("\(scheme)://127.0.0.1:\(port)"), options: options, delegate: peer)
        let isOpen = await withCheckedContinuation { peer.wait(.open($0)) }
        return isOpen ? peer : nil
    }

    /// Tries to connect. Returns why it was refused.
    static func refusal(_ port: UInt16) async throws -> String {
        let peer = TestPeer()
        peer.webSocket = WebSocket.connect(to: try WebSocketURL("ws://127.0.0.1:\(port)"), delegate: peer)
        return try await peer.closed().error?.message ?? "it was not refused"
    }

    /// Connects, registers, and takes the answer.
    static func register(_ port: UInt16, as name: String) async throws -> TestPeer {
        let peer = try #require(try await connect(port))
        let answer = try await peer.register(name)
        #expect(answer["type"] == "registered")
        return peer
    }

    func register(_ name: String) async throws -> JSONValue {
        send(["type": "register", "peerId": .string(name), "deviceType": "mobile"])
        return try await next { $0["type"] == "registered" || $0["type"] == "error" }
    }

    var channelBinding: [UInt8]? { webSocket?.channelBinding }

    /// Asks for a challenge. Returns its nonce.
    func challenge(_ prover: Prover) async throws -> String {
        send(prover.claim())
        return try #require(try await next(type: "challenge")["nonce"]?.string)
    }

    /// Sends a proof. Returns the answer.
    func answer(_ prover: Prover, proof: JSONValue?) async throws -> JSONValue {
        send(prover.claim(["proof": proof]))
        return try await next { $0["type"] == "registered" || $0["type"] == "error" }
    }

    /// Registers with a proof for what was dialled. Returns the answer.
    @discardableResult
    func prove(_ prover: Prover, origin: String, binding: [UInt8]? = nil) async throws -> JSONValue {
        let nonce = try await challenge(prover)
        return try await answer(
            prover, proof: prover.proof(nonce, origin: origin, binding: binding ?? channelBinding))
    }

    func send(_ frame: JSONValue) { webSocket?.send(frame.serialized()) }

    func send(text: String) { webSocket?.send(text) }

    func pauseReading() { webSocket?.pauseReading() }

    func resumeReading() { webSocket?.resumeReading() }

    func abort() { webSocket?.abort() }

    func close() { webSocket?.close() }

    /// The next frame that is like that; the ones before it are thrown away.
    func next(where isWanted: @escaping @EventLoop (JSONValue) -> Bool = { _ in true }) async throws -> JSONValue {
        while !frames.isEmpty {
            let frame = frames.removeFirst()
            if isWanted(frame) { return frame }
        }
        let frame = await withCheckedContinuation { wait(.frame(isWanted, $0)) }
        return try #require(frame, "no such frame came in time")
    }

    func next(type: String) async throws -> JSONValue {
        try await next { $0["type"]?.string == type }
    }

    func closed() async throws -> CloseReason {
        if let closeReason { return closeReason }
        let reason = await withCheckedContinuation { wait(.close($0)) }
        return try #require(reason, "the connection did not end in time")
    }

    /// Answers an application ping: everything the relay did before is here now.
    func settle() async throws -> [JSONValue] {
        send(["type": "ping"])
        var seen: [JSONValue] = []
        while true {
            let frame = try await next()
            if frame["type"] == "pong" { return seen }
            seen.append(frame)
        }
    }

    private func wait(_ waiting: Waiting) {
        if case .open = waiting, closeReason != nil { return resume(waiting, nil) }
        self.waiting = waiting
        let timer = LoopTimer { [weak self] in self?.finish(nil) }
        timer.start(after: 10_000)
        deadline = timer
    }

    private func finish(_ frame: JSONValue?) {
        guard let waiting else { return }
        self.waiting = nil
        deadline = nil
        resume(waiting, frame)
    }

    private func resume(_ waiting: Waiting, _ frame: JSONValue?) {
        switch waiting {
        case .frame(_, let continuation): continuation.resume(returning: frame)
        case .close(let continuation): continuation.resume(returning: closeReason)
        case .open(let continuation): continuation.resume(returning: isOpen)
        }
    }

    // MARK: WebSocketDelegate

    func webSocketDidOpen(_ webSocket: WebSocket) {
        isOpen = true
        if case .open = waiting { finish(nil) }
    }

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        count += 1
        guard !countsOnly, let frame = try? JSONValue(parsing: text) else { return }
        if case .frame(let isWanted, _) = waiting {
            if isWanted(frame) { finish(frame) }
        } else {
            frames.append(frame)
        }
    }

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        closeReason = reason
        switch waiting {
        case .close, .open: finish(nil)
        case .frame, nil: break
        }
    }
}

/// A relay on a free port of loopback.
@EventLoop
final class TestRelay {
    let relay: Relay
    /// What it logged.
    let log = LogBook()

    /// What a client signs that has dialled it.
    var origin: String { "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port)" }
    private let isSecure: Bool

    init(_ options: JSONObject = [:], memory: RelayMemory? = nil) throws {
        isSecure = options["tls"] != nil
        var json: JSONObject = ["listen": "127.0.0.1:0", "health": "127.0.0.1:0"]
        json.merge(options)
        let log = log
        relay = try Relay.start(RelayOptions(json: json), memory: memory) { level, text in
            EventLoop.assumeIsolated { log.entries.append(text) }
        }
    }

    @EventLoop
    final class LogBook {
        var entries: [String] = []

        nonisolated init() {}
    }

    var port: UInt16 { relay.port }

    func stop() async {
        await withCheckedContinuation { continuation in relay.stop { continuation.resume() } }
    }
}
