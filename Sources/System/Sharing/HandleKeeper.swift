import Glibc
import Hosting
import JSON
import Store
import Synchronization
import Transport

/// Keeps a shared handle connected: as the holder serves its guests, as a guest follows the holder, and takes over from it.
@EventLoop
final class HandleKeeper<Kind: SharableRole>: GuestService {
    /// How long a call waits for a new holder at least, in milliseconds: one that waits for a desktop's answer waits as
    /// long for the holder.
    private static var patience: UInt64 { 3_000 }
    /// How long the holder's end waits for calls of its guests, in milliseconds.
    private static var drainTime: UInt64 { 1_000 }
    /// Between two tries, where nobody can be reached, in milliseconds.
    private static var retryInterval: UInt64 { 100 }
    /// Of a program that takes over, in milliseconds.
    private static var headStart: UInt64 { 100 }
    /// In which a program that has lost its holder or its connection is back, in milliseconds.
    private static var returnTime: UInt64 { 60_000 }
    /// Between two looks at who is still running, in milliseconds.
    private static var tidyInterval: UInt64 { 6 * 3_600_000 }

    private struct Waiting {
        let deadline: UInt64
        let carryOut: @EventLoop () -> Void
        let fail: (HostError) -> Void
    }

    /// It owns this, and is set once, before anything else is called.
    nonisolated(unsafe) weak var role: SharedRole<Kind>?
    private var socket: HolderSocket?
    private var waiting: [Waiting] = []
    private var isSeeking = false
    private var isReported = false
    private var unreadable = UnreadableHolder()
    /// Waits for the end of the search.
    private var closing: (@Sendable () -> Void)?
    /// Since when a program waits to take over.
    private var wantedSince: UInt64?
    private var handingOver: LoopTimer?
    private lazy var waitTimer = LoopTimer { [weak self] in self?.failExpired() }
    private lazy var retryTimer = LoopTimer { [weak self] in self?.seek() }
    private lazy var takeoverStart = TakeoverStart(role)
    private lazy var tidyTimer = LoopTimer { [weak self] in self?.tidy() }

    nonisolated init() {}

    private var sources: [HostEvent.Name] { role?.sources.map(\.name) ?? [] }

    // MARK: Becoming holder or guest

    func take(_ opened: Opened<Kind>) -> Result<Void, HostError> {
        guard let role else { return .failure(.closed) }
        switch opened.part {
        case .guest(let descriptor, let options):
            do throws(TransportError) {
                let client = try GuestClient(
                    descriptor, role.channel, lost: { [weak self] in self?.lost($0) },
                    silent: { [weak self] in self?.silent($0) })
                role.hosted.withLock { $0 = options }
                role.enter(.guest(client))
            } catch {
                close(descriptor)
                return .failure(HostError(error))
            }
        case .holder(let kind, let feed, let spool, let listener, let options):
            role.hosted.withLock { $0 = HostedOptions(options).given }
            wantedSince = nil
            serve(listener, feed)
            role.enter(.holder(kind, feed))
            if let feed, let spool {
                spool.attach(kind.database, feed) { [weak role] sources in
                    guard let role else { return }
                    for source in sources { role.channel.waits(source) }
                    EventLoop.post { role.keeper.socket?.tellWaits(sources) }
                }
                spool.flush()
                tidyTimer.start(after: Self.returnTime, every: Self.tidyInterval)
            }
            for hook in role.hooks.withLock({ $0 }) { kind.hostAnswers(hook, true) }
            takeoverStart.begin()
        }
        isReported = false
        // What was stored before is to be taken.
        for source in sources { role.channel.waits(source) }
        let calls = waiting
        waiting = []
        waitTimer.stop()
        for call in calls { call.carryOut() }
        return .success(())
    }

    private func serve(_ listener: Result<CInt, HostError>, _ feed: StoredFeed?) {
        guard let role else { return }
        switch listener {
        case .success(let descriptor):
            do throws(TransportError) {
                socket = try HolderSocket(descriptor, in: role.settings?.path ?? "", feed, self)
            } catch {
                close(descriptor)
                role.channel.problem("sharing_unavailable", "other programs cannot join: \(error.message)")
            }
        case .failure(let error):
            role.channel.problem(
                "sharing_unavailable", "other programs cannot join: \(error.message)", error.detail)
        }
    }

    /// The holder has ended, or the connection to it.
    private func lost(_ error: HostError?) {
        guard let role, case .guest(let client) = role.current else { return }
        role.enter(.seeking)
        if let error { return failed(error, client) }
        for pending in client.close() { pending.lost(pending.isRefused) }
        seek()
    }

