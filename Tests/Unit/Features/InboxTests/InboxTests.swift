import Delivery
import Glibc
@testable import Inbox
import JSON
import Listing
@testable import Notifications
import Store
import Testing
import Wire

@Suite struct InboxTests {
    private func open(_ path: String = ":memory:") throws -> Database {
        try Database.open(path: path, migrations: Inbox.migrations).database
    }

    private func note(_ id: NotificationID, read: Bool = false) -> Notifications.Notification {
        Notification(id: id, title: "T", body: "B", createdAt: 1, receivedAt: 2, read: read)
    }

    private func insert(_ database: Database, _ ids: NotificationID..., from desktop: PeerID = "d") throws {
        try database.run { connection throws(StoreError) in
            for id in ids { _ = try Inbox(connection).insert(note(id), from: desktop) }
        }
    }

    @Test("every field comes back as it was kept")
    func roundTrip() throws {
        let database = try open()
        var richer = RicherFields()
        richer.silenced = true
        richer.badge = 3
        richer.encryptedBody = ["nonce": "a", "box": "b"]
        let kept = Notification(
            id: "n", title: "Tü", body: "", priority: .urgent, source: .mobile, createdAt: -5, receivedAt: .max,
            silenced: true, late: true, read: true, readAt: 7, data: ["k": [1, .null]], richer: richer)
        let entry = try database.run { connection throws(StoreError) in
            _ = try Inbox(connection).insert(kept, from: "d")
            return try Inbox(connection).latestPush()
        }
        #expect(entry?.notification == kept)
        #expect(entry?.desktop == "d")
    }

