/// One WebSocket connection, of a client or of a listener. Text messages only.
///
/// It lives until it is closed, whether its owner holds it or not.
@EventLoop
package final class WebSocket {
    enum State {
        case connecting(ClientHandshake)
        case open(Connection)
        /// Our close frame is sent; the timer limits what the peer has for its own.
        case closing(Connection, code: UInt16, LoopTimer)
        case closed
    }

    package weak var delegate: (any WebSocketDelegate)? {
        didSet { isDelegateNew = true }
    }
    /// Whether it was replaced while the current bytes are read.
    var isDelegateNew = false
    /// For the owner: its own number of this connection.
    package var number: UInt64?

    let encoder: FrameEncoder
    let options: WebSocketOptions
    var state: State
    // The decoder makes no calls, so accesses can't overlap, and the runtime need not check that.
    @exclusivity(unchecked)
    var decoder: FrameDecoder
    var keepalive: Keepalive?
    /// Received, and waiting for ``resumeReading(for:)``.
    var held = ByteQueue()
    var pauses: PauseReasons = []
    var isReading = false
    var receivedBytes: UInt64 = 0
    var intake: Intake

    /// A listener's socket, open from the beginning.
    init(accepted connection: Connection, _ options: WebSocketOptions, unfinished: UnfinishedMessages? = nil) {
        encoder = LoopExecutor.shared.turn.serverFrames
        self.options = options
        decoder = FrameDecoder(
            role: .server, limit: options.maximumMessage, minorLimit: options.minorFrameLimit,
            readers: LoopExecutor.shared.turn.frameReaders)
        intake = Intake(unfinished: unfinished)
        state = .open(connection)
        remote = connection.remote
        connection.consumer = self
        keepalive = Keepalive(self)
    }

    private init(_ options: WebSocketOptions) {
        encoder = LoopExecutor.shared.turn.clientFrames
        self.options = options
        decoder = FrameDecoder(
            role: .client, limit: options.maximumMessage, minorLimit: options.minorFrameLimit,
            readers: LoopExecutor.shared.turn.frameReaders)
        intake = Intake(unfinished: nil)
        state = .closed
    }

    /// Dials. The delegate hears of it by `webSocketDidOpen` or `webSocketDidClose`, never inside this call.
    package static func connect(
        to url: WebSocketURL, options: WebSocketClientOptions = WebSocketClientOptions(),
        delegate: any WebSocketDelegate
    ) -> WebSocket {
        let webSocket = WebSocket(options.webSocket)
        webSocket.delegate = delegate
        let handshake = ClientHandshake(url, options, webSocket)
        webSocket.state = .connecting(handshake)
        handshake.begin()
        return webSocket
    }

    /// Whether messages can be sent: after the upgrade, before any closing.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// The socket, if there is one still.
    var connection: Connection? {
        switch state {
        case .open(let connection), .closing(let connection, _, _): connection
        case .connecting, .closed: nil
        }
    }

    /// Whether there is a ``connection``.
    var isConnected: Bool {
        switch state {
        case .open, .closing: true
        case .connecting, .closed: false
        }
    }

    /// The other end, also after the end; empty before a client is connected.
    package private(set) var remote = PeerAddress(host: "", port: 0, isLoopback: false)

    /// The `tls-exporter` channel binding of RFC 9266, 32 bytes; `nil` without TLS.
    package var channelBinding: [UInt8]? { connection?.tls?.channelBinding }

    /// Whole days until the server's certificate expires; `nil` without TLS.
    package var certificateDays: Int? { connection?.tls?.certificateDays }

    /// Bytes written and not yet given to the kernel: what a slow reader costs.
    package var unsentBytes: Int { connection?.unsentBytes ?? 0 }

    // MARK: The upgrade

    /// A client's upgrade succeeded; `rest` came behind it.
    func didUpgrade(_ connection: Connection, _ rest: UnsafeMutableRawBufferPointer) {
        state = .open(connection)
        remote = connection.remote
        connection.consumer = self
        keepalive = Keepalive(self)
        delegate?.webSocketDidOpen(self)
        takeOver(rest)
    }

    /// Reads what came behind the upgrade.
    func takeOver(_ rest: UnsafeMutableRawBufferPointer) {
        guard !rest.isEmpty, let connection else { return }
        self.connection(connection, didReceive: rest)
    }

    func didFailToOpen(_ error: TransportError) {
        end(CloseReason(code: nil, error: error, byPeer: false))
    }

    // MARK: The end

    /// Tells the delegate of the end, once and later.
    func end(_ reason: CloseReason) {
        if case .closed = state { return }
        state = .closed
        keepalive?.stop()
        keepalive = nil
        held.reset()
        releaseUnfinished()
        EventLoop.later { self.delegate?.webSocketDidClose(self, reason) }
    }

    /// Begins the close handshake. `reason` is cut to 123 bytes. Messages that still come are dropped.
    ///
    /// A code that may not stand in a close frame is sent as 1000.
    package func close(code: UInt16 = 1000, reason: String = "") {
        switch state {
        case .connecting(let handshake):
            handshake.cancel()
            end(CloseReason(code: nil, error: nil, byPeer: false))
        case .open(let connection):
            let code = CloseCode.mayBeSent(code) ? code : CloseCode.normal
            writeClose(code, reason, on: connection)
            keepalive?.stop()
            let limit = options.closeTimeout
            // The timer holds us until the end, which lets go of it.
            let timer = LoopTimer {
                connection.close()
                let error = TransportError(.timeout, "the peer did not answer the close frame within \(limit) ms")
                self.end(CloseReason(code: code, error: error, byPeer: false))
            }
            timer.start(after: limit)
            state = .closing(connection, code: code, timer)
            // The peer's close frame may stand behind what a pause held back.
            resumeReading(for: .all)
        case .closing, .closed: return
        }
    }

    /// Ends the connection at once, without a close frame.
    package func abort() {
        switch state {
        case .connecting(let handshake): handshake.cancel()
        case .open(let connection), .closing(let connection, _, _): connection.close()
        case .closed: return
        }
        end(CloseReason(code: nil, error: nil, byPeer: false))
    }

    /// Ends it for a peer that sends too much, and reads no more of that: the close frame may not arrive.
    package func expel(_ code: UInt16, _ error: TransportError) {
        guard let connection else { return }
        if isOpen { writeClose(code, error.code.name, on: connection) }
        connection.flush()
        connection.close()
        end(CloseReason(code: code, error: error, byPeer: false))
    }

    /// Ends it for a fault of the peer's, which is told by `code`.
    func fail(_ code: UInt16?, _ error: TransportError) {
        guard let connection else { return }
        if isOpen, let code { writeClose(code, "", on: connection) }
        connection.finish()
        end(CloseReason(code: code, error: error, byPeer: false))
    }
}