    /// What the holder has sent can't be read. It would send the same again, so nothing is repeated.
    private func failed(_ error: HostError, _ client: GuestClient) {
        let action = unreadable.failed(error, now: EventLoop.now)
        for pending in client.close(action.error) { pending.then(.failure(action.error)) }
        if action.isReported {
            role?.channel.problem("holder_unreadable", action.error.message, action.error.detail)
        }
        retryTimer.start(after: action.delay)
    }

    /// The holder, which may be this program, ended or let go during the call.
    func interrupted(_ call: IdentifiedCall<Kind.Call>, _ then: @escaping Then) {
        guard let repeated = call.repeated else { return then(.failure(.holderLost)) }
        forward(repeated, then)
    }

    /// Lets another program become the holder, and follows it.
    private func handOver() {
        guard let role, case .holder = role.current, let socket, !isSeeking else { return }
        isSeeking = true
        tidyTimer.stop()
        takeoverStart.stop()
        socket.drain(within: Self.drainTime) { [weak self] in self?.letGo() }
    }

    private func letGo() {
        guard let role else { return }
        guard case .holder(let kind, _) = role.current, let socket else {
            isSeeking = false
            return
        }
        self.socket = nil
        role.hasHandedOver.store(true, ordering: .relaxed)
        role.starts.withLock { $0 = $0.filter { $0 == 0 } }
        role.enter(.seeking)
        kind.shutDown {
            EventLoop.post { [self] in
                // Who takes over looks every few milliseconds; the others hear of it afterwards.
                let timer = LoopTimer { [self] in
                    handingOver = nil
                    isSeeking = false
                    socket.close()
                    if case .seeking = role.current { return seek() }
                    closing?()
                    closing = nil
                }
                handingOver = timer
                timer.start(after: Self.headStart)
            }
        }
    }

    /// The holder does not answer, or (`nil`) does again.
    private func silent(_ error: HostError?) {
        guard let role else { return }
        guard let error else {
            isReported = false
            for source in sources { role.channel.waits(source) }
            return
        }
        if !isReported { role.channel.problem("holder_silent", error.message, error.detail) }
        isReported = true
        // A child of its process may have inherited the connection, which then outlives it; the lock does not.
        guard case .guest(let client) = role.current, let path = role.settings?.path else { return }
        _ = startThread(named: "bw-lock") {
            guard let directory = try? StateDirectory.openIfFree(path) else { return }
            directory.close()
            EventLoop.post {
                guard case .guest(let current) = role.current, current === client else { return }
                role.keeper.lost(nil)
            }
        }
    }

    private func seek() {
        guard let role, !isSeeking, case .seeking = role.current, let settings = role.settings else { return }
        isSeeking = true
        unreadable.connects()
        let hello = role.hello
        let options = HostedOptions.taken(over: role.hosted.withLock { $0 }, by: role.options)
        let code = startThread(named: "bw-takeover") {
            let result: Result<Opened<Kind>, HostError>
            do throws(HostError) {
                let opening = try SharedOpening.acquire(settings.path, hello, patience: 1_000)
                result = .success(try Opened(opening, role, options))
            } catch { result = .failure(error) }
            EventLoop.post { role.keeper.sought(result) }
        }
        guard code != 0 else { return }
        isSeeking = false
        retryTimer.start(after: Self.retryInterval)
    }

    private func sought(_ result: Result<Opened<Kind>, HostError>) {
        guard let role else { return }
        isSeeking = false
        guard case .seeking = role.current else {
            let then = closing ?? {}
            closing = nil
            guard case .success(let opened) = result else { return then() }
            return opened.discard(then: then)
        }
        switch result {
        case .success(let opened):
            guard case .failure(let error) = take(opened) else { return }
            report(error)
        case .failure(let error): report(error)
        }
        retryTimer.start(after: Self.retryInterval)
    }

    /// Once for each search.
    private func report(_ error: HostError) {
        guard let role else { return }
        guard !isReported else { return }
        isReported = true
        role.channel.problem(
            "holder_lost",
            "the program that had the state directory has ended, and no other can be reached: "
                + "\(error.message); this is tried again", error.detail)
    }

    // MARK: The program's own calls

