import CUV

/// Connects to a host, by whichever of its addresses answers first.
@EventLoop
final class Dialer {
    private let host: String
    private let port: UInt16
    private var then: ((Result<TCPHandle, TransportError>) -> Void)?
    private var addresses: [SocketAddress] = []
    private var machine = DialStateMachine(families: [])
    private var attempts: [DialAttempt] = []
    private var delay: LoopTimer?
    private var lastFailure: CInt = 0

    /// `then` comes once, never inside this call, and not after ``cancel()``.
    init(host: String, port: UInt16, then: @escaping @EventLoop (Result<TCPHandle, TransportError>) -> Void) {
        self.host = host
        self.port = port
        self.then = then
        delay = LoopTimer { [weak self] in
            guard let self else { return }
            self.perform(self.machine.delayPassed())
        }
        if let known = Resolver.known(host, port: port) {
            EventLoop.later { self.dial(known) }
        } else {
            Resolver.ask(host, port: port) { [weak self] answer in
                switch answer {
                case .success(let addresses): self?.dial(addresses)
                case .failure(let error): self?.finish(.failure(error))
                }
            }
        }
    }

    func cancel() {
        then = nil
        stop()
    }

    private func dial(_ addresses: [SocketAddress]) {
        guard then != nil else { return }
        self.addresses = addresses
        machine = DialStateMachine(families: addresses.map(\.isIPv6))
        perform(machine.begin())
    }

    private func perform(_ action: DialStateMachine.Action) {
        guard then != nil else { return }
        switch action {
        case .wait: return
        case .giveUp:
            let reason = TransportError.uvText(lastFailure)
            finish(.failure(TransportError(.connectFailed, "cannot connect to \(host) port \(port): \(reason)")))
        case .attempt(let index):
            delay?.start(after: DialStateMachine.attemptDelay)
            let attempt = DialAttempt(addresses[index]) { [weak self] attempt, result in
                self?.didEnd(attempt, result)
            }
            attempts.append(attempt)
            attempt.begin()
        }
    }

    private func didEnd(_ attempt: DialAttempt, _ result: Result<TCPHandle, DialAttempt.Failure>) {
        attempts.removeAll { $0 === attempt }
        switch result {
        case .success(let tcp): finish(.success(tcp))
        case .failure(let failure):
            lastFailure = failure.result
            perform(machine.attemptFailed())
        }
    }

    private func finish(_ result: Result<TCPHandle, TransportError>) {
        let then = then
        self.then = nil
        stop()
        then?(result)
    }

    private func stop() {
        delay = nil
        let attempts = attempts
        self.attempts = []
        for attempt in attempts { attempt.cancel() }
    }
}

/// One attempt to connect to one address.
@EventLoop
private final class DialAttempt {
    struct Failure: Error {
        let result: CInt
    }

    private let address: SocketAddress
    private let tcp = TCPHandle()
    private var then: ((DialAttempt, Result<TCPHandle, Failure>) -> Void)?

    init(_ address: SocketAddress, _ then: @escaping @EventLoop (DialAttempt, Result<TCPHandle, Failure>) -> Void) {
        self.address = address
        self.then = then
    }

    func begin() {
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(self).toOpaque()
        let result = address.withPointer {
            uv_tcp_connect(request, tcp.pointer, $0) { request, status in
                guard let request, let owner = request.pointee.data else { return }
                request.deallocate()
                let attempt = Unmanaged<DialAttempt>.fromOpaque(owner).takeRetainedValue()
                EventLoop.onLoop { attempt.didConnect(status) }
            }
        }
        guard result != 0 else { return }
        Unmanaged.passUnretained(self).release()
        request.deallocate()
        EventLoop.later { self.fail(result) }
    }

    func cancel() {
        guard then != nil else { return }
        then = nil
        tcp.close()
    }

    private func didConnect(_ status: CInt) {
        guard let then else { return }
        guard status == 0 else { return fail(status) }
        // Dialling an unused local port can, once in a while, connect the socket with itself.
        if let local = tcp.address(of: .local), let remote = tcp.address(of: .remote), local.peer == remote.peer {
            return fail(UV_ECONNREFUSED.rawValue)
        }
        self.then = nil
        then(self, .success(tcp))
    }

    private func fail(_ result: CInt) {
        guard let then else { return }
        self.then = nil
        tcp.close()
        then(self, .failure(Failure(result: result)))
    }
}
