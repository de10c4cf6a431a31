/// An HTTP/1.1 server on one address: upgrades to WebSocket, and answers small plain requests.
///
/// Close it when it is no longer needed; until then it lives, whether its owner holds it or not.
@EventLoop
package final class HTTPListener {
    let options: HTTPListenerOptions
    let originRule: OriginRule
    /// Of the WebSockets it opens; `nil` = not limited.
    let unfinished: UnfinishedMessages?
    private weak var handler: (any HTTPHandler)?
    private let tls: TLSContext?
    private var acceptor: Acceptor?
    private var pending: [ObjectIdentifier: HTTPServerConnection] = [:]
    private let boundPort: UInt16
    private var limits: ConnectionLimits
    /// Why nobody is accepted just now.
    private var isFull = false
    private var isPausedByOwner = false

    /// Listens at once. `host` is a numeric address or `localhost`; `::` takes IPv4 too. Keeps `handler` weakly.
    ///
    /// - Throws: ``TransportError/Code/addressInUse``, ``TransportError/Code/tlsFailed`` (its files),
    ///   ``TransportError/Code/invalidOption`` (the host), ``TransportError/Code/listenFailed``.
    package init(
        host: String, port: UInt16, tls: TLSServerOptions? = nil, options: HTTPListenerOptions = HTTPListenerOptions(),
        handler: any HTTPHandler
    ) throws(TransportError) {
        let numeric = host == "localhost" ? "127.0.0.1" : host
        guard let address = SocketAddress(numeric: numeric, port: port) else {
            throw TransportError(
                .invalidOption, "cannot listen on \(host): use a numeric address of this machine, or 0.0.0.0 for all")
        }
        self.options = options
        self.handler = handler
        limits = ConnectionLimits(
            maximum: options.maximumConnections, maximumPendingPerAddress: options.maximumPendingPerAddress)
        unfinished = options.receiving.map { UnfinishedMessages($0) }
        originRule = OriginRule(allowed: options.allowedOrigins, isSecure: tls != nil)
        if let tls {
            self.tls = try TLSContext.server(tls)
        } else {
            self.tls = nil
        }
        // The acceptor's events need the whole listener, and its port is known only afterwards.
        let inlet = Inlet()
        let acceptor = try Acceptor(address, backlog: options.backlog) { inlet.listener?.handle($0) }
        self.acceptor = acceptor
        boundPort = acceptor.address.port
        inlet.listener = self
    }

    /// Keeps the listener alive while its acceptor is.
    @EventLoop
    private final class Inlet {
        var listener: HTTPListener?
    }

    /// The port it listens on, also when it was asked for any (0).
    package var port: UInt16 { boundPort }

    /// Connections that were accepted and are still with the listener: not yet upgraded.
    package var pendingConnections: Int { pending.count }

    /// All its connections that are not closed yet, WebSockets included.
    package var connections: Int { limits.count }

    /// Memory that unfinished messages hold now.
    package var unfinishedBytes: Int { unfinished?.byteCount ?? 0 }

    /// Leaves newcomers in the kernel's backlog.
    package func pauseAccepting() {
        isPausedByOwner = true
        acceptor?.pause()
    }

    package func resumeAccepting() {
        isPausedByOwner = false
        if !isFull { acceptor?.resume() }
    }

    /// Stops listening and ends plain connections. Open WebSockets stay.
    package func close() {
        acceptor?.close()
        acceptor = nil
        let waiting = pending
        pending = [:]
        for connection in waiting.values { connection.close() }
    }

    // MARK: From the acceptor and the connections

    private func handle(_ event: Acceptor.Event) {
        switch event {
        case .accepted(let tcp): adopt(tcp)
        case .failed(let error): handler?.listener(self, cannotAccept: error)
        case .recovered: handler?.listenerDidRecover(self)
        }
    }

    private func adopt(_ tcp: TCPHandle) {
        var engine: TLSEngine?
        if let tls {
            guard let made = try? TLSEngine.server(tls) else { return tcp.close() }
            engine = made
        }
        let connection = Connection(tcp, tls: engine)
        switch limits.arrived(connection.remote) {
        case .taken: break
        case .takenAsLast(let isNews):
            isFull = true
            acceptor?.pause()
            if isNews { sayFull() }
        case .refused: return tcp.close()
        }
        // Told that it is full, the owner may have closed us.
        guard acceptor != nil else { return tcp.close() }
        connection.didClose = { self.didClose() }
        let server = HTTPServerConnection(connection, listener: self)
        pending[ObjectIdentifier(connection)] = server
        server.begin()
    }

    private func sayFull() {
        let error = TransportError(
            .full, "the limit of \(options.maximumConnections) connections is reached; new ones wait until others end")
        handler?.listener(self, cannotAccept: error)
    }

    private func didClose() {
        let departure = limits.closed()
        if departure.resumes {
            isFull = false
            if !isPausedByOwner { acceptor?.resume() }
        }
        if departure.isNews { handler?.listenerDidRecover(self) }
    }

    /// The connection is upgraded or at its end.
    func forget(_ connection: Connection) {
        guard pending.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        limits.settled(connection.remote)
    }

    func ask(_ request: HTTPRequestHead, from remote: PeerAddress) -> HTTPAnswer {
        guard let handler else { return .respond(status: 503, contentType: "text/plain", text: "closing\n") }
        return handler.listener(self, didReceive: request, from: remote)
    }

    func tell(of webSocket: WebSocket) {
        guard let handler else { return webSocket.abort() }
        handler.listener(self, didOpen: webSocket)
    }
}
