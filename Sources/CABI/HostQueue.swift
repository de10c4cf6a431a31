import CBellwire
import CLinux
import Glibc
import Hosting
import JSON

/// What waits for the host of one handle, and the dispatch that hands it over.
///
/// Everything that the library wants to say comes in through ``post(_:)`` and its siblings, from any thread; callbacks
/// run only inside ``dispatch()``, on the thread that calls it, one at a time.
final class HostQueue: Sendable {
    /// Events that may wait, completions not counted: ``callLimit`` bounds those.
    static let capacity = 1_024
    /// Problems that are kept for a subscription that is still to come.
    static let unheardCapacity = 16
    /// Stored events, such as pushes, that are taken from their source at a time.
    static let batchLimit = 64
    /// Questions that may wait; one more is answered at once, as if nobody were there.
    static let questionLimit = 2_048

    enum Item {
        case event(HostEvent)
        case completion(Completion, Outcome)
        case question(HostQuestion)
        /// The source of that name has events in the store. At most one of these waits for each.
        case stored(HostEvent.Name)
    }

    struct Subscription {
        let number: bw_subscription
        /// `nil` = all.
        let name: HostEvent.Name?
        let callback: bw_event_callback
        let userData: UserData
    }

    /// Takes what a question says, and gives the answer. Runs in dispatch.
    typealias HookCallback = @Sendable (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> Int32

    /// Who answers the questions of one kind.
    struct Hook {
        let number: bw_subscription
        let hook: HostHook
        let callback: HookCallback
        let userData: UserData
    }

    /// What the store has for the host under one name.
    struct Source {
        let name: HostEvent.Name
        /// With or without a subscription for it.
        var waits = true
        /// When the store failed to give it, in the monotonic milliseconds of ``HostQueue/now()``.
        var failedAt: Int64?
        /// Rows of a batch that could not be marked, which no callback has seen: the batch has to be given back first.
        var unmarked: [Int64]?
    }

    enum Phase { case open, closing, closed }

    /// The stored events that are being handed over.
    struct Batch {
        let name: HostEvent.Name
        var handed: [Int64] = []
        var untouched: [Int64]

        /// From the moment at which the first callback is about to run with it.
        mutating func hand(_ row: Int64) {
            guard let index = untouched.firstIndex(of: row) else { return }
            untouched.remove(at: index)
            handed.append(row)
        }
    }

    struct State {
        var phase = Phase.open
        var subscriptions: [Subscription] = []
        var nextNumber: UInt64 = 1
        var items: [Item] = []
        /// Events that gave way to newer ones since the host was last told.
        var dropped = 0
        /// Problems that came when nobody had subscribed for any: an opening that went wrong is told before the host
        /// can subscribe.
        var unheard: [HostEvent] = []
        /// Those that have said that they have something.
        var sources: [Source] = []
        var hooks: [Hook] = []
        /// The questions among the items.
        var questions = 0
        /// The thread inside `dispatch`.
        var dispatcher: pthread_t?
        /// The subscription, or the hook, whose callback runs now.
        var running: bw_subscription?
        /// Ended inside its own callback: released when that has returned.
        var ended: [UserData] = []
        var batch: Batch?
        /// The calls without an outcome yet: those that a thread waits for, and those that have a completion.
        var calls: [UInt64: PendingCall] = [:]
        /// The completions among the items.
        var completions = 0
        var quits = false
        /// The library's own dispatching thread.
        var thread: pthread_t?
    }

    let state = Monitor(State())
    /// Readable when there is something to dispatch. Open as long as this object lives.
    let descriptor: Int32

    init() throws(HostError) {
        descriptor = linux_eventfd()
        guard descriptor >= 0 else { throw Self.noDescriptors }
    }

    /// Whether as many file descriptors are free as an opening takes: of the queue, the loop, the lock, the database.
    ///
    /// Asked before, for libuv ends the process when it has none for its pipe of signals. Another thread may still take
    /// them meanwhile.
    func requireDescriptors() throws(HostError) {
        var probes: [Int32] = []
        defer { for probe in probes { Glibc.close(probe) } }
        for _ in 0..<Self.descriptorsToOpen {
            let probe = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard probe >= 0 else { throw Self.noDescriptors }
            probes.append(probe)
        }
    }

    private static let descriptorsToOpen = 16

    private static var noDescriptors: HostError {
        HostError(.limit, "too few file descriptors are left; raise the limit (ulimit -n) or close some")
    }

    deinit { Glibc.close(descriptor) }

    // MARK: In

    func post(_ event: HostEvent) {
        state.update { state in
            guard state.phase == .open else { return }
            if event.name.isState {
                state.items.removeAll { item in
                    if case .event(let old) = item {
                        old.name == event.name && old.desktop == event.desktop
                    } else {
                        false
                    }
                }
            }
            state.items.append(.event(event))
            state.shed()
        }
        wake()
    }

    /// A topic of the host's own. Unlike the library's events it never makes another one give way.
    ///
    /// Errors: `limit` when the queue is full, `closed`.
    func post(_ topic: HostTopic, _ data: JSONObject) throws(HostError) {
        try state.update { (state) throws(HostError) in
            guard state.phase == .open else { throw .closed }
            guard state.eventCount < HostQueue.capacity else {
                throw HostError(.limit, "\(HostQueue.capacity) events wait for the host; dispatch first")
            }
            state.items.append(.event(HostEvent(.topic(topic), data: data)))
        }
        wake()
    }

    /// The source of that name has something in the store.
    func waits(_ name: HostEvent.Name) {
        state.update { state in
            state.withSource(name) { ($0.waits, $0.failedAt) = (true, nil) }
            state.enqueueStored()
        }
        wake()
    }

    func wake() {
        var one: UInt64 = 1
        // The counter cannot overflow in a lifetime; EAGAIN would mean that it is readable already.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: Subscriptions

    func subscribe(_ name: HostEvent.Name?, _ callback: @escaping bw_event_callback, _ userData: UserData)
        throws(HostError)
        -> bw_subscription
    {
        let number = try state.update { (state) throws(HostError) -> bw_subscription in
            guard state.phase == .open else { throw .closed }
            let number = state.nextNumber
            state.nextNumber &+= 1
            state.subscriptions.append(.init(number: number, name: name, callback: callback, userData: userData))
            if name == nil || name == .problem {
                state.items.insert(contentsOf: state.unheard.map(Item.event), at: 0)
                state.unheard = []
            }
            for index in state.sources.indices { state.sources[index].failedAt = nil }
            state.enqueueStored()
            return number
        }
        wake()
        return number
    }

    func unsubscribe(_ number: bw_subscription) throws(HostError) {
        let me = pthread_self()
        let taken = try state.update { (state) throws(HostError) -> UserData? in
            guard let index = state.subscriptions.firstIndex(where: { $0.number == number }) else {
                throw HostError(.notFound, "there is no subscription \(number) of this handle")
            }
            let userData = state.subscriptions.remove(at: index).userData
            guard state.running == number, state.dispatcher == me else { return userData }
            state.ended.append(userData)
            return nil
        }
        guard let taken else { return }
        state.wait { $0.running == number ? nil : () }
        taken.release()
    }
}

extension HostQueue.State {
    /// Whether somebody takes events of that name.
    func wants(_ name: HostEvent.Name) -> Bool { subscriptions.contains { $0.name == nil || $0.name == name } }

    var eventCount: Int { items.count { if case .event = $0 { true } else { false } } }

    /// Changes what is known of a source, which is made if need be.
    mutating func withSource<Result>(_ name: HostEvent.Name, _ body: (inout HostQueue.Source) -> Result) -> Result {
        guard let index = sources.firstIndex(where: { $0.name == name }) else {
            var source = HostQueue.Source(name: name, waits: false)
            defer { sources.append(source) }
            return body(&source)
        }
        return body(&sources[index])
    }

    /// Puts each source in its place in the queue, when it has something and somebody takes it.
    mutating func enqueueStored() {
        guard phase == .open else { return }
        for source in sources where source.waits && source.failedAt == nil && wants(source.name) {
            let isThere = items.contains { if case .stored(source.name) = $0 { true } else { false } }
            if !isThere { items.append(.stored(source.name)) }
        }
    }

    /// Makes room: the oldest event that is no state gives way, or the oldest of all; never a completion.
    mutating func shed() {
        var events = 0
        var oldest: Int?
        var oldestPassing: Int?
        for (index, item) in items.enumerated() {
            guard case .event(let event) = item else { continue }
            events += 1
            oldest = oldest ?? index
            if !event.name.isState { oldestPassing = oldestPassing ?? index }
        }
        guard events > HostQueue.capacity, let index = oldestPassing ?? oldest else { return }
        items.remove(at: index)
        dropped += 1
    }

    /// The next one to hand over.
    mutating func takeItem() -> HostQueue.Item? {
        guard phase == .open, !items.isEmpty else { return nil }
        let item = items.removeFirst()
        switch item {
        case .completion: completions -= 1
        case .question: questions -= 1
        case .event, .stored: break
        }
        return item
    }
}
