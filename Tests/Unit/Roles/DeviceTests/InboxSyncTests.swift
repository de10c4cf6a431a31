import Hosting
import Inbox
import JSON
import Notifications
import Store
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Device

/// Keeping one desktop's part of the inbox, without a store, a clock or a connection.
struct InboxSyncTests {
    /// What a sync asks for, in short, and its answers.
    private struct Bench {
        var sync = InboxSync()
        var now = Moment(loop: 1_000, wall: 1_000_000)
        var asked: [InboxSync.Question] = []
        var queries: [Device.Command] = []
        var jobs: [InboxJob] = []
        var told = 0
        var problems = 0
        var settings = 0

        mutating func act(_ actions: [InboxSync.Action]) {
            for action in actions {
                switch action {
                case .ask(let command, let question, _):
                    asked.append(question)
                    queries.append(command)
                case .store(let job): jobs.append(job)
                case .tell: told += 1
                case .finish(let waiters, let result): for waiter in waiters { waiter(result) }
                case .learnSettings: settings += 1
                case .problem: problems += 1
                }
            }
        }

        mutating func reachable(_ isReachable: Bool = true, isSecure: Bool = true) {
            act(sync.reachable(isReachable, isSecure: isSecure, pairedAt: 500, now: now.loop))
        }

        mutating func refresh(timeout: UInt64 = 1_000, _ then: @escaping Then = { _ in }) {
            act(sync.refresh(until: now.loop + timeout, then))
        }

        mutating func answer(_ outcome: CommandOutcome) {
            guard !asked.isEmpty else { return }
            act(sync.answered(asked.removeFirst(), outcome, now: now))
        }

        /// The whole history, of so many rows.
        mutating func answerPage(rows: Int = 1) {
            let items = (0..<rows).map { JSONValue.object(["id": .string("n\($0)"), "createdAt": 600, "title": "T"]) }
            answer(
                .answered([
                    "success": true, "notifications": .array(items), "total": .integer(Int64(rows)), "unreadCount": 0,
                ]))
        }

        mutating func store(_ result: Result<InboxJob.Stored, StoreError>? = nil) {
            guard !jobs.isEmpty else { return }
            let job = jobs.removeFirst()
            act(sync.stored(job, result ?? .success(job.plain), now: now))
        }

        /// The names of the jobs and questions that are open.
        var open: [String] { jobs.map(\.name) + asked.map(\.name) }
    }

    /// How often each waiter was told.
    private final class Told: Sendable {
        private let counts = Mutex<[Int: Int]>([:])

        func then(_ number: Int) -> Then { { _ in self.counts.withLock { $0[number, default: 0] += 1 } } }

        subscript(number: Int) -> Int { counts.withLock { $0[number] ?? 0 } }
    }

    @Test("a desktop with an outbox is refreshed, then asked for its settings; once for each time it is reachable")
    func sealed() {
        var bench = Bench()
        bench.reachable()
        bench.reachable()
        #expect(bench.open == ["begin"])
        bench.store()
        #expect(bench.open == ["page"])
        bench.answerPage()
        bench.store()
        #expect(bench.open == ["finish"])
        #expect(bench.sync.isLoading)
        bench.store()
        #expect(bench.open == ["settings"] && !bench.sync.isLoading)
        bench.answer(.answered(["soundEnabled": true]))
        #expect(bench.settings == 1 && bench.open.isEmpty)
        bench.reachable(false)
        bench.reachable()
        #expect(bench.open == ["begin"])
    }

    @Test("a refusal is forgotten when a refresh begins, and when a command with the same rights succeeds")
    func forgottenErrors() {
        let denied = CommandOutcome.refused(.init(error: HostError(.denied, "no")))
        var bench = Bench()
        bench.reachable()
        bench.store()
        bench.answer(denied)
        #expect(bench.sync.error?.code == .denied && bench.open == ["settings"])
        bench.answer(denied)
        // Its user permits it now. What the host hears of the refresh begins without the old refusal.
        bench.refresh()
        #expect(bench.sync.error == nil && bench.sync.isLoading)
        bench.store()
        bench.answer(denied)
        #expect(bench.sync.error?.code == .denied)
        bench.sync.note(HostError(.denied, "no"), of: .mutating)
        bench.sync.succeeded(.safe)
        #expect(bench.sync.error?.code == .denied, "a read proves nothing about a change")
        bench.sync.succeeded(.mutating)
        #expect(bench.sync.error == nil)
        bench.sync.note(HostError(.timeout, "late"))
        bench.sync.succeeded(.mutating)
        #expect(bench.sync.error?.code == .timeout, "any other error is the refresh's own")
    }

