import CUV

extension Connection {
    /// Leaves the peer's bytes with the kernel; the consumer keeps what it was given.
    func pauseReading() {
        guard isOpen, !isPaused else { return }
        isPaused = true
        uv_read_stop(tcp.stream)
    }

    func resumeReading() {
        guard isOpen, isPaused else { return }
        isPaused = false
        guard !hasEnded else { return }
        // Decrypted bytes may wait in the engine, and no socket event will tell of them.
        if tls != nil, !isPumping { EventLoop.later { self.pump() } }
        startReading()
    }

    func startReading() {
        let result = uv_read_start(tcp.stream, lendReadBuffer, takeRead)
        if result != 0, result != UV_EALREADY.rawValue {
            endLater(TransportError(uv: result, .closed, "cannot read from the connection"))
        }
    }

    fileprivate func didEndReading(_ result: CInt) {
        guard result != UV_EOF.rawValue else { return end(nil) }
        end(TransportError(uv: result, .closed, "the connection broke"))
    }

    func didRead(_ bytes: UnsafeMutableRawBufferPointer) {
        guard isOpen else { return didDiscard(bytes.count) }
        guard let tls else {
            consumer?.connection(self, didReceive: bytes)
            return
        }
        // A record's worth at a time: OpenSSL keeps the memory of the most that ever waited.
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty, isOpen {
            let slice = rest.prefix(TLSEngine.slice)
            tls.receive(UnsafeRawBufferPointer(rebasing: slice))
            rest = UnsafeRawBufferPointer(rebasing: rest[slice.count...])
            pump()
        }
    }

    /// Gives the consumer what the TLS engine has decrypted, until it is empty or reading is paused.
    private func pump() {
        guard let tls, !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        while isOpen, !isPaused, !hasEnded {
            let buffer = LoopExecutor.shared.turn.plainBuffer
            switch tls.read(into: buffer) {
            case .bytes(let count):
                consumer?.connection(self, didReceive: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)))
            case .secured:
                consumer?.connectionDidSecure(self)
            case .wantsMore:
                didWrite()
                return
            case .ended:
                end(nil)
            case .failed(let error):
                // Our alert tells the peer why.
                flush()
                end(error)
            }
        }
        didWrite()
    }
}

// libuv's callbacks are functions of their own: a closure inside of an isolated method would ask the runtime, at each
// call, whether it is on the right executor.

private func lendReadBuffer(
    _: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    let shared = EventLoop.onLoop { LoopExecutor.shared.turn.readBuffer }
    buffer?.pointee = uv_buf_init(
        shared.baseAddress?.assumingMemoryBound(to: CChar.self), CUnsignedInt(shared.count))
}

private func takeRead(
    _ stream: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?
) {
    guard count != 0, let owner = stream?.pointee.data else { return }
    let connection = Unmanaged<Connection>.fromOpaque(owner).takeUnretainedValue()
    // The read buffer is the loop's own.
    nonisolated(unsafe) let bytes = UnsafeMutableRawBufferPointer(start: buffer?.pointee.base, count: max(0, count))
    EventLoop.onLoop {
        guard count > 0 else { return connection.didEndReading(CInt(count)) }
        connection.didRead(bytes)
    }
}
