import JSON
import Transport
import Wire

/// A connection to a relay that registers nothing and sends one frame (``SenderProbe``).
///
/// Letting go of it ends it.
@EventLoop
final class StrangerConnection {
    private let frame: SignallingFrame
    private let refused: @EventLoop (String?) -> Void
    private var webSocket: WebSocket?

    /// - Parameter refused: the relay answered with an error, which may have a code; the connection ended, or there was
    ///   none.
    init(
        to url: WebSocketURL, _ options: WebSocketClientOptions, sending frame: SignallingFrame,
        refused: @escaping @EventLoop (String?) -> Void
    ) {
        self.frame = frame
        self.refused = refused
        webSocket = WebSocket.connect(to: url, options: options, delegate: self)
    }

    isolated deinit {
        webSocket?.delegate = nil
        webSocket?.close()
    }
}

extension StrangerConnection: WebSocketDelegate {
    func webSocketDidOpen(_ webSocket: WebSocket) { webSocket.send(frame.json.serialized()) }

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        if case .error(let refusal)? = try? SignallingFrame(parsing: text) { refused(refusal.code) }
    }

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        self.webSocket = nil
        refused(nil)
    }
}
