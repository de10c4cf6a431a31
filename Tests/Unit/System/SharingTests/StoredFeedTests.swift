import Hosting
import JSON
import Store
import Testing

@testable import Sharing

@Suite struct StoredFeedTests {
    private static let source = HostEvent.Name.notificationSilent

    private func batch(_ start: (@escaping FeedBatch.Then) -> Void) throws -> FeedBatch {
        let answer = Monitor(Result<FeedBatch, HostError>?.none)
        start { result in answer.update { $0 = result } }
        return try answer.wait { $0 }.get()
    }

    @Test("What waited for a first program was not seen before; after a clean end only what was")
    func firstProgram() throws {
        let database = try Database.open(path: ":memory:", migrations: Applications.migrations).database
        let table = SharedEvents(Self.source)
        let stored = StoredEvents([Self.source: table], local: []) { (connection, takers) throws(StoreError) in
            for _ in 0..<4 { try table.add(HostEvent(Self.source, data: [:]), connection) }
            try table.added(takers: takers(Self.source), connection)
            return [Self.source]
        }
        let feed = StoredFeed(database, stored)
        let taker = FeedTaker("a", copy: nil)
        try database.run { (connection) throws(StoreError) in
            try Applications(connection, stored.tables).register("a", now: 0)
        }

        let first = try batch { feed.take(taker, Self.source, limit: 10, asCopy: false, for: 0, then: $0) }
        #expect(first.events.map(\.row) == [1, 2, 3, 4])
        #expect(first.begins?.marks.handed == 0 && first.begins?.marks.offered == 0)

        let ended = Monitor(false)
        feed.end(0, seen: [Self.source: 2]) { _ in ended.update { $0 = true } }
        ended.wait { $0 ? () : nil }
        let second = try batch { feed.take(taker, Self.source, limit: 10, asCopy: false, for: 1, then: $0) }
        #expect(second.events.map(\.row) == [1, 2, 3, 4])
        #expect(second.begins?.marks.handed == 0 && second.begins?.marks.offered == 2)
    }

    @Test("A batch ends at its limit in bytes, escapes counted, and the next one begins after it")
    func batchBytes() throws {
        let database = try Database.open(path: ":memory:", migrations: Applications.migrations).database
        let table = SharedEvents(Self.source)
        // Six bytes each in JSON: two fit into a batch, and a third does not.
        let text = String(repeating: "\u{1}", count: FeedBatch.maximumBytes / 15)
        let large = String(repeating: "\u{1}", count: FeedBatch.maximumBytes / 5)
        let stored = StoredEvents([Self.source: table], local: []) { (connection, takers) throws(StoreError) in
            for body in [text, text, text, large, "x", "x"] {
                try table.add(HostEvent(Self.source, data: ["body": .string(body)]), connection)
            }
            try table.added(takers: takers(Self.source), connection)
            return [Self.source]
        }
        let feed = StoredFeed(database, stored)
        let taker = FeedTaker("a", copy: nil)
        try database.run { (connection) throws(StoreError) in
            try Applications(connection, stored.tables).register("a", now: 0)
        }
        var batches: [(rows: [Int64], isCut: Bool)] = []
        repeat {
            let taken = try batch { feed.take(taker, Self.source, limit: 10, asCopy: false, for: 0, then: $0) }
            guard let last = taken.events.last else { break }
            batches.append((taken.events.map(\.row), taken.isCut))
            let done = Monitor(false)
            feed.finish("a", Self.source, through: last.row) { _ in done.update { $0 = true } }
            done.wait { $0 ? () : nil }
        } while batches.count < 10
        // One that is too large by itself comes alone.
        #expect(batches.map(\.rows) == [[1, 2], [3], [4], [5, 6]])
        #expect(batches.map(\.isCut) == [true, true, true, false])
    }
}
