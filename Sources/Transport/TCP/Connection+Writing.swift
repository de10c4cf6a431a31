import CUV

extension Connection {
    /// Bytes that the kernel has not taken yet.
    var unsentBytes: Int {
        out.count + (isWriting ? uv_stream_get_write_queue_size(tcp.stream) : 0)
    }

    /// All bytes that the kernel ever took.
    var deliveredBytes: UInt64 {
        wiredBytes &- (isWriting ? UInt64(uv_stream_get_write_queue_size(tcp.stream)) : 0)
    }

    /// Something was appended to ``out`` (or the TLS engine): it leaves at the end of this wake-up.
    @inline(__always)
    func didWrite() {
        guard !isDirty else { return }
        isDirty = true
        LoopExecutor.shared.turn.markDirty(self)
    }

    /// Calls `then` when all that is written now is with the kernel (`true`), or the connection ended first (`false`).
    func whenDrained(_ then: @escaping @EventLoop (Bool) -> Void) {
        drainWaiters.append(then)
        didWrite()
    }

    /// Sends everything in one call, and leaves to libuv what the kernel does not take.
    func flush() {
        isDirty = false
        if case .closed = state { return }
        guard !isWriting else { return }
        if let tls {
            if let error = tls.encrypt(&out, into: &wire) { return endLater(error) }
            if case .finishing = state, !isEndSaid {
                isEndSaid = true
                tls.sayEnd()
                _ = tls.encrypt(&out, into: &wire)
            }
        } else {
            swap(&out, &wire)
        }
        guard !wire.isEmpty else { return didDrain() }
        let bytes = wire.bytes
        wiredBytes &+= UInt64(bytes.count)
        var buffer = uv_buf_t(bytes)
        let result = uv_try_write(tcp.stream, &buffer, 1)
        let sent = result == UV_EAGAIN.rawValue ? 0 : Int(result)
        guard sent >= 0 else {
            wire.reset()
            return endLater(TransportError(uv: result, .closed, "the connection broke"))
        }
        guard sent < bytes.count else {
            wire.reset()
            return didDrain()
        }
        writeRest(UnsafeMutableRawBufferPointer(rebasing: bytes[sent...]))
    }

    private func writeRest(_ rest: UnsafeMutableRawBufferPointer) {
        let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
        // The bytes belong to `wire`, which stays as it is until the callback.
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        var buffer = uv_buf_t(rest)
        isWriting = true
        let result = uv_write(request, tcp.stream, &buffer, 1) { request, status in
            guard let request, let owner = request.pointee.data else { return }
            request.deallocate()
            let connection = Unmanaged<Connection>.fromOpaque(owner).takeRetainedValue()
            EventLoop.onLoop { connection.didWriteRest(status) }
        }
        guard result != 0 else { return }
        Unmanaged.passUnretained(self).release()
        request.deallocate()
        isWriting = false
        wire.reset()
        endLater(TransportError(uv: result, .closed, "the connection broke"))
    }

    private func didWriteRest(_ status: CInt) {
        isWriting = false
        wire.reset()
        if case .closed = state { return }
        guard status == 0 else { return endLater(TransportError(uv: status, .closed, "the connection broke")) }
        flush()
    }

    private func didDrain() {
        // Before the TLS handshake is done, what is written has to wait.
        guard out.isEmpty else { return }
        guard case .finishing(_, let peerEnded) = state else { return answerDrainWaiters(true) }
        answerDrainWaiters(true)
        if peerEnded { return close() }
        shutDown()
    }

    /// Says that nothing more comes from us. The request is libuv's until its callback.
    private func shutDown() {
        guard !isShutDown else { return }
        isShutDown = true
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        let result = uv_shutdown(request, tcp.stream) { request, _ in request?.deallocate() }
        guard result != 0 else { return }
        request.deallocate()
        EventLoop.later { self.close() }
    }

    func answerDrainWaiters(_ isSent: Bool) {
        guard !drainWaiters.isEmpty else { return }
        let waiters = drainWaiters
        drainWaiters = []
        EventLoop.later {
            for waiter in waiters { waiter(isSent) }
        }
    }
}

extension uv_buf_t {
    fileprivate init(_ bytes: UnsafeMutableRawBufferPointer) {
        // libuv writes at most what fits 32 bits at once; queues are bounded far below that.
        let count = CUnsignedInt(clamping: bytes.count)
        self = uv_buf_init(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), count)
    }
}
