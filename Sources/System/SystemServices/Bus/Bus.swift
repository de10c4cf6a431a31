import Glibc
package import Transport

/// A bus, on the event loop: calls with an answer, and the services of others.
///
/// It connects when it is opened, and again, with backoff, whenever the bus goes away. Calls fail then; services
/// (``BusService``) come back by themselves. Nothing here blocks, and what services send can be anything: it is checked
/// for type and size before it is handed on. (A single message is as large as the bus lets it be while it is read.)
@EventLoop
package final class Bus {
    package typealias Completion = @EventLoop (Result<[BusValue], BusError>) -> Void

    /// Calls that may be under way; more are ``BusError/Code/tooMany``.
    package static let maximumCalls = 1_024
    /// Messages that are handled before other work of the loop gets its turn.
    private static let messagesPerTurn = 64

    private struct PendingCall {
        let title: String
        /// Whoever was called by its unique name answers under it.
        let answerer: String?
        let deadline: LoopTimer
        let then: Completion
    }

    private let address: BusAddress
    private let takesDescriptors: Bool
    private let library: SystemdLibrary
    private var link = BusLinkStateMachine()
    private var generator = SystemRandomNumberGenerator()
    private var connection: BusConnection?
    private var poll: LoopPoll?
    private var isDriving = false
    private var pending: [UInt64: PendingCall] = [:]
    private var services: [WeakService] = []
    /// What others may call, by its path.
    private var objects: [String: @EventLoop (BusRequest) -> BusRequest.Answer] = [:]
    private lazy var timeout = LoopTimer { [weak self] in self?.drive() }
    private lazy var retry = LoopTimer { [weak self] in self?.retryNow() }

    private struct WeakService { weak var service: BusService? }

    /// Signals and calls that were dropped, because nobody could read them.
    package private(set) var malformedMessages = 0

    /// `takesDescriptors`: whether messages may bring file descriptors, as logind's inhibitor is one.
    package init(
        _ address: BusAddress, takesDescriptors: Bool = false, library: SystemdLibrary = .shared
    ) {
        self.address = address
        self.takesDescriptors = takesDescriptors
        self.library = library
    }

    /// Our name on the bus, while it is connected.
    package var name: String? {
        if case .ready(let name) = link.state { name } else { nil }
    }

    /// Why the bus is not connected; `nil` while it is, or is about to be.
    package var problem: BusError? {
        switch link.state {
        case .connecting, .ready: nil
        case .waiting(let error), .unavailable(let error): error
        case .closed: BusError(.closed, "the bus was closed")
        }
    }

    /// Connects, and stays connected until ``close()``. Opening again does nothing.
    package func open() {
        if link.open() == .connect { connect() }
    }

    /// Ends the connection; calls under way fail with ``BusError/Code/closed``.
    package func close() {
        guard link.close() == .disconnect else { return }
        retry.stop()
        disconnect(BusError(.closed, "the bus was closed"))
    }

    // MARK: Calls

    /// Calls a method. `then` comes exactly once, never inside this call, with the values of the answer.
    package func call(_ call: BusCall, within limit: UInt64 = 25_000, then: @escaping Completion) {
        guard let connection, case .ready = link.state else {
            let error = problem ?? BusError(.disconnected, "the bus is not connected yet")
            return Self.later { then(.failure(error)) }
        }
        guard pending.count < Self.maximumCalls else {
            return Self.later { then(.failure(BusError(.tooMany, "too many calls are in progress"))) }
        }
        do {
            let cookie = try connection.send(call)
            let deadline = LoopTimer { [weak self] in self?.expire(cookie) }
            deadline.start(after: limit)
            pending[cookie] = PendingCall(
                title: call.title, answerer: call.destination.hasPrefix(":") ? call.destination : nil,
                deadline: deadline, then: then)
            driveLater()
        } catch {
            Self.later { then(.failure(error)) }
        }
    }

    private func expire(_ cookie: UInt64) {
        guard let call = pending.removeValue(forKey: cookie) else { return }
        call.then(.failure(BusError(.timeout, "\(call.title) got no answer in time")))
    }

    static func later(_ work: @escaping @EventLoop () -> Void) {
        // Everything in this module runs on the loop; the wrapper carries that past the compiler.
        let work = LoopWork(run: work)
        EventLoop.post { work.run() }
    }

    // MARK: Services

    func add(_ service: BusService) {
        services.removeAll { $0.service == nil }
        services.append(WeakService(service: service))
        switch link.state {
        case .ready: service.busIsReady()
        case .waiting(let error), .unavailable(let error): Self.later { [weak service] in service?.busIsGone(error) }
        // It hears of the bus when that is opened, or open.
        case .closed, .connecting: break
        }
    }

    func remove(_ service: BusService) {
        services.removeAll { $0.service == nil || $0.service === service }
    }

    private func eachService(_ body: (BusService) -> Void) {
        for entry in services {
            if let service = entry.service { body(service) }
        }
    }

    // MARK: What we offer

    /// Answers calls to this object, also after the bus was away; anybody on it may call. One handler for each path.
    package func serve(_ path: String, _ handler: @escaping @EventLoop (BusRequest) -> BusRequest.Answer) {
        objects[path] = handler
    }

    package func withdraw(_ path: String) {
        objects[path] = nil
    }

    /// Sends a signal to whoever listens; `false` = it was not: there is no bus now, or a value cannot be sent.
    @discardableResult
    package func emit(_ path: String, _ interface: String, _ member: String, _ values: [BusValue]) -> Bool {
        guard let connection, case .ready = link.state else { return false }
        do {
            try connection.emit(path, interface, member, values)
        } catch {
            return false
        }
        driveLater()
        return true
    }

    private func serve(_ message: RawMessage) {
        guard let connection else { return }
        // (sd-bus answers pings by itself.)
        guard let handler = objects[message.path] else { return message.refuse() }
        guard let values = values(of: message) else {
            try? connection.answer(message, .error(BusRequest.invalidArguments, "cannot read the arguments"))
            return
        }
        let request = BusRequest(
            sender: message.sender, path: message.path, interface: message.interface, member: message.member,
            values: values)
        let answer = handler(request)
        // The handler may have closed the bus.
        guard self.connection === connection else { return }
        try? connection.answer(message, answer)
    }

    // MARK: The connection

    private func retryNow() {
        if link.waited() == .connect { connect() }
    }

    private func connect() {
        do throws(BusError) {
            let connection = try BusConnection(to: address, takesDescriptors: takesDescriptors, library: library)
            // The watch keeps the connection, so that its descriptor is open for as long as libuv knows it.
            let poll = try Self.watch(connection) { [weak self] in self?.drive() }
            self.connection = connection
            self.poll = poll
        } catch {
            return lost(error)
        }
        driveLater()
    }

    private static func watch(
        _ connection: BusConnection, _ ready: @escaping @EventLoop () -> Void
    ) throws(BusError) -> LoopPoll {
        do {
            return try LoopPoll(connection.descriptor) { _ in withExtendedLifetime(connection) { ready() } }
        } catch {
            throw BusError(.disconnected, "cannot watch the bus: \(error.message)")
        }
    }

    private func lost(_ error: BusError) {
        switch link.failed(error, using: &generator) {
        case .none: return
        case .waitFor(let milliseconds): retry.start(after: milliseconds)
        case .giveUp: break
        }
        disconnect(error)
    }

    private func disconnect(_ error: BusError) {
        timeout.stop()
        poll?.stop()
        poll = nil
        connection = nil
        let calls = pending
        pending = [:]
        for call in calls.values {
            call.deadline.stop()
            call.then(.failure(error))
        }
        eachService { $0.busIsGone(error) }
    }

    /// Takes what the connection has, and says when to come back.
    private func drive() {
        // What a message brings about may call; it must not begin a second round inside this one.
        guard !isDriving, let connection else { return }
        isDriving = true
        defer { isDriving = false }
        do throws(BusError) {
            for _ in 0..<Self.messagesPerTurn {
                let step = try connection.step()
                announceIfReady(connection)
                switch step {
                case .idle: return watch()
                case .worked: break
                case .came(let message): handle(message)
                }
                // What came may have closed the bus, and opened it again.
                guard self.connection === connection else { return }
            }
        } catch {
            return lost(error)
        }
        driveLater()
    }

    private func driveLater() {
        EventLoop.post { [weak self] in self?.drive() }
    }

    private func announceIfReady(_ connection: BusConnection) {
        guard case .connecting = link.state, let name = connection.name else { return }
        if link.welcomed(as: name) == .announce { eachService { $0.busIsReady() } }
    }

    private func watch() {
        guard let connection, let poll else { return }
        do throws(BusError) {
            let wanted = try connection.events()
            var events: LoopPoll.Events = []
            if wanted & CInt(POLLIN) != 0 { events.insert(.readable) }
            if wanted & CInt(POLLOUT) != 0 { events.insert(.writable) }
            poll.watch(events)
            if let milliseconds = try connection.timeout() {
                timeout.start(after: milliseconds)
            } else {
                timeout.stop()
            }
        } catch {
            lost(error)
        }
    }

    // MARK: What comes

    private func handle(_ message: RawMessage) {
        switch message.kind {
        case .reply, .failure: answer(message)
        case .signal: eachService { $0.take(message) }
        case .call: serve(message)
        case .other: break
        }
    }

    private func answer(_ message: RawMessage) {
        guard let cookie = message.replyCookie, let call = pending[cookie] else { return }
        let error = message.failure(of: call.title)
        // Errors may also come from the bus itself; a result only from who was asked.
        if let answerer = call.answerer, error == nil, message.sender != answerer { return }
        pending[cookie] = nil
        call.deadline.stop()
        if let error { return call.then(.failure(error)) }
        let result: Result<[BusValue], BusError>
        do {
            result = .success(try BusReader.values(of: message))
        } catch {
            malformedMessages &+= 1
            result = .failure(error)
        }
        call.then(result)
    }

    /// A signal's or call's values, however many ask for them; `nil` and counted if they cannot be read.
    func values(of message: RawMessage) -> [BusValue]? {
        switch message.reading {
        case .unread: break
        case .values(let values): return values
        case .unreadable: return nil
        }
        do {
            let values = try BusReader.values(of: message)
            message.reading = .values(values)
            return values
        } catch {
            message.reading = .unreadable
            malformedMessages &+= 1
            return nil
        }
    }
}

/// Work of the loop's on its way to a later turn of it.
private struct LoopWork: @unchecked Sendable {
    let run: @EventLoop () -> Void
}
