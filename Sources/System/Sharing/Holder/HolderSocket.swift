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
    func perform(_ call: HostCall, for session: StoredFeed.Session, then: @escaping Then)
    func ended(_ session: StoredFeed.Session)
}

/// The holder's side of the socket: accepts guests, and passes on what they ask for.
@EventLoop
package final class HolderSocket {
    /// Guests at a time.
    package static let guestLimit = 512
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
        let frame = FrameDecoder.encode(HolderMessage.event(event).object)
        for session in admitted { session.link?.send(frame) }
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
            guard SharedSocket.isOwn(descriptor), sessions.count < Self.guestLimit else {
                Glibc.close(descriptor)
                continue
            }
            lastSession += 1
            let number = lastSession
            let session = GuestSession(number)
            do throws(TransportError) {
                session.link = try FrameLink(
                    descriptor,
                    receive: { [weak self, weak session] (frame) throws(HostError) in
                        guard let self, let session else { return }
                        try received(try GuestMessage(frame), from: session)
                    }, closed: { [weak self] _ in self?.end(number) })
            } catch {
                Glibc.close(descriptor)
                continue
            }
            sessions[number] = session
            count.store(sessions.count, ordering: .relaxed)
        }
    }

    private func received(_ message: GuestMessage, from session: GuestSession) throws(HostError) {
        switch message {
        case .hello(let hello):
            guard session.hello == nil else { throw HostError(.undecodable, "a second hello") }
            session.hello = hello
            admit(hello, session)
        case .call(let number, let call): try perform(number, call, for: session)
        case .take(let number, let source, let limit, let asCopy):
            let feed = try storedEvents(for: session)
            session.told.remove(source)
            feed.take(session.taker, source, limit: limit, asCopy: asCopy, for: session.number) { result in
                EventLoop.post { [weak session] in
                    switch result {
                    case .success(let batch): session?.send(.taken(number: number, batch))
                    case .failure(let error): session?.answer(number, .failure(error))
                    }
                }
            }
        case .finish(let number, let source, let through, let asCopy):
            try storedEvents(for: session).finish(session.taker.name(asCopy: asCopy), source, through: through) {
                result in
                EventLoop.post { [weak session] in
                    session?.answer(number, result.map { .done })
                }
            }
        case .leave(let seen): session.seen = seen
        case .ping: session.send(.answer(number: 0, .success(.done)))
        }
    }

    private func storedEvents(for session: GuestSession) throws(HostError) -> StoredFeed {
        try session.requireAdmitted()
        guard let feed else { throw HostError(.undecodable, "a desktop has no stored events") }
        return feed
    }

    private func admit(_ hello: GuestHello, _ session: GuestSession) {
        let refuse: @EventLoop (HostError) -> Void = { [weak self] error in
            session.send(.refused(error))
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
                session.isAdmitted = true
                session.send(.welcome(options: options))
            case .failure(let error) where error.code == .closed:
                // The next holder takes this guest.
                session.link?.close()
                self?.end(session.number)
            case .failure(let error): refuse(error)
            }
        }
    }

    private func perform(_ number: UInt64, _ call: HostCall, for session: GuestSession) throws(HostError) {
        try session.requireAdmitted()
        guard drained == nil, let service else {
            return session.send(.answer(number: number, .failure(.moved)))
        }
        guard session.calls < GuestSession.callLimit else {
            let error = HostError(.limit, "\(GuestSession.callLimit) calls are in progress; wait for some to finish")
            return session.send(.answer(number: number, .failure(error)))
        }
        session.calls += 1
        service.perform(call, for: session.number) { result in
            EventLoop.post { [weak self, weak session] in
                guard let session else { return }
                session.calls -= 1
                session.answer(number, result)
                self?.checkDrain()
            }
        }
    }

    private func end(_ number: StoredFeed.Session) {
        guard let session = sessions.removeValue(forKey: number) else { return }
        count.store(sessions.count, ordering: .relaxed)
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

/// One guest, as its holder has it.
@EventLoop
private final class GuestSession {
    /// Calls of one guest in progress: as many as a handle may have.
    static let callLimit = 1_024

    let number: StoredFeed.Session
    var link: FrameLink?
    var hello: GuestHello?
    var isAdmitted = false
    /// What it has said at its end.
    var seen: [HostEvent.Name: Int64]?
    var calls = 0
    /// Sources of which it knows that there are events to take.
    var told: Set<HostEvent.Name> = []

    init(_ number: StoredFeed.Session) { self.number = number }

    var taker: FeedTaker { hello?.taker ?? FeedTaker("", copy: nil) }

    func send(_ message: HolderMessage) { link?.send(message.object) }

    /// What failed because this holder ends has no answer: the guest asks the next one.
    func answer(_ number: UInt64, _ result: Result<HostReply, HostError>) {
        if case .failure(let error) = result, error.code == .closed { return }
        send(.answer(number: number, result))
    }

    func tellWaits(_ source: HostEvent.Name) {
        if told.insert(source).inserted { send(.waits(source)) }
    }

    func requireAdmitted() throws(HostError) {
        guard isAdmitted else { throw HostError(.undecodable, "a message before the hello was accepted") }
    }
}

extension HostError {
    /// The holder is ending; its successor is to be asked.
    static let moved = HostError(Code("moved"), "the program that holds the state directory is closing it")
}
