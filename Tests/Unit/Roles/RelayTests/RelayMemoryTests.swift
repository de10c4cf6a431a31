import Hosting
import Identity
import JSON
import Testing
import Transport

@testable import Relay

@Suite("A relay remembers which ids were proved", .timeLimit(.minutes(2)))
@EventLoop
struct RelayMemoryTests {
    private let alice: Prover

    init() throws {
        try Identity.start()
        alice = try Prover(1)
    }

    /// Away from the loop, as a host opens it.
    @concurrent
    private func open(_ path: String, _ limit: Int = 100) async throws -> RelayMemory {
        var options = RelayOptions()
        options.stateDirectory = path
        options.names.maximumProvedIDs = limit
        return try RelayMemory.open(options)
    }

    private func close(_ memory: RelayMemory) async {
        await withCheckedContinuation { continuation in memory.close { continuation.resume() } }
    }

    private func prove(_ prover: Prover, at relay: TestRelay) async throws -> JSONValue {
        let peer = try #require(try await TestPeer.connect(relay.port))
        return try await peer.prove(prover, origin: relay.origin)
    }

    private func registerPlain(_ prover: Prover, at relay: TestRelay) async throws -> JSONValue {
        let peer = try #require(try await TestPeer.connect(relay.port))
        return try await peer.register(prover.did)
    }

    @Test("on disk over a restart; the directory is one relay's")
    func onDisk() async throws {
        let scratch = try Scratch()
        let memory = try await open("\(scratch.path)/state")
        let relay = try TestRelay(memory: memory)
        #expect(try await prove(alice, at: relay)["type"] == "registered")
        await #expect(throws: HostError.self) { _ = try await open("\(scratch.path)/state") }
        await relay.stop()
        await close(memory)

        let again = try await open("\(scratch.path)/state")
        #expect(again.movedAside == nil)
        let second = try TestRelay(memory: again)
        #expect(try await registerPlain(alice, at: second)["code"] == "proof_required")
        #expect(second.relay.stats.registrations.provedIDs == 1)
        #expect(try await prove(alice, at: second)["type"] == "registered")
        await second.stop()
        await close(again)
    }

    @Test("in memory it outlives a stop of the relay, and ends with the memory")
    func inMemory() async throws {
        let memory = RelayMemory(RelayOptions())
        let first = try TestRelay(memory: memory)
        #expect(try await prove(alice, at: first)["type"] == "registered")
        await first.stop()
        let second = try TestRelay(memory: memory)
        #expect(try await registerPlain(alice, at: second)["code"] == "proof_required")
        await second.stop()
        let other = try TestRelay()
        #expect(try await registerPlain(alice, at: other)["type"] == "registered")
        await other.stop()
    }

    @Test("a damaged database is moved aside and said; the relay begins anew")
    func damaged() async throws {
        let scratch = try Scratch()
        try scratch.write(String(repeating: "no database ", count: 1_000), to: "relay.db")
        let memory = try await open(scratch.path)
        #expect(memory.movedAside?.contains("relay.db.damaged-") == true)
        let relay = try TestRelay(memory: memory)
        #expect(try await prove(alice, at: relay)["type"] == "registered")
        await relay.stop()
        await close(memory)
        #expect(scratch.files.contains { $0.hasPrefix("relay.db.damaged-") })
    }

    @Test(
        "proved ids outlive a database that is destroyed, damaged or deleted",
        arguments: ["destroyed", "cut", "deleted"])
    func secondCopy(_ how: String) async throws {
        let scratch = try Scratch()
        let memory = try await open(scratch.path)
        let relay = try TestRelay(memory: memory)
        #expect(try await prove(alice, at: relay)["type"] == "registered")
        #expect(try await prove(try Prover(2), at: relay)["type"] == "registered")
        await relay.stop()
        await close(memory)
        switch how {
        case "deleted": try scratch.remove("relay.db")
        case "cut": try scratch.write("SQLite format 3", to: "relay.db")
        default: try scratch.write(String(repeating: "no database ", count: 1_000), to: "relay.db")
        }
        // A line that was cut off, and one that says nothing.
        try scratch.append("\nnonsense\n123 did:key:z6MkhaXgBZD\n123", to: "relay.db.ids")

        let again = try await open(scratch.path)
        #expect((again.movedAside == nil) == (how == "deleted") && again.restored == 2)
        let second = try TestRelay(memory: again)
        #expect(second.relay.stats.registrations.provedIDs == 2)
        for prover in [alice, try Prover(2)] {
            #expect(try await registerPlain(prover, at: second)["code"] == "proof_required")
        }
        #expect(try await prove(try Prover(3), at: second)["type"] == "registered")
        await second.stop()
        await close(again)
        let third = try await open(scratch.path)
        #expect(third.proved.count == 3 && third.movedAside == nil)
        await close(third)
        #expect(try scratch.read("relay.db.ids").split(separator: "\n").count == 3, "it was made whole again")
    }

