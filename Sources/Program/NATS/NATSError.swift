@_exported public import Errors

/// Why something was refused, by this client or by a NATS server.
package typealias NATSError = CodedError<NATSErrorDomain>

package enum NATSErrorDomain: ErrorDomain {
    package typealias Facts = Int64
}

extension NATSError.Code {
    /// An address, a credentials file or an option that cannot be used as it stands.
    package static var invalidOption: Self { Self("invalid_option") }
    /// A subject or header that the protocol doesn't permit.
    package static var invalidName: Self { Self("invalid_name") }
    /// The server violated the protocol or its limits.
    package static var protocolError: Self { Self("protocol_error") }
    /// The server is too old, or lacks what is needed.
    package static var unsupported: Self { Self("unsupported") }
    /// The server does not accept the credentials.
    package static var unauthorized: Self { Self("unauthorized") }
    /// The credentials don't permit the subject.
    package static var forbidden: Self { Self("forbidden") }
    /// No connection to any server.
    package static var disconnected: Self { Self("disconnected") }
    /// The server stopped answering.
    package static var unresponsive: Self { Self("unresponsive") }
    /// The payload is larger than the server permits.
    package static var tooLarge: Self { Self("too_large") }
    /// Too many bytes to send, or too many requests waiting for answers.
    package static var overloaded: Self { Self("overloaded") }
    /// The request's subject has no subscribers.
    package static var noResponders: Self { Self("no_responders") }
    /// No answer in time.
    package static var timeout: Self { Self("timeout") }
    /// An existing stream has an unsuitable configuration.
    package static var unsuitable: Self { Self("unsuitable") }
    /// The server ended the connection and says why.
    package static var refused: Self { Self("refused") }
}

extension NATSError {
    package init(_ code: Code, _ message: String, apiCode: Int64?) {
        self.init(code, message, facts: apiCode)
    }

    /// JetStream's own number for it.
    package var apiCode: Int64? { facts }
}
