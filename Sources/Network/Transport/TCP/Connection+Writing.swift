import CUV

extension Connection {
    /// Whether libuv still has bytes that the kernel did not accept.
    var isWriting: Bool { transmission.isUnderWay }

    /// Bytes that the kernel hasn't accepted yet.
    var unsentBytes: Int {
        out.count + (isWriting ? uv_stream_get_write_queue_size(tcp.stream) : 0)
    }

    /// All bytes that the kernel ever accepted.
    var deliveredBytes: UInt64 {
        transmission.total &- (isWriting ? UInt64(uv_stream_get_write_queue_size(tcp.stream)) : 0)
    }

    /// Sends what was appended to ``out`` (or the TLS engine) at the end of this wake-up.
    @inline(__always)
    func didWrite() {
        guard !isDirty else { return }
        isDirty = true
        LoopExecutor.shared.turn.markDirty(self)
    }

    /// Calls `then` when the kernel has everything written so far (`true`), or the connection ended first (`false`).
    func whenDrained(_ then: @escaping @EventLoop (Bool) -> Void) {
        drainWaiters.append(then)
        didWrite()
    }

    /// Sends everything in one call. libuv keeps what the kernel doesn't accept.
    func flush() {
        isDirty = false
        if case .closed = state { return }
        guard !isWriting else { return }
        if let tls {
            if let error = tls.encrypt(&out, into: &transmission.bytes) { return endLater(error) }
            if case .finishing(var finish) = state, !finish.isEndSaid {
                finish.isEndSaid = true
                state = .finishing(finish)
                tls.sayEnd()
                _ = tls.encrypt(&out, into: &transmission.bytes)
            }
        } else {
            swap(&out, &transmission.bytes)
        }
        guard !transmission.bytes.isEmpty else { return didDrain() }
        let bytes = transmission.bytes.bytes
        transmission.total &+= UInt64(bytes.count)
        var buffer = uv_buf_t(bytes)
        let result = uv_try_write(tcp.stream, &buffer, 1)
        let sent = result == UV_EAGAIN.rawValue ? 0 : Int(result)
        guard sent >= 0 else {
            transmission.bytes.reset()
            return endLater(TransportError(uv: result, .closed, "the connection broke"))
        }
        guard sent < bytes.count else {
            transmission.bytes.reset()
            return didDrain()
        }
        writeRest(UnsafeMutableRawBufferPointer(rebasing: bytes[sent...]))
    }

    private func writeRest(_ rest: UnsafeMutableRawBufferPointer) {
        let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
        // The bytes belong to `transmission`, which doesn't change until the callback.
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        var buffer = uv_buf_t(rest)
        transmission.isUnderWay = true
        let result = uv_write(request, tcp.stream, &buffer, 1) { request, status in
            guard let request, let owner = request.pointee.data else { return }
            request.deallocate()
            let connection = Unmanaged<Connection>.fromOpaque(owner).takeRetainedValue()
            EventLoop.onLoop { connection.didWriteRest(status) }
        }
        guard result != 0 else { return }
        Unmanaged.passUnretained(self).release()
        request.deallocate()
        transmission.isUnderWay = false
        transmission.bytes.reset()
        endLater(TransportError(uv: result, .closed, "the connection broke"))
    }

    private func didWriteRest(_ status: CInt) {
        transmission.isUnderWay = false
        transmission.bytes.reset()
        if case .closed = state { return }
        guard status == 0 else { return endLater(TransportError(uv: status, .closed, "the connection broke")) }
        flush()
    }

    private func didDrain() {
        // Until the TLS handshake is done, written bytes have to wait.
        guard out.isEmpty else { return }
        answerDrainWaiters(true)
        guard case .finishing(let finish) = state else { return }
        if finish.peerEnded { return close() }
        shutDown(finish)
    }

    /// Tells the peer that we won't send any more. libuv owns the request until its callback.
    private func shutDown(_ finish: Finish) {
        guard !finish.isShutDown else { return }
        var finish = finish
        finish.isShutDown = true
        state = .finishing(finish)
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
        // uv_buf_init takes 32 bits; queues are bounded far below that.
        let count = CUnsignedInt(clamping: bytes.count)
        self = uv_buf_init(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), count)
    }
}
