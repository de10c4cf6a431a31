import CUV

/// One TCP connection, with or without TLS: bytes in to its consumer, bytes out in one send for each wake-up.
@EventLoop
final class Connection {
    enum State {
        case open
        /// The last bytes go out; what comes in is thrown away.
        case finishing(LoopTimer, peerEnded: Bool)
        case closed
    }

    let tcp: TCPHandle
    let remote: PeerAddress
    var tls: TLSEngine?
    var consumer: (any ConnectionConsumer)?
    var state = State.open
    /// Written by the consumer, not encrypted yet. Call ``didWrite()`` after appending.
    var out = ByteQueue()
    /// With the kernel in part: what `uv_write` works on while ``isWriting``.
    var wire = ByteQueue()
    var isWriting = false
    /// All that was ever put on the wire.
    var wiredBytes: UInt64 = 0
    var isDirty = false
    var isPaused = false
    var hasEnded = false
    /// Whether the read callback is on the stack, which goes on by itself after a resume.
    var isPumping = false
    /// Whether TLS's close_notify was made, and whether the socket's sending side was shut.
    var isEndSaid = false
    var isShutDown = false
    /// Told once, when it is closed.
    var didClose: (@EventLoop () -> Void)?
    var drainWaiters: [@EventLoop (Bool) -> Void] = []

    /// Takes over a connected handle. Reading begins with ``start(_:)``.
    init(_ tcp: TCPHandle, tls: TLSEngine? = nil) {
        self.tcp = tcp
        self.tls = tls
        remote = tcp.address(of: .remote)?.peer ?? PeerAddress(host: "", port: 0, isLoopback: false)
        uv_tcp_nodelay(tcp.pointer, 1)
    }

    /// Begins to read, and the TLS handshake if there is one.
    func start(_ consumer: any ConnectionConsumer) {
        self.consumer = consumer
        // Released when libuv has closed the handle.
        tcp.pointer.pointee.data = Unmanaged.passRetained(self as AnyObject).toOpaque()
        startReading()
        if let tls {
            if let error = tls.handshake() { return endLater(error) }
            didWrite()
        }
    }

    var isOpen: Bool {
        switch state {
        case .open: true
        case .finishing, .closed: false
        }
    }

    /// Ends it at once; unsent bytes are lost.
    func close() {
        switch state {
        case .closed: return
        case .open, .finishing: break
        }
        state = .closed
        consumer = nil
        answerDrainWaiters(false)
        tcp.close()
        if let didClose {
            self.didClose = nil
            EventLoop.later(didClose)
        }
    }

    /// Sends what is written, says the end, and closes when the peer has ended too, or after `limit` milliseconds.
    ///
    /// Closing with unread bytes would make the kernel send a reset, which takes our last bytes away from the peer.
    func finish(within limit: UInt64 = 2_000) {
        guard case .open = state else { return }
        consumer = nil
        let timer = LoopTimer { self.close() }
        timer.start(after: limit)
        // The timer and we hold each other until we are closed, which is what it is for.
        state = .finishing(timer, peerEnded: hasEnded)
        isPaused = false
        if !hasEnded { startReading() }
        didWrite()
    }

    // MARK: The end

    /// Tells the consumer once that nothing more comes.
    func end(_ error: TransportError?) {
        switch state {
        case .open:
            guard !hasEnded else { return }
            hasEnded = true
            consumer?.connectionDidEnd(self, error)
        case .finishing(let timer, _):
            if error != nil { return close() }
            hasEnded = true
            state = .finishing(timer, peerEnded: true)
            closeIfFinished()
        case .closed: return
        }
    }

    /// ``end(_:)`` outside of the call that is being made.
    func endLater(_ error: TransportError) {
        EventLoop.later { self.end(error) }
    }

    func closeIfFinished() {
        guard case .finishing(_, peerEnded: true) = state, unsentBytes == 0 else { return }
        close()
    }
}
