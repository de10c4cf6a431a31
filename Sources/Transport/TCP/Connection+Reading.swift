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
        let result = uv_read_start(
            tcp.stream,
            { _, _, buffer in
                let shared = EventLoop.onLoop { LoopExecutor.shared.turn.readBuffer }
                buffer?.pointee = uv_buf_init(
                    shared.baseAddress?.assumingMemoryBound(to: CChar.self), CUnsignedInt(shared.count))
            },
            { stream, count, buffer in
                guard count != 0, let owner = stream?.pointee.data else { return }
                let connection = Unmanaged<Connection>.fromOpaque(owner).takeUnretainedValue()
                EventLoop.onLoop {
                    guard count > 0 else { return connection.didEndReading(CInt(count)) }
                    connection.didRead(UnsafeMutableRawBufferPointer(start: buffer?.pointee.base, count: count))
                }
            })
        if result != 0, result != UV_EALREADY.rawValue {
            endLater(TransportError(uv: result, .closed, "the connection cannot be read"))
        }
    }

    private func didEndReading(_ result: CInt) {
        guard result != UV_EOF.rawValue else { return end(nil) }
        end(TransportError(uv: result, .closed, "the connection broke"))
    }

    private func didRead(_ bytes: UnsafeMutableRawBufferPointer) {
        guard isOpen else { return }
        guard let tls else {
            consumer?.connection(self, didReceive: bytes)
            return
        }
        tls.receive(UnsafeRawBufferPointer(bytes))
        pump()
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
                isSecured = true
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
