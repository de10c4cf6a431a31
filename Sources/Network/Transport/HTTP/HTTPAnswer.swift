/// The answer to a request: a WebSocket, or a small page.
package enum HTTPAnswer: Sendable {
    case upgrade
    /// A whole answer. `HEAD` requests get its headers only.
    case respond(status: Int, contentType: String, body: [UInt8])
    /// Reads the body, of at most so many bytes, with pauses of up to ``HTTPListenerOptions/bodyTimeout``; then calls
    /// `then`, once, unless the connection breaks first. Of a body of more than `kept` bytes only both ends are kept, at
    /// least a quarter of that each.
    case receive(limit: Int, kept: Int, then: @Sendable @EventLoop (HTTPExchange, HTTPBody) -> Void)

    package static func respond(status: Int, contentType: String, text: String) -> HTTPAnswer {
        .respond(status: status, contentType: contentType, body: Array(text.utf8))
    }
}
