import Delivery
import JSON
import Notifications
import Pairing
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Peering

/// Outboxes without a relay: what is sent, from where, and who is told.
@Suite(.timeLimit(.minutes(1))) @EventLoop
struct OutboxSenderTests {
    private let first = UnitBench.device(1)
    private let second = UnitBench.device(2)

    @Test("a push goes to each device under its own number, and its caller hears once all have it")
    func delivered() async throws {
        let bench = try UnitBench([first, second])
        bench.connect()
        for device in [first, second] { bench.sender.heard(device.did) }
        let call = bench.call(.broadcast, ["title": "Tea", "body": ""])
        await bench.settle()
        #expect(bench.takeSent() == [1, 1])
        bench.acknowledge(1, by: first)
        #expect(bench.delivered.isEmpty)
        bench.acknowledge(1, by: second)
        #expect(try await bench.delivered.next().peers == [first.did, second.did])
        #expect(try await bench.answer(call)["deliveredCount"] == 2)
        bench.close()
    }

    @Test("with many under way each acknowledgement lets the next ones go, from memory, in order and once")
    func fromMemory() async throws {
        let bench = try UnitBench([first])
        bench.connect()
        bench.sender.heard(first.did)
        for _ in 0..<300 { bench.call(.broadcast, ["title": "Tea", "body": ""]) }
        var received: [Int64] = []
        var mark: Int64 = 0
        while received.count < 300 {
            await bench.settle()
            // The store is held: what goes out now was in memory.
            let gate = Gate(bench.database)
            while case let sent = bench.takeSent(), let last = sent.last {
                received += sent
                mark += 1
                bench.acknowledge(last, by: first, mark: mark)
            }
            gate.open()
        }
        #expect(received == Array(1...300))
        await bench.settle()
        #expect(bench.delivered.drain().map(\.peers) == Array(repeating: [first.did], count: 300))
        bench.close()
    }

    @Test("what was deleted before it was sent is never sent: the device is told to skip it")
    func withdrawn() async throws {
        let bench = try UnitBench([first])
        bench.connect()
        let kept = bench.call(.broadcast, ["title": "1", "body": ""])
        let gone = bench.call(.broadcast, ["title": "2", "body": ""])
        await bench.settle()
        // Nothing was heard of it: one push finds out whether it is there.
        #expect(bench.takeSent() == [1])
        bench.sender.wasCalledAbsent(first.did)
        _ = try await bench.answer(kept)
        let id = try #require(try await bench.answer(gone)["notificationId"]?.string)
        _ = try await bench.answer(bench.call(.delete, ["notificationId": .string(id)]))
        bench.sender.connected(first.did)
        bench.acknowledge(0, by: first, isHello: true)
        await bench.settle()
        #expect(bench.takeSent() == [1])
        bench.acknowledge(1, by: first, mark: 2)
        await bench.settle()
        #expect(bench.sent.map(\.type) == ["bellwire:skip"])
        #expect(bench.takeSent() == [2])
        bench.close()
    }

    @Test("a device that is called absent, or unpaired, holds no caller up")
    func absent() async throws {
        let bench = try UnitBench([first, second])
        bench.connect()
        for device in [first, second] { bench.sender.heard(device.did) }
        let call = bench.call(.broadcast, ["title": "Tea", "body": ""])
        await bench.settle()
        bench.sender.wasCalledAbsent(first.did)
        let session = try #require(bench.devices.forget(second.did))
        bench.sender.forget(second.did, session)
        #expect(try await bench.answer(call)["failedCount"] == 2)
        bench.close()
    }

    @Test("nobody is waited for while no relay is there, and an end answers all")
    func offline() async throws {
        let bench = try UnitBench([first])
        bench.isOnline = false
        #expect(try await bench.answer(bench.call(.broadcast, ["title": "Tea", "body": ""]))["failedCount"] == 1)
        #expect(bench.takeSent().isEmpty)
        bench.isOnline = true
        bench.connect()
        bench.sender.heard(first.did)
        let call = bench.call(.broadcast, ["title": "Tea", "body": ""])
        await bench.settle()
        #expect(bench.delivered.drain().count == 1)
        bench.sender.end()
        #expect(try await bench.answer(call)["failedCount"] == 1)
        bench.close()
    }

    @Test("what no connection takes is sent when one is there again; what is too large is given up, and skipped")
    func refused() async throws {
        let bench = try UnitBench([first])
        bench.connect()
        bench.sender.heard(first.did)
        bench.sending = .tooLarge
        bench.call(.broadcast, ["title": "Large", "body": ""])
        await bench.settle()
        bench.sending = .refused
        bench.call(.broadcast, ["title": "Next", "body": ""])
        await bench.settle()
        #expect(bench.takeSent().isEmpty)
        bench.sending = .taken
        bench.sender.connected(first.did)
        bench.acknowledge(0, by: first, isHello: true)
        await bench.settle()
        bench.acknowledge(1, by: first, mark: 2)
        await bench.settle()
        #expect(bench.sent.map(\.type) == ["bellwire:skip", "chainlesschain:event"])
        #expect(bench.takeSent() == [1, 2])
        bench.close()
    }

