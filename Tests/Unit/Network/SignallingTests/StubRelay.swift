import JSON
import Signalling
import TestSupport
import Testing
import Transport
import Wire

/// A relay of a few lines, on loopback: it keeps what it was sent, and says what the test tells it to.
@EventLoop
final class StubRelay: HTTPHandler, WebSocketDelegate {
    enum Manner: Sendable {
        /// Registers whoever asks.
        case registers
        /// Registers whoever answers a challenge.
        case challenges
        case refuses
        case silent
    }

    var manner: Manner
    private(set) var port: UInt16 = 0
    private(set) var frames: [SignallingFrame] = []
    private(set) var sockets: [WebSocket] = []
    private var listener: HTTPListener?

    init(_ manner: Manner = .registers, port: UInt16 = 0) throws {
        self.manner = manner
        let listener = try HTTPListener(host: "127.0.0.1", port: port, handler: self)
        self.listener = listener
        self.port = listener.port
    }

    var url: WebSocketURL { get throws { try WebSocketURL("ws://127.0.0.1:\(port)") } }

    var registrations: [SignallingFrame.Register] {
        frames.compactMap { if case .register(let register) = $0 { register } else { nil } }
    }

    func say(_ frame: SignallingFrame) { sockets.last?.send(frame.json.serialized()) }

    func say(_ text: String) { sockets.last?.send(text) }

    func dropAll() {
        for socket in sockets { socket.abort() }
        sockets = []
    }

    /// Nobody can connect any more.
    func shut() {
        dropAll()
        listener?.close()
        listener = nil
    }

    func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer { .upgrade }

    func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) {
        webSocket.delegate = self
        sockets.append(webSocket)
    }

    func webSocketDidOpen(_ webSocket: WebSocket) {}

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        guard let frame = try? SignallingFrame(parsing: text) else {
            Issue.record("the client sent no frame")
            return
        }
        frames.append(frame)
        guard case .register(let register) = frame else { return }
        switch manner {
        case .challenges where register.proof == nil:
            say(.challenge(nonce: String(repeating: "A", count: 43)))
        case .registers, .challenges: say(.registered(.init(peerID: register.peerID, serverTime: 1)))
        case .refuses: say(.error("not you"))
        case .silent: break
        }
    }

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        sockets.removeAll { $0 === webSocket }
    }
}

/// A connection with its events, and a way to wait for something to become true, with a deadline.
@EventLoop
final class Watched {
    let connection: RelayConnection
    private(set) var events: [LinkEvent] = []

    init(_ url: WebSocketURL, id: PeerID = "did:key:zMe", seed: UInt64 = 1) {
        let box = EventBox()
        connection = RelayConnection(
            url: url,
            registration: SignallingFrame.Register(peerID: id, deviceType: .mobile, deviceInfo: ["name": "test"]),
            generator: SeededGenerator(seed: seed)
        ) { _, event in box.owner?.events.append(event) }
        box.owner = self
    }

    var states: [LinkState] {
        events.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    }

    var messages: [PeerMessage] {
        events.compactMap { if case .message(let message) = $0 { message } else { nil } }
    }
}

@EventLoop
private final class EventBox {
    weak var owner: Watched?
}

/// Looks at the condition after each turn of the loop, until it holds or ten seconds have passed.
@EventLoop
func eventually(
    within milliseconds: UInt64 = 10_000, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: @escaping @EventLoop () -> Bool
) async {
    let deadline = EventLoop.now + milliseconds
    let isTrue: Bool = await withCheckedContinuation { continuation in
        let poll = Poll(deadline: deadline, condition, continuation)
        poll.start()
    }
    #expect(isTrue, "it did not come in time", sourceLocation: sourceLocation)
}

@EventLoop
private final class Poll {
    private let deadline: UInt64
    private let condition: @EventLoop () -> Bool
    private let continuation: CheckedContinuation<Bool, Never>
    private var timer: LoopTimer?

    init(
        deadline: UInt64, _ condition: @escaping @EventLoop () -> Bool, _ continuation: CheckedContinuation<Bool, Never>
    ) {
        self.deadline = deadline
        self.condition = condition
        self.continuation = continuation
    }

    func start() {
        let timer = LoopTimer { self.look() }
        self.timer = timer
        timer.start(after: 0, every: 2)
    }

    private func look() {
        let isTrue = condition()
        guard isTrue || EventLoop.now >= deadline else { return }
        timer?.stop()
        timer = nil
        continuation.resume(returning: isTrue)
    }
}
