import Delivery
import Glibc
@testable import Inbox
import JSON
import Notifications
import Store
import Testing
import Wire

/// A file that version 0.1 made (`Resources/inbox-0.1.sql`) is opened: nothing of it is lost.
@Suite final class InboxMigrationTests {
    private static let one: PeerID = "did:key:z6MkqjzK6yMBL28pSvMz2FAzYtQUg4Jn2Zv9TVymVnfGBk2W"
    private static let two: PeerID = "did:key:z6MkfwnMAqzG1CkBMLVMvdDNdF3Yd5r3rXGd4K5Ykt7RyNeH"

    private let path = "/tmp/bellwire-inbox-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
    private let database: Database

    init() throws {
        let old = try Database.open(path: path, migrations: []).database
        let script = try #require(Self.resource("inbox-0.1.sql"))
        try old.run { connection throws(StoreError) in try connection.executeScript(script) }
        old.close()
        database = try Database.open(path: path, migrations: Inbox.migrations).database
    }

    deinit {
        database.close()
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func resource(_ name: String) -> String? {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        guard let file = fopen("/\(folder)/Resources/\(name)", "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func run<T: Sendable>(_ work: @escaping @Sendable (Inbox) throws(StoreError) -> T) throws -> T {
        try database.run { connection throws(StoreError) in try work(Inbox(connection)) }
    }

    @Test("every row is there, with its number, its desktop and its fields")
    func rows() throws {
        let rows = try database.run { connection throws(StoreError) in
            try connection.query(
                """
                SELECT row, peer.id, inbox.id, read, said_read, hidden, uncertain, seen FROM inbox
                JOIN peer ON peer.number = inbox.desktop ORDER BY row
                """
            ) { (row) throws(StoreError) in
                "\(try row.integer(0)) \(try row.text(1).suffix(4)) \(try row.text(2)) "
                    + "\(try row.integer(3))\(try row.integer(4))\(try row.integer(5))\(try row.integer(6)) "
                    + "\(try row.integer(7))"
            }
        }
        #expect(
            rows
                == [
                    "1 Bk2W p1 1100 1", "3 Bk2W p3 1000 0", "4 Bk2W p4 0000 0", "5 Bk2W p5 0000 0", "6 Bk2W p6 0010 0",
                    "7 Bk2W h1 0000 0", "8 Bk2W h2 1101 0", "9 Bk2W h3 0000 0", "11 RyNeH a 1000 0",
                    "12 apns q1 0000 0",
                    "13 4f1c u1 0000 0", "14 4f1c u2 1100 0", "16 Bk2W new 0020 0", "19 RyNeH n1 1000 0",
                ].map { $0.replacing("RyNeH", with: "yNeH") })
        let row = try #require(try run { inbox throws(StoreError) in try inbox.find("a", of: Self.two) })
        var richer = RicherFields()
        richer.collapseKey = "download"
        richer.threadID = "thread"
        #expect(
            row.notification
                == Notification(
                    id: "a", title: "Download 10 %", body: "Body of a", priority: .high, createdAt: 1_100,
                    receivedAt: 1_105, read: true, readAt: 1_730, data: ["k": "a"], richer: richer))
        // A new row gets a new number, though the youngest rows had gone.
        let inserted = try run { inbox throws(StoreError) in
            try inbox.insert(Notification(id: "z", title: "Z", createdAt: 9_000, receivedAt: 9_000), from: Self.one)
        }
        #expect(inserted == .inserted(row: 20))
    }

