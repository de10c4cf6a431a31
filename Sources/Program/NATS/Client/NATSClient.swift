package import Transport

/// A client of a NATS server or cluster, on the event loop of the process.
///
/// It reconnects by itself until it is stopped, and then renews its subscriptions; what is published while there is no
/// connection is refused. Handlers and completions are called on the loop, completions exactly once and never inside the
/// call that they belong to.
@EventLoop
package final class NATSClient: ByteStreamDelegate {
    package struct Options: Sendable {
        package var connection: NATSConnectionStateMachine.Options
        package var tls = TLSClientOptions()
        /// What may wait to be sent, in bytes.
        package var maximumUnsent = 16 << 20
        /// Requests that may wait for answers.
        package var maximumRequests = 65_536

        package init(_ connection: NATSConnectionStateMachine.Options) { self.connection = connection }
    }

    package enum Event: Sendable, Equatable {
        case up(NATSServerInfo, server: String)
        /// Once when the connection is lost, and for each attempt that fails.
        case down(NATSError)
        /// Such as a subject that the credentials don't permit.
        case problem(NATSError)
    }

    package typealias Handler = @EventLoop (NATSMessage) -> Void
    package typealias Completion = @EventLoop (Result<NATSMessage, NATSError>) -> Void

    /// How long an answer that comes too late is still passed on, in milliseconds.
    package static let lateTime: UInt64 = 60_000

    private let options: Options
    private let report: @EventLoop (Event) -> Void
    private var machine: NATSConnectionStateMachine
    private var requests: PendingRequests
    private var stream: ByteStream?
    private var handlers: [UInt64: Handler] = [:]
    private var generator = SystemRandomNumberGenerator()
    private lazy var timer = LoopTimer { [weak self] in self?.deadlinePassed() }
    private lazy var requestTimer = LoopTimer { [weak self] in self?.requestsExpire() }
    /// When ``requestTimer`` fires; `nil` = it is not needed.
    private var requestsExpireAt: UInt64?

    /// Call ``start()`` to connect.
    package init(_ options: Options, report: @escaping @EventLoop (Event) -> Void) {
        self.options = options
        self.report = report
        machine = NATSConnectionStateMachine(options.connection)
        var generator = SystemRandomNumberGenerator()
        let name = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        requests = PendingRequests(prefix: "_INBOX.\(name)", limit: options.maximumRequests)
        let (id, _) = machine.subscribe(requests.pattern, queue: nil)
        handlers[id] = { [weak self] in self?.answered($0) }
    }

    package var isUp: Bool { machine.isUp }
    /// Of a message that the server takes, in bytes.
    package var maximumPayload: Int { machine.maximumPayload }

    package func start() { perform(machine.start(at: EventLoop.now)) }

    /// Ends the connection. Requests fail, subscriptions stay for the next ``start()``.
    package func stop() {
        perform(machine.stop())
        failRequests()
    }

    // MARK: Messages

    /// - Throws: ``NATSError/Code/disconnected``, ``NATSError/Code/tooLarge``, ``NATSError/Code/overloaded``,
    ///   ``NATSError/Code/invalidName``.
    package func publish(_ message: NATSMessage) throws(NATSError) {
        guard NATSSubject.isLiteral(message.subject), message.reply.map(NATSSubject.isLiteral) ?? true else {
            throw NATSError(.invalidName, "a subject needs tokens without spaces and wildcards, separated by dots")
        }
        guard machine.isUp, let stream else {
            throw NATSError(.disconnected, "not connected to a NATS server")
        }
        let headers = message.headers.isEmpty ? 0 : message.headers.bytes.count
        guard message.payload.count + headers <= machine.maximumPayload else {
            throw NATSError(.tooLarge, "the NATS server takes messages of at most \(machine.maximumPayload) bytes")
        }
        guard stream.unsentBytes + message.payload.count <= options.maximumUnsent else {
            throw NATSError(.overloaded, "the NATS server reads too slowly: \(stream.unsentBytes) bytes wait")
        }
        send(NATSEncoder.publish(message))
    }

    /// Calls the handler for each message, also after a reconnection.
    ///
    /// - Parameter queue: of all subscribers that name the same one, one gets each message.
    package func subscribe(
        _ subject: String, queue: String? = nil, _ handler: @escaping Handler
    ) throws(NATSError) -> UInt64 {
        guard NATSSubject.isPattern(subject), queue.map(NATSSubject.isLiteral) ?? true else {
            throw NATSError(.invalidName, "a subject needs tokens without spaces, separated by dots")
        }
        let (id, actions) = machine.subscribe(subject, queue: queue)
        handlers[id] = handler
        perform(actions)
        return id
    }

    package func unsubscribe(_ id: UInt64) {
        handlers[id] = nil
        perform(machine.unsubscribe(id))
    }

    /// Publishes it with a subject for the answer, and waits for that. If nobody subscribes to the subject, it fails with
    /// ``NATSError/Code/noResponders`` as soon as the server says so.
    ///
    /// - Parameters:
    ///   - timeout: in milliseconds.
    ///   - late: gets an answer that comes after the timeout, up to ``lateTime`` afterwards.
    ///   - second: another subscriber has answered as well, before the timeout. Called once.
    package func request(
        _ message: NATSMessage, timeout: UInt64, late: (@EventLoop (NATSMessage) -> Void)? = nil,
        second: (@EventLoop () -> Void)? = nil, then: @escaping Completion
    ) {
        let now = EventLoop.now
        do throws(NATSError) {
            var message = message
            let late = late.map { PendingRequests.Late(within: Self.lateTime, then: $0) }
            message.reply = try requests.add(at: now, timeout: timeout, late: late, second: second, then)
            do throws(NATSError) { try publish(message) } catch {
                if let reply = message.reply { requests.remove(reply) }
                throw error
            }
            armRequestTimer(now &+ timeout)
        } catch {
            EventLoop.post { then(.failure(error)) }
        }
    }

    private func answered(_ message: NATSMessage) {
        guard let then = requests.take(message.subject) else { return }
        if message.headers.status == 503, message.payload.isEmpty {
            return then(.failure(NATSError(.noResponders, "the subject has no subscriber")))
        }
        then(.success(message))
    }

    // MARK: Time

    private func deadlinePassed() { perform(machine.passed(at: EventLoop.now, random: generator.next())) }

    private func armRequestTimer(_ deadline: UInt64) {
        if let requestsExpireAt, requestsExpireAt <= deadline { return }
        requestsExpireAt = deadline
        let now = EventLoop.now
        requestTimer.start(after: deadline > now ? deadline - now : 0)
    }

    private func requestsExpire() {
        requestsExpireAt = nil
        let expired = requests.takeExpired(at: EventLoop.now)
        if let next = requests.nextDeadline { armRequestTimer(next) }
        for then in expired { then(.failure(NATSError(.timeout, "no answer in time"))) }
    }

    private func failRequests() {
        for then in requests.takeAll() {
            EventLoop.post { then(.failure(NATSError(.disconnected, "the connection to the NATS server has ended"))) }
        }
    }

    // MARK: The connection

    private func perform(_ actions: [NATSConnectionStateMachine.Action]) {
        for action in actions {
            switch action {
            case .dial(let server): stream = ByteStream(host: server.host, port: server.port, delegate: self)
            case .startTLS: startTLS()
            case .send(let bytes): send(bytes)
            case .disconnect:
                stream?.close()
                stream = nil
            case .up(let info, let server): report(.up(info, server: server.name))
            case .down(let error):
                failRequests()
                report(.down(error))
            case .deliver(let message, let subscription): handlers[subscription]?(message)
            case .report(let error): report(.problem(error))
            }
        }
        arm()
    }

    private func arm() {
        guard let deadline = machine.deadline else { return timer.stop() }
        let now = EventLoop.now
        timer.start(after: deadline > now ? deadline - now : 0)
    }

    private func startTLS() {
        do throws(TransportError) { try stream?.startTLS(options.tls) } catch {
            perform(machine.ended(error.message, at: EventLoop.now, random: generator.next()))
        }
    }

    private func send(_ bytes: [UInt8]) { bytes.withUnsafeBytes { stream?.send($0) } }

    package func streamDidConnect(_ stream: ByteStream) {
        guard stream === self.stream else { return }
        perform(machine.connected(at: EventLoop.now))
    }

    package func streamDidSecure(_ stream: ByteStream) {
        guard stream === self.stream else { return }
        perform(machine.secured(at: EventLoop.now))
    }

    package func stream(_ stream: ByteStream, didReceive bytes: UnsafeRawBufferPointer) {
        guard stream === self.stream else { return }
        perform(machine.received(bytes, at: EventLoop.now, random: generator.next()))
    }

    package func streamDidEnd(_ stream: ByteStream, _ error: TransportError) {
        guard stream === self.stream else { return }
        self.stream = nil
        perform(machine.ended(error.message, at: EventLoop.now, random: generator.next()))
    }
}
