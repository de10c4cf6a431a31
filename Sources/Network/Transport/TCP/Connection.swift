import CUV

/// One TCP connection, with or without TLS: passes received bytes to its consumer, sends once per wake-up.
@EventLoop
final class Connection {
    enum State {
        case open
        /// Sends the last bytes; discards what it receives.
        case finishing(Finish)
        case closed
    }

    /// How far both sides are with ending the connection.
    struct Finish {
        /// Closes the connection when the peer takes too long. It and the connection retain each other until then.
        let timer: LoopTimer
        var peerEnded: Bool
        /// Whether TLS's close_notify was made.
        var isEndSaid = false
        /// Whether the socket's sending side was shut down.
        var isShutDown = false
        /// For each piece that still arrives, by its bytes: how long to wait for the next one, and whether to.
        let limit: UInt64
        let lingers: (@EventLoop (Int) -> Bool)?
    }

    /// Bytes on their way into the kernel.
    struct Transmission: ~Copyable {
        /// What `uv_write` works on while ``isUnderWay``.
        var bytes = ByteQueue()
        var isUnderWay = false
        /// Everything ever passed to the kernel.
        var total: UInt64 = 0
    }

    let tcp: TCPHandle
    /// The other end, or the client that a trusted proxy names.
    var remote: PeerAddress
    var tls: TLSEngine?
    var consumer: (any ConnectionConsumer)?
    var state = State.open
    /// Written by the consumer, not yet encrypted. Call ``didWrite()`` after appending.
    // A queue makes no calls, so accesses can't overlap, and the runtime need not check that.
    @exclusivity(unchecked)
    var out = ByteQueue()
    var transmission = Transmission()
    var isDirty = false
    var isPaused = false
    var hasEnded = false
    /// Whether the read callback is on the stack: it continues by itself after a resume.
    var isPumping = false
    /// Called once, when the connection is closed.
    var didClose: (@EventLoop () -> Void)?
    var drainWaiters: [@EventLoop (Bool) -> Void] = []

    /// Takes over a connected handle. Call ``start(_:)`` to begin reading.
    init(_ tcp: TCPHandle, tls: TLSEngine? = nil) {
        self.tcp = tcp
        self.tls = tls
        remote = tcp.address(of: .remote)?.peer ?? PeerAddress(host: "", port: 0, isLoopback: false)
        uv_tcp_nodelay(tcp.pointer, 1)
    }

    /// Starts reading, and the TLS handshake if there is one.
    func start(_ consumer: any ConnectionConsumer) {
        self.consumer = consumer
        // Released once libuv has closed the handle.
        tcp.pointer.pointee.data = Unmanaged.passRetained(self as AnyObject).toOpaque()
        startReading()
        if let tls {
            if let error = tls.handshake() { return endLater(error) }
            didWrite()
        }
    }

    /// Turns a plain connection to TLS: what is received from now on belongs to the handshake.
    func startTLS(_ engine: TLSEngine) {
        guard isOpen, tls == nil else { return }
        // What was written before goes out in plain text.
        flush()
        tls = engine
        if let error = engine.handshake() { return endLater(error) }
        didWrite()
    }

    var isOpen: Bool {
        switch state {
        case .open: true
        case .finishing, .closed: false
        }
    }

    /// Closes the connection immediately. Unsent bytes are lost.
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

    /// Sends what was written, signals the end, and closes when the peer ends too, or after `limit` milliseconds.
    ///
    /// Closing with unread bytes would make the kernel send a reset, and the peer could lose our last bytes. Therefore a peer
    /// that is still sending gets the time again with each piece, while `lingers` says so.
    func finish(within limit: UInt64 = 2_000, while lingers: (@EventLoop (Int) -> Bool)? = nil) {
        guard case .open = state else { return }
        consumer = nil
        let timer = LoopTimer { self.close() }
        timer.start(after: limit)
        state = .finishing(Finish(timer: timer, peerEnded: hasEnded, limit: limit, lingers: lingers))
        isPaused = false
        if !hasEnded { startReading() }
        didWrite()
    }

    // MARK: The end

    /// Tells the consumer, once, that no more bytes will come.
    func end(_ error: TransportError?) {
        switch state {
        case .open:
            guard !hasEnded else { return }
            hasEnded = true
            consumer?.connectionDidEnd(self, error)
        case .finishing(var finish):
            if error != nil { return close() }
            hasEnded = true
            finish.peerEnded = true
            state = .finishing(finish)
            closeIfFinished()
        case .closed: return
        }
    }

    /// Calls ``end(_:)`` after the current call has returned.
    func endLater(_ error: TransportError) {
        EventLoop.later { self.end(error) }
    }

    /// Bytes have come that are not read.
    func didDiscard(_ count: Int) {
        guard case .finishing(let finish) = state, finish.lingers?(count) == true else { return }
        finish.timer.start(after: finish.limit)
    }

    func closeIfFinished() {
        guard case .finishing(let finish) = state, finish.peerEnded, unsentBytes == 0 else { return }
        close()
    }
}
