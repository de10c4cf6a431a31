/// An HTTP/1.1 server on one address: upgrades to WebSocket, and answers small plain requests.
///
/// Close it when it is no longer needed; until then it lives, whether its owner holds it or not.
@EventLoop
package final class HTTPListener {
    package private(set) var options: HTTPListenerOptions
    private(set) var originRule: OriginRule
    /// Of the WebSockets it opens; `nil` = not limited.
    let unfinished: UnfinishedMessages?
    private weak var handler: (any HTTPHandler)?
    /// Which proxies may name their clients; `nil` = none.
    package var proxies: (any ProxyRule)?
    /// TLS handshakes since the start, and PROXY headers that were refused.
    package private(set) var handshakes = Handshakes()
    private let handshakeMemory = HandshakeMemory()
    package internal(set) var refusedPreambles: UInt64 = 0
    private var tls: TLSContext?
    private var acceptor: Acceptor?
    private var pending: [ObjectIdentifier: Pending] = [:]
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
        let acceptor = try Acceptor(
            address, backlog: options.backlog, reusesPort: options.reusesPort, inherited: options.descriptor
        ) { inlet.listener?.handle($0) }
        self.acceptor = acceptor
        boundPort = acceptor.address.port
        inlet.listener = self
    }

    /// A connection that is not upgraded yet.
    private struct Pending {
        let connection: Connection
        /// As which it counts towards the limit for one address; `nil` = it doesn't.
        var counted: PeerAddress?
    }

    package struct Handshakes: Sendable {
        package fileprivate(set) var completed: UInt64 = 0
        /// Of these.
        package fileprivate(set) var resumed: UInt64 = 0
        package fileprivate(set) var failed: UInt64 = 0

        package init() {}
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

    /// Whether the limit of connections is reached.
    package var isAtLimit: Bool { isFull }

    /// Uses another certificate for the connections to come. On an error, the one before stays.
    package func renew(_ tls: TLSServerOptions) throws(TransportError) { self.tls = try TLSContext.server(tls) }

    /// Changes limits and origins, for open connections as far as they are asked again. Its address, `descriptor`,
    /// `backlog` and `receiving` stay.
    package func change(_ options: HTTPListenerOptions) {
        self.options = options
        originRule = OriginRule(allowed: options.allowedOrigins, isSecure: tls != nil)
        if limits.change(
            maximum: options.maximumConnections, maximumPendingPerAddress: options.maximumPendingPerAddress)
        {
            isFull = false
            if !isPausedByOwner { acceptor?.resume() }
        }
    }

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
        for entry in waiting.values { entry.connection.close() }
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
        let connection = Connection(tcp)
        let manner = proxies?.manner(of: connection.remote) ?? .direct
        let isDirect = if case .direct = manner { true } else { false }
        if pending.count >= options.maximumPending { slowest(for: connection.remote)?.makeRoom() }
        switch limits.arrived(isDirect ? connection.remote : nil) {
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
        pending[ObjectIdentifier(connection)] = Pending(
            connection: connection, counted: isDirect ? connection.remote : nil)
        guard case .preamble = manner else { return serve(connection) { connection.start($0) } }
        connection.start(ProxyPreamble(connection, listener: self))
    }

    /// The connection that makes room for a newcomer: see ``HTTPListenerOptions/maximumPending``.
    private func slowest(for newcomer: PeerAddress) -> HTTPServerConnection? {
        var counts = [newcomer.network: 1]
        for entry in pending.values { counts[entry.connection.remote.network, default: 0] += 1 }
        var found: (consumer: HTTPServerConnection, count: Int, since: UInt64)?
        for entry in pending.values {
            guard let consumer = entry.connection.consumer as? HTTPServerConnection, let since = consumer.waitingSince
            else { continue }
            let count = counts[entry.connection.remote.network] ?? 0
            if let found, (found.count, since) >= (count, found.since) { continue }
            found = (consumer, count, since)
        }
        return found?.consumer
    }

    /// Whether answered connections may stay until their clients have sent what is not read: as long as they don't take the
    /// places of others.
    var hasRoomForLingering: Bool { limits.count < options.maximumConnections / 2 }

    /// Begins to speak with a client: TLS, if there is a certificate, then HTTP.
    private func serve(_ connection: Connection, _ begin: (HTTPServerConnection) -> Void) {
        if let tls {
            guard let engine = try? TLSEngine.server(tls) else { return abandon(connection) }
            connection.tls = engine
        }
        begin(HTTPServerConnection(connection, listener: self))
    }

    /// A proxy has named its client; `rest` is what came behind that.
    func identified(_ connection: Connection, as named: PeerAddress, _ rest: UnsafeMutableRawBufferPointer) {
        var client = named
        client.manner = .preamble
        guard connection.isOpen, limits.identified(client) else { return abandon(connection) }
        connection.remote = client
        pending[ObjectIdentifier(connection)]?.counted = client
        serve(connection) { connection.consumer = $0 }
        if connection.isOpen, !rest.isEmpty { connection.didRead(rest) }
    }

    /// Closes a connection that was not upgraded.
    func abandon(_ connection: Connection) {
        forget(connection)
        connection.close()
    }

    func didSecure(_ connection: Connection) {
        handshakes.completed &+= 1
        handshakeMemory.handshakeEnded()
        if connection.tls?.isResumed == true { handshakes.resumed &+= 1 }
    }

    func didFailHandshake() {
        handshakes.failed &+= 1
        handshakeMemory.handshakeEnded()
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
        guard let entry = pending.removeValue(forKey: ObjectIdentifier(connection)) else { return }
        if let counted = entry.counted { limits.settled(counted) }
    }

    /// The client that sent a request: the other end, or the one that a trusted proxy names.
    func client(of request: HTTPRequestHead, on connection: Connection) -> PeerAddress {
        guard let proxies, case .headers = proxies.manner(of: connection.remote) else { return connection.remote }
        var client = proxies.client(of: request, from: connection.remote)
        // If it names nobody, it forwarded the bytes of a TLS connection that ends here.
        if tls == nil || client != connection.remote { client.manner = .headers }
        return client
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
