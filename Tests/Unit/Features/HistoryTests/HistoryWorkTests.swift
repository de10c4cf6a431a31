import Delivery
@testable import History
import JSON
import Listing
import Notifications
import Store
import Testing
import Wire

/// Several pushes in one piece of work, and what the outbox keeps of rows that the history lets go.
@Suite struct HistoryWorkTests {
    private let database: Database
    private let device: PeerID = "did:key:a"
    private let phone: PeerID = "did:key:b"

    init() throws { database = try Database.open(path: ":memory:", migrations: History.migrations).database }

    private func send(_ ids: ClosedRange<Int>, _ params: JSONObject = [:], now: EpochMilliseconds = 100) throws
        -> HistoryCounts.Totals
    {
        let (device, phone) = (device, phone)
        return try database.run { connection throws(StoreError) in
            let work = HistoryWork(connection)
            for number in ids {
                let context = MethodHandler.Context(
                    now: now + Int64(number), newID: NotificationID("n\(number)"),
                    devices: [.init(peer: device), .init(peer: phone)])
                var params = params
                params["title"] = .string("T\(number)")
                let handled = try MethodHandler(caller: .host, context: context, in: work).handle(
                    NotificationMethod.send.name, params)
                guard case .push(let event, _)? = handled.effects.last, let row = handled.row else { continue }
                _ = try work.enqueue(
                    event, row: row, to: [.init(device, isSealed: true), .init(phone, isSealed: false)], now: now)
            }
            return try work.finish()
        }
    }

    @Test("a device that has another key is the author of its settings still")
    func movedAuthor() throws {
        let (device, moved, phone) = (device, PeerID("did:key:c"), phone)
        func change(_ values: JSONObject, by author: PeerID) throws -> SettingsTable.Outcome {
            let change = try SettingsChange(peer: values)
            return try database.run { connection throws(StoreError) in
                try SettingsTable(connection).apply(change, by: author)
            }
        }
        _ = try change(["soundEnabled": false, "revision": 0], by: device)
        try database.run { connection throws(StoreError) in try SettingsTable(connection).move(device, to: moved) }
        #expect(try change(["soundEnabled": true, "revision": 0], by: phone).stale.count == 1)
        #expect(try change(["soundEnabled": true, "revision": 0], by: moved).stale.isEmpty)
    }

    private func ids(of device: PeerID, from: Int64 = 1) throws -> [String] {
        try database.run { connection throws(StoreError) in
            var ids: [String] = []
            var from = from
            while from <= 1_000 {
                let page = try Outbox(connection).page(of: device, from: from, through: 1_000, now: ExpiryMoment(0))
                ids += page.entries.map(\.event.id.text)
                from = page.through + 1
            }
            return ids
        }
    }

    private func integer(_ sql: String) throws -> Int64 {
        try database.run { connection throws(StoreError) in try connection.integer(sql) }
    }

    private func change(_ params: JSONObject) throws {
        try database.run { connection throws(StoreError) in
            let context = MethodHandler.Context(now: 100, newID: "none", devices: [])
            _ = try MethodHandler(caller: .host, context: context, on: connection).handle(
                NotificationMethod.updateSettings.name, params)
        }
    }

    @Test("many pushes in one piece of work are as many in one each: rows, counts, numbers; none is copied")
    func together() throws {
        #expect(try send(1...64) == .init(total: 64, unread: 64))
        #expect(try send(65...65) == .init(total: 65, unread: 65))
        #expect(try ids(of: device) == (1...65).map { "n\($0)" })
        #expect(try integer("SELECT last FROM push_count WHERE peer = 1") == 65)
        #expect(try integer("SELECT count(*) FROM outbox_push") == 0)
        #expect(try database.run { connection throws(StoreError) in try !HistoryCounts(connection).repair() })
    }

    @Test(
        "retention takes rows out that devices wait for: their outboxes keep copies, and the last one goes with its entry"
    )
    func retention() throws {
        try change(["retentionRows": 10])
        #expect(try send(1...30).total == 10)
        #expect(try ids(of: device) == (1...30).map { "n\($0)" })
        #expect(try integer("SELECT count(*) FROM outbox_push") == 20)
        let device = device
        try database.run { connection throws(StoreError) in try Outbox(connection).settle(through: 25, by: device) }
        #expect(try integer("SELECT count(*) FROM outbox_push") == 20)
        let phone = phone
        try database.run { connection throws(StoreError) in try Outbox(connection).settle(through: 19, by: phone) }
        #expect(try integer("SELECT count(*) FROM outbox_push") == 1)
        #expect(try ids(of: phone) == (20...30).map { "n\($0)" })
        #expect(try database.run { connection throws(StoreError) in try !HistoryCounts(connection).repair() })
    }

    @Test("a long history is cut in steps; what is cut still waits for devices, and the counts and days fit")
    func longHistory() throws {
        try change(["retentionRows": 4_096])
        for first in stride(from: 1, to: 4_097, by: 64) { _ = try send(first...first + 63) }
        #expect(try send(4_097...4_159).total == 4_159)
        #expect(try send(4_160...4_160).total == 4_096)
        #expect(try ids(of: device).count == 1_000)
        #expect(try integer("SELECT min(row) FROM history") == 65)
        #expect(try integer("SELECT count(*) FROM outbox_push") == 64)
        try database.run { connection throws(StoreError) in
            #expect(try !HistoryCounts(connection).repair())
        }
    }

