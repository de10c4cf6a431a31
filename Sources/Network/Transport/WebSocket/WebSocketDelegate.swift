/// The events that a WebSocket reports to its owner. All calls come on the event loop and never inside a call that the
/// owner makes.
@EventLoop
package protocol WebSocketDelegate: AnyObject {
    /// The upgrade succeeded. On clients only: a listener's sockets are open when they are handed over.
    func webSocketDidOpen(_ webSocket: WebSocket)

    /// One whole text message of valid UTF-8, borrowed for the call.
    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer)

    /// The end, exactly once, also after a connect that failed. Nothing comes after it.
    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason)
}
