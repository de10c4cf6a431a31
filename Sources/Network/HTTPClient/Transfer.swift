import Addresses
import COnDemand
import Transport

/// One GET from one server, by libcurl on the event loop.
///
/// It connects to the pinned addresses and asks the rule once more about each socket. It lives until it ends by itself or
/// by ``end()``.
@EventLoop
final class Transfer {
    private let functions: CurlLibrary.Functions
    private let url: HTTPSURL
    /// What libcurl's callbacks write to.
    private let state: TransferState
    private var then: ((FetchStateMachine.Outcome) -> Void)?
    private var pointer: OpaquePointer?
    private var polls: [CInt: LoopPoll] = [:]
    private lazy var timer = LoopTimer { [weak self] in self?.step(-1, 0) }
    private var isStepping = false

    /// `then` comes once, on a later turn of the loop, and not after ``end()``.
    init(
        _ url: HTTPSURL, pins: [IPAddress], options: FetchOptions, rule: AddressRule, functions: CurlLibrary.Functions,
        then: @escaping @EventLoop (FetchStateMachine.Outcome) -> Void
    ) {
        self.functions = functions
        self.url = url
        self.then = then
        state = TransferState(rule: rule, maximumBytes: options.maximumBytes)
        state.owner = self
        pointer = makeTransfer(pins, options)
        timer.start(after: 0)
    }

    private func makeTransfer(_ pins: [IPAddress], _ options: FetchOptions) -> OpaquePointer? {
        let addresses = pins.map { $0.isIPv6 ? "[\($0)]" : $0.description }.joined(separator: ",")
        var calls = bw_transfer_calls()
        calls.context = Unmanaged.passUnretained(state).toOpaque()
        calls.watch = { context, descriptor, events in
            TransferState.of(context)?.watch(descriptor, events)
        }
        calls.timer = { context, milliseconds in
            TransferState.of(context)?.wake(after: milliseconds)
        }
        calls.connect = { context, address, size in
            guard let address else { return false }
            let bytes = UnsafeRawBufferPointer(start: address, count: size)
            return TransferState.of(context)?.mayConnect(to: bytes) ?? false
        }
        calls.head = { context, status, line, count in
            TransferState.of(context)?.takeHead(UnsafeRawBufferPointer(start: line, count: count), status) ?? false
        }
        calls.body = { context, bytes, count in
            TransferState.of(context)?.takeBody(UnsafeRawBufferPointer(start: bytes, count: count)) ?? false
        }
        if let file = options.caFile, !SystemAuthorities.isReadable(file) { return nil }
        let pin = pins.isEmpty ? nil : "\(url.host):\(url.port):\(addresses)"
        return bw_transfer_new(
            functions.pointer, &calls, url.text, pin, options.caFile ?? SystemAuthorities.elsewhere(),
            "Accept: \(options.accept)",
            "User-Agent: bellwire",
            Int64(options.maximumBytes))
    }

    /// Ends it where it stands.
    func end() {
        then = nil
        // libcurl does not like to lose what it is working on.
        if !isStepping { release() }
    }

    private func release() {
        timer.stop()
        if let pointer {
            self.pointer = nil
            bw_transfer_end(pointer)
        }
        for poll in polls.values { poll.stop() }
        polls.removeAll()
    }

    // MARK: libcurl's steps

    private func step(_ descriptor: CInt, _ events: CInt) {
        guard !isStepping, then != nil else { return }
        guard let pointer else { return finish(BW_TRANSFER_OTHER) }
        isStepping = true
        var result = BW_TRANSFER_OTHER
        let isOver = bw_transfer_step(pointer, descriptor, events, &result)
        isStepping = false
        if then == nil {
            release()
        } else if isOver {
            finish(result)
        }
    }

    private func ready(_ descriptor: CInt, _ events: LoopPoll.Events) {
        var what: CInt = 0
        if events.contains(.readable) { what |= CInt(BW_TRANSFER_READ) }
        if events.contains(.writable) { what |= CInt(BW_TRANSFER_WRITE) }
        if events.contains(.failed) { what |= CInt(BW_TRANSFER_ERROR) }
        step(descriptor, what)
        // A failed watch has ended, and libcurl reports only changes.
        if events.contains(.failed), let poll = polls[descriptor], let wanted = state.wanted[descriptor] {
            poll.watch(wanted)
        }
    }

    func watch(_ descriptor: CInt, _ events: LoopPoll.Events) {
        guard !events.isEmpty else {
            polls.removeValue(forKey: descriptor)?.stop()
            return
        }
        if polls[descriptor] == nil {
            polls[descriptor] = try? LoopPoll(descriptor) { [weak self] in self?.ready(descriptor, $0) }
        }
        // One that cannot be watched is left to the deadline.
        polls[descriptor]?.watch(events)
    }

    func wake(after milliseconds: Int) {
        if milliseconds < 0 { timer.stop() } else { timer.start(after: UInt64(milliseconds)) }
    }

    private func finish(_ result: bw_transfer_result) {
        let outcome = outcome(result)
        let then = then
        self.then = nil
        release()
        then?(outcome)
    }

    // MARK: How it ended

    private func outcome(_ result: bw_transfer_result) -> FetchStateMachine.Outcome {
        if state.isRefused { return failed(.refusedAddress, "the address is not allowed") }
        let head = state.head
        if head.isTooLarge { return failed(.tooLarge, "the response headers are larger than the limit") }
        // An answer that was not wanted was stopped at the end of its head.
        if head.isRedirect { return .redirect(to: head.location.flatMap(resolve)) }
        if head.isWhole, head.status != 200 {
            return failed(.status(head.status), "the server answered with status \(head.status)")
        }
        switch result {
        case BW_TRANSFER_DONE:
            let type = pointer.flatMap { bw_transfer_content_type($0) }.map { String(cString: $0) }
            return .body(state.takeBytes(), contentType: type)
        case BW_TRANSFER_STOPPED, BW_TRANSFER_TOO_LARGE:
            return failed(.tooLarge, "the body is larger than the limit")
        case BW_TRANSFER_NO_CONNECTION: return failed(.connectFailed, "cannot connect to any address of the host")
        case BW_TRANSFER_NO_NAME: return failed(.resolveFailed, "the connection used an unchecked address")
        case BW_TRANSFER_CERTIFICATE:
            return failed(.tlsFailed, "the server's certificate is not trusted, or is for another name")
        case BW_TRANSFER_CA_FILE: return failed(.tlsFailed, "cannot use the CA file")
        case BW_TRANSFER_TLS: return failed(.tlsFailed, "the TLS handshake failed")
        case BW_TRANSFER_CUT: return failed(.interrupted, "the connection ended before the response was complete")
        case BW_TRANSFER_NO_HTTP: return failed(.badHTTP, "the response is not HTTP")
        default: return failed(.system, "libcurl gave up")
        }
    }

    private func failed(_ code: FetchError.Code, _ message: String) -> FetchStateMachine.Outcome {
        .failed(FetchError(code, message))
    }

    private func resolve(_ location: String) -> String? {
        guard !location.isEmpty, location.utf8.count <= HTTPSURL.maximumLength else { return nil }
        var text = [CChar](repeating: 0, count: 2 * HTTPSURL.maximumLength)
        guard bw_curl_resolve(functions.pointer, url.text, location, &text, text.count) else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
