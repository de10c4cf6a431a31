@testable import Inbox
import JSON
@testable import Notifications
import Store
import Testing
import Wire

/// What the inbox keeps: pages and search, pushes and history rows of one key, counts that the desktop corrects.
@Suite struct InboxStoreTests {
    private let database: Database

    init() throws { database = try Database.open(path: ":memory:", migrations: Inbox.migrations).database }

    private func run<T: Sendable>(_ work: @escaping @Sendable (Inbox) throws(StoreError) -> T) throws -> T {
        try database.run { connection throws(StoreError) in try work(Inbox(connection)) }
    }

    private func push(_ id: NotificationID, _ title: String = "T", at moment: Int64 = 1, from desktop: PeerID = "d")
        throws
    {
        _ = try run { inbox throws(StoreError) in
            try inbox.insert(
                Notification(id: id, title: title, createdAt: moment, receivedAt: moment), from: desktop)
        }
    }

    private func ids(_ params: JSONObject, of desktop: PeerID? = nil) throws -> [String] {
        let query = try HistoryQuery(host: params)
        return try #require(try run { inbox throws(StoreError) in try inbox.pages.page(query, of: desktop) })
            .items.map(\.notification.id.text)
    }

    @Test("pages go over all desktops, the newest first, by offset and by place")
    func pages() throws {
        for number in 1...5 { try push(NotificationID("a\(number)"), at: Int64(number), from: "a") }
        for number in 1...5 { try push(NotificationID("b\(number)"), at: Int64(number) * 10, from: "b") }
        #expect(try ids(["limit": 3]) == ["b5", "b4", "b3"])
        #expect(try ids(["limit": 3, "offset": 4]) == ["b1", "a5", "a4"])
        #expect(try ids(["limit": 2], of: "a") == ["a5", "a4"])
        #expect(try ids(["limit": 2, "before": "a4"], of: "a") == ["a3", "a2"])
        var query = HistoryQuery()
        query.limit = 4
        var all: [String] = []
        repeat {
            let asked = query
            let page = try #require(try run { inbox throws(StoreError) in try inbox.pages.page(asked, of: nil) })
            #expect(page.total == 10)
            all += page.items.map(\.notification.id.text)
            query.before = page.next
        } while query.before != nil
        #expect(all == ["b5", "b4", "b3", "b2", "b1", "a5", "a4", "a3", "a2", "a1"])
        query.before = "nowhere"
        let lost = query
        #expect(try run { inbox throws(StoreError) in try inbox.pages.page(lost, of: nil) } == nil)
    }

    @Test(
        "a page ends at its limit in bytes, escapes counted; its place is right in every order, and by count",
        arguments: HistoryQuery.Sort.allCases)
    func pageBytes(_ sort: HistoryQuery.Sort) throws {
        // Six bytes each in JSON: three rows fit, and a fourth does not. Some are too large for any page.
        let counts = (0..<20).map { HistoryQuery.pageBytes / ($0 % 7 == 6 ? 5 : 20) }
        let expected = try counts.enumerated().map { number, count in
            let notification = Notification(
                id: NotificationID("\(number)"), title: "T", body: String(repeating: "\u{1}", count: count),
                priority: number % 3 == 0 ? .high : .normal, createdAt: Int64(number / 2), receivedAt: 1)
            _ = try run { inbox throws(StoreError) in try inbox.insert(notification, from: "d") }
            return "\(number)"
        }
        func pages(_ turn: (inout HistoryQuery, Inbox.Page) -> Void) throws -> [[String]] {
            var query = HistoryQuery()
            (query.sort, query.limit) = (sort, 500)
            var pages: [[String]] = []
            while pages.count < 20 {
                let asked = query
                let page = try #require(try run { inbox throws(StoreError) in try inbox.pages.page(asked, of: nil) })
                #expect(page.total == 20)
                let size = page.items.reduce(0) { $0 + JSONValue.object($1.json).serializedCount }
                #expect(size <= HistoryQuery.pageBytes || page.items.count == 1)
                pages.append(page.items.map(\.notification.id.text))
                guard page.next != nil else { break }
                turn(&query, page)
            }
            return pages
        }
        let byPlace = try pages { $0.before = $1.next }
        #expect(byPlace.count > 6 && byPlace.allSatisfy { !$0.isEmpty })
        #expect(byPlace.joined().sorted() == expected.sorted())
        #expect(try pages { $0.offset += Int64($1.items.count) } == byPlace)
    }