    @Test("a refusal is forgotten once the desktop is reachable again, also before anything is answered")
    func forgottenOnReconnect() {
        let denied = CommandOutcome.refused(.init(error: HostError(.denied, "no")))
        // A desktop without an outbox is first asked for what is missing, which takes up to a timeout.
        for isSecure in [false, true] {
            var bench = Bench()
            bench.reachable(isSecure: isSecure)
            bench.store()
            bench.answer(denied)
            bench.sync.note(HostError(.denied, "no"), of: .mutating)
            bench.reachable(false)
            #expect(bench.sync.error?.code == .denied, "nobody has been asked")
            // A refresh that is still under way doesn't keep the refusal either.
            let before = bench.told
            bench.reachable(isSecure: isSecure)
            #expect(bench.sync.error == nil && bench.told > before)
            let told = bench.told
            bench.reachable(isSecure: isSecure)
            #expect(bench.told == told, "once")
            bench.sync.note(HostError(.timeout, "late"))
            bench.reachable(false)
            bench.reachable(isSecure: isSecure)
            #expect(bench.sync.error?.code == .timeout, "any other error stays until a success")
        }
    }

    @Test("refused settings are forgotten with settings that come")
    func settingsPermitted() {
        var bench = Bench()
        bench.reachable()
        bench.store()
        bench.answerPage()
        bench.store()
        bench.store()
        bench.answer(.refused(.init(error: HostError(.denied, "no"))))
        #expect(bench.sync.error?.code == .denied && bench.open.isEmpty)
        bench.act(bench.sync.answered(.settings, .answered(["soundEnabled": true]), now: bench.now))
        #expect(bench.sync.error == nil && bench.settings == 1)
    }

    @Test("a desktop without an outbox is asked for what it has made since its last push, then refreshed")
    func gap() {
        var bench = Bench()
        bench.reachable(isSecure: false)
        #expect(bench.open == ["gap"])
        bench.store()
        #expect(bench.open == ["gapPage"])
        bench.answerPage(rows: 3)
        #expect(bench.open == ["fill"])
        guard case .fillGap(_, let rows, let since, _)? = bench.jobs.first else {
            Issue.record("no rows")
            return
        }
        #expect(rows.count == 3 && since == 500)
        bench.store()
        #expect(bench.open == ["begin"])
    }

    @Test("a gap that can't be asked for leaves an error, and the next connection asks again")
    func gapFails() {
        var bench = Bench()
        bench.reachable(isSecure: false)
        bench.store()
        bench.answer(.absent(HostError(.offline, "away")))
        #expect(bench.open.isEmpty && bench.sync.error?.code == .offline)
        bench.reachable(isSecure: false)
        #expect(bench.open == ["gap"], "it was not answered: it is asked as soon as something changes")
        // A desktop that can't be read has a history all the same.
        bench.store()
        bench.answer(.answered(["nonsense": true]))
        #expect(bench.open == ["begin"])
        bench.store(.failure(StoreError(.full, "full")))
        #expect(bench.sync.error?.code == .store && bench.problems == 0)
    }

    @Test("whoever asks before the first page joins, whoever asks later gets a refresh of their own")
    func waiters() {
        var bench = Bench()
        let told = Told()
        bench.refresh(told.then(1))
        bench.refresh(told.then(2))
        bench.store()
        bench.answerPage()
        bench.refresh(told.then(3))
        bench.store()
        bench.store()
        #expect((told[1], told[2], told[3]) == (1, 1, 0))
        #expect(bench.open == ["begin"])
        bench.store()
        bench.answerPage()
        bench.store()
        bench.store()
        #expect(told[3] == 1 && bench.open.isEmpty)
    }

    @Test("what is marked meanwhile makes it begin anew, three times at most; then nothing is concluded from it")
    func overtaken() {
        var bench = Bench()
        bench.refresh()
        for _ in 0..<4 {
            bench.store()
            bench.answerPage()
            bench.sync.overtake()
            bench.store()
        }
        guard case .finishRefresh(_, _, coverage: .unknown, unread: nil, through: _, at: _)? = bench.jobs.first else {
            Issue.record("\(bench.open)")
            return
        }
    }

    @Test("time: a refresh ends with its last waiter, unless the library itself wants it")
    func time() {
        var bench = Bench()
        let told = Told()
        bench.refresh(timeout: 100, told.then(1))
        #expect(bench.sync.nextDeadline == bench.now.loop + 100)
        bench.now = Moment(loop: bench.now.loop + 100, wall: bench.now.wall)
        bench.act(bench.sync.tick(now: bench.now.loop))
        #expect(told[1] == 1 && !bench.sync.isLoading && bench.sync.error?.code == .timeout)
        bench.store()
        #expect(bench.open.isEmpty, "what the store says of it afterwards is old")
        bench.refresh(timeout: 100, told.then(2))
        bench.reachable()
        bench.now = Moment(loop: bench.now.loop + 100, wall: bench.now.wall)
        bench.act(bench.sync.tick(now: bench.now.loop))
        #expect(told[2] == 1 && bench.sync.isLoading)
    }

