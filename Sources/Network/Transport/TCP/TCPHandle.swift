import CUV
import Glibc

/// libuv's TCP handle, with its memory. Whoever has it closes it once.
struct TCPHandle {
    let pointer: UnsafeMutablePointer<uv_tcp_t>

    @EventLoop
    init() {
        pointer = .allocate(capacity: 1)
        // Without a family no socket is made yet, so this cannot fail.
        uv_tcp_init(LoopExecutor.shared.handle, pointer)
        pointer.pointee.data = nil
    }

    var stream: UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_stream_t.self)
    }

    var handle: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
    }

    /// Closes the handle, releases the object that its `data` retains, and frees its memory.
    @EventLoop
    func close() {
        uv_close(handle) { handle in
            guard let handle else { return }
            if let owner = handle.pointee.data { Unmanaged<AnyObject>.fromOpaque(owner).release() }
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_tcp_t.self).deallocate()
        }
    }

    enum End { case local, remote }

    func address(of end: End) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = CInt(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let result =
                    switch end {
                    case .local: uv_tcp_getsockname(pointer, address, &length)
                    case .remote: uv_tcp_getpeername(pointer, address, &length)
                    }
                return result == 0 ? SocketAddress(address, length: Int(length)) : nil
            }
        }
    }
}