    @Test("an id that only the second copy has stays protected, as after the loss of a log or with an older database")
    func olderDatabase() async throws {
        let scratch = try Scratch()
        let first = try await open(scratch.path)
        let relay = try TestRelay(memory: first)
        #expect(try await prove(alice, at: relay)["type"] == "registered")
        await relay.stop()
        await close(first)
        try scratch.copy("relay.db", to: "older")
        let second = try await open(scratch.path)
        #expect(second.damage == nil)
        let later = try TestRelay(memory: second)
        #expect(try await prove(try Prover(2), at: later)["type"] == "registered")
        await later.stop()
        await close(second)
        try scratch.remove("relay.db")
        try scratch.copy("older", to: "relay.db")

        let third = try await open(scratch.path)
        #expect(third.proved.count == 2 && third.movedAside == nil && third.restored == 1)
        #expect(third.damage?.contains("1 proved id was restored") == true)
        await close(third)
        let fourth = try await open(scratch.path)
        #expect(fourth.proved.count == 2 && fourth.damage == nil)
        await close(fourth)
        #expect(try scratch.read("relay.db.ids").split(separator: "\n").count == 2)
    }

    @Test("a second copy that cannot be read stops the relay before it changes anything", arguments: [true, false])
    func unreadableCopy(isDamaged: Bool) async throws {
        let scratch = try Scratch()
        let memory = try await open(scratch.path)
        await close(memory)
        if isDamaged { try scratch.write(String(repeating: "no database ", count: 1_000), to: "relay.db") }
        try scratch.remove("relay.db.ids")
        try scratch.makeDirectory("relay.db.ids")
        let error = await #expect(throws: HostError.self) { _ = try await open(scratch.path) }
        #expect(error?.code == .io && error?.message.contains("relay.db.ids") == true)
        #expect(!scratch.files.contains { $0.contains("damaged-") }, "the database is still in its place")
        try scratch.remove("relay.db.ids")
        await close(try await open(scratch.path))
    }

    @Test("what cannot be kept is said once, and the peer is registered all the same")
    func cannotKeep() async throws {
        let scratch = try Scratch()
        let memory = try await open(scratch.path)
        await close(memory)
        let relay = try TestRelay(memory: memory)
        for number: UInt8 in 1...3 {
            #expect(try await prove(try Prover(number), at: relay)["type"] == "registered")
        }
        // The writes fail on the store's thread; a later piece of its work says that they have.
        await close(memory)
        let peer = try await TestPeer.register(relay.port, as: "bob")
        _ = try await peer.settle()
        #expect(relay.log.entries.filter { $0.contains("cannot store proved ids") }.count == 1)
        #expect(try await registerPlain(alice, at: relay)["code"] == "proof_required")
        await relay.stop()
    }

    @Test("the limit holds over a restart: who was first stays, the log says it once")
    func bound() async throws {
        let scratch = try Scratch()
        let memory = try await open(scratch.path, 2)
        let relay = try TestRelay(["max_proved_ids": 2], memory: memory)
        for number: UInt8 in 1...4 {
            #expect(try await prove(try Prover(number), at: relay)["type"] == "registered")
        }
        #expect(relay.log.entries.filter { $0.contains("the limit") }.count == 1)
        await relay.stop()
        await close(memory)
        let again = try await open(scratch.path, 2)
        let second = try TestRelay(["max_proved_ids": 2], memory: again)
        for (number, code) in [(1, "proof_required"), (2, "proof_required"), (3, nil)] as [(UInt8, String?)] {
            #expect(try await registerPlain(try Prover(number), at: second)["code"]?.string == code)
        }
        await second.stop()
        await close(again)
    }
}