    @Test("what waits comes in the order in which it came; what was being handed over says so")
    func waiting() throws {
        let (marks, waiting) = try run { inbox throws(StoreError) in
            (try inbox.handover.watermarks(), try inbox.waiting(limit: 50))
        }
        #expect(
            waiting.map(\.notification.id.text) == ["p5", "p6", "h3", "a", "q1", "u1", "u2", "new", "n1"])
        #expect(
            waiting.filter { $0.arrival <= marks.offered }.map(\.notification.id.text) == ["p5", "p6"])
        #expect(waiting.map(\.arrival) == Array(marks.handed + 1...marks.last))
        #expect(marks.waiting == 9)
        #expect(waiting.compactMap(\.replaces) == ["old"])
        #expect(try run { inbox throws(StoreError) in try inbox.latestPush()?.notification.id } == "n1")
        // All of it can be handed over, and what was kept for that alone is gone then.
        _ = try run { inbox throws(StoreError) in try inbox.handOver(limit: 50) }
        #expect(try run { inbox throws(StoreError) in try inbox.find("new", of: Self.one) } == nil)
        #expect(try run { inbox throws(StoreError) in try inbox.handover.watermarks().waiting } == 0)
    }

    @Test("the counts are what there is to count")
    func counts() throws {
        #expect(try run { inbox throws(StoreError) in try !inbox.counts.repair() })
        let unread = try run { inbox throws(StoreError) in
            [
                try inbox.counts.unread(), try inbox.counts.unread(of: Self.one), try inbox.counts.unread(of: Self.two),
                try inbox.counts.unread(of: "push:apns"), try inbox.counts.unread(of: "desktop-4f1c"),
            ]
        }
        // p4, p5, h1 and h3, and 13 that are not here; q1; u1.
        #expect(unread == [19, 17, 0, 1, 1])
    }

    @Test("changes under way go on: one is put back, one is carried out, one is found by its request")
    func changes() throws {
        let (queued, hidden) = try run { inbox throws(StoreError) in
            (try inbox.changes.change("request-1"), try inbox.waiting(limit: 9).count)
        }
        #expect(queued?.number == 2 && queued?.desktop == Self.one && hidden == 9)
        let unread = try run { inbox throws(StoreError) in
            // Pending ones whose answer nobody waits for any more become uncertain: p6 and n1 are back.
            try inbox.changes.recover(queued: ["request-1"])
            let uncertain = try inbox.pages.page(HistoryQuery(), of: nil)?.items.filter(\.isUncertain)
                .map(\.notification.id.text)
            try inbox.changes.end(2, .done)
            return (uncertain ?? [], try inbox.counts.unread(of: Self.two), try inbox.find("p3", of: Self.one))
        }
        #expect(Set(unread.0) == ["p6", "h2", "a", "n1"])
        #expect(unread.1 == 2)
        #expect(unread.2?.notification.read == true)
    }

    @Test("settings, the gap, the refresh and the numbers of pushes are what they were")
    func besides() throws {
        let (settings, refreshed, gap, numbers) = try database.run { connection throws(StoreError) in
            let inbox = Inbox(connection)
            return (
                try SettingsCache(connection).entry(of: Self.one), try inbox.history.refreshedAt(of: Self.one),
                try inbox.history.beginGap(of: Self.two, orSince: 1), try ReceivedPushes(connection).all()
            )
        }
        #expect(settings?.revision == 7 && settings?.settings.enabled == true)
        #expect(refreshed == 1_450)
        #expect(gap == 1_100)
        #expect(numbers == [Self.one: 41, Self.two: 7])
    }

    @Test("what was indexed is found, also what has other words now, and what was not indexed")
    func search() throws {
        func ids(_ words: String) throws -> [String] {
            let query = try HistoryQuery(host: ["query": .string(words)])
            let page = try #require(try run { inbox throws(StoreError) in try inbox.pages.page(query, of: nil) })
            #expect(!page.isIncomplete)
            return page.items.map(\.notification.id.text)
        }
        #expect(try ids("push") == ["p5", "p4", "p3", "p1"])
        #expect(try ids("reworded") == ["h1"])
        #expect(try ids("完成") == ["h3", "h2"])
        #expect(try ids("index") == ["n1"])
        #expect(try ids("p2") == [])
    }
}
