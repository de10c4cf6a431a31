import Commands
import Delivery
import History
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// Commands without a relay: executed once, in order, and answered once.
@Suite(.timeLimit(.minutes(1))) @EventLoop
struct CommandServerTests {
    private let device = UnitBench.device(1)
    private let tea: JSONObject = ["title": "Tea", "body": ""]

    private func total(_ bench: UnitBench) throws -> Int64 {
        try bench.database.run { (connection) throws(StoreError) in try History(connection).total() }
    }

    @Test("many commands at once share transactions, and each has its own answer, in order")
    func together() async throws {
        let bench = try UnitBench()
        let calls = (0..<400).map { _ in bench.call(.broadcast, tea) }
        var ids: [String] = []
        for call in calls { ids.append(try await bench.answer(call)["notificationId"]?.string ?? "") }
        #expect(Set(ids).count == 400)
        #expect(try total(bench) == 400)
        #expect(try await bench.answer(bench.call(.getUnreadCount))["count"] == 400)
        bench.close()
    }

    @Test("a command sees what those before it have done, also in the same transaction")
    func mixed() async throws {
        let bench = try UnitBench()
        var counts: [OwnCallID] = []
        for _ in 0..<5 {
            bench.call(.broadcast, tea)
            counts.append(bench.call(.getUnreadCount))
        }
        bench.call(.markAllAsRead)
        counts.append(bench.call(.getUnreadCount))
        var seen: [JSONValue?] = []
        for call in counts { seen.append(try await bench.answer(call)["count"]) }
        #expect(seen == [1, 2, 3, 4, 5, 0])
        bench.close()
    }

    @Test("a program's command that comes again under its id has one effect and its first answer")
    func repeatedOfAProgram() async throws {
        let bench = try UnitBench()
        let first = try await bench.answer(bench.call(.broadcast, tea, request: "a"))
        #expect(try await bench.answer(bench.call(.broadcast, tea, request: "a")) == first)
        #expect(try total(bench) == 1)
        // Also after the push has left the history.
        let id: JSONObject = ["notificationId": first["notificationId"]]
        #expect(try await bench.answer(bench.call(.delete, id, request: "b"))["success"] == true)
        #expect(try await bench.answer(bench.call(.broadcast, tea, request: "a")) == first)
        #expect(try total(bench) == 0)
        // Another id, and none, is another command; what reads is asked anew.
        bench.call(.broadcast, tea, request: "c")
        bench.call(.broadcast, tea)
        #expect(try await bench.answer(bench.call(.getUnreadCount, request: "d"))["count"] == 2)
        bench.call(.broadcast, tea)
        #expect(try await bench.answer(bench.call(.getUnreadCount, request: "d"))["count"] == 3)
        #expect(bench.server.counters.repeated == 2)
        bench.close()
    }

