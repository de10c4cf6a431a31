import Hosting
import JSON
import OfflineQueue
import Pairing
import Peering
import TestSupport
import Testing
import Wire

@testable import Device

/// Draining the offline queue, without a store, a clock or a connection.
struct QueueDrainerTests {
    /// A drainer over a table that is a value, and one desktop.
    private struct Bench {
        var table = OfflineQueue()
        var drainer = QueueDrainer()
        var lane = QueueDrainer.Lane()
        var reach = DesktopReach(desktop: "desk", name: "Desk")
        var now = Moment(loop: 1_000, wall: 1_000_000)
        var sent: [RequestID] = []
        var ended: [QueueEnd] = []
        /// The store's answers that are on their way.
        var pending: [(OfflineQueue.Event, Result<(queue: OfflineQueue, change: OfflineQueue.Change), Failure>)] = []

        struct Failure: Error {}

        mutating func add(_ id: String, method: String = "notification.delete") {
            let command = QueuedCommand(
                id: RequestID(id), desktop: "desk", method: method, params: ["notificationId": .string(id)],
                createdAt: now.wall, expiresAt: now.wall + OfflineQueue.lifetime)
            act([.save(.add(command), for: "desk")])
        }

        mutating func pass(_ time: UInt64) { now = Moment(loop: now.loop + time, wall: now.wall + Int64(time)) }

        mutating func tick() { act(drainer.tick(now: now)) }

        mutating func check(isProbe: Bool = false) { act(drainer.check(&lane, reach, isProbe: isProbe, now: now)) }

        mutating func end(_ id: String, _ outcome: CommandOutcome) {
            act(drainer.ended(RequestID(id), outcome, &lane, reach, now: now))
        }

        /// Begins work on the store; ``settle(failing:)`` finishes it.
        mutating func act(_ actions: [QueueDrainer.Action], failing: Bool = false) {
            for action in actions {
                switch action {
                case .save(let event, _):
                    guard !failing else {
                        pending.append((event, .failure(Failure())))
                        continue
                    }
                    let change = table.apply(event)
                    pending.append((event, .success((table, change))))
                case .send(let command): sent.append(command.id)
                case .changed: break
                case .ended(let end): ended.append(end)
                }
            }
        }

        /// The store has answered everything.
        mutating func settle() { while !pending.isEmpty { settleOne() } }

        mutating func settleOne(failing: Bool = false) {
            let (event, result) = pending.removeFirst()
            if case .success(let (queue, change)) = result { act(drainer.saved(queue, change), failing: failing) }
            let isStored = if case .success = result { true } else { false }
            act(drainer.settled(event, isStored: isStored, &lane, reach, now: now), failing: failing)
        }
    }

    private static let offline = HostError(.offline, "away")

    @Test("a clock that is set ahead for a moment fails nothing, and is looked at again")
    func clockJump() {
        var bench = Bench()
        var clock = ExpiryClock()
        func set(_ wall: EpochMilliseconds, after time: Int64) {
            let loop = bench.now.loop + UInt64(time)
            bench.now = Moment(loop: loop, wall: wall, expiry: clock.read(wall: wall, boot: Int64(loop)))
        }
        let start = bench.now.wall
        set(start, after: 0)
        set(start + ExpiryClock.settlingTime, after: ExpiryClock.settlingTime)
        bench.reach.isAbsent = true
        bench.add("a")
        bench.settle()
        set(start + 40 * 86_400_000, after: 100)
        bench.tick()
        bench.check(isProbe: true)
        bench.settle()
        #expect(bench.ended.isEmpty && bench.sent == ["a"])
        bench.end("a", .unanswered("a", HostError(.timeout, "")))
        bench.settle()
        bench.drainer.arm([bench.lane], now: bench.now)
        #expect(bench.drainer.nextDeadline.map { $0 > bench.now.loop + 1_000 } == true, "no busy loop")
        // It stays ahead: that is the time now.
        set(start + 41 * 86_400_000, after: ExpiryClock.settlingTime)
        set(start + 41 * 86_400_000 + ExpiryClock.settlingTime, after: ExpiryClock.settlingTime)
        bench.tick()
        bench.settle()
        #expect(bench.ended.map(\.outcome) == [.failed(.expired)])
    }

    @Test("over a relay that never reports the desktop offline, silence is no try unless the desktop was heard")
    func silentRelay() {
        var bench = Bench()
        bench.reach.isSilent = true
        bench.add("a")
        bench.settle()
        for round in 1...5 {
            #expect(bench.sent.count == round)
            bench.pass(QueueDrainer.answerTimeout)
            bench.end("a", .unanswered("a", HostError(.timeout, "")))
            bench.settle()
            #expect(bench.table["a"]?.isPending == true && bench.table["a"]?.tries == 0 && bench.ended.isEmpty)
            bench.check(isProbe: true)
            #expect(bench.sent.count == round, "not at once")
            bench.pass(QueueDrainer.probeInterval)
            bench.check()
            bench.settle()
        }
        // It is there, and doesn't answer this one.
        for _ in 1...OfflineQueue.tries {
            bench.pass(QueueDrainer.answerTimeout)
            bench.reach.lastFrameAt = bench.now.loop - 1_000
            bench.end("a", .unanswered("a", HostError(.timeout, "")))
            bench.settle()
        }
        #expect(bench.ended.map(\.command.id) == ["a"])
    }

