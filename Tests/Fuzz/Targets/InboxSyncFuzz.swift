import Hosting
import Inbox
import JSON
import Notifications
import Store
import Synchronization
import Wire

@testable import Device

extension FuzzTarget {
    /// Keeping a part of the inbox with a hostile desktop, a store that fails and a host that asks all the time: every
    /// wait ends once, deadlines pass, and no answers keep it busy forever.
    static let inboxSync = FuzzTarget("inbox-sync", limit: 1_024) { bytes in
        var world = InboxSyncFuzz(FuzzInput(bytes))
        try world.run()
    }
}

private struct InboxSyncFuzz {
    /// How often each of the host's calls was answered.
    private final class Told: Sendable {
        private let counts = Mutex<[Int: Int]>([:])

        func then(_ number: Int) -> Then { { _ in self.counts.withLock { $0[number, default: 0] += 1 } } }

        var all: [Int: Int] { counts.withLock { $0 } }
    }

    private var input: FuzzInput
    private var sync = InboxSync()
    private var now = Moment(loop: 1_000, wall: 1_700_000_000_000)
    private var asked: [InboxSync.Question] = []
    private var jobs: [InboxJob] = []
    private let told = Told()
    private var waits = 0

    init(_ input: FuzzInput) { self.input = input }

    mutating func run() throws {
        while !input.isEmpty { try step() }
        // Whatever one desktop answers from here on, it comes to rest.
        let last = answer()
        let isSure = input.flag()
        var steps = 0
        while !asked.isEmpty || !jobs.isEmpty {
            while !jobs.isEmpty { store(jobs.removeFirst(), fails: false) }
            if !asked.isEmpty { act(sync.answered(asked.removeFirst(), isSure ? .answered([:]) : last, now: now)) }
            steps += 1
            try require(steps < 5_000, "one answer keeps it busy forever")
        }
        try require(told.all.values.allSatisfy { $0 == 1 }, "a call was answered twice")
        act(sync.close(HostError(.closed, "closed")))
        let all = told.all
        try require((0..<waits).allSatisfy { all[$0] == 1 }, "\(waits) calls, answered: \(all)")
        try require(!sync.isLoading, "it goes on after its end")
    }

    private mutating func step() throws {
        switch input.choice(10) {
        case 0:
            let (isReachable, isSecure) = (input.flag(), input.flag())
            act(sync.reachable(isReachable, isSecure: isSecure, pairedAt: input.integer(), now: now.loop))
        case 1:
            guard waits < 40 else { return }
            waits += 1
            act(sync.refresh(until: now.loop + UInt64(input.byte()), told.then(waits - 1)))
        case 2: act(sync.refreshUnasked(now: now.loop))
        case 3: sync.overtake()
        case 4, 5:
            guard !asked.isEmpty else { return }
            let question = asked.remove(at: input.choice(asked.count))
            act(sync.answered(question, answer(), now: now))
            // Also twice, as a peer may.
            if input.choice(8) == 0 { act(sync.answered(question, answer(), now: now)) }
        case 6, 7:
            guard !jobs.isEmpty else { return }
            store(jobs.removeFirst(), fails: input.choice(8) == 0)
        case 8:
            sync.note(
                HostError(input.element([.denied, .timeout, .closed]), "x"), of: input.element([.safe, .mutating]))
            sync.succeeded(input.element([.safe, .mutating]))
        default:
            now = Moment(loop: now.loop + UInt64(input.element([1, 100, 31_000])), wall: now.wall + 1)
            act(sync.tick(now: now.loop))
            if let deadline = sync.nextDeadline { try require(deadline > now.loop, "a deadline that never passes") }
        }
    }

    private mutating func answer() -> CommandOutcome {
        let error = HostError(input.element([.offline, .denied, .unsupported, .timeout]), "no")
        switch input.choice(8) {
        case 0: return .absent(error)
        case 1: return .refused(.init(error: error))
        case 2: return .unanswered(RequestID("r"), error)
        case 3:
            let names = [
                "success", "notifications", "total", "unreadCount", "next", "count", "id", "createdAt", "error",
            ]
            return .answered(input.object(names))
        default:
            let rows = (0..<input.choice(4)).map { _ -> JSONValue in
                [
                    "id": .string("n\(input.choice(20))"), "title": "T", "createdAt": .integer(input.integer()),
                    "read": input.json([], depth: 0),
                ]
            }
            return .answered([
                "success": true, "notifications": .array(rows), "total": .integer(input.integer()),
                "unreadCount": input.flag() ? .integer(input.integer()) : nil,
                "next": input.flag() ? .string(input.text(4)) : nil, "count": input.json([], depth: 0),
            ])
        }
    }

    private mutating func store(_ job: InboxJob, fails: Bool) {
        let result: Result<InboxJob.Stored, StoreError> =
            fails ? .failure(StoreError(.full, "the disk is full")) : .success(stored(job))
        act(sync.stored(job, result, now: now))
    }

    private mutating func stored(_ job: InboxJob) -> InboxJob.Stored {
        switch job {
        case .beginGap(let since): return .gap(since: since)
        case .fillGap: return .filled(last: 1, unread: 0)
        case .beginRefresh(let round): return .begun(Inbox.Run(number: Int64(round), through: 0))
        case .merge(_, let page, _, _, _):
            var merged = Inbox.Merged()
            merged.added = page.rows.count
            merged.newToRun = input.flag() ? page.rows.count : 0
            return .merged(page, merged, newest: 1, unread: 0)
        case .finishRefresh: return .finished(dropped: 0, ofDesktop: 0, unread: 0)
        }
    }

    private mutating func act(_ actions: [InboxSync.Action]) {
        for action in actions {
            switch action {
            case .ask(_, let question, _): asked.append(question)
            case .store(let job): jobs.append(job)
            case .finish(let waiters, let result): for waiter in waiters { waiter(result) }
            case .tell, .learnSettings, .problem: break
            }
        }
    }
}