    @Test("each row is in the tally once, whatever becomes of it before it gets there")
    func tally() throws {
        _ = try send(1...70)
        #expect(try integer("SELECT tallied FROM push_count WHERE peer = 0") == 70)
        _ = try send(71...80)
        try database.run { connection throws(StoreError) in
            let history = History(connection)
            for id in ["n3", "n75"] as [NotificationID] { _ = try history.markAsRead(id, at: 1) }
            for id in ["n4", "n76"] as [NotificationID] { _ = try history.delete(id) }
        }
        #expect(try integer("SELECT tallied FROM push_count WHERE peer = 0") == 70)
        #expect(try integer("SELECT sum(n) FROM history_tally WHERE read = 0") == 68)
        var query = HistoryQuery()
        (query.source, query.unreadOnly) = (.pc, true)
        let page = try database.run { [query] connection throws(StoreError) in try History(connection).page(query) }
        #expect(page?.total == 76)
        #expect(try integer("SELECT sum(n) FROM history_tally WHERE read = 1") == 2)
        #expect(try database.run { connection throws(StoreError) in try !HistoryCounts(connection).repair() })
    }

    @Test("a push that replaces others in one piece of work leaves one row and one entry, and no copy")
    func replacement() throws {
        #expect(try send(1...5, ["collapseKey": "k"]) == .init(total: 1, unread: 1))
        #expect(try ids(of: device) == ["n5"])
        #expect(try send(6...7, ["collapseKey": "k"]) == .init(total: 1, unread: 1))
        #expect(try ids(of: phone) == ["n7"])
        #expect(try integer("SELECT count(*) FROM outbox_push") == 0)
    }

    @Test("what replaces is silenced: a deployed phone keeps what waited for it, as a copy")
    func silencedReplacement() throws {
        _ = try send(1...1, ["collapseKey": "k"])
        try change(["enabled": false])
        _ = try send(2...2, ["collapseKey": "k"])
        #expect(try ids(of: device) == ["n2"])
        #expect(try ids(of: phone) == ["n1"])
        #expect(try integer("SELECT count(*) FROM history") == 1)
        #expect(try integer("SELECT count(*) FROM outbox_push") == 1)
    }

    @Test("deleting takes a push back, whether the outbox refers to its row or has a copy; clearing takes all")
    func withdrawn() throws {
        try change(["retentionRows": 2])
        _ = try send(1...4)
        try database.run { connection throws(StoreError) in
            for id in ["n1", "n4"] as [NotificationID] {
                let context = MethodHandler.Context(now: 100, newID: "none", devices: [])
                _ = try MethodHandler(caller: .host, context: context, on: connection).handle(
                    NotificationMethod.delete.name, ["notificationId": .string(id.text)])
            }
        }
        #expect(try ids(of: device) == ["n2", "n3"])
        try database.run { connection throws(StoreError) in
            let context = MethodHandler.Context(now: 100, newID: "none", devices: [])
            _ = try MethodHandler(caller: .host, context: context, on: connection).handle(
                NotificationMethod.clearAll.name, [:])
        }
        #expect(try ids(of: device) == [])
        #expect(try integer("SELECT count(*) FROM outbox_push") == 0)
    }

    @Test("a push comes out of the outbox as it went in")
    func whole() throws {
        var params: JSONObject = ["body": "B", "priority": "urgent", "collapseKey": "k", "deepLink": "app://x"]
        params["data"] = ["a": 1, "b": ["c": "é"]]
        params["badge"] = 3
        let sent = try database.run { [params] connection throws(StoreError) -> NotificationEvent? in
            let context = MethodHandler.Context(now: 7, newID: "n1", devices: [])
            var params = params
            params["title"] = "T"
            let work = HistoryWork(connection)
            let handled = try MethodHandler(caller: .host, context: context, in: work).handle(
                NotificationMethod.broadcast.name, params)
            guard case .push(let event, _)? = handled.effects.last, let row = handled.row else { return nil }
            _ = try work.enqueue(event, row: row, to: [.init("did:key:a", isSealed: true)], now: 0)
            try work.finish()
            return event
        }
        var event = try #require(sent)
        event.pushSeq = 1
        let page = try database.run { connection throws(StoreError) in
            try Outbox(connection).page(of: "did:key:a", from: 1, through: 1, now: ExpiryMoment(0))
        }
        #expect(page.entries.map(\.event) == [event])
    }

    @Test("a search beside a long index that is not made yet finds the newest, and says that it is incomplete")
    func incompleteSearch() throws {
        _ = try send(1...600)
        func search() throws -> HistoryPage {
            let handled = try database.run { connection throws(StoreError) in
                let context = MethodHandler.Context(now: 100, newID: "none", devices: [])
                return try MethodHandler(caller: .host, context: context, on: connection).handle(
                    NotificationMethod.getHistory.name, ["query": "t*", "limit": 500])
            }
            guard case .ready(.result(let result)) = handled.reply else { throw StoreError(.mismatch, "no result") }
            return try HistoryPage(decoding: result)
        }
        let first = try search()
        #expect(first.isIncomplete && first.total == 512 && first.rows.first?.id == "n600")
        #expect(first.json(unreadCount: 0, now: 0)["incomplete"] == true)
        try database.run { connection throws(StoreError) in
            while try TextIndexer(History.text, connection).step() == .more {}
        }
        let second = try search()
        #expect(!second.isIncomplete && second.total == 600)
        #expect(second.json(unreadCount: 0, now: 0)["incomplete"] == nil)
    }

    @Test("ids that are made one after another stand in that order; they are UUIDs of version 7")
    func ids() {
        let first = NotificationID(at: 1_700_000_000_000, random: .max, .max)
        let second = NotificationID(at: 1_700_000_000_001, random: 0, 0)
        #expect(first.text == "018bcfe5-6800-7fff-bfff-ffffffffffff")
        #expect(second.text == "018bcfe5-6801-7000-8000-000000000000")
        #expect(first.text < second.text)
    }
}