    @Test("a clear for a deployed desktop goes out as one delete after another, each recorded")
    func clearOneByOne() {
        var bench = Bench()
        bench.reach.isSecure = false
        let command = QueuedCommand(
            id: "c", desktop: "desk", method: "notification.clearAll", params: ["ids": ["x", "y"]],
            createdAt: bench.now.wall, expiresAt: bench.now.wall + OfflineQueue.lifetime)
        bench.act([.save(.add(command), for: "desk")])
        bench.settle()
        #expect(bench.table["c"]?.wire.params == ["notificationId": "x", "id": "x"])
        #expect(bench.table["c"]?.wireID == "c-2")
        bench.end("c", .answered(["success": true, "deletedCount": 1]))
        bench.settle()
        #expect(bench.ended.isEmpty && bench.sent == ["c", "c"] && bench.table["c"]?.wireID == "c-1")
        #expect(bench.table["c"]?.wire.params == ["notificationId": "y", "id": "y"])
        bench.end("c", .answered(["success": true, "deletedCount": 0]))
        bench.settle()
        #expect(bench.ended.map(\.outcome) == [.done(["success": true, "clearedCount": 1])])
        #expect(bench.table.commands.isEmpty)
    }

    @Test("commands go one after the other, each recorded before it is sent and before the next one goes")
    func order() {
        var bench = Bench()
        bench.reach.hasRoute = false
        for id in ["a", "b"] { bench.add(id) }
        bench.settle()
        #expect(bench.sent.isEmpty)
        bench.reach.hasRoute = true
        bench.check()
        #expect(bench.sent.isEmpty && bench.table["a"]?.isSending == true, "recorded first")
        bench.settle()
        #expect(bench.sent == ["a"])
        bench.check()
        bench.settle()
        #expect(bench.sent == ["a"], "one at a time")
        bench.end("a", .answered(["success": true]))
        #expect(bench.sent == ["a"], "the end is recorded before the next one goes")
        bench.settle()
        #expect(bench.sent == ["a", "b"])
        #expect(bench.ended.map(\.command.id) == ["a"])
    }

    @Test("an absent desktop is probed, not drained; a pause holds until it is over or the desktop connects anew")
    func pauses() {
        var bench = Bench()
        bench.reach.isAbsent = true
        bench.add("a")
        bench.settle()
        #expect(bench.sent.isEmpty)
        bench.check(isProbe: true)
        bench.settle()
        #expect(bench.sent == ["a"])
        bench.reach.isAbsent = false
        bench.end("a", .refused(.init(error: HostError(.remote, "slow down"), retryAfter: 700, isTransient: true)))
        bench.settle()
        #expect(bench.sent == ["a"] && bench.table["a"]?.tries == 0, "a rate-limited reply is no try")
        bench.drainer.arm([bench.lane], now: bench.now)
        #expect(bench.drainer.nextDeadline == bench.now.loop + 700)
        bench.now = Moment(loop: bench.now.loop + 699, wall: bench.now.wall)
        bench.check(isProbe: true)
        #expect(bench.pending.isEmpty)
        bench.lane.connected()
        bench.check()
        bench.settle()
        #expect(bench.sent == ["a", "a"])
    }

    @Test("what the store could not take is tried again after a rest: before it is sent, and after its answer")
    func storeFails() {
        var bench = Bench()
        bench.add("a")
        bench.settleOne(failing: true)  // the `begin` of "a" fails
        bench.settle()
        #expect(bench.sent.isEmpty && bench.lane.state == .idle)
        bench.check()
        #expect(bench.pending.isEmpty, "it rests")
        bench.now = Moment(loop: bench.now.loop + QueueDrainer.rest, wall: bench.now.wall)
        bench.check()
        bench.settle()
        #expect(bench.sent == ["a"])
        bench.act(
            bench.drainer.ended("a", .answered(["success": true]), &bench.lane, bench.reach, now: bench.now),
            failing: true)
        bench.settle()
        #expect(bench.lane.state == .idle && bench.table["a"]?.isSending == true)
        bench.now = Moment(loop: bench.now.loop + QueueDrainer.rest, wall: bench.now.wall)
        bench.check()
        bench.settle()
        #expect(bench.sent == ["a", "a"], "under its id")
    }

