@testable import History
import JSON
@testable import Listing
@testable import Notifications
import Store
import Testing
import Wire

@Suite struct HistoryPagesTests {
    private let desktop: DesktopFixture

    init() throws { desktop = try DesktopFixture() }

    private func insert(_ notifications: Notifications.Notification...) throws {
        try desktop.database.run { connection throws(StoreError) in
            for notification in notifications {
                try History(connection).insert(notification, icon: nil, target: nil)
            }
        }
    }

    private func note(
        _ id: NotificationID, _ title: String = "T", body: String = "", at moment: EpochMilliseconds = 0,
        priority: Priority = .normal, source: NotificationSource = .pc, read: Bool = false
    ) -> Notifications.Notification {
        Notification(
            id: id, title: title, body: body, priority: priority, source: source, createdAt: moment, receivedAt: 0,
            read: read)
    }

    private func ids(_ params: JSONObject) throws -> [String] {
        let result = try desktop.result(.getHistory, params)
        let ids = (result["notifications"]?.array ?? []).compactMap { $0["id"]?.string }
        if params["limit"] == nil { #expect(result["total"] == .integer(Int64(ids.count))) }
        return ids
    }

    @Test("each filter and each order, as a device asks for them")
    func filters() throws {
        try insert(
            note("a", "Build failed", at: 1, priority: .urgent, read: true),
            note("b", "Build done", body: "in Zürich", at: 2, source: .mobile),
            note("c", "Lunch", at: 3, priority: .low), note("d", "Deploy", at: 4, priority: .urgent, source: .mobile))
        #expect(try ids([:]) == ["d", "c", "b", "a"])
        #expect(try ids(["sort": "oldest"]) == ["a", "b", "c", "d"])
        #expect(try ids(["sort": "priority"]) == ["d", "a", "b", "c"])
        #expect(try ids(["sort": "unread"]) == ["d", "c", "b", "a"])
        #expect(try ids(["priority": "urgent"]) == ["d", "a"])
        #expect(try ids(["priority": "critical", "unreadOnly": true]) == ["d"])
        #expect(try ids(["source": "mobile", "sort": "oldest"]) == ["b", "d"])
        #expect(try ids(["since": 2, "until": 3]) == ["c", "b"])
        #expect(try ids(["startDate": 4]) == ["d"])
        #expect(try ids(["since": 5]) == [])
        #expect(try ids(["since": 3, "until": 2]) == [])
        #expect(try ids(["query": "build"]) == ["b", "a"])
        #expect(try ids(["query": "BUILD zurich"]) == ["b"])
        #expect(try ids(["query": "build", "priority": "urgent"]) == ["a"])
        #expect(try ids(["query": "build", "unreadOnly": true]) == ["b"])
        #expect(try ids(["query": "build", "sort": "priority"]) == ["a", "b"])
        #expect(try ids(["query": "d*", "since": 2, "source": "mobile"]) == ["d", "b"])
        #expect(try ids(["query": "  "]) == ["d", "c", "b", "a"])
    }

    @Test("the unread count is that of the whole history, whatever was asked for")
    func unreadCount() throws {
        try insert(note("a"), note("b", read: true), note("c", priority: .high))
        for params in [[:], ["priority": "high"], ["query": "none"], ["limit": 1], ["since": 9]] as [JSONObject] {
            #expect(try desktop.result(.getHistory, params)["unreadCount"] == 2)
        }
    }

    @Test("a page goes on where the last one ended, though its last row is gone and new ones have come")
    func keyset() throws {
        for number in 0..<5 { try insert(note(NotificationID("n\(number)"), at: Int64(number))) }
        let first = try desktop.result(.getHistory, ["limit": 2])
        #expect(try ids(["limit": 2]) == ["n4", "n3"])
        let next = try #require(first["next"])
        _ = try desktop.handle(.delete, ["notificationId": "n3"])
        try insert(note("new", at: 9))
        #expect(try ids(["limit": 2, "before": next]) == ["n2", "n1"])
        // By a row's id as well.
        #expect(try ids(["limit": 2, "before": "n1"]) == ["n0"])
        #expect(try desktop.result(.getHistory, ["before": "n1"])["next"] == nil)
        #expect(try desktop.refusal(.getHistory, ["before": "gone"])?.message.hasPrefix("before") == true)
        #expect(try desktop.refusal(.getHistory, ["before": "n1", "offset": 1])?.message.hasPrefix("offset") == true)
    }

    @Test("a deployed phone sees no place to go on from")
    func deployed() throws {
        try insert(note("a"), note("b"))
        #expect(try desktop.result(.getHistory, ["limit": 1], from: DesktopFixture.phone)["next"] == nil)
    }

    @Test(
        "filters that cannot be are refused by name",
        arguments: [
            (["priority": "loud"], "priority"), (["source": "moon"], "source"), (["sort": "title"], "sort"),
            (["since": -1], "since"), (["until": "now"], "until"), (["query": 7], "query"),
            (["query": .string(String(repeating: "q", count: 1_025))], "query"), (["before": ""], "before"),
            (["limit": 0], "limit"), (["offset": -1], "offset"),
        ] as [(JSONObject, String)])
    func refused(params: JSONObject, field: String) throws {
        let error = try desktop.refusal(.getHistory, params)
        #expect(error?.code == .invalidParams)
        #expect(error?.message.hasPrefix(field) == true)
    }

    @Test(
        "nothing in the user's words is a command to the search",
        arguments: [
            "\"", "\"\"", "*", "**", "a* *", "(", ")", "a OR b", "a AND", "NOT a", "NEAR(a b)", "title:a", "{title}:a",
            "a + b", "^a", "-a", "a\0b", "'; DROP TABLE history; --", "\\", "%", "_", "a\"b\"c", "—", "😀", "é", ":",
            "a:b:c*", "\u{feff}", "OR", "\"a\" *\"",
        ])
    func hostile(words: String) throws {
        try insert(note("a", "a OR b"), note("b", "b \"c\" ^a 😀"))
        for sort in HistoryQuery.Sort.allCases {
            _ = try desktop.result(.getHistory, ["query": .string(words), "sort": .string(sort.rawValue)])
        }
        #expect(try desktop.counts == (2, 2))
    }

    @Test("words mean what they say")
    func words() throws {
        try insert(
            note("a", "one OR two"), note("b", "two"), note("c", "say \"cheese\" please"), note("d", "v2.1-rc released")
        )
        #expect(try ids(["query": "one OR two"]) == ["a"])
        #expect(try ids(["query": "two"]) == ["b", "a"])
        #expect(try ids(["query": "\"cheese\""]) == ["c"])
        #expect(try ids(["query": "v2.1-rc"]) == ["d"])
        #expect(try ids(["query": "rel*"]) == ["d"])
        #expect(try ids(["query": "rel"]) == [])
        #expect(try ids(["query": "two !!!"]) == ["b", "a"])
        #expect(try ids(["query": "!!!"]) == [])
    }

    @Test("Chinese and Japanese are found by any part of them")
    func unspaced() throws {
        try insert(
            note("a", "系统通知", body: "构建已完成"), note("b", "ビルド完了"), note("c", "Build v2版本 ready"), note("d", "T"))
        #expect(try ids(["query": "通知"]) == ["a"])
        #expect(try ids(["query": "完成"]) == ["a"])
        #expect(try ids(["query": "成完"]) == [])
        #expect(try ids(["query": "完了"]) == ["b"])
        #expect(try ids(["query": "版本 build"]) == ["c"])
        #expect(try ids(["query": "v2版"]) == ["c"])
        #expect(try ids(["query": "构*"]) == ["a"])
        _ = try desktop.handle(.delete, ["notificationId": "a"])
        #expect(try ids(["query": "通知"]) == [])
    }

    @Test("an older desktop's history is searched and counted like a new one")
    func migration() throws {
        let path = temporaryPath("history")
        defer { removeDatabase(path) }
        let old = try Database.open(path: path, migrations: [History.migrations[0]]).database
        try old.run { connection throws(StoreError) in
            for (id, title, moment) in [("a", "Build 完成", 5), ("b", "Lunch", 86_400_005)] {
                try connection.execute(
                    """
                    INSERT INTO history(id, title, body, priority, source, created_at, received_at, silenced, late, read)
                    VALUES (?, ?, '', 1, 'pc', ?, 0, 0, 0, 0)
                    """, [.text(id), .text(title), .integer(moment)])
            }
        }
        old.close()
        let desktop = try DesktopFixture(path: path)
        for (params, ids) in [
            (["query": "build"], ["a"]), (["query": "成"], ["a"]), (["since": 86_400_000], ["b"]),
            (["priority": "normal"], ["b", "a"]),
        ] as [(JSONObject, [String])] {
            let result = try desktop.result(.getHistory, params)
            #expect((result["notifications"]?.array ?? []).compactMap { $0["id"]?.string } == ids)
            #expect(result["total"] == .integer(Int64(ids.count)))
        }
        _ = try desktop.handle(.delete, ["notificationId": "a"])
        #expect(try desktop.result(.getHistory, ["query": "build"])["total"] == 0)
        #expect(try desktop.counts == (1, 1))
        desktop.database.close()
    }

    @Test("what the history lets go is not found any more, and what came since is")
    func searchAfterRetention() throws {
        _ = try desktop.handle(.updateSettings, ["retentionRows": 300])
        try desktop.fill(700)
        #expect(try ids(["query": "t399"]) == [])
        #expect(try ids(["query": "t400"]) == ["n400"])
        #expect(try ids(["query": "t699"]) == ["n699"])
        #expect(try desktop.result(.getHistory, ["query": "t*"])["total"] == 300)
        _ = try desktop.handle(.send, ["title": "t400 again"], id: "again", now: 800)
        _ = try desktop.handle(.delete, ["notificationId": "n401"])
        #expect(try ids(["query": "t400"]) == ["again"])
        #expect(try ids(["query": "t401"]) == [])
        #expect(try desktop.counts == (299, 299))
    }

    @Test("no page is sorted and none is counted row by row: all is read along indices")
    func indices() throws {
        func plan(_ text: SQLText, limit: Bool = true) throws -> String {
            try desktop.database.run { connection throws(StoreError) in
                try connection.query("EXPLAIN QUERY PLAN \(text.sql)\(limit ? " LIMIT 50" : "")", text.values) {
                    (row) throws(StoreError) in try row.text(3)
                }
            }.joined(separator: "\n")
        }
        for sort in HistoryQuery.Sort.allCases {
            for priority in [nil, Priority.high] {
                for unreadOnly in [false, true] {
                    for since in [nil, 5] as [Int64?] {
                        for before in [nil, HistoryCursor("~7.8.2.0")] {
                            var query = HistoryQuery()
                            (query.sort, query.priority, query.unreadOnly) = (sort, priority, unreadOnly)
                            query.since = since
                            // A cursor among the read rows leaves nothing of the unread ones.
                            guard let page = HistoryRuns(query, after: before).page else { continue }
                            let plan = try plan(page)
                            #expect(!plan.contains("TEMP B-TREE"), "\(page.sql)\n\(plan)")
                            #expect(!plan.contains("SCAN history\n"), "\(page.sql)\n\(plan)")
                            #expect(plan.contains("USING") && plan.contains("COVERING"), "\(page.sql)\n\(plan)")
                        }
                    }
                }
            }
        }
        var search = HistoryQuery()
        #expect(try !plan(HistorySearch(search, words: "\"a\"", after: nil).page).contains("TEMP B-TREE"))
        search.source = .pc
        #expect(try !plan(HistorySearch(search, words: "\"a\"", after: nil).page).contains("TEMP B-TREE"))
    }
}
