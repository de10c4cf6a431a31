/// A message that a subscription got.
package struct NATSMessage: Sendable, Equatable {
    package var subject: String
    /// Where an answer goes.
    package var reply: String?
    package var headers = NATSHeaders()
    package var payload: [UInt8]

    package init(subject: String, reply: String? = nil, headers: NATSHeaders = NATSHeaders(), payload: [UInt8] = []) {
        (self.subject, self.reply, self.headers, self.payload) = (subject, reply, headers, payload)
    }
}
