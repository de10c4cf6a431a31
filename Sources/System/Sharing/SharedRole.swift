import Glibc
package import Hosting
package import JSON
import Store
import Synchronization
import Transport

/// A role as one program has it: alone, as the holder of a shared state directory, or as a guest of the holder.
///
/// A guest whose holder ends becomes the holder itself, or the guest of who does.
package final class SharedRole<Kind: SharableRole>: Role, FeedBackend {
    /// Opens the role. Blocks. The directory is `nil` where nothing is shared, and so is the spool, also of a role without
    /// stored events.
    package typealias Open =
        @Sendable (
            _ options: JSONObject, _ directory: StateDirectory?, HostChannel, EventSpool?
        ) throws(HostError) -> Kind

    enum Phase {
        /// Not shared.
        case alone(Kind)
        /// Without a feed if the role has no stored events.
        case holder(Kind, StoredFeed?)
        case guest(GuestClient)
        case seeking
        case closed
    }

    let settings: SharedSettings?
    let options: JSONObject
    let channel: HostChannel
    let open: Open
    let stored: StoredEvents?
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
    let hooks = Mutex<[HostHook]>([])
    let keeper = HandleKeeper<Kind>()

    package var sources: [any EventSource] { settings == nil ? aloneSources : feedSources.withLock { $0 } }

    /// Opens the role, or joins the program that has it. Blocks.
    ///
    /// - Parameters:
    ///   - given: the program's options, as it gave them.
    ///   - name: the program's among those that share the role; `nil` = the executable's.
    package static func open(
        _ given: JSONObject, _ common: CommonOptions, _ sharing: SharingOptions,
        as name: String?, stored: StoredEvents? = nil, _ channel: HostChannel, open: @escaping Open
    ) throws(HostError) -> SharedRole {
        guard sharing.isShared, let path = common.stateDirectory else {
            return SharedRole(alone: try open(given, nil, channel, nil), given, channel, open)
        }
        let settings = SharedSettings(
            path: path, role: common.role, taker: name.map { FeedTaker($0, copy: nil) } ?? .ofProgram(sharing.program),
            options: HostedOptions(given), yields: sharing.yields)
        return try SharedRole(sharing: settings, stored, given, channel, open)
    }

    /// For a program that doesn't share.
    private init(
        alone kind: Kind, _ options: JSONObject, _ channel: HostChannel, _ open: @escaping Open
    ) {
        (settings, stored) = (nil, nil)
        (self.options, self.channel, self.open) = (options, channel, open)
        phase = Monitor(.alone(kind))
        aloneSources = kind.sources
        keeper.role = self
    }

    /// Takes the state directory, or joins who has it.
    private init(
        sharing settings: SharedSettings, _ stored: StoredEvents?, _ options: JSONObject, _ channel: HostChannel,
        _ open: @escaping Open
    ) throws(HostError) {
        (self.settings, self.stored) = (settings, stored)
        (self.options, self.channel, self.open) = (options, channel, open)
        phase = Monitor(.seeking)
        aloneSources = []
        keeper.role = self
        do throws(TransportError) { try EventLoop.start() } catch { throw HostError(error) }
        feedSources.withLock { $0 = (stored?.sources ?? []).map { FeedSource($0, self) } }
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

    /// Executes a call of this program. From any thread, without waiting.
    package func perform(_ call: Kind.Call, then: @escaping Then) {
        let call = call.asked(with: options)
        switch current {
        case .alone(let kind): kind.perform(call, as: .new, then: then)
        case .holder(let kind, _):
            let isIdentified = Kind.Call.isAlwaysIdentified || yields
            performOwn(IdentifiedCall(call, isIdentified: isIdentified), on: kind, then)
        case .guest, .seeking, .closed:
            let call = IdentifiedCall(call)
            EventLoop.post { [self] in keeper.forward(call, then) }
        }
    }

    /// Executes a call of this program. If the role is handed over meanwhile, its next holder may do so.
    func performOwn(_ call: IdentifiedCall<Kind.Call>, on kind: Kind, _ then: @escaping Then) {
        ownCalls.add(1, ordering: .relaxed)
        perform(call.call, as: call.identity, on: kind, for: 0) { [self] result in
            ownCalls.subtract(1, ordering: .relaxed)
            guard case .failure(let error) = result, error.code == .closed else { return then(result) }
            if case .closed = current { return then(result) }
            EventLoop.post { [self] in keeper.interrupted(call, then) }
        }
    }

    /// Executes a call of this program, or of a guest.
    func perform(
        _ call: Kind.Call, as identity: CommandIdentity, on kind: Kind, for session: StoredFeed.Session,
        _ then: @escaping Then
    ) {
        let traits = call.traits
        if traits.startsRole { starts.withLock { _ = $0.insert(session) } }
        if traits.kind == .stop {
            let isLast = starts.withLock { starts in
                starts.remove(session)
                return starts.isEmpty
            }
            // Others still want it.
            guard isLast else { return then(.success(.done)) }
        }
        let then = traits.kind == .start ? startResult(of: session, then) : then
        guard traits.kind == .state, settings != nil else { return kind.perform(call, as: identity, then: then) }
        let sharing = JSONValue.object(sharing(for: session))
        kind.perform(call, as: identity) { result in
            then(
                result.map { reply in
                    var state = reply.value.object ?? [:]
                    state["sharing"] = sharing
                    return HostReply(state)
                })
        }
    }

    /// A start that the role refuses, such as for its relay's address, is not tried again for this program.
    func startResult(of session: StoredFeed.Session, _ then: @escaping Then) -> Then {
        { [self] result in
            // With these, the next holder starts it.
            if case .failure(let error) = result, ![.closed, .offline, .busy].contains(error.code) {
                starts.withLock { _ = $0.remove(session) }
            }
            then(result)
        }
    }

    private func sharing(for session: StoredFeed.Session) -> JSONObject {
        var holder: JSONObject = ["application": .string(taker.application), "process": .integer(Int64(getpid()))]
        if settings?.role == "device" {
            holder["showsAlerts"] = .bool(HostedOptions(hosted.withLock { $0 }).showsAlerts)
        }
        return ["part": session == 0 ? "holder" : "guest", "holder": .object(holder)]
    }

    /// Whether this program has a callback that answers these questions: asked is the one that has the role.
    package func hostAnswers(_ hook: HostHook, _ answers: Bool) {
        hooks.withLock { hooks in
            hooks.removeAll { $0 == hook }
            if answers { hooks.append(hook) }
        }
        kind?.hostAnswers(hook, answers)
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

    package func handoverPath(of source: HostEvent.Name) -> String {
        let isLocal = stored?.local.contains(source) == true
        return "\(settings?.path ?? "")/\(isLocal ? "\(settings?.role ?? "")" : "shared").handed"
    }

    package func local(_ source: HostEvent.Name) -> (any LocalFeed)? {
        guard case .holder(let kind, _) = current, let local = kind.local(source), local.isInUse else { return nil }
        return local
    }

    package func take(_ source: HostEvent.Name, limit: Int, asCopy: Bool) throws(HostError) -> FeedBatch {
        let batch = try wait { [self] then in keeper.take(source, limit: limit, asCopy: asCopy, then) }
        if let begins = batch.begins, case .holder(let kind, _) = current {
            kind.local(source)?.begin(as: taker.name(asCopy: begins.asCopy), begins.marks)
        }
        // A batch that is not full would look like the last one.
        if batch.isCut { channel.waits(source) }
        return batch
    }

    package func tellDropped(_ count: Int64) {
        channel.problem(
            "events_dropped",
            "\(count) events were dropped before this program took them: \(SharedEvents.capacity) are kept",
            ["count": .integer(count)])
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
