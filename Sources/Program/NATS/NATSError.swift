/// Why something was refused, by this client or by a NATS server.
package struct NATSError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// An address, a credentials file or an option that cannot be used as it stands.
        case invalidOption = "invalid_option"
        /// A subject or a header that the protocol does not permit.
        case invalidName = "invalid_name"
        /// The server broke the protocol, or sent more than it may.
        case protocolError = "protocol_error"
        /// The server is too old, or lacks what is needed.
        case unsupported = "unsupported"
        /// The server does not accept the credentials.
        case unauthorized = "unauthorized"
        /// The credentials don't permit the subject.
        case forbidden = "forbidden"
        /// No connection to any server.
        case disconnected = "disconnected"
        /// The server stopped answering.
        case unresponsive = "unresponsive"
        /// The payload is larger than the server permits.
        case tooLarge = "too_large"
        /// Too much waits to be sent, or too many requests wait for answers.
        case overloaded = "overloaded"
        /// Nobody subscribes to the request's subject.
        case noResponders = "no_responders"
        /// No answer in time.
        case timeout = "timeout"
        /// A stream that is there already can't be used for what it is needed for.
        case unsuitable = "unsuitable"
        /// The server ended the connection and says why.
        case refused = "refused"
    }

    package let code: Code
    /// For people, in English. Without credentials and payloads.
    package let message: String
    /// JetStream's own number for it.
    package let apiCode: Int64?

    package init(_ code: Code, _ message: String, apiCode: Int64? = nil) {
        (self.code, self.message, self.apiCode) = (code, message, apiCode)
    }

    package var description: String { message }
}
