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
            role: settings?.role ?? "", application: settings?.application ?? "", process: Int64(getpid()),
            options: settings?.options.given ?? [:])
        hello.isStarted = isStarted
        for source in feedSources.withLock({ $0 }) where source.handed > 0 { hello.handed[source.name] = source.handed }
        return hello
    }

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
        case .alone(let kind), .holder(let kind, _): try perform(call, on: kind, for: 0, then)
        case .guest, .seeking, .closed:
            try Kind.check(call)
            EventLoop.post { [self] in keeper.forward(call, then) }
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
                "application": .string(settings?.application ?? ""), "process": .integer(Int64(getpid())),
                "showsAlerts": .bool((options["alerts"]?.string ?? "none") != "none"),
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

    /// How long a dispatch waits for a holder, in milliseconds.
    private static var patience: Int64 { 5_000 }

    package var handoverPath: String { "\(settings?.path ?? "")/shared.handed" }

    package func take(_ source: HostEvent.Name, limit: Int) throws(HostError) -> FeedBatch {
        try wait { [self] then in keeper.take(source, limit: limit, then) }
    }

    package func finish(_ source: HostEvent.Name, through row: Int64) throws(HostError) {
        _ = try wait { [self] then in keeper.finish(source, through: row, then) }
    }

    private func wait(
        _ start: @escaping @Sendable @EventLoop (@escaping FeedBatch.Then) -> Void
    ) throws(HostError) -> FeedBatch {
        let answer = Monitor(Result<FeedBatch, HostError>?.none)
        EventLoop.post { start { result in answer.update { $0 = $0 ?? result } } }
        return try answer.wait { $0 }.get()
    }
}
