@testable import Inbox
import Notifications
import Store
import Testing
import Wire

@Suite struct InboxDeliveryTests {
    private let database: Database

    init() throws {
        database = try Database.open(path: ":memory:", migrations: Inbox.migrations).database
    }

    private func note(_ id: NotificationID, key: String? = nil, createdAt: EpochMilliseconds = 1)
        -> Notifications.Notification
    {
        var note = Notification(id: id, title: "T", createdAt: createdAt, receivedAt: createdAt)
        note.richer.collapseKey = key
        return note
    }

    private func replacedIDs(_ entries: [Inbox.Entry]) -> [Int64: NotificationID] {
        entries.reduce(into: [:]) { ids, entry in ids[entry.row] = entry.replaces }
    }

    @Test("a push takes the place of its like; the host hears which, if it has had that one")
    func collapse() throws {
        let first = note("n1", key: "k")
        let second = note("n2", key: "k")
        let third = note("n3", key: "k")
        let fourth = note("n4", key: "k")
        let ids = try database.run { connection throws(StoreError) -> [[Int64: NotificationID]] in
            let inbox = Inbox(connection)
            var ids: [[Int64: NotificationID]] = []
            for note in [first, second] { _ = try inbox.receive(note, from: "d") }
            ids.append(replacedIDs(try inbox.handOver(limit: 9)))
            for note in [third, fourth] { _ = try inbox.receive(note, from: "d") }
            ids.append(replacedIDs(try inbox.waiting(limit: 9)))
            return ids
        }
        #expect(ids[0].isEmpty, "the host has seen nothing before n2")
        #expect(Array(ids[1].values) == ["n2"])
    }

    @Test("another desktop's like stays, and the same push again replaces nothing")
    func others() throws {
        let push = note("n1", key: "k")
        let results = try database.run { connection throws(StoreError) in
            let inbox = Inbox(connection)
            return [
                try inbox.receive(push, from: "d"), try inbox.receive(push, from: "e"),
                try inbox.receive(push, from: "d"),
            ]
        }
        #expect(results == [.stored(row: 1, replaced: []), .stored(row: 2, replaced: []), .duplicate])
    }

    @Test("beyond the bounds the oldest go; what waits for the host stays")
    func bounds() throws {
        let old = note("old", createdAt: 0)
        let waiting = note("waiting", createdAt: 0)
        let left = try database.run { connection throws(StoreError) -> [Int64] in
            let inbox = Inbox(connection)
            _ = try inbox.receive(old, from: "d")
            _ = try inbox.handOver(limit: 9)
            _ = try inbox.receive(waiting, from: "d")
            let aged = try inbox.prune(now: Inbox.lifetime + 1)
            return [Int64(aged), try inbox.handover.watermarks().waiting]
        }
        #expect(left == [1, 1])
    }

    @Test("10,000 rows are kept")
    func limit() throws {
        let total = try database.run { connection throws(StoreError) -> Int64 in
            let inbox = Inbox(connection)
            for number in 0..<(Inbox.limit + 100) {
                let row = Notification(
                    id: NotificationID("n\(number)"), title: "T", createdAt: number, receivedAt: number)
                if case .stored = try inbox.receive(row, from: "d") { _ = try inbox.handOver(limit: 9) }
            }
            return try connection.integer("SELECT count(*) FROM inbox")
        }
        #expect(total <= Inbox.limit + 64 && total >= Inbox.limit)
    }
}
