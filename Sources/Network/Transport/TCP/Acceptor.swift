import CUV
import Glibc

/// A listening socket that takes newcomers as fast as it is allowed to.
///
/// The accepting is our own and not libuv's, which cannot pause, and which at the limit of descriptors accepts newcomers
/// only to drop them.
@EventLoop
final class Acceptor {
    enum Event {
        case accepted(TCPHandle)
        /// Newcomers wait in the backlog; tried again each second. Said once until `recovered`.
        case failed(TransportError)
        case recovered
    }

    let address: SocketAddress
    private let descriptor: CInt
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let onEvent: @EventLoop (Event) -> Void
    /// The system call; tests let it fail.
    private let acceptOne: (CInt) -> CInt
    private var retry: LoopTimer?
    private var isPaused = false
    private var isFailing = false
    private var isClosed = false

    /// Newcomers taken in one wake-up, so that a flood of them leaves others their turn.
    private static let batch = 64
    private static let retryDelay: UInt64 = 1_000

    /// - Parameter inherited: a socket that listens already; closed with this one.
    init(
        _ address: SocketAddress, backlog: CInt, reusesPort: Bool = false, inherited: CInt? = nil,
        accept: @escaping (CInt) -> CInt = { bw_accept($0) }, _ onEvent: @escaping @EventLoop (Event) -> Void
    ) throws(TransportError) {
        if let inherited {
            guard Self.boundAddress(of: inherited) != nil else {
                throw TransportError(.listenFailed, "the socket passed to the relay is not a listening TCP socket")
            }
            _ = fcntl(inherited, F_SETFL, fcntl(inherited, F_GETFL) | O_NONBLOCK)
            _ = fcntl(inherited, F_SETFD, FD_CLOEXEC)
            descriptor = inherited
        } else {
            descriptor = try Self.listen(on: address, backlog, reusesPort: reusesPort)
        }
        self.onEvent = onEvent
        acceptOne = accept
        poll = .allocate(capacity: 1)
        let result = uv_poll_init(LoopExecutor.shared.handle, poll, descriptor)
        guard result == 0, let bound = Self.boundAddress(of: descriptor) else {
            Glibc.close(descriptor)
            throw TransportError(uv: result, .listenFailed, "cannot watch the listening socket")
        }
        self.address = bound
        retry = LoopTimer { [weak self] in self?.tryAgain() }
        poll.pointee.data = Unmanaged.passRetained(self).toOpaque()
        startPolling()
    }

    func pause() {
        guard !isClosed else { return }
        isPaused = true
        retry?.stop()
        uv_poll_stop(poll)
    }

    func resume() {
        guard !isClosed, isPaused else { return }
        isPaused = false
        startPolling()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        retry = nil
        let handle = UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)
        uv_close(handle) { handle in
            guard let handle else { return }
            if let owner = handle.pointee.data { Unmanaged<Acceptor>.fromOpaque(owner).release() }
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_poll_t.self).deallocate()
        }
        // libuv has let go of it already: uv_close stops the poll at once.
        Glibc.close(descriptor)
    }

    // MARK: Listening

    private static func listen(
        on address: SocketAddress, _ backlog: CInt, reusesPort: Bool
    ) throws(TransportError) -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        guard descriptor >= 0 else {
            throw TransportError(uv: -errno, .listenFailed, "cannot create a socket to listen on")
        }
        var on: CInt = 1
        var off: CInt = 0
        let size = socklen_t(MemoryLayout<CInt>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if reusesPort { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, size) }
        if address.isIPv6 { setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &off, size) }
        let isBound = address.withPointer { bind(descriptor, $0, address.length) } == 0
        if isBound, Glibc.listen(descriptor, backlog) == 0 { return descriptor }
        let result = -errno
        Glibc.close(descriptor)
        let place = address.peer.description
        guard result != -EADDRINUSE else {
            throw TransportError(
                .addressInUse, "\(place) is in use by another program; stop it or choose another port")
        }
        throw TransportError(uv: result, .listenFailed, "cannot listen on \(place)")
    }

    private static func boundAddress(of descriptor: CInt) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getsockname(descriptor, address, &length) == 0 ? SocketAddress(address, length: Int(length)) : nil
            }
        }
    }

    // MARK: Accepting

    private func startPolling() {
        uv_poll_start(poll, CInt(UV_READABLE.rawValue)) { poll, _, _ in
            guard let owner = poll?.pointee.data else { return }
            let acceptor = Unmanaged<Acceptor>.fromOpaque(owner).takeUnretainedValue()
            EventLoop.onLoop { acceptor.accept() }
        }
    }

    private func accept() {
        for _ in 0..<Self.batch {
            guard !isClosed, !isPaused else { return }
            let newcomer = acceptOne(descriptor)
            guard newcomer >= 0 else {
                switch errno {
                case EAGAIN, EINTR: return
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return fail(-errno)
                // The newcomer is gone already, or its network is: the next one may be fine.
                default: continue
                }
            }
            if isFailing {
                isFailing = false
                onEvent(.recovered)
            }
            adopt(newcomer)
        }
    }

    private func adopt(_ newcomer: CInt) {
        let tcp = TCPHandle()
        guard uv_tcp_open(tcp.pointer, newcomer) == 0 else {
            Glibc.close(newcomer)
            tcp.close()
            return
        }
        onEvent(.accepted(tcp))
    }

    private func fail(_ result: CInt) {
        uv_poll_stop(poll)
        retry?.start(after: Self.retryDelay)
        guard !isFailing else { return }
        isFailing = true
        onEvent(
            .failed(TransportError(uv: result, .outOfFiles, "cannot accept more connections; new ones wait")))
    }

    private func tryAgain() {
        guard !isClosed, !isPaused else { return }
        startPolling()
    }
}
