package import JSON
@_exported public import Errors

/// The reason why a host's request failed.
package typealias HostError = CodedError<HostErrorDomain>

package enum HostErrorDomain: ErrorDomain {
    package typealias Facts = JSONObject
}

extension HostError.Code {
    package static var invalid: Self { Self("invalid") }
    package static var busy: Self { Self("busy") }
    package static var offline: Self { Self("offline") }
    package static var timeout: Self { Self("timeout") }
    package static var remote: Self { Self("remote") }
    package static var undecodable: Self { Self("protocol") }
    package static var denied: Self { Self("denied") }
    package static var unsupported: Self { Self("unsupported") }
    package static var store: Self { Self("store") }
    package static var closed: Self { Self("closed") }
    package static var io: Self { Self("io") }
    package static var network: Self { Self("network") }
    package static var pairing: Self { Self("pairing") }
    package static var notFound: Self { Self("not_found") }
    package static var limit: Self { Self("limit") }
}

extension HostError {
    package init(_ code: Code, _ message: String, detail: JSONObject) {
        self.init(code, message, facts: detail.isEmpty ? nil : detail)
    }

    /// Further facts: `field`, `reason`, `path`, the peer's `code`.
    package var detail: JSONObject { facts ?? [:] }

    package static var closed: HostError { HostError(.closed, "the handle was closed while the call waited") }

    package static var invalidPushService: HostError {
        HostError(
            .invalid, "service must have 1 to 64 letters, digits and . _ -", detail: ["field": "service"])
    }
}