    @Test("a call that waits for the refresh after a slow one ends in its own time")
    func lateWaiters() {
        var bench = Bench()
        let told = Told()
        bench.reachable()
        bench.store()
        bench.answerPage()
        // The first page was read: these get a refresh of their own, after this one, which takes long.
        bench.refresh(timeout: 100, told.then(1))
        bench.refresh(timeout: 200, told.then(2))
        #expect(bench.sync.nextDeadline == bench.now.loop + 100)
        bench.now = Moment(loop: bench.now.loop + 100, wall: bench.now.wall)
        bench.act(bench.sync.tick(now: bench.now.loop))
        #expect((told[1], told[2]) == (1, 0) && bench.sync.isLoading)
        #expect(bench.sync.nextDeadline == bench.now.loop + 100)
        bench.store()
        bench.store()
        #expect(told[2] == 0 && bench.open == ["begin", "settings"])
        bench.now = Moment(loop: bench.now.loop + 100, wall: bench.now.wall)
        bench.act(bench.sync.tick(now: bench.now.loop))
        #expect((told[1], told[2]) == (1, 1) && !bench.sync.isLoading)
    }

    @Test("a desktop without the skill is not asked for its settings; a failure of the store is an error")
    func failures() {
        var bench = Bench()
        bench.reachable()
        bench.store()
        bench.answer(.refused(.init(error: .noSkill, lacksSkill: true)))
        #expect(bench.open.isEmpty && bench.sync.error?.code == .unsupported)
        bench.refresh()
        bench.store(.failure(StoreError(.closed, "closed")))
        #expect(bench.sync.error?.code == .unsupported, "a closed store is no news")
    }

    @Test("whatever happens, each waiter hears once, and nothing is asked twice at a time", arguments: 0..<200)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bench = Bench()
        let told = Told()
        var waiters = 0
        var isReachable = false
        for _ in 0..<300 {
            bench.now = Moment(loop: bench.now.loop + .random(in: 0...200, using: &generator), wall: bench.now.wall + 1)
            switch Int.random(in: 0..<14, using: &generator) {
            case 0, 1:
                isReachable.toggle()
                bench.reachable(isReachable, isSecure: .random(using: &generator))
            case 2, 3:
                bench.refresh(timeout: .random(in: 1...3_000, using: &generator), told.then(waiters))
                waiters += 1
            case 4: bench.act(bench.sync.refreshUnasked(now: bench.now.loop))
            case 5: bench.sync.overtake()
            case 6: bench.act(bench.sync.tick(now: bench.now.loop))
            case 7...9: bench.answerPage(rows: .random(in: 0...3, using: &generator))
            case 10: bench.answer(.unanswered("x", HostError(.timeout, "late")))
            case 11...12: bench.store()
            default: bench.store(.failure(StoreError(.full, "full")))
            }
            let rounds = bench.jobs.compactMap(\.round) + bench.asked.compactMap(\.round)
            #expect(Set(rounds).count == rounds.count, "one thing at a time for each refresh and gap")
            #expect((0..<waiters).allSatisfy { told[$0] <= 1 })
        }
        bench.act(bench.sync.close(.closed))
        #expect((0..<waiters).allSatisfy { told[$0] == 1 })
        #expect(!bench.sync.isLoading)
    }
}

extension InboxSync.Question {
    fileprivate var round: UInt64? {
        switch self {
        case .page(let round), .unreadCount(let round), .gapPage(let round): round
        case .settings: nil
        }
    }

    fileprivate var name: String {
        switch self {
        case .page: "page"
        case .unreadCount: "count"
        case .gapPage: "gapPage"
        case .settings: "settings"
        }
    }
}

extension InboxJob {
    fileprivate var name: String {
        switch self {
        case .beginGap: "gap"
        case .fillGap: "fill"
        case .beginRefresh: "begin"
        case .merge: "merge"
        case .finishRefresh: "finish"
        }
    }

    fileprivate var round: UInt64? {
        switch self {
        case .beginGap: nil
        case .fillGap(let round, _, _, _), .beginRefresh(let round), .merge(let round, _, _, _, _),
            .finishRefresh(let round, _, _, _, _, _):
            round
        }
    }

    /// What a store says that takes everything.
    fileprivate var plain: InboxJob.Stored {
        switch self {
        case .beginGap(let since): return .gap(since: since)
        case .fillGap: return .filled(last: 1, unread: 0)
        case .beginRefresh(let round): return .begun(Inbox.Run(number: Int64(round), through: 0))
        case .merge(_, let page, _, _, _):
            var merged = Inbox.Merged()
            (merged.added, merged.newToRun) = (page.rows.count, page.rows.count)
            return .merged(page, merged, newest: 1, unread: 0)
        case .finishRefresh: return .finished(dropped: 0, ofDesktop: 0, unread: 0)
        }
    }
}
