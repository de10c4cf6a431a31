/// The result of reading a request's body.
package enum HTTPBody: Sendable {
    case whole([UInt8])
    /// Its middle was left out; the first quarter of the bytes to keep is its beginning.
    case shortened([UInt8], omitted: Int)
    /// It is longer than the owner wanted; the rest is not read.
    case tooLarge
    /// It is not HTTP, or its length is missing or can be understood in two ways; with the reason.
    case malformed(String)
    /// No more of it came for ``HTTPListenerOptions/bodyTimeout``, in milliseconds.
    case timedOut(UInt64)
}

/// A request whose body was read, and which is answered later. Its connection reads nothing until then, so that requests
/// of one connection are answered, and carried out, in their order.
@EventLoop
package final class HTTPExchange {
    private var answer: (@EventLoop (HTTPReply) -> Void)?

    init(_ answer: @escaping @EventLoop (HTTPReply) -> Void) { self.answer = answer }

    /// Answers; of several answers the first one counts. Without effect if the client has gone.
    package func respond(_ reply: HTTPReply) {
        let answer = answer
        self.answer = nil
        answer?(reply)
    }
}

/// A small answer.
package struct HTTPReply: Sendable {
    package let status: Int
    package let contentType: String
    package let body: [UInt8]

    package init(status: Int, contentType: String, text: String) {
        (self.status, self.contentType, body) = (status, contentType, Array(text.utf8))
    }
}
