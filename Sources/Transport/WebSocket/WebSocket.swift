/// One WebSocket connection, of a client or of a listener. Text messages only.
///
/// It lives until it is closed, whether its owner holds it or not.
@EventLoop
package final class WebSocket {
    package weak var delegate: (any WebSocketDelegate)?
    /// For the owner: its own record of this connection.
    package var context: AnyObject?

    init() {}

    /// Dials. The delegate hears of it by `webSocketDidOpen` or `webSocketDidClose`, never inside this call.
    package static func connect(
        to url: WebSocketURL, options: WebSocketClientOptions = WebSocketClientOptions(),
        delegate: any WebSocketDelegate
    ) -> WebSocket { WebSocket() }

    /// Whether messages can be sent: after the upgrade, before any closing.
    package var isOpen: Bool { false }

    /// The other end; empty before a client is connected.
    package var remote: PeerAddress { PeerAddress(host: "", port: 0, isLoopback: false) }

    /// The `tls-exporter` channel binding of RFC 9266, 32 bytes; `nil` without TLS.
    package var channelBinding: [UInt8]? { nil }

    /// Bytes written and not yet given to the kernel: what a slow reader costs.
    package var unsentBytes: Int { 0 }

    /// Sends one text message with the other messages of this wake-up. `false` = not open, nothing was taken.
    @discardableResult
    package func send(_ text: String) -> Bool { false }

    /// Sends one text message of valid UTF-8; the bytes are copied before it returns.
    @discardableResult
    package func send(_ text: UnsafeRawBufferPointer) -> Bool { false }

    /// Sends one text message out of several pieces, in order, without putting them together first.
    @discardableResult
    package func send(pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Bool { false }

    /// Calls `then` once everything sent so far is with the kernel (`true`), or the connection ended before (`false`).
    package func whenDrained(_ then: @escaping @EventLoop (Bool) -> Void) {}

    /// Sends a ping. `then` hears once whether its pong came in time; `false` also when the connection ends.
    package func ping(within milliseconds: UInt64, then: @escaping @EventLoop (Bool) -> Void) {}

    /// Leaves the peer's bytes with the kernel. No message comes until ``resumeReading()``.
    package func pauseReading() {}

    package func resumeReading() {}

    /// Begins the close handshake. `reason` is cut to 123 bytes. Messages that still come are dropped.
    package func close(code: UInt16 = 1000, reason: String = "") {}

    /// Ends the connection at once, without a close frame.
    package func abort() {}
}