    @Test("a search finds words, also after a row has changed its text, was dropped, or stands in Chinese")
    func search() throws {
        try push("1", "Build done", at: 1)
        try push("2", "Building site", at: 2)
        try push("3", "构建完成", at: 3)
        #expect(try ids(["query": "build"]) == ["1"])
        #expect(try ids(["query": "buil*"]) == ["2", "1"])
        #expect(try ids(["query": "完成"]) == ["3"])
        #expect(try ids(["query": "build \"NOT"]) == [])
        _ = try run { inbox throws(StoreError) in
            try inbox.history.merge(HistoryRow(id: "1", title: "Other words", createdAt: 1), from: "d", receivedAt: 9)
        }
        #expect(try ids(["query": "build"]) == [])
        #expect(try ids(["query": "other"]) == ["1"])
        try run { inbox throws(StoreError) in try inbox.changes.apply(.deleted(["2"]), from: "d", at: 9) }
        #expect(try ids(["query": "buil*"]) == [])
        try run { inbox throws(StoreError) in
            _ = try inbox.handOver(limit: 9)
        }
        #expect(try ids(["query": "other"]) == ["1"])
        #expect(try ids([:]) == ["3", "1"])
    }

    @Test(
        "a row that the history brought first becomes a push by its push: handed over once, in the order of the pushes")
    func promotion() throws {
        // A refresh brings the newest page first.
        for id in ["n3", "n4", "n1", "n2"] {
            _ = try run { inbox throws(StoreError) in
                try inbox.history.merge(
                    HistoryRow(id: NotificationID(id), title: "T", createdAt: 1), from: "d", receivedAt: 9)
            }
        }
        #expect(try run { inbox throws(StoreError) in try inbox.handover.watermarks().waiting } == 0)
        for id in ["n1", "n2", "n3", "n4", "n5"] { try push(NotificationID(id)) }
        for id in ["n1", "n5"] {
            let again = try run { inbox throws(StoreError) in
                try inbox.insert(
                    Notification(id: NotificationID(id), title: "T", createdAt: 1, receivedAt: 1), from: "d")
            }
            #expect(again == .duplicate)
        }
        let handed = try run { inbox throws(StoreError) in
            try inbox.waiting(limit: 9).map(\.notification.id.text)
        }
        #expect(handed == ["n1", "n2", "n3", "n4", "n5"])
        #expect(try run { inbox throws(StoreError) in try inbox.counts.unread() } == 5)
    }

    @Test("a push that is deleted before the host has taken it is handed over all the same, and shown no more")
    func deletedBeforeHanded() throws {
        try push("a")
        try push("b", at: 2)
        try run { inbox throws(StoreError) in try inbox.changes.cleared(before: 3, of: "d") }
        #expect(try ids([:]) == [])
        #expect(try run { inbox throws(StoreError) in try inbox.counts.unread() } == 0)
        let left = try run { inbox throws(StoreError) in
            let entries = try inbox.handOver(limit: 9)
            return (entries.map(\.notification.id.text), try inbox.handover.watermarks().waiting)
        }
        #expect(left.0 == ["a", "b"] && left.1 == 0)
        #expect(try run { inbox throws(StoreError) in try inbox.newestRow() } == 0)
    }

    @Test("unread is what the desktop counts, is marked as a whole at once, and is never negative")
    func counts() throws {
        try push("a")
        try refresh([HistoryRow(id: "a", title: "T", createdAt: 1)], total: 40, unread: 12)
        func unread() throws -> Int64 { try run { inbox throws(StoreError) in try inbox.counts.unread() } }
        #expect(try unread() == 12)
        try push("b", at: 2)
        #expect(try unread() == 13)
        // One that is not here was read elsewhere, then one that is.
        try run { inbox throws(StoreError) in try inbox.changes.apply(.read(["z"], at: 5), from: "d", at: 5) }
        try run { inbox throws(StoreError) in try inbox.changes.apply(.read(["a"], at: 5), from: "d", at: 5) }
        #expect(try unread() == 11)
        let number = try run { inbox throws(StoreError) in try inbox.changes.begin(.allRead, nil, of: "d", at: 6) }
        #expect(try unread() == 0)
        _ = try run { inbox throws(StoreError) in try inbox.changes.end(number ?? 0, .refused) }
        #expect(try unread() == 11)
        let again = try run { inbox throws(StoreError) in try inbox.changes.begin(.allRead, nil, of: "d", at: 6) }
        _ = try run { inbox throws(StoreError) in try inbox.changes.end(again ?? 0, .done) }
        #expect(try unread() == 0)
        // The desktop counts fewer than are here.
        try push("c", at: 3)
        try refresh([HistoryRow(id: "c", title: "T", createdAt: 3)], total: 40, unread: 0)
        #expect(try unread() == 0)
        try push("a", from: "e")
        #expect(try unread() == 1)
    }

    private func refresh(_ rows: [HistoryRow], total: Int64, unread: Int64) throws {
        try run { inbox throws(StoreError) in
            let run = try inbox.history.beginRefresh(of: "d")
            let page = HistoryPage(rows: rows, total: total, unreadCount: unread, skipped: 0, next: nil)
            _ = try inbox.history.merge(page, from: "d", run: run, through: run.through, receivedAt: 9)
            _ = try inbox.history.finishRefresh(
                run, of: "d", coverage: .unknown, unread: unread, through: run.through, at: 9)
        }
    }

