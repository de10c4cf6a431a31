/// The reason why a download failed.
package struct FetchError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, whose name is in events. More may be added.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let name: String

        package init(_ name: String) { self.name = name }

        package var description: String { name }

        /// There is no libcurl that can be used.
        package static let unavailable = Code("unavailable")
        /// The address begins with something else than `https://`.
        package static let notHTTPS = Code("not_https")
        /// The address is none, or can be read in more than one way.
        package static let badURL = Code("bad_url")
        /// The host leads to no address that may be connected to.
        package static let refusedAddress = Code("refused_address")
        /// A redirect to what is no `https://` address, or without an address, or one too many.
        package static let redirectRefused = Code("redirect_refused")
        /// The name service gave no address for the host.
        package static let resolveFailed = Code("resolve_failed")
        /// No address of the host took the connection.
        package static let connectFailed = Code("connect_failed")
        /// The certificate, or the TLS handshake.
        package static let tlsFailed = Code("tls_failed")
        /// It did not come in its time.
        package static let timeout = Code("timeout")
        /// The body, or the head, is larger than the limit.
        package static let tooLarge = Code("too_large")
        /// The connection ended before the answer did.
        package static let interrupted = Code("interrupted")
        /// What came is no HTTP.
        package static let badHTTP = Code("bad_http")
        /// The host has not answered a short while ago, and is not asked again yet.
        package static let hostResting = Code("host_resting")
        /// More fetches wait than there may.
        package static let tooMany = Code("too_many")
        /// Something of the machine: memory, descriptors.
        package static let system = Code("system")

        /// The server answered with this status, and not with 200: `status_404`.
        package static func status(_ status: Int) -> Code { Code("status_\(status)") }
    }

    package let code: Code
    /// For people, in English. Neither the address nor a server's text stands in it.
    package let message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    package var description: String { message }
}
