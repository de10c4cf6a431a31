import CBellwire
import CLinux
import Glibc
import Hosting
import JSON

/// The events that wait for the host of one handle, and the dispatch that delivers them.
///
/// Everything that the library wants to say comes in through ``post(_:)`` and its siblings, from any thread; callbacks
/// run only inside ``dispatch()``, on the thread that calls it, one at a time.
final class HostQueue: Sendable {
    static let capacity = EventBuffer.eventLimit
    static let unheardCapacity = EventBuffer.unheardLimit
    /// Stored events, such as pushes, that are taken from their source at a time.
    static let batchLimit = 256
    /// Maximum waiting questions; a further one is answered at once, as if there were no callback.
    static let questionLimit = 2_048

    typealias HookCallback = Registrations.HookCallback

    enum Phase { case open, closing, closed }

    struct State {
        var phase = Phase.open
        var buffer = EventBuffer()
        var registrations = Registrations()
        var sources = StoredSources()
        /// The calls without an outcome yet: those that a thread waits for, and those that have a completion.
        var calls: [UInt64: PendingCall] = [:]
        var dispatcher: Dispatcher?
        /// The callback that it is in.
        var call: CallbackCall?
        var quits = false
        /// The library's own dispatching thread.
        var thread: pthread_t?
        /// The descriptor has been made readable since the last dispatch.
        var isSignalled = false
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
    /// Checked first, because libuv aborts the process if it has no descriptors for its signal pipe. Another thread may
    /// still take them in between.
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
        HostError(.limit, "out of file descriptors; raise the limit (ulimit -n) or close some")
    }

    deinit { Glibc.close(descriptor) }

    // MARK: In

    func post(_ event: HostEvent) {
        let wakes = state.update { state -> Bool in
            guard state.phase == .open else { return false }
            state.buffer.append(event)
            return state.signals()
        }
        if wakes { signal() }
    }

    /// A topic of the program's own. Unlike the library's events it never displaces another event.
    ///
    /// Errors: `limit` when the queue is full, `closed`.
    func post(_ topic: HostTopic, _ data: JSONObject) throws(HostError) {
        let wakes = try state.update { (state) throws(HostError) -> Bool in
            guard state.phase == .open else { throw .closed }
            guard state.buffer.events < HostQueue.capacity else {
                throw HostError(.limit, "\(HostQueue.capacity) events wait to be dispatched; dispatch first")
            }
            state.buffer.append(HostEvent(.topic(topic), data: data))
            return state.signals()
        }
        if wakes { signal() }
    }

    /// The source of that name has something in the store.
    func waits(_ name: HostEvent.Name) {
        let wakes = state.update { state -> Bool in
            state.sources.waits(name)
            state.enqueueStored()
            return state.signals()
        }
        if wakes { signal() }
    }

    /// Makes the descriptor readable.
    func wake() {
        if state.withLock({ $0.signals() }) { signal() }
    }

    func signal() {
        var one: UInt64 = 1
        // The counter can't overflow in a lifetime; EAGAIN would mean that it is readable already.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: Subscriptions

    func subscribe(_ name: HostEvent.Name?, _ callback: @escaping bw_event_callback, _ userData: UserData)
        throws(HostError)
        -> bw_subscription
    {
        let number = try state.update { (state) throws(HostError) -> bw_subscription in
            guard state.phase == .open else { throw .closed }
            let number = state.registrations.subscribe(name, callback, userData)
            if name == nil || name == .problem { state.buffer.replayUnheard() }
            state.sources.forgetFailures()
            state.enqueueStored()
            return number
        }
        wake()
        return number
    }

    func unsubscribe(_ number: bw_subscription) throws(HostError) {
        recover(at: linux_stack())
        let me = pthread_self()
        let taken = try state.update { (state) throws(HostError) -> UserData? in
            guard let userData = state.registrations.unsubscribe(number) else {
                throw HostError(.notFound, "no such subscription: \(number)")
            }
            guard state.registrations.running == number, state.dispatcher?.thread == me else { return userData }
            state.registrations.keepUntilReturn(userData)
            return nil
        }
        guard let taken else { return }
        state.wait(checking: recoverFromEndedThread) { $0.registrations.running == number ? nil : () }
        taken.release()
    }
}

extension HostQueue.State {
    /// Whether the descriptor has to be made readable; it is, from then on.
    mutating func signals() -> Bool {
        defer { isSignalled = true }
        return !isSignalled
    }

    /// Puts each source with events into the queue, in order, if its events have a subscriber.
    mutating func enqueueStored() {
        guard phase == .open else { return }
        for name in sources.ready where registrations.wants(name) { buffer.append(stored: name) }
    }

    /// The next item to hand over, of those that waited when the dispatch began.
    mutating func takeItem(before end: Int) -> EventBuffer.Item? {
        phase == .open ? buffer.take(before: end) : nil
    }
}
