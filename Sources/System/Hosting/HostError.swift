package import JSON

/// The reason why a host's request failed.
package struct HostError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind, which the C interface turns into a status of the same name.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        package static let invalid = Code("invalid")
        package static let busy = Code("busy")
        package static let offline = Code("offline")
        package static let timeout = Code("timeout")
        package static let remote = Code("remote")
        package static let undecodable = Code("protocol")
        package static let denied = Code("denied")
        package static let unsupported = Code("unsupported")
        package static let store = Code("store")
        package static let closed = Code("closed")
        package static let io = Code("io")
        package static let network = Code("network")
        package static let pairing = Code("pairing")
        package static let notFound = Code("not_found")
        package static let limit = Code("limit")
    }

    package let code: Code
    /// An English message for people: what is wrong and what to do.
    package let message: String
    /// Further facts: `field`, `reason`, `path`, the peer's `code`.
    package let detail: JSONObject

    package init(_ code: Code, _ message: String, detail: JSONObject = [:]) {
        self.code = code
        self.message = message
        self.detail = detail
    }

    package static let closed = HostError(.closed, "the handle was closed while the call waited")
    package static let invalidPushService = HostError(
        .invalid, "service must have 1 to 64 letters, digits and . _ -", detail: ["field": "service"])

    package var description: String { message }
}
