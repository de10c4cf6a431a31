package import JSON

/// The result of a successful call.
package struct HostReply: Sendable, Equatable {
    /// The C interface gives it as JSON.
    package var value: JSONValue
    /// The command was not executed yet: the value is `{"queued":true,"id"}`.
    package let isQueued: Bool

    package init(_ value: JSONValue, isQueued: Bool = false) { (self.value, self.isQueued) = (value, isQueued) }

    package init(_ object: JSONObject) { self.init(.object(object)) }

    /// The result of calls that only succeed: `{}`.
    package static let done = HostReply([:] as JSONObject)
}
