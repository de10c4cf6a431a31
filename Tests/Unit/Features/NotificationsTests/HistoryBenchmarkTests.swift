import Glibc
@testable import History
import JSON
import Listing
@testable import Notifications
import Store
import Testing
import Wire

/// The history at size, in a short form: 50,000 rows, or as many as `BELLWIRE_HISTORY_ROWS` says (1,000,000 is what the
/// design names). It prints what it measures.
@Suite(.serialized) struct HistoryBenchmarkTests {
    private static let rows = getenv("BELLWIRE_HISTORY_ROWS").flatMap { Int(String(cString: $0)) } ?? 50_000
    /// Generous: the machine that tests is shared. The design's own figures are 5 ms for a page and 50 ms for a search.
    private static let patience = 10.0

    @Test("a page takes at most 5 ms and a search 50 ms, however long the history is")
    func history() throws {
        let path = temporaryPath("benchmark")
        defer { removeDatabase(path) }
        let database = try Database.open(path: path, migrations: History.migrations).database
        defer { database.close() }
        try fill(database)
        var cursor: String?
        for (name, limit, change) in HistoryBenchmarkTests.questions {
            var query = HistoryQuery()
            change(&query)
            if name.hasSuffix("next page") { query.before = cursor }
            let (best, page) = try measure(database, query)
            if page.next != nil { cursor = page.next }
            print(
                "history of \(HistoryBenchmarkTests.rows) rows, \(name): \(round(best * 1_000) / 1_000) ms, \(page.total) in all"
            )
            #expect(best < limit * HistoryBenchmarkTests.patience, "\(name)")
        }
        let inserted = now()
        try database.run { connection throws(StoreError) in
            var settings = DesktopSettings()
            settings.retentionRows = Int64(HistoryBenchmarkTests.rows) + 1_000
            for number in 0..<1_000 {
                try History(connection).insert(
                    Notification(id: NotificationID("one\(number)"), title: "T", createdAt: 1, receivedAt: 0),
                    icon: nil, target: nil)
                try History(connection).prune(settings, now: 90 * 86_400_000)
            }
        }
        let each = now() - inserted
        print("one that lets the oldest go: \(Int(each)) µs")
        // That it walks through all rows for it would be a hundred times as much.
        #expect(each < 2_000 * HistoryBenchmarkTests.patience)
        let start = now()
        let marked = try database.run { connection throws(StoreError) in
            try History(connection).markAllAsRead(at: 1).count
        }
        let middle = now()
        let cleared = try database.run { connection throws(StoreError) in try History(connection).clear().count }
        print("marking \(marked): \(Int(middle - start)) ms; clearing \(cleared): \(Int(now() - middle)) ms")
    }

    private static let questions: [(String, Double, @Sendable (inout HistoryQuery) -> Void)] = [
        ("newest", 5, { _ in }), ("newest, next page", 5, { _ in }), ("unread only", 5, { $0.unreadOnly = true }),
        ("oldest", 5, { $0.sort = .oldest }), ("by priority", 5, { $0.sort = .priority }),
        ("by priority, next page", 5, { $0.sort = .priority }), ("unread first", 5, { $0.sort = .unread }),
        ("urgent from a mobile", 5, { ($0.priority, $0.source) = (.urgent, .mobile) }),
        ("30 days", 5, { ($0.since, $0.until) = (86_400_000 * 30 + 12_345, 86_400_000 * 60 + 54_321) }),
        (
            "30 days, urgent, unread", 5,
            { ($0.since, $0.priority, $0.unreadOnly) = (86_400_000 * 60 + 12_345, .urgent, true) }
        ),
        ("half way by offset", 50, { $0.offset = Int64(rows / 2) }), ("a rare word", 50, { $0.query = "rare7" }),
        ("a word of one row in 500", 50, { $0.query = "word17" }), ("two words", 50, { $0.query = "build word17" }),
        ("a beginning", 50, { $0.query = "word17*" }), ("a word of one row in ten", 50, { $0.query = "often" }),
        ("a word and a filter", 50, { ($0.query, $0.priority) = ("word17", .urgent) }),
        ("a word, by priority", 50, { ($0.query, $0.sort) = ("word17", .priority) }),
        ("a word of every row", 500, { $0.query = "build" }),
    ]

    /// SQLite makes up the rows itself, so that a million of them is a matter of seconds.
    private func fill(_ database: Database) throws {
        let rows = Int64(HistoryBenchmarkTests.rows)
        try database.run { connection throws(StoreError) in
            let word = "'word' || (abs(random()) % 5000)"
            try connection.execute(
                """
                WITH RECURSIVE number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i + 1 < ?1)
                INSERT INTO history(
                    id, title, body, priority, source, created_at, received_at, silenced, late, read)
                SELECT lower(hex(randomblob(16))), 'Build ' || \(word) || ' finished',
                    \(Array(repeating: word, count: 8).joined(separator: " || ' ' || "))
                        || ' rare' || (i / 1000) || iif(i % 10 = 0, ' often', ''),
                    i % 4, iif(i % 3 = 0, 'mobile', 'pc'), i * (90 * 86400000 / ?1), 0, 0, 0, i / 5 % 2
                FROM number
                """, [.integer(rows)])
            try HistoryCounts(connection).repair(limit: rows)
            while try TextIndexer(History.text, connection).step() == .more {}
        }
        let start = now()
        try database.run { connection throws(StoreError) in
            for number in 0..<1_000 {
                let notification = Notification(
                    id: NotificationID("new\(number)"), title: "Deploy finished", body: "all of it is well, and tested",
                    createdAt: 90 * 86_400_000, receivedAt: 0)
                try History(connection).insert(notification, icon: nil, target: nil)
            }
        }
        print("history of \(rows) rows: \(Int(now() - start)) µs for an insert among 1,000 in one commit")
    }

    /// The best of several, in milliseconds: what the question costs without its neighbours.
    private func measure(_ database: Database, _ query: HistoryQuery) throws -> (Double, History.Page) {
        var best = Double.infinity
        var last: History.Page?
        for _ in 0..<5 {
            let start = now()
            last = try database.run { connection throws(StoreError) in try History(connection).page(query) }
            best = min(best, now() - start)
        }
        return (best, try #require(last))
    }

    private func now() -> Double {
        var moment = timespec()
        clock_gettime(CLOCK_MONOTONIC, &moment)
        return Double(moment.tv_sec) * 1_000 + Double(moment.tv_nsec) / 1_000_000
    }
}
