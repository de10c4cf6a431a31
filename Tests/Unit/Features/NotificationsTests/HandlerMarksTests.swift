@testable import History
import JSON
@testable import Notifications
import Store
import Testing
import Wire

@Suite struct HandlerMarksTests {
    private let desktop: DesktopFixture

    init() throws { desktop = try DesktopFixture() }

    private func json(_ handled: Handled) -> String? {
        guard case .ready(.result(let result)) = handled.reply else { return nil }
        return result.serialized()
    }

    @Test("a mark tells the other devices once, and the host, but not the one that made it")
    func markTells() throws {
        try desktop.fill(2)
        let marked = try desktop.handle(.markAsRead, ["notificationId": "n0"], now: 7)
        #expect(marked.announcements == [.init(event: .read(["n0"], at: 7), devices: ["did:key:b"])])
        #expect(try desktop.handle(.markAsRead, ["notificationId": "n0"]).announcements.isEmpty)
        #expect(try desktop.handle(.markAsRead, ["notificationId": "zz"]).announcements.isEmpty)
        let byHost = try desktop.handle(.markAsRead, ["notificationId": "n1"], from: .host, now: 8)
        #expect(byHost.announcements == [.init(event: .read(["n1"], at: 8), devices: ["did:key:a", "did:key:b"])])
    }

    @Test("marking all says how many, names them, and is idempotent")
    func markAll() throws {
        try desktop.fill(3)
        _ = try desktop.handle(.markAsRead, ["notificationId": "n1"])
        let marked = try desktop.handle(.markAllAsRead, now: 9)
        #expect(json(marked) == #"{"success":true,"markedCount":2}"#)
        #expect(marked.announcements == [.init(event: .read(["n2", "n0"], at: 9), devices: ["did:key:b"])])
        #expect(try desktop.counts == (3, 0))
        let again = try desktop.handle(.markAllAsRead)
        #expect(json(again) == #"{"success":true,"markedCount":0}"#)
        #expect(again.announcements.isEmpty)
    }

    @Test("marking a great many names them in several events, none of which is too large for a frame")
    func markMany() throws {
        try desktop.database.run { connection throws(StoreError) in
            for number in 0..<2_500 {
                try History(connection).insert(
                    Notification(
                        id: NotificationID("n\(number)"), title: "T", createdAt: Int64(number), receivedAt: 0),
                    icon: nil, target: nil)
            }
        }
        let marked = try desktop.handle(.markAllAsRead, now: 9)
        #expect(json(marked) == #"{"success":true,"markedCount":2500}"#)
        var named: [NotificationID] = []
        for announcement in marked.announcements {
            guard case .read(let ids, at: 9) = announcement.event else {
                Issue.record("another event")
                continue
            }
            #expect(ids.count <= 1_000)
            named += ids
        }
        #expect(named == (0..<2_500).reversed().map { NotificationID("n\($0)") })
    }

    @Test("a delete says what it changed; an id that is not there is no failure, and the answer says so")
    func delete() throws {
        try desktop.fill(2)
        let deleted = try desktop.handle(.delete, ["id": "n0"])
        #expect(json(deleted) == #"{"success":true,"deletedCount":1}"#)
        #expect(deleted.announcements == [.init(event: .deleted(["n0"]), devices: ["did:key:b"])])
        #expect(try desktop.counts == (1, 1))
        for id in ["n0", "never"] as [JSONValue] {
            let nothing = try desktop.handle(.delete, ["notificationId": id])
            #expect(
                json(nothing) == #"{"success":true,"deletedCount":0,"error":"no notification has this id"}"#)
            #expect(nothing.announcements.isEmpty)
        }
    }

    @Test("clearing says how many, and until when; the history works on afterwards")
    func clear() throws {
        try desktop.fill(3)
        _ = try desktop.handle(.markAsRead, ["notificationId": "n1"])
        let cleared = try desktop.handle(.clearAll, now: 50)
        #expect(json(cleared) == #"{"success":true,"clearedCount":3}"#)
        #expect(cleared.announcements == [.init(event: .cleared(before: 51), devices: ["did:key:b"])])
        #expect(try desktop.counts == (0, 0))
        #expect(try desktop.result(.getHistory, ["query": "t1"])["total"] == 0)
        let again = try desktop.handle(.clearAll)
        #expect(json(again) == #"{"success":true,"clearedCount":0}"#)
        #expect(again.announcements.isEmpty)
        // The triggers are there again.
        try desktop.fill(2)
        _ = try desktop.handle(.delete, ["notificationId": "n0"])
        #expect(try desktop.counts == (1, 1))
        #expect(try desktop.result(.getHistory, ["query": "t1"])["total"] == 1)
        #expect(try desktop.result(.getHistory, ["query": "t0"])["total"] == 0)
    }