    @Test("a push is one row, also after a restart; another desktop's same id is another row")
    func duplicates() throws {
        let path = "/tmp/bellwire-inbox-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        for restart in 0..<2 {
            let database = try open(path)
            let insertions = try database.run { connection throws(StoreError) in
                let inbox = Inbox(connection)
                return [
                    try inbox.insert(note("n"), from: "d"), try inbox.insert(note("n"), from: PeerID("e\(restart)")),
                ]
            }
            #expect((insertions[0] == .duplicate) == (restart == 1))
            #expect(insertions[1] != .duplicate)
            database.close()
        }
    }

    @Test("a push that is admitted again after 30 s, or after a restart, is a duplicate to the inbox")
    func dispatcherAndInbox() throws {
        let database = try open()
        let push = ReceivedPush(
            desktop: "d", notification: Notification(NotificationEvent(id: "n", title: "T"), receivedAt: 5))
        for now: UInt64 in [0, 1] {
            var receiver = PushReceiver()
            guard case .commit = receiver.received(push, now: now).first else {
                Issue.record("not admitted")
                continue
            }
            let insertion = try database.run { connection throws(StoreError) in
                try Inbox(connection).insert(push.notification, from: "d")
            }
            _ = receiver.committed([insertion == .duplicate ? .duplicate : .stored])
            #expect(receiver.counters.duplicates == (now == 0 ? 0 : 1))
        }
    }

    @Test("rows go to the host in the order of arrival, once; what was under way comes again and says so")
    func handing() throws {
        let database = try open()
        try insert(database, "a", "b", "c", "d")
        func take(_ limit: Int, after arrival: Int64) throws -> [Inbox.Entry] {
            try database.run { connection throws(StoreError) in
                try Inbox(connection).waiting(limit: limit, after: arrival)
            }
        }
        let first = try take(2, after: 0)
        #expect(first.map(\.notification.id) == ["a", "b"])
        #expect(try take(10, after: first[1].arrival).map(\.notification.id) == ["c", "d"])
        try database.run { connection throws(StoreError) in
            try Inbox(connection).handover.offer(through: first[1].arrival)
            try Inbox(connection).handover.finish(through: first[0].arrival, offering: 0)
        }
        #expect(try take(10, after: first[1].arrival).map(\.notification.id) == ["c", "d"])
        // The process died here.
        let marks = try database.run { connection throws(StoreError) in try Inbox(connection).handover.watermarks() }
        let again = try take(10, after: 0)
        #expect(again.filter { $0.arrival <= marks.offered }.count == 1)
        #expect(again.map(\.notification.id) == ["b", "c", "d"])
        #expect(again.map { $0.arrival <= marks.offered } == [true, false, false])
        #expect(
            try database.run { connection throws(StoreError) in try Inbox(connection).handover.watermarks().waiting }
                == 3)
    }

    @Test("unread counts over all desktops; marking says how many it changed")
    func unread() throws {
        let database = try open()
        try insert(database, "a", "b", "c")
        try insert(database, "a", from: "e")
        try database.run { connection throws(StoreError) in
            let inbox = Inbox(connection)
            #expect(try inbox.counts.unread() == 4)
            #expect(try inbox.counts.unread(of: "e") == 1)
            #expect(try inbox.markRead(["a", "b", "none"], of: "d", at: 9) == 2)
            #expect(try inbox.markRead(["a"], of: "d", at: 10) == 0)
            #expect(try inbox.counts.unread() == 2)
            #expect(try inbox.markAllRead(of: "d", at: 11) == 1)
            #expect(try inbox.counts.unread() == 1)
            #expect(try inbox.removeAll(of: "d") == 3)
            #expect(try inbox.counts.unread() == 1)
        }
    }

    @Test(
        "what is asked at each push, and to show a page, is answered by an index",
        arguments: [
            (
                """
                SELECT row FROM inbox WHERE arrival > max(5, (SELECT handed FROM push_count WHERE peer = 0)) AND arrival > 0
                ORDER BY arrival LIMIT 9
                """, "inbox_arrival"
            ),
            ("SELECT max(arrival) FROM inbox WHERE arrival > 0", "inbox_arrival"),
            ("SELECT row FROM inbox WHERE arrival > 0 ORDER BY arrival DESC LIMIT 1", "inbox_arrival"),
            (
                """
                UPDATE inbox SET read = 1
                WHERE desktop = (SELECT number FROM peer WHERE id = 'd') AND id = 'n' AND read = 0
                """, "inbox_1"
            ),
            ("DELETE FROM inbox WHERE hidden = 2 AND arrival > 3 AND arrival <= 5", "inbox_withdrawn"),
            (
                "SELECT row FROM inbox WHERE desktop = 1 AND collapse_key = 'k' AND id <> 'n' ORDER BY row",
                "inbox_collapse"
            ),
        ])
    func indices(sql: String, index: String) throws {
        let plan = try open().run { connection throws(StoreError) in
            try connection.query("EXPLAIN QUERY PLAN \(sql)") { (row) throws(StoreError) in try row.text(3) }
        }
        #expect(plan.joined().contains(index), "\(plan)")
        #expect(!plan.joined().contains("TEMP B-TREE"), "\(plan)")
    }

    @Test("pages are read in order along one index, whatever they are of")
    func pageIndex() throws {
        let database = try open()
        for unreadOnly in [false, true] {
            for desktop in [nil, "d"] as [PeerID?] {
                for (sort, before) in [(.newest, nil), (.oldest, nil), (.newest, HistoryCursor("~7.8.2.0"))]
                    as [(HistoryQuery.Sort, HistoryCursor?)]
                {
                    var query = HistoryQuery()
                    (query.sort, query.unreadOnly) = (sort, unreadOnly)
                    let page = InboxPages.rows(query, of: desktop, words: nil, after: before)
                    let plan = try database.run { connection throws(StoreError) in
                        try connection.query("EXPLAIN QUERY PLAN \(page.sql)", page.values) {
                            (row) throws(StoreError) in try row.text(3)
                        }
                    }.joined(separator: "\n")
                    #expect(plan.contains("COVERING INDEX inbox_newest"), "\(plan)")
                    #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
                }
            }
        }
    }

    @Test("an event and a history row with one key are one row; the desktop's word wins")
    func merge() throws {
        let database = try open()
        try insert(database, "a")
        try database.run { connection throws(StoreError) in
            let inbox = Inbox(connection)
            let row = HistoryRow(id: "a", title: "New", body: "B2", read: true, createdAt: nil, readAt: 8)
            #expect(try inbox.history.merge(row, from: "d", receivedAt: 3) == .duplicate)
            let entry = try inbox.latestPush()
            #expect(entry?.notification.title == "New")
            #expect(entry?.notification.createdAt == 1)
            #expect(entry?.notification.read == true)
            #expect(entry?.notification.late == false)
            // New here: kept, but no push, and not handed over.
            #expect(try inbox.history.merge(HistoryRow(id: "b", title: "Old"), from: "d", receivedAt: 3) != .duplicate)
            #expect(try inbox.latestPush()?.notification.id == "a")
            #expect(try inbox.waiting(limit: 9).map(\.notification.id) == ["a"])
            #expect(try inbox.counts.unread() == 1)
        }
    }

    @Test("the host's event has the members that the design names, and the richer ones that came")
    func receivedData() {
        var richer = RicherFields()
        richer.category = "c"
        let kept = Notification(
            id: "n", title: "T", body: "B", priority: .high, createdAt: 1, receivedAt: 2, data: ["k": 1], richer: richer
        )
        #expect(
            JSONValue.object(kept.receivedData()).serialized()
                == #"{"id":"n","title":"T","body":"B","priority":"high","source":"pc","createdAt":1,"receivedAt":2,"#
                + #""silenced":false,"late":false,"data":{"k":1},"category":"c"}"#)
        #expect(note("n").receivedData(redelivered: true)["redelivered"] == true)
        #expect(note("n").receivedData()["data"] == [:])
        #expect(Notification(NotificationEvent(id: "n", title: "T"), receivedAt: 9).createdAt == 9)
    }

    @Test("a new id is a UUID of version 4")
    func randomID() {
        #expect(NotificationID(random: 0, 0).text == "00000000-0000-4000-8000-000000000000")
        #expect(NotificationID(random: .max, .max).text == "ffffffff-ffff-4fff-bfff-ffffffffffff")
    }
}