    @Test("a refresh drops what the desktop no longer has, but nothing that came while it went on")
    func drops() throws {
        for number in 1...4 { try push(NotificationID("n\(number)"), at: Int64(number)) }
        try push("other", from: "e")
        let dropped = try run { inbox throws(StoreError) in
            let run = try inbox.history.beginRefresh(of: "d")
            _ = try inbox.insert(Notification(id: "n5", title: "T", createdAt: 5, receivedAt: 5), from: "d")
            let page = HistoryPage(
                rows: [HistoryRow(id: "n3", title: "T", read: true, createdAt: 3)], total: 1, unreadCount: 0,
                skipped: 0,
                next: nil)
            let merged = try inbox.history.merge(page, from: "d", run: run, through: run.through, receivedAt: 9)
            #expect(merged.added == 0 && merged.updated == 1)
            return try inbox.history.finishRefresh(run, of: "d", coverage: .all, unread: 0, through: run.through, at: 9)
        }
        #expect(dropped == 3)
        #expect(Set(try ids([:])) == ["n3", "n5", "other"])
    }

    @Test("missed pushes enter as pushes, late, the oldest first, once; what was read already is no news")
    func gap() throws {
        try push("seen", at: 10)
        let since = try run { inbox throws(StoreError) in try inbox.history.beginGap(of: "d", orSince: 1) }
        #expect(since == 10)
        let rows = [
            HistoryRow(id: "n3", title: "T", createdAt: 13),
            HistoryRow(id: "n2", title: "T", read: true, createdAt: 12),
            HistoryRow(id: "n1", title: "T", createdAt: 11), HistoryRow(id: "seen", title: "T", createdAt: 10),
            HistoryRow(id: "old", title: "T", createdAt: 9),
        ]
        for expected in [2, 0] {
            let pushed = try run { inbox throws(StoreError) in
                try inbox.history.fill(rows, from: "d", since: since, receivedAt: 20)
            }
            #expect(pushed.count == expected)
        }
        let entries = try run { inbox throws(StoreError) in try inbox.waiting(limit: 9) }
        #expect(entries.map(\.notification.id) == ["seen", "n1", "n3"])
        #expect(entries.map(\.notification.late) == [false, true, true])
        #expect(Set(try ids([:])) == ["seen", "n1", "n2", "n3", "old"])
        // Asked for and not answered: the gap stays, whatever comes meanwhile.
        try push("live", at: 30)
        #expect(try run { inbox throws(StoreError) in try inbox.history.beginGap(of: "d", orSince: 1) } == 10)
        try run { inbox throws(StoreError) in try inbox.history.endGap(of: "d") }
        #expect(try run { inbox throws(StoreError) in try inbox.history.beginGap(of: "d", orSince: 1) } == 30)
    }

    @Test("a desktop that was unpaired leaves its rows as they are shown")
    func unpaired() throws {
        try push("a")
        try push("b", at: 2)
        try run { inbox throws(StoreError) in
            _ = try inbox.changes.begin(.read, "a", of: "d", at: 5)
            _ = try inbox.changes.begin(.delete, "b", of: "d", at: 5)
            try inbox.forget("d")
        }
        #expect(try ids([:]) == ["a"])
        #expect(try run { inbox throws(StoreError) in try inbox.counts.unread() } == 0)
    }

    @Test("settings are kept for each desktop; an event that is older than what is known changes nothing")
    func settings() throws {
        func keep(_ text: String, _ revision: Int64?, isEvent: Bool) throws -> Bool {
            let settings = try Settings(decoding: try #require(try JSONValue(parsing: text).object))
            return try database.run { connection throws(StoreError) in
                try SettingsCache(connection).keep(settings, revision: revision, of: "d", at: 1, isEvent: isEvent)
            }
        }
        #expect(try keep(#"{"enabled":true}"#, 3, isEvent: false))
        #expect(try !keep(#"{"enabled":true}"#, 3, isEvent: false))
        #expect(try !keep(#"{"enabled":false}"#, 2, isEvent: true))
        #expect(
            try keep(
                #"{"enabled":false,"quietHours":{"enabled":true,"start":"22:00","end":"06:00"}}"#, 4, isEvent: true))
        let entry = try database.run { connection throws(StoreError) in try SettingsCache(connection).entry(of: "d") }
        #expect(entry?.revision == 4 && entry?.settings.quietHoursStart == "22:00" && entry?.settings.enabled == false)
        #expect(try keep(#"{"enabled":true}"#, 1, isEvent: false))
        #expect(
            try database.run { connection throws(StoreError) in try SettingsCache(connection).entry(of: "e") } == nil)
    }
}
