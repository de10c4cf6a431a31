@_exported public import Errors

/// The reason why a connection, an address or a peer's bytes were refused.
package typealias TransportError = CodedError<TransportErrorDomain>

package enum TransportErrorDomain: ErrorDomain {}

extension TransportError.Code {
    /// Not a `ws://` or `wss://` URL.
    package static var invalidURL: Self { Self("invalid_url") }
    /// A host, port or option that cannot be used as it stands.
    package static var invalidOption: Self { Self("invalid_option") }
    /// The name service gave no address for the host.
    package static var resolveFailed: Self { Self("resolve_failed") }
    /// No address of the host took the connection.
    package static var connectFailed: Self { Self("connect_failed") }
    /// A certificate, a key file or the TLS handshake; the message names which and why.
    package static var tlsFailed: Self { Self("tls_failed") }
    /// The server answered the WebSocket upgrade with something else than 101.
    package static var upgradeRefused: Self { Self("upgrade_refused") }
    /// Bytes that aren't HTTP, or an upgrade that violates RFC 6455.
    package static var badHTTP: Self { Self("bad_http") }
    /// A request head larger than the limit.
    package static var headTooLarge: Self { Self("head_too_large") }
    /// Another program listens on the address already.
    package static var addressInUse: Self { Self("address_in_use") }
    /// Listening failed for another reason.
    package static var listenFailed: Self { Self("listen_failed") }
    /// The process is out of file descriptors; new connections wait in the kernel's backlog.
    package static var outOfFiles: Self { Self("out_of_files") }
    /// The listener's connection limit is reached; new connections wait in the kernel's backlog.
    package static var full: Self { Self("full") }
    /// The connection ended without a close frame.
    package static var closed: Self { Self("closed") }
    /// A step timed out; the message names it.
    package static var timeout: Self { Self("timeout") }
    /// The peer did not answer a keepalive ping.
    package static var pongMissing: Self { Self("pong_missing") }
    /// Frames that violate RFC 6455.
    package static var protocolError: Self { Self("protocol_error") }
    /// A text message that is not UTF-8.
    package static var notUTF8: Self { Self("not_utf8") }
    /// A binary message: this wire is text only.
    package static var binaryMessage: Self { Self("binary_message") }
    /// A message over the limit.
    package static var messageTooBig: Self { Self("message_too_big") }
    /// The peer reads too slowly; more bytes are queued for it than the limit allows.
    package static var slowReader: Self { Self("slow_reader") }
    /// The peer keeps exceeding the frame rate limit.
    package static var tooManyFrames: Self { Self("too_many_frames") }
    /// A message was not complete in its time.
    package static var unfinishedMessage: Self { Self("unfinished_message") }
    /// Incomplete messages exceeded their memory limit.
    package static var receiveBudget: Self { Self("receive_budget") }
    /// A system call failed for a reason of its own.
    package static var system: Self { Self("system") }
}