    func forward(_ call: IdentifiedCall<Kind.Call>, _ then: @escaping Then) {
        guard let role else { return then(.failure(.closed)) }
        let traits = call.call.traits
        switch role.current {
        case .alone(let kind): role.perform(call.call, as: call.identity, on: kind, for: 0, then)
        case .holder(let kind, _): role.performOwn(call, on: kind, then)
        case .guest(let client):
            note(traits)
            client.call(
                call.encoded, then: traits.kind == .start ? role.startResult(of: 0, then) : then,
                lost: { [self] isRefused in if isRefused { forward(call, then) } else { interrupted(call, then) } })
        case .seeking:
            note(traits)
            wait(
                atLeast: traits.timeout?.milliseconds, { [weak self] in self?.forward(call.delayed, then) },
                fail: { then(.failure($0)) })
        case .closed: then(.failure(.closed))
        }
    }

    /// Whether this program wants the role to run: its next holder hears of it.
    private func note(_ traits: CallTraits) {
        guard let role else { return }
        if traits.startsRole { role.starts.withLock { _ = $0.insert(0) } }
        if traits.kind == .stop { role.starts.withLock { _ = $0.remove(0) } }
    }

    func take(_ source: HostEvent.Name, limit: Int, asCopy: Bool, _ then: @escaping FeedBatch.Then) {
        guard let role else { return then(.failure(.closed)) }
        switch role.current {
        case .holder(_, let feed?): feed.take(role.taker, source, limit: limit, asCopy: asCopy, for: 0, then: then)
        case .guest(let client):
            client.take(source, limit: limit, asCopy: asCopy) { [weak self] result in
                guard case .failure(let error) = result, error == .holderLost else { return then(result) }
                EventLoop.post { self?.take(source, limit: limit, asCopy: asCopy, then) }
            }
        case .seeking:
            wait(
                { [weak self] in self?.take(source, limit: limit, asCopy: asCopy, then) }, fail: { then(.failure($0)) })
        case .alone, .holder(_, nil), .closed: then(.failure(.closed))
        }
    }

    func finish(_ source: HostEvent.Name, through row: Int64, asCopy: Bool, _ then: @escaping FeedBatch.Then) {
        guard let role else { return then(.failure(.closed)) }
        switch role.current {
        case .holder(_, let feed?):
            feed.finish(role.taker.name(asCopy: asCopy), source, through: row) { then($0.map { FeedBatch() }) }
        case .guest(let client):
            client.finish(source, through: row, asCopy: asCopy) { [weak self] result in
                // It is repeated at the next holder: it only moves a mark forward.
                guard case .failure(let error) = result, error == .holderLost else { return then(result) }
                EventLoop.post { self?.finish(source, through: row, asCopy: asCopy, then) }
            }
        case .seeking:
            wait(
                { [weak self] in self?.finish(source, through: row, asCopy: asCopy, then) },
                fail: { then(.failure($0)) })
        case .alone, .holder(_, nil), .closed: then(.failure(.closed))
        }
    }

    private func wait(
        atLeast time: UInt64? = nil, _ carryOut: @escaping @EventLoop () -> Void, fail: @escaping (HostError) -> Void
    ) {
        if let error = unreadable.error { return fail(error) }
        let deadline = EventLoop.now &+ max(Self.patience, time ?? 0)
        waiting.append(Waiting(deadline: deadline, carryOut: carryOut, fail: fail))
        armWaitTimer()
    }

    private func armWaitTimer() {
        guard let next = waiting.map({ $0.deadline }).min() else { return waitTimer.stop() }
        waitTimer.start(at: next)
    }

    private func failExpired() {
        let now = EventLoop.now
        let expired = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        armWaitTimer()
        for call in expired { call.fail(.noHolder) }
    }

    // MARK: Guests

