/// The proxies that a listener trusts to name their clients. All calls come on the event loop.
@EventLoop
package protocol ProxyRule: AnyObject {
    /// How connections from there say who their client is.
    func manner(of remote: PeerAddress) -> ProxyManner

    /// Reads the PROXY header at the beginning of a connection; `bytes` are all that have come.
    func header(in bytes: UnsafeRawBufferPointer) -> ProxyHeader

    /// Who sent the request that came from a proxy: from its headers.
    func client(of request: HTTPRequestHead, from proxy: PeerAddress) -> PeerAddress
}

/// How a connection names its client.
package enum ProxyManner: Sendable {
    /// It is the client itself.
    case direct
    /// By headers of its requests.
    case headers
    /// By a PROXY header before everything else, TLS included.
    case preamble
}

/// The content of the beginning of a connection.
package enum ProxyHeader: Equatable, Sendable {
    case needsMore
    case invalid
    /// The client; `nil` = the proxy speaks for itself. `length`: bytes of the header.
    case client(PeerAddress?, length: Int)
}
