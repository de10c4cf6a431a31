import CLinux
import Glibc
package import Hosting
package import JSON
import Store
import Synchronization
package import Transport

/// The interface of a holder for its guests.
@EventLoop
package protocol GuestService: AnyObject {
    /// Checks a hello and records the program. `then` gets the options for the welcome.
    func admit(
        _ hello: GuestHello, _ session: StoredFeed.Session,
        then: @escaping @Sendable @EventLoop (Result<JSONObject, HostError>) -> Void)
    /// Checks a call, without executing it.
    func decode(_ call: HostCall, for session: StoredFeed.Session) throws(HostError) -> GuestCall
    func ended(_ session: StoredFeed.Session)
    /// A guest's connection was closed, because of what it did or did not do.
    func closed(_ hello: GuestHello?, _ error: HostError)
}

/// A guest's call, decoded and checked.
package struct GuestCall {
    /// The call only reads the store: its answer may be long, and depends on no other program.
    let readsStored: Bool
    let perform: @EventLoop (@escaping Then) -> Void
}

/// The holder's side of the socket: accepts guests, and passes on what they ask for.
@EventLoop
package final class HolderSocket {
    /// How long to stop accepting when descriptors run out, in milliseconds.
    private static let pause: UInt64 = 100

    private let path: String
    private let listener: CInt
    private var poll: LoopPoll?
    private weak var service: (any GuestService)?
    /// `nil` = the role has no stored events.
    private let feed: StoredFeed?
    private var sessions: [StoredFeed.Session: GuestSession] = [:]
    private var lastSession: StoredFeed.Session = 0
    private var limits = GuestLimits()
    private var turns = ReadTurns<@EventLoop () -> Void>()
    private lazy var limitTimer = LoopTimer { [weak self] in self?.closeOverdue() }
    private var drained: (@EventLoop () -> Void)?
    private lazy var drainTimer = LoopTimer { [weak self] in self?.endDrain() }
    private lazy var acceptTimer = LoopTimer { [weak self] in self?.poll?.watch(.readable) }
    /// For threads that look whether there is anybody to tell.
    nonisolated private let count = Atomic(0)

    /// - Parameter listener: from ``SharedSocket/listen()``; owned from here on.
    package init(
        _ listener: CInt, in path: String, _ feed: StoredFeed?, _ service: any GuestService
    ) throws(TransportError) {
        (self.listener, self.path, self.feed, self.service) = (listener, path, feed, service)
        poll = try LoopPoll(listener) { [weak self] _ in self?.accept() }
        poll?.watch(.readable)
    }

    package var takers: [FeedTaker] { sessions.values.compactMap { $0.isAdmitted ? $0.hello?.taker : nil } }
    nonisolated package var hasGuests: Bool { count.load(ordering: .relaxed) > 0 }

    /// Everyone gets the event.
    package func broadcast(_ event: HostEvent) {
        let admitted = sessions.values.filter(\.isAdmitted)
        guard !admitted.isEmpty else { return }
        if send(event, to: admitted) { return }
        _ = send(.cutProblem(event.name), to: admitted)
        _ = send(event.cut(), to: admitted)
    }

    /// `false` = it is too large for a frame.
    private func send(_ event: HostEvent, to admitted: [GuestSession]) -> Bool {
        guard let frame = try? FrameDecoder.encode(HolderMessage.event(event).object) else { return false }
        for session in admitted { session.link?.send(frame) }
        return true
    }

    /// There may be events to take.
    package func tellWaits(_ sources: [HostEvent.Name]) {
        for session in sessions.values where session.isAdmitted {
            for source in sources { session.tellWaits(source) }
        }
    }

    private func accept() {
        while poll != nil {
            let descriptor = linux_accept(listener)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM {
                    poll?.watch([])
                    acceptTimer.start(after: Self.pause)
                }
                return
            }
            guard SharedSocket.isOwn(descriptor) else {
                Glibc.close(descriptor)
                continue
            }
            lastSession += 1
            guard limits.connected(lastSession, now: EventLoop.now) else {
                Self.refuse(descriptor)
                continue
            }
            let session = GuestSession(lastSession)
            do throws(TransportError) { session.link = try link(descriptor, to: session) } catch {
                limits.ended(lastSession)
                Glibc.close(descriptor)
                continue
            }
            sessions[lastSession] = session
            count.store(sessions.count, ordering: .relaxed)
            watchLimits()
        }
    }

    private func link(_ descriptor: CInt, to session: GuestSession) throws(TransportError) -> FrameLink {
        let number = session.number
        let link = try FrameLink(
            descriptor, limit: FrameDecoder.helloBytes,
            receive: { [weak self, weak session] (frame, bytes) throws(HostError) in
                guard let self, let session else { return }
                try received(try GuestMessage(frame), bytes, from: session)
            },
            closed: { [weak self, weak session] error in
                guard let self else { return }
                if let error { service?.closed(session?.hello, error) }
                end(number)
            })
        link.moved = { [weak self, weak session] in
            if let session { self?.moved(session, hasProgress: $0) }
        }
        return link
    }

    /// Says why before it closes a connection that is one too many. The frame is far shorter than what a new socket takes.
    private static func refuse(_ descriptor: CInt) {
        if let frame = try? FrameDecoder.encode(HolderMessage.refused(.tooManyGuests).object) {
            FrameLink.sendFirst(frame, to: descriptor)
        }
        Glibc.close(descriptor)
    }

    // MARK: Limits

    private func moved(_ session: GuestSession, hasProgress: Bool) {
        guard let link = session.link else { return }
        let closings = limits.holds(
            session.number, bytes: link.heldBytes, hasProgress: hasProgress, now: EventLoop.now)
        for closing in closings { close(closing) }
        watchLimits()
        beginReads()
    }

    private func watchLimits() {
        if limits.isWatching, !limitTimer.isRunning { limitTimer.start(after: GuestLimits.interval) }
    }

    private func closeOverdue() {
        for closing in limits.overdue(now: EventLoop.now) { close(closing) }
        watchLimits()
    }

    private func close(_ closing: GuestLimits.Closing) {
        guard let session = sessions[closing.session] else { return }
        session.link?.close()
        service?.closed(session.hello, closing.reason.error)
        end(closing.session)
    }

    /// Carries out what reads the store, as far as guests take the answers.
    private func beginReads() {
        while let turn = turns.next(unread: { sessions[$0]?.link?.outgoingBytes ?? 0 }) { turn.call() }
    }

    private func readEnded(_ number: StoredFeed.Session) {
        turns.finished(number)
        beginReads()
    }

    // MARK: Messages

    private func received(_ message: GuestMessage, _ bytes: Int, from session: GuestSession) throws(HostError) {
        switch message {
        case .hello(let hello):
            guard session.hello == nil else { throw HostError(.undecodable, "a second hello") }
            session.hello = hello
            limits.greeted(session.number, now: EventLoop.now)
            session.link?.incomingLimit = FrameDecoder.maximumBytes
            admit(hello, session)
        case .call(let number, let call): try perform(number, call, bytes, for: session)
        case .take(let number, let source, let limit, let asCopy):
            let feed = try storedEvents(for: session)
            guard session.calls < GuestSession.callLimit else { throw HostError(.limit, "too many takes") }
            session.calls += 1
            turns.add(
                { [weak self] in self?.take(number, source, limit, asCopy, from: feed, for: session) },
                of: session.number)
            beginReads()
        case .finish(let number, let source, let through, let asCopy):
            try storedEvents(for: session).finish(session.taker.name(asCopy: asCopy), source, through: through) {
                result in
                EventLoop.post { [weak session] in
                    session?.answer(number, result.map { .done })
                }
            }
        case .leave(let seen): session.seen = seen
        case .ping: session.answer(0, .success(.done))
        }
    }

    private func take(
        _ number: UInt64, _ source: HostEvent.Name, _ limit: Int, _ asCopy: Bool, from feed: StoredFeed,
        for session: GuestSession
    ) {
        session.told.remove(source)
        feed.take(session.taker, source, limit: limit, asCopy: asCopy, for: session.number) { result in
            EventLoop.post { [weak self] in
                session.calls -= 1
                switch result {
                case .success(let batch): session.answer(number, batch)
                case .failure(let error): session.answer(number, .failure(error))
                }
                self?.readEnded(session.number)
            }
        }
    }

    private func storedEvents(for session: GuestSession) throws(HostError) -> StoredFeed {
        try session.requireAdmitted()
        guard let feed else { throw HostError(.undecodable, "a desktop has no stored events") }
        return feed
    }

    private func admit(_ hello: GuestHello, _ session: GuestSession) {
        let refuse: @EventLoop (HostError) -> Void = { [weak self] error in
            try? session.send(.refused(error))
            session.link?.close()
            self?.end(session.number)
        }
        guard hello.protocolVersion == GuestHello.protocolVersion else {
            return refuse(
                HostError(
                    .unsupported,
                    "the program that holds the state directory uses version \(libraryVersion) of the library, and this one "
                        + "version \(hello.library): they cannot share it",
                    detail: [
                        "reason": "library_version", "holder": "\(libraryVersion)", "guest": .string(hello.library),
                    ]))
        }
        // The next holder takes this guest.
        guard drained == nil, let service else {
            session.link?.close()
            return end(session.number)
        }
        service.admit(hello, session.number) { [weak self] result in
            guard self?.sessions[session.number] != nil else { return }
            switch result {
            case .success(let options):
                do throws(HostError) { try session.send(.welcome(options: options)) } catch { return refuse(error) }
                session.isAdmitted = true
            case .failure(let error) where error.code == .closed:
                // The next holder takes this guest.
                session.link?.close()
                self?.end(session.number)
            case .failure(let error): refuse(error)
            }
        }
    }

    private func perform(
        _ number: UInt64, _ call: HostCall, _ bytes: Int, for session: GuestSession
    ) throws(HostError) {
        try session.requireAdmitted()
        guard drained == nil, let service else { return session.answer(number, .failure(.moved)) }
        let decoded: GuestCall
        do throws(HostError) {
            decoded = try service.decode(call, for: session.number)
        } catch {
            return session.answer(number, .failure(error))
        }
        guard session.calls < GuestSession.callLimit else {
            let error = HostError(.limit, "\(GuestSession.callLimit) calls are in progress; wait for some to finish")
            return session.answer(number, .failure(error))
        }
        guard limits.callBegins(session.number, bytes: bytes) else {
            let error = HostError(
                .limit, "the calls in progress have \(GuestLimits.totalBytes) bytes; wait for some to finish")
            return session.answer(number, .failure(error))
        }
        session.calls += 1
        guard decoded.readsStored else { return begin(number, decoded, bytes, for: session) }
        turns.add(
            { [weak self] in self?.begin(number, decoded, bytes, for: session, isTurn: true) }, of: session.number)
        beginReads()
    }

    private func begin(
        _ number: UInt64, _ call: GuestCall, _ bytes: Int, for session: GuestSession, isTurn: Bool = false
    ) {
        let then: Then = { result in
            EventLoop.post { [weak self] in
                session.calls -= 1
                session.answer(number, result)
                guard let self else { return }
                limits.callEnded(session.number, bytes: bytes)
                if isTurn { readEnded(session.number) }
                checkDrain()
            }
        }
        guard drained == nil else { return then(.failure(.moved)) }
        call.perform(then)
    }

    private func end(_ number: StoredFeed.Session) {
        guard let session = sessions.removeValue(forKey: number) else { return }
        count.store(sessions.count, ordering: .relaxed)
        limits.ended(number)
        turns.ended(number)
        feed?.end(number, seen: session.seen) { sources in
            guard !sources.isEmpty else { return }
            EventLoop.post { [weak self] in self?.tellWaits(sources) }
        }
        if session.isAdmitted { service?.ended(number) }
        checkDrain()
    }

    // MARK: The end

    /// Accepts nobody and carries out nothing any more, and waits until the calls under way are answered, `milliseconds`
    /// at most. The connections stay open for ``close()``.
    package func drain(within milliseconds: UInt64, then: @escaping @EventLoop () -> Void) {
        guard poll != nil else { return then() }
        poll?.stop()
        poll = nil
        acceptTimer.stop()
        // While the directory's lock is held: the next holder makes its own.
        unlink("\(path)/\(SharedSocket.name)")
        Glibc.close(listener)
        drained = then
        drainTimer.start(after: milliseconds)
        checkDrain()
    }

    private func checkDrain() {
        if drained != nil, drainTimer.isRunning, sessions.values.allSatisfy({ $0.calls == 0 }) { endDrain() }
    }

    private func endDrain() {
        drainTimer.stop()
        guard let then = drained else { return }
        drained = {}
        then()
    }

    /// Ends the connections: the guests look for the next holder.
    package func close() {
        for session in sessions.values { session.link?.close() }
        sessions = [:]
        count.store(0, ordering: .relaxed)
    }
}

extension GuestLimits.Reason {
    fileprivate var error: HostError {
        switch self {
        case .noHello:
            HostError(.timeout, "it did not introduce itself within \(GuestLimits.helloTime / 1_000) s")
        case .stalled(let bytes):
            HostError(.limit, "\(bytes) bytes wait, and none has moved for \(GuestLimits.stallTime / 1_000) s")
        case .tooMuch(let bytes):
            HostError(
                .limit, "\(bytes) bytes wait for it, of more than \(GuestLimits.totalBytes) for all programs")
        }
    }
}

extension HostError {
    static var tooManyGuests: Self {
        HostError(
            .limit, "\(GuestLimits.guests) programs share the state directory, which is the limit; close one",
            detail: ["reason": "too_many_programs", "limit": .integer(Int64(GuestLimits.guests))])
    }
    /// The holder is ending; its successor is to be asked.
    static var moved: Self { HostError(Code("moved"), "the program that holds the state directory is closing it") }
}