    @Test("a program's repeated push whose first answer still waits for devices gets that answer")
    func repeatedWhileOpen() async throws {
        let bench = try UnitBench([device])
        bench.connect()
        bench.call(.broadcast, tea, request: "a")
        await bench.settle()
        let again = bench.call(.broadcast, tea, request: "a")
        await bench.settle()
        let sent = bench.takeSent()
        #expect(sent.count == 1)
        bench.acknowledge(try #require(sent.last), by: device)
        #expect(try await bench.answer(again)["deliveredCount"] == 1)
        #expect(try total(bench) == 1)
        bench.close()
    }

    @Test("until it is known who names senders, unsigned commands of unencrypted devices wait; then all are decided")
    func unknownNaming() async throws {
        let plain = UnitBench.device(2, isSecure: false)
        for (naming, isDone) in [(SenderNaming.byRelay, true), (.bySender, false)] {
            let bench = try UnitBench([device, plain])
            bench.request("a", "notification.send", tea, from: plain, naming: .unknown)
            bench.request("sealed", "notification.send", tea, from: device, naming: .unknown)
            _ = try await bench.answer("sealed")
            bench.request("b", "notification.getUnreadCount", from: plain, naming: .unknown)
            guard case .result(let count) = try await bench.answer("b") else {
                Issue.record("reading needs no proof")
                return
            }
            #expect(count["count"] == 1, "the other one waits")
            bench.server.settled("ws://other.test", naming)
            bench.server.settled("ws://relay.test", .unknown)
            await bench.settle()
            #expect(try total(bench) == 1)
            bench.server.settled("ws://relay.test", naming)
            switch try await bench.answer("a") {
            case .result(let result): #expect(isDone && result["success"] == true)
            case .error(let error):
                #expect(!isDone && error.code == .permissionDenied && error.data?["reason"] == "forgeable_relay")
            }
            #expect(try total(bench) == (isDone ? 2 : 1))
            bench.close()
        }
    }

    @Test("at most 64 commands wait, over all relays; further ones are refused")
    func waitingLimit() async throws {
        let plain = UnitBench.device(2, isSecure: false)
        let bench = try UnitBench([plain])
        for number in 0..<65 { bench.request("\(number)", "notification.send", tea, from: plain, naming: .unknown) }
        guard case .error(let error) = try await bench.answer("64") else {
            Issue.record("the last one waits, too")
            return
        }
        #expect(error.data?["reason"] == "forgeable_relay")
        bench.server.settled("ws://relay.test", .byRelay)
        for number in 0..<64 { _ = try await bench.answer("\(number)") }
        #expect(try total(bench) == 64)
        bench.close()
    }

    @Test("a request that comes again has its first answer, also within one transaction")
    func again() async throws {
        let bench = try UnitBench([device])
        for _ in 0..<3 { bench.request("a", "notification.send", tea, from: device) }
        let first = try await bench.answer("a")
        for _ in 0..<2 { #expect(try await bench.answer("a") == first) }
        bench.request("a", "notification.clearAll", from: device)
        guard case .error(let error) = try await bench.answer("a") else {
            return #expect(Bool(false), "another command under this id was carried out")
        }
        #expect(error.code == .invalidRequest)
        #expect(try total(bench) == 1 && bench.server.counters.repeated == 3)
        bench.close()
    }

    @Test(
        "pushes and answers that are under way when a device moves to another key go to the key that it then has",
        arguments: [true, false])
    func moved(isApproved: Bool) async throws {
        let bench = try UnitBench([device])
        var new = device
        new.did = "did:key:zMoved"
        let move = PeerMove(old: device.did, new: new.did, receiver: "me", timestamp: 1, state: .approved)
        if isApproved {
            let moves = PeerMoves([move])
            try bench.database.run { (connection) throws(StoreError) in
                try MoveTables(connection).save(moves, of: move.old)
            }
        }
        let gate = Gate(bench.database)
        // Two batches are in the store, the others wait; then the same after the move.
        for _ in 0..<5 { bench.call(.broadcast, tea) }
        bench.request("a", "notification.send", tea, from: device, expiresAt: .now + 60_000)
        let moved = Mailbox<Bool>()
        DeviceStore(database: bench.database).move(move, to: new) { [device, new] result in
            let isMoved = if case .success(.some) = result { true } else { false }
            if !isMoved {
                bench.devices.replace(new.did, by: device)
                bench.server.moved(new.did, to: device.did)
            }
            bench.server.settled(move)
            moved.put(isMoved)
        }
        bench.devices.replace(device.did, by: new)
        bench.server.moved(device.did, to: new.did)
        for _ in 0..<5 { bench.call(.broadcast, tea) }
        gate.open()
        #expect(try await moved.take("the move", #_sourceLocation) == isApproved)
        let first = try await bench.answer("a")
        let (winner, loser) = isApproved ? (new, device) : (device, new)
        // The device's own goes back to it, too.
        try await until("all pushes are stored for it") { try bench.position(of: winner)?.last == 11 }
        #expect(try bench.position(of: loser) == nil)
        let id = loser.did
        let count = try bench.database.run { (connection) throws(StoreError) in
            try connection.integer("SELECT count(*) FROM peer WHERE id = ?", [.text(id.text)])
        }
        #expect(count == 0, "nothing is kept for the other key")
        bench.request("a", "notification.send", tea, from: winner, expiresAt: .now + 60_000)
        #expect(try await bench.answer("a") == first)
        #expect(bench.server.counters.repeated == 1)
        bench.close()
    }

    @Test("a push that is asked for again while it is under way is answered once, to the last who asked")
    func pushing() async throws {
        let bench = try UnitBench([device])
        bench.connect()
        bench.sender.heard(device.did)
        for _ in 0..<2 { bench.request("p", "notification.broadcast", tea, from: device) }
        await bench.settle()
        #expect(bench.answers.isEmpty && bench.server.openAnswerCount == 1)
        bench.acknowledge(1, by: device)
        guard case .result(let result) = try await bench.answer("p") else { return #expect(Bool(false), "no result") }
        #expect(result["deliveredCount"] == 1)
        await bench.settle()
        #expect(bench.answers.isEmpty && bench.server.openAnswerCount == 0)
        bench.request("p", "notification.broadcast", tea, from: device)
        #expect(try await bench.answer("p") == .result(result))
        bench.close()
    }

    @Test("a frame that came before has neither effect nor answer; one that comes late is refused")
    func replayedAndLate() async throws {
        let bench = try UnitBench([device])
        let mark = SealMark(peer: device.did, epoch: 1, seq: 1)
        for _ in 0..<2 { bench.request("a", "notification.send", tea, from: device, mark: mark) }
        _ = try await bench.answer("a")
        bench.request("b", "notification.send", tea, from: device, expiresAt: 10, at: 11)
        guard case .error = try await bench.answer("b") else { return #expect(Bool(false), "not refused") }
        #expect(bench.replayed == 1 && bench.answers.isEmpty && bench.server.counters.late == 1)
        #expect(try total(bench) == 1)
        bench.close()
    }

    @Test("a device that is unpaired while its command waits has no effect, and gets no push")
    func revoked() async throws {
        let other = UnitBench.device(2)
        let bench = try UnitBench([device, other])
        bench.connect()
        let gate = Gate(bench.database)
        bench.request("a", "notification.send", tea, from: device)
        bench.call(.broadcast, tea)
        let session = try #require(bench.devices.forget(device.did))
        bench.server.forget(session)
        bench.sender.forget(device.did, session)
        gate.open()
        #expect(try await bench.answer("a") == .error(.notPaired))
        await bench.settle()
        #expect(bench.sent.map(\.device) == [other.did])
        #expect(try total(bench) == 1)
        bench.close()
    }

    @Test("a store that fails fails every command, and is told")
    func failing() async throws {
        let bench = try UnitBench()
        try bench.database.run { (connection) throws(StoreError) in
            try connection.executeScript("ALTER TABLE history RENAME TO gone")
        }
        let calls = (0..<5).map { _ in bench.call(.broadcast, tea) }
        for call in calls { #expect(try await bench.answer(call) == .null) }
        #expect(!bench.problems.isEmpty)
        bench.close()
    }
}