    func admit(
        _ hello: GuestHello, _ session: StoredFeed.Session,
        then: @escaping @Sendable @EventLoop (Result<JSONObject, HostError>) -> Void
    ) {
        guard let role, case .holder(let kind, _) = role.current, let settings = role.settings else {
            return then(.failure(.noHolder))
        }
        let options = HostedOptions(role.hosted.withLock { $0 })
        do throws(HostError) {
            guard hello.role == settings.role, (1...255).contains(hello.taker.application.utf8.count)
            else {
                throw HostError(
                    .invalid, "the state directory is in use by a program that runs a \(settings.role) in it",
                    detail: ["field": "state_dir"])
            }
        } catch { return then(.failure(error)) }
        switch options.admission(
            of: HostedOptions(hello.options), guestYields: hello.yields, yields: role.yields,
            name: CommonOptions.hostName())
        {
        case .welcome: break
        case .refused(let error): return then(.failure(error))
        case .handOver:
            // Its own calls come first, for a while; who wants the role tries again.
            let since = wantedSince ?? EventLoop.now
            wantedSince = since
            guard role.ownCalls.load(ordering: .relaxed) == 0 || EventLoop.now - since >= Self.drainTime else {
                return then(.failure(.closed))
            }
            then(.failure(HostError(HostError.moved.code, HostError.moved.message, detail: options.given)))
            return handOver()
        }
        let admitted: @Sendable @EventLoop () -> Void = { [weak self] in
            then(.success(options.given))
            guard hello.isStarted, let self, case .holder = role.current else { return }
            let isFirst = role.starts.withLock { starts in
                defer { starts.insert(session) }
                return starts.isEmpty
            }
            if isFirst { takeoverStart.begin() }
        }
        guard let stored = role.stored else { return admitted() }
        kind.database.submit { (connection) throws(StoreError) in
            try Applications(connection, stored.tables).register(
                hello.taker.application, handed: hello.handed, now: .wallClock)
        } then: { result in
            EventLoop.post {
                switch result {
                case .success: admitted()
                case .failure(let error): then(.failure(HostError(error)))
                }
            }
        }
    }

    func decode(_ call: HostCall, for session: StoredFeed.Session) throws(HostError) -> GuestCall {
        let decoded = try Kind.Call(call)
        return GuestCall(readsStored: decoded.readsStored) { [weak self] then in
            guard let role = self?.role, case .holder(let kind, _) = role.current else { return then(.failure(.moved)) }
            role.perform(decoded, as: call.identity, on: kind, for: session, then)
        }
    }

    func closed(_ hello: GuestHello?, _ error: HostError) { role?.channel.guestClosed(hello, error) }

    func ended(_ session: StoredFeed.Session) {
        guard let role else { return }
        // Whoever only lost its connection is back by then.
        if role.stored != nil { tidyTimer.start(after: Self.returnTime, every: Self.tidyInterval) }
        let isLast = role.starts.withLock { $0.remove(session) != nil && $0.isEmpty }
        guard case .holder(let kind, _) = role.current else { return }
        if isLast { kind.perform(.stop, as: .new) { _ in } }
        // It may have had what another handle of its name is to take now.
        for source in sources { role.channel.waits(source) }
    }

    /// Every guest gets the event.
    func broadcast(_ event: HostEvent) { socket?.broadcast(event) }

    var hasGuests: Bool { socket?.hasGuests ?? false }

    /// Programs that run are remembered, and those that were not seen for long are forgotten, at once if they were copies.
    private func tidy() {
        guard let role, case .holder(let kind, _) = role.current, let stored = role.stored else { return }
        let takers = [role.taker] + (socket?.takers ?? [])
        kind.database.submit { (connection) throws(StoreError) in
            let applications = Applications(connection, stored.tables)
            try applications.prune(running: takers.flatMap(\.names), now: .wallClock)
            try applications.forgetCopies(except: Set(takers.compactMap(\.copy)))
        } then: { _ in
            // A failed store reports itself; the next look tries again.
        }
    }

    // MARK: The end

    func shutDown(_ then: @escaping @Sendable () -> Void) {
        guard let role else { return then() }
        let phase = role.current
        let calls = waiting
        waiting = []
        waitTimer.stop()
        retryTimer.stop()
        tidyTimer.stop()
        takeoverStart.stop()
        for call in calls { call.fail(.closed) }
        switch phase {
        case .alone, .closed: then()
        case .seeking:
            role.enter(.closed)
            if isSeeking { closing = then } else { then() }
        case .guest(let client):
            role.enter(.closed)
            client.leave(seen: role.seen)
            for pending in client.close() { pending.then(.failure(.closed)) }
            then()
        case .holder(let kind, let feed):
            let finish: @EventLoop () -> Void = { [self] in
                role.enter(.closed)
                feed?.end(0, seen: role.seen)
                let socket = socket
                self.socket = nil
                kind.shutDown {
                    // The lock is free: the guests find it so.
                    EventLoop.post {
                        socket?.close()
                        then()
                    }
                }
            }
            guard let socket else { return finish() }
            socket.drain(within: Self.drainTime, then: finish)
        }
    }
}

extension HostError {
    /// Nobody has the state directory, and it can't be taken.
    static var noHolder: Self {
        HostError(
            .offline, "the program that held the connection has ended, and no other has taken over",
            detail: ["reason": "holder_ended"])
    }
}