    @Test("what was created by a clock that has been set back since is cleared for the devices too")
    func clearOfTheFuture() throws {
        _ = try desktop.handle(.send, ["title": "T"], now: 900)
        let cleared = try desktop.handle(.clearAll, now: 50)
        #expect(cleared.announcements.first?.event == .cleared(before: 901))
    }

    @Test(
        "without an id nothing is marked or deleted, though a deployed desktop would mark everything",
        arguments: [NotificationMethod.markAsRead, .delete])
    func noID(method: NotificationMethod) throws {
        try desktop.fill(1)
        for params in [[:], ["notificationId": ""], ["notificationId": 7]] as [JSONObject] {
            let error = try desktop.refusal(method, params)
            #expect(error?.code == .invalidParams)
            #expect(error?.message.hasPrefix("notificationId") == true)
        }
        #expect(try desktop.counts == (1, 1))
    }

    @Test("a list of ids marks each of them, as a deployed desktop does, and tells of all in one event")
    func markList() throws {
        try desktop.fill(4)
        let marked = try desktop.handle(
            .markAsRead, ["ids": ["n0", "n2", "n2", "zz"], "id": "n3"], from: DesktopFixture.phone, now: 7)
        #expect(json(marked) == #"{"success":true,"markedCount":2}"#)
        #expect(marked.announcements == [.init(event: .read(["n0", "n2"], at: 7), devices: ["did:key:b"])])
        #expect(try desktop.counts == (4, 2))
        let again = try desktop.handle(.markAsRead, ["ids": ["n0"]])
        #expect(json(again) == #"{"success":true,"markedCount":0}"#)
        #expect(again.announcements.isEmpty)
        // A null is absent.
        let one = try desktop.handle(.markAsRead, ["ids": .null, "id": "n1"])
        #expect(json(one) == #"{"success":true,"markedCount":1}"#)
    }

    @Test("a list that is empty, too long, or not one of ids marks nothing")
    func badList() throws {
        try desktop.fill(1)
        let long = JSONValue.array((0...1_000).map { JSONValue.string("n\($0)") })
        let lists: [JSONValue] = [
            [], ["n0", 7], ["n0", ""], "n0", long, [.string(String(repeating: "n", count: 1_025))],
        ]
        for list in lists {
            let error = try desktop.refusal(.markAsRead, ["ids": list, "notificationId": "n0"])
            #expect(error?.code == .invalidParams)
            #expect(error?.message.hasPrefix("ids") == true, "\(error?.message ?? "-")")
        }
        #expect(try desktop.refusal(.delete, ["ids": ["n0"]])?.message.hasPrefix("notificationId") == true)
        #expect(try desktop.counts == (1, 1))
    }

    @Test("the history keeps as many rows as the settings say, the oldest go first")
    func retentionRows() throws {
        _ = try desktop.handle(.updateSettings, ["retentionRows": 3])
        try desktop.fill(5)
        #expect(try ids() == ["n4", "n3", "n2"])
        // A smaller number applies at once; 0 is no limit.
        _ = try desktop.handle(.updateSettings, ["retentionRows": 1])
        #expect(try ids() == ["n4"])
        _ = try desktop.handle(.updateSettings, ["retentionRows": 0])
        _ = try desktop.handle(.send, ["title": "T"], id: "m", now: 9)
        #expect(try ids() == ["m", "n4"])
        #expect(try desktop.counts == (2, 2))
    }

    @Test("the history keeps rows for as many days as the settings say")
    func retentionDays() throws {
        let day: Int64 = 86_400_000
        _ = try desktop.handle(.send, ["title": "T"], id: "old", now: 10 * day)
        _ = try desktop.handle(.send, ["title": "T"], id: "kept", now: 10 * day + 1)
        _ = try desktop.handle(.send, ["title": "T"], id: "new", now: 100 * day + 1)
        #expect(try ids() == ["new", "kept"])
        _ = try desktop.handle(.updateSettings, ["retentionDays": 0])
        _ = try desktop.handle(.send, ["title": "T"], id: "later", now: 9_999 * day)
        #expect(try ids() == ["later", "new", "kept"])
    }

    private func ids() throws -> [String] {
        (try desktop.result(.getHistory)["notifications"]?.array ?? []).compactMap { $0["id"]?.string }
    }
}
