/// An HTTP/1.1 server on one address: upgrades to WebSocket, and answers small plain requests.
@EventLoop
package final class HTTPListener {
    /// The port it listens on, also when it was asked for any (0).
    package private(set) var port: UInt16

    /// Listens at once. `host` is a numeric address or `localhost`; `::` takes IPv4 too. Keeps `handler` weakly.
    ///
    /// - Throws: ``TransportError/Code/addressInUse``, ``TransportError/Code/tlsFailed`` (its files), …
    package init(
        host: String, port: UInt16, tls: TLSServerOptions? = nil, options: HTTPListenerOptions = HTTPListenerOptions(),
        handler: any HTTPHandler
    ) throws(TransportError) {
        self.port = port
    }

    /// Connections that were accepted and are still with the listener: not yet upgraded.
    package var pendingConnections: Int { 0 }

    /// Leaves newcomers in the kernel's backlog.
    package func pauseAccepting() {}

    package func resumeAccepting() {}

    /// Stops listening and ends plain connections. Open WebSockets stay.
    package func close() {}
}