    @Test("acknowledgements need no commit of their own, and are in the store when the desktop ends")
    func deferred() async throws {
        let bench = try UnitBench([first])
        bench.connect()
        bench.sender.heard(first.did)
        let call = bench.call(.broadcast, ["title": "Tea", "body": ""])
        await bench.settle()
        bench.acknowledge(1, by: first)
        // Before the store knows.
        #expect(bench.delivered.drain().count == 1)
        _ = try await bench.answer(call)
        bench.sender.end()
        let did = first.did
        let position = try bench.database.run { (connection) throws(StoreError) in
            try Outbox(connection).positions()[did]
        }
        #expect(position?.acknowledged == 1)
        bench.close()
    }

    @Test("a device that is further than the desktop has ever counted gets what waits under new numbers")
    func renumbered() async throws {
        let bench = try UnitBench([first])
        bench.connect()
        let call = bench.call(.broadcast, ["title": "Tea", "body": ""])
        await bench.settle()
        #expect(bench.takeSent() == [1])
        bench.acknowledge(41, by: first, isHello: true)
        await bench.settle()
        await bench.settle()
        #expect(bench.takeSent() == [42])
        bench.acknowledge(42, by: first, mark: 2)
        #expect(try await bench.answer(call)["deliveredCount"] == 1)
        bench.close()
    }

    @Test("a position of an earlier start reports nothing as delivered: what waits comes after it, also in a session")
    func earlierStart() async throws {
        for inSession in [true, false] {
            let bench = try UnitBench([first])
            bench.connect()
            bench.sender.heard(first.did)
            for _ in 0..<3 { bench.call(.broadcast, ["title": "Tea", "body": ""]) }
            await bench.settle()
            #expect(bench.takeSent() == [1])
            bench.acknowledge(2, in: 9, by: first, isHello: true, inSession: inSession)
            await bench.settle()
            await bench.settle()
            #expect(bench.delivered.isEmpty)
            #expect(bench.takeSent() == [3])
            bench.acknowledge(3, in: 1, by: first, mark: 2, inSession: inSession)
            await bench.settle()
            #expect(bench.takeSent() == [4, 5])
            bench.acknowledge(5, in: 1, by: first, mark: 3, inSession: inSession)
            #expect(bench.delivered.drain().count == 3)
            bench.close()
        }
    }

    @Test("that a device names epochs is stored when it first does, and forgotten when it is paired again")
    func namesEpochs() async throws {
        let bench = try UnitBench([first])
        // Neither has anything to settle.
        bench.acknowledge(0, in: 0, by: first, isHello: true)
        await bench.settle()
        #expect(try bench.position(of: first)?.namesEpochs == true)
        bench.acknowledge(3, in: nil, by: first, mark: 2)
        #expect(bench.sender.staleAcknowledgements == 1)

        let paired = Mailbox<Bool>()
        let record = PairingRecord(flow: .scan, peer: first, marks: PairingMarks(), route: nil, number: 1)
        DeviceStore(database: bench.database).pair(record) { paired.put((try? $0.get()) != nil) }
        #expect(try await paired.next())
        #expect(try bench.position(of: first)?.namesEpochs != true)
        bench.sender.paired(first, isOnline: true)
        bench.acknowledge(0, in: nil, by: first, mark: 3)
        #expect(bench.sender.staleAcknowledgements == 1)
        bench.close()
    }

    @Test("numbers are counted on from what memory knows, also while the store is behind")
    func recountedFromMemory() async throws {
        let bench = try UnitBench([first])
        bench.connect()
        for _ in 0..<30 { bench.call(.broadcast, ["title": "Tea", "body": ""]) }
        await bench.settle()
        let gate = Gate(bench.database)
        bench.acknowledge(15, in: 1, by: first, mark: 1)
        // The first is on its way to the store, and this one waits for it.
        bench.acknowledge(20, in: 1, by: first, mark: 2)
        bench.acknowledge(25, in: 9, by: first, isHello: true, mark: 3)
        gate.open()
        await bench.settle()
        await bench.settle()
        bench.sender.end()
        let position = try #require(try bench.position(of: first))
        #expect(position.acknowledged == 25 && position.last == 35)
        let waiting = try bench.database.run { (connection) throws(StoreError) in
            try connection.integer("SELECT count(*) FROM outbox WHERE seq BETWEEN 26 AND 35")
        }
        #expect(waiting == 10)
        bench.close()
    }
}
