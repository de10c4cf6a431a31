/// The reason why a connection, an address or a peer's bytes were refused.
package struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let name: String

        package init(_ name: String) { self.name = name }

        package var description: String { name }

        /// A text that is no `ws://` or `wss://` address.
        package static let invalidURL = Code("invalid_url")
        /// A host, port or option that cannot be used as it stands.
        package static let invalidOption = Code("invalid_option")
        /// The name service gave no address for the host.
        package static let resolveFailed = Code("resolve_failed")
        /// No address of the host took the connection.
        package static let connectFailed = Code("connect_failed")
        /// A certificate, a key file or the TLS handshake; the message names which and why.
        package static let tlsFailed = Code("tls_failed")
        /// The server answered the WebSocket upgrade with something else than 101.
        package static let upgradeRefused = Code("upgrade_refused")
        /// Bytes that are no HTTP, or an upgrade that breaks RFC 6455.
        package static let badHTTP = Code("bad_http")
        /// A request head larger than the limit.
        package static let headTooLarge = Code("head_too_large")
        /// Another program listens on the address already.
        package static let addressInUse = Code("address_in_use")
        /// Listening failed for another reason.
        package static let listenFailed = Code("listen_failed")
        /// The process is out of file descriptors: newcomers wait in the kernel's backlog.
        package static let outOfFiles = Code("out_of_files")
        /// A listener has as many connections as it may: newcomers wait in the kernel's backlog.
        package static let full = Code("full")
        /// The connection ended without a close frame.
        package static let closed = Code("closed")
        /// A step did not finish in its time; the message names it.
        package static let timeout = Code("timeout")
        /// The peer did not answer a keepalive ping.
        package static let pongMissing = Code("pong_missing")
        /// Frames that break RFC 6455.
        package static let protocolError = Code("protocol_error")
        /// A text message that is not UTF-8.
        package static let notUTF8 = Code("not_utf8")
        /// A binary message: this wire is text only.
        package static let binaryMessage = Code("binary_message")
        /// A message over the limit.
        package static let messageTooBig = Code("message_too_big")
        /// The peer reads too slowly: more bytes wait for it than the limit allows.
        package static let slowReader = Code("slow_reader")
        /// The peer keeps sending more frames than it may.
        package static let tooManyFrames = Code("too_many_frames")
        /// A message was not complete in its time.
        package static let unfinishedMessage = Code("unfinished_message")
        /// Unfinished messages took more memory than they may.
        package static let receiveBudget = Code("receive_budget")
        /// A system call failed for a reason of its own.
        package static let system = Code("system")
    }

    package let code: Code
    /// For people, in English: what happened and what to do. Never a peer's text.
    package let message: String
    package let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { message }
}
