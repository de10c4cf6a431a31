@_exported public import Errors

/// The reason why a download failed.
package typealias FetchError = CodedError<FetchErrorDomain>

package enum FetchErrorDomain: ErrorDomain {}

extension FetchError.Code {
    /// No usable libcurl.
    package static var unavailable: Self { Self("unavailable") }
    /// The URL doesn't begin with `https://`.
    package static var notHTTPS: Self { Self("not_https") }
    /// Invalid or ambiguous URL.
    package static var badURL: Self { Self("bad_url") }
    /// The host has no address that may be connected to.
    package static var refusedAddress: Self { Self("refused_address") }
    /// A redirect to a URL that isn't `https://`, without a URL, or one too many.
    package static var redirectRefused: Self { Self("redirect_refused") }
    /// The name service gave no address for the host.
    package static var resolveFailed: Self { Self("resolve_failed") }
    /// No address of the host took the connection.
    package static var connectFailed: Self { Self("connect_failed") }
    /// Certificate or TLS handshake.
    package static var tlsFailed: Self { Self("tls_failed") }
    /// The response didn't arrive in time.
    package static var timeout: Self { Self("timeout") }
    /// The body, or the head, is larger than the limit.
    package static var tooLarge: Self { Self("too_large") }
    /// The connection ended before the response was complete.
    package static var interrupted: Self { Self("interrupted") }
    /// The response isn't HTTP.
    package static var badHTTP: Self { Self("bad_http") }
    /// The host failed to answer a short while ago and isn't asked again yet.
    package static var hostResting: Self { Self("host_resting") }
    /// Too many waiting fetches.
    package static var tooMany: Self { Self("too_many") }
    /// The machine's own limits: memory, descriptors.
    package static var system: Self { Self("system") }

    /// The server answered with a status other than 200: `status_404`.
    package static func status(_ status: Int) -> Self { Self("status_\(status)") }
}