    @Test("outcomes: what fails for good, what comes again, and what counts as a try")
    func outcomes() {
        func tries(_ outcome: CommandOutcome, secure: Bool = true, route: Bool = true) -> (failed: Bool, tries: Int?) {
            var bench = Bench()
            bench.reach.isSecure = secure
            bench.add("a")
            bench.settle()
            bench.reach.hasRoute = route
            bench.end("a", outcome)
            // Only the end of this try.
            bench.settleOne()
            return (
                bench.ended.contains { if case .failed = $0.outcome { true } else { false } }, bench.table["a"]?.tries
            )
        }
        let timeout = HostError(.timeout, "late")
        #expect(tries(.answered(["success": false, "error": "no"])).failed)
        #expect(tries(.answered(["success": false, "stale": ["x"]])) == (false, nil))
        #expect(tries(.refused(.init(error: HostError(.denied, "no")))).failed)
        #expect(tries(.refused(.init(error: .noSkill, lacksSkill: true))).failed)
        #expect(tries(.refused(.init(error: timeout, isTransient: true))) == (false, 1))
        #expect(tries(.notSent(Self.offline)) == (false, 0))
        #expect(tries(.absent(Self.offline), route: false) == (false, 0))
        #expect(tries(.ended("a", Self.offline), route: false) == (false, 0))
        #expect(tries(.unanswered("a", Self.offline), route: false) == (false, 0))
        #expect(tries(.unanswered("a", Self.offline), secure: false, route: false) == (false, 1))
        #expect(tries(.unanswered("a", timeout), route: false) == (false, 0))
    }

    @Test("a desktop without the skill fails all that waits for it, and is not asked")
    func withoutSkill() {
        var bench = Bench()
        bench.reach.lacksSkill = true
        for id in ["a", "b"] { bench.add(id) }
        bench.settle()
        #expect(bench.sent.isEmpty)
        #expect(bench.ended.map(\.command.id) == ["a", "b"])
    }

    @Test("a desktop that is unpaired with a command under way, and paired anew, is drained")
    func unpaired() {
        let desktop = PairedDesktop(
            address: "desk", pcPeerID: "desk", name: "Desk", platform: "linux", lanSignalingURL: nil, relayURL: nil,
            pairedAt: 0, lastSeenAt: 0)
        var book = PeerBook([desktop]) { _ in DesktopSession() }
        var bench = Bench()
        bench.add("a")
        bench.settle()
        #expect(bench.lane.state == .sending("a"))
        book["desk"]?.lane = bench.lane
        // The one line of the device that forgets a desktop.
        book.forget("desk")
        bench.act([.save(.forget("desk"), for: nil)])
        book.upsert(desktop) { DesktopSession() }
        bench.lane = book["desk"]?.lane ?? bench.lane
        bench.settle()
        bench.add("b")
        bench.settle()
        #expect(bench.sent == ["a", "b"])
        bench.end("a", .answered(["success": true]))
        #expect(bench.pending.isEmpty, "the answer to the one before is no end of this one")
    }

    @Test("whatever happens, commands go in order, one at a time, and each ends once", arguments: 0..<200)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bench = Bench()
        var added = 0
        var underWay: String?
        var lastSent = -1
        for _ in 0..<400 {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0 where added < 60:
                bench.add(String(added))
                added += 1
            case 1: bench.reach.hasRoute.toggle()
            case 2: bench.reach.isAbsent.toggle()
            case 3...5: bench.check(isProbe: .random(using: &generator))
            case 6...8 where !bench.pending.isEmpty:
                bench.settleOne(failing: Int.random(in: 0..<8, using: &generator) == 0)
            case 9:
                bench.now = Moment(loop: bench.now.loop + 2_000, wall: bench.now.wall + 2_000)
            case 10, 11:
                guard let id = underWay, bench.lane.state == .sending(RequestID(id)) else { break }
                let ends: [CommandOutcome] = [
                    .answered(["success": true]), .answered(["success": false, "error": "no"]), .notSent(Self.offline),
                    .absent(Self.offline), .unanswered(RequestID(id), HostError(.timeout, "late")),
                    .ended(RequestID(id), Self.offline),
                ]
                bench.end(id, ends[Int.random(in: 0..<ends.count, using: &generator)])
            default: break
            }
            if let newest = bench.sent.last?.text {
                let number = Int(newest) ?? -1
                // The same one again, or one that came after it; those between have failed or are done.
                #expect(number >= lastSent)
                for skipped in max(0, lastSent)..<max(0, number) {
                    #expect(bench.table[RequestID(String(skipped))].map { $0.isFailed } ?? true)
                }
                (lastSent, underWay) = (number, newest)
            }
            #expect(bench.table.commands.count(where: \.isSending) <= 1)
        }
        // In peace everything ends.
        (bench.reach.hasRoute, bench.reach.isAbsent) = (true, false)
        for _ in 0..<added * 4 + 4 {
            bench.now = Moment(loop: bench.now.loop + 60_000, wall: bench.now.wall + 1)
            bench.check()
            bench.settle()
            if case .sending(let id) = bench.lane.state { bench.end(id.text, .answered(["success": true])) }
            bench.settle()
        }
        #expect(!bench.table.commands.contains { !$0.isFailed })
        let ends = bench.ended.map(\.command.id)
        #expect(Set(ends).count == ends.count && ends.count == added)
    }
}
