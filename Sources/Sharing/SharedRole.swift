import Glibc
package import Hosting
package import JSON
import Store
package import Synchronization
import Transport

/// A role as one program has it: alone, as the holder of a shared state directory, or as a guest of the holder.
///
/// All calls come in as text. A guest whose holder ends becomes the holder itself, or the guest of who does.
package final class SharedRole<Kind: SharableRole>: Role, FeedBackend {
    /// Opens the role. Blocks. The spool is `nil` where nothing is shared.
    package typealias Open =
        @Sendable (
            _ options: JSONObject, _ directory: StateDirectory?, HostChannel, EventSpool?
        ) throws(HostError) -> Kind

    enum Phase {
        /// Not shared.
        case alone(Kind)
        case holder(Kind, StoredFeed)
        case guest(GuestClient)
        case seeking
        case closed
    }

    let settings: SharedSettings?
    let options: JSONObject
    let channel: HostChannel
    let open: Open
    let move: EventSpool.Move
    private let phase: Monitor<Phase>
    private let feedSources = Mutex<[FeedSource]>([])
    private let aloneSources: [any EventSource]
    /// Which sessions have started the role.
    let starts = Mutex<Set<StoredFeed.Session>>([])
    /// The options of the role as it is open now.
    let hosted = Mutex<JSONObject>([:])
    /// This program's own calls that it carries out itself.
    let ownCalls = Atomic(0)
    /// It has handed the role over to another program, whose options are what they are.
    let hasHandedOver = Atomic(false)
    /// The questions that this program has callbacks for.
    package let hooks = Mutex<[HostHook]>([])
    let keeper = HandleKeeper<Kind>()

    package var sources: [any EventSource] { settings == nil ? aloneSources : feedSources.withLock { $0 } }

    /// For a program that doesn't share.
    package init(
        alone kind: Kind, _ options: JSONObject, _ channel: HostChannel, open: @escaping Open,
        move: @escaping EventSpool.Move
    ) {
        (settings, self.options, self.channel, self.open, self.move) = (nil, options, channel, open, move)
        phase = Monitor(.alone(kind))
        aloneSources = kind.sources
        keeper.role = self
    }

    /// Takes the state directory, or joins who has it. Blocks.
    package init(
        sharing settings: SharedSettings, sources: [HostEvent.Name], _ options: JSONObject, _ channel: HostChannel,
        open: @escaping Open, move: @escaping EventSpool.Move
    ) throws(HostError) {
        (self.settings, self.options, self.channel, self.open, self.move) = (settings, options, channel, open, move)
        phase = Monitor(.seeking)
        aloneSources = []
        keeper.role = self
        do throws(TransportError) { try EventLoop.start() } catch { throw HostError(error) }
        feedSources.withLock { $0 = sources.map { FeedSource($0, self) } }
        let opening = try SharedOpening.acquire(settings.path, hello)
        let opened = try Opened(opening, self, options)
        let isTaken = Monitor(Result<Void, HostError>?.none)
        EventLoop.post { [self] in
            let result = keeper.take(opened)
            isTaken.update { $0 = result }
        }
        try isTaken.wait { $0 }.get()
    }

    /// How this program introduces itself to a holder.
    var hello: GuestHello {
        var hello = GuestHello(
            role: settings?.role ?? "", taker: taker, process: Int64(getpid()), options: settings?.options.given ?? [:])
        hello.isStarted = isStarted
        hello.yields = yields
        for source in feedSources.withLock({ $0 }) {
            let handed = source.handedByName
            if handed > 0 { hello.handed[source.name] = handed }
        }
        return hello
    }

    /// Whether it takes a holder's options as they are.
    var yields: Bool { settings?.yields ?? false || hasHandedOver.load(ordering: .relaxed) }

    /// By which names this program takes stored events.
    var taker: FeedTaker { settings?.taker ?? FeedTaker("", copy: nil) }

    /// Through which rows this program's callbacks were called, by source.
    var seen: [HostEvent.Name: Int64] {
        var rows: [HostEvent.Name: Int64] = [:]
        for source in feedSources.withLock({ $0 }) { rows[source.name] = source.seen }
        return rows
    }

    /// Whether this handle has started the role.
    var isStarted: Bool { starts.withLock { $0.contains(0) } }

    // MARK: Calls

    /// Starts a call; an error is a wrong parameter, and nothing was started. For a host's thread.
    package func perform(_ call: HostCall, then: @escaping ReplyThen) throws(HostError) {
        switch current {
        case .alone(let kind): try kind.perform(call, then: then)
        case .holder(let kind, _): try performOwn(Kind.identified(call), on: kind, then)
        case .guest, .seeking, .closed:
            try Kind.check(call)
            let call = Kind.identified(call)
            EventLoop.post { [self] in keeper.forward(call, then) }
        }
    }

    /// Carries out a call of this program. Should the role be handed over meanwhile, its next holder may do so.
    func performOwn(_ call: HostCall, on kind: Kind, _ then: @escaping ReplyThen) throws(HostError) {
        ownCalls.add(1, ordering: .relaxed)
        do throws(HostError) {
            try perform(call, on: kind, for: 0) { [self] result in
                ownCalls.subtract(1, ordering: .relaxed)
                guard case .failure(let error) = result, error.code == .closed else { return then(result) }
                if case .closed = current { return then(result) }
                EventLoop.post { [self] in keeper.interrupted(call, then) }
            }
        } catch {
            ownCalls.subtract(1, ordering: .relaxed)
            throw error
        }
    }

    /// Carries out a call of this program, or of a guest.
    func perform(
        _ call: HostCall, on kind: Kind, for session: StoredFeed.Session, _ then: @escaping ReplyThen
    ) throws(HostError) {
        if Kind.starts(call) || Kind.isStart(call) { starts.withLock { _ = $0.insert(session) } }
        if Kind.isStop(call) {
            let isLast = starts.withLock { starts in
                starts.remove(session)
                return starts.isEmpty
            }
            // Others still want it.
            guard isLast else { return then(.success(HostReply("null"))) }
        }
        guard call.name == SharedCall.state, settings != nil else { return try kind.perform(call, then: then) }
        let sharing = JSONValue.object(sharing(for: session)).serialized()
        try kind.perform(call) { result in
            // Into the object: its last character is the brace.
            then(result.map { HostReply("\($0.json.dropLast()),\"sharing\":\(sharing)}", isQueued: $0.isQueued) })
        }
    }

    private func sharing(for session: StoredFeed.Session) -> JSONObject {
        [
            "part": session == 0 ? "holder" : "guest",
            "holder": [
                "application": .string(taker.application), "process": .integer(Int64(getpid())),
                "showsAlerts": .bool(HostedOptions(hosted.withLock { $0 }).showsAlerts),
            ],
        ]
    }

    // MARK: Phases

    var current: Phase { phase.withLock { $0 } }

    /// On the loop.
    func enter(_ next: Phase) { phase.update { $0 = next } }

    /// The role, where this program has it.
    package var kind: Kind? {
        switch current {
        case .alone(let kind), .holder(let kind, _): kind
        case .guest, .seeking, .closed: nil
        }
    }

    package func shutDown(then: @escaping @Sendable () -> Void) {
        if case .alone(let kind) = current { return kind.shutDown(then: then) }
        EventLoop.post { [self] in keeper.shutDown(then) }
    }

    // MARK: Stored events

    package var handoverPath: String { "\(settings?.path ?? "")/shared.handed" }

    package func take(_ source: HostEvent.Name, limit: Int, asCopy: Bool) throws(HostError) -> FeedBatch {
        let batch = try wait { [self] then in keeper.take(source, limit: limit, asCopy: asCopy, then) }
        if batch.dropped > 0 {
            channel.problem(
                "events_dropped",
                "\(batch.dropped) events were dropped before this program took them: \(ApplicationFeed.capacity) are kept",
                ["count": .integer(batch.dropped)])
        }
        return batch
    }

    package func finish(_ source: HostEvent.Name, through row: Int64, asCopy: Bool) throws(HostError) {
        _ = try wait { [self] then in keeper.finish(source, through: row, asCopy: asCopy, then) }
    }

    private func wait(
        _ start: @escaping @Sendable @EventLoop (@escaping FeedBatch.Then) -> Void
    ) throws(HostError) -> FeedBatch {
        let answer = Monitor(Result<FeedBatch, HostError>?.none)
        EventLoop.post { start { result in answer.update { $0 = $0 ?? result } } }
        return try answer.wait { $0 }.get()
    }
}
