/// The number in an error of a response (WireMessages, "Error codes"). An open list.
package struct ErrorCode: Sendable, Hashable {
    package let number: Int64

    package init(_ number: Int64) { self.number = number }

    package static let invalidRequest = ErrorCode(-32600)
    package static let methodNotFound = ErrorCode(-32601)
    package static let invalidParams = ErrorCode(-32602)
    package static let internalError = ErrorCode(-32603)
    package static let timeout = ErrorCode(-32000)
    /// Elsewhere deployed code means "no handler" by it.
    package static let permissionDenied = ErrorCode(-32001)
    /// Elsewhere deployed code means "the handler failed" by it.
    package static let cancelled = ErrorCode(-32002)
    package static let denied = ErrorCode(-32010)
}
