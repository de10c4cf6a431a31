@testable import History
import JSON
@testable import Notifications
import Store
import Testing
import Wire

@Suite struct MethodHandlerTests {
    private let database: Database
    private let devices: [MethodHandler.PairedDevice] = [
        .init(peer: "did:key:a", deviceID: "phone-a"), .init(peer: "did:key:b"),
    ]

    init() throws { database = try Database.open(path: ":memory:", migrations: History.migrations).database }

    private func handle(
        _ method: String, _ params: JSONObject = [:],
        from caller: MethodHandler.Caller = .device("did:key:a", isBellwire: true), id: NotificationID = "n1",
        now: EpochMilliseconds = 100
    ) throws -> Handled {
        let context = MethodHandler.Context(now: now, newID: id, devices: devices)
        return try database.run { connection throws(StoreError) in
            try MethodHandler(caller: caller, context: context, on: connection).handle(method, params)
        }
    }

    private func json(_ handled: Handled) -> String? {
        guard case .ready(.result(let result)) = handled.reply else { return nil }
        return result.serialized()
    }

    private func refusal(_ handled: Handled) -> RemoteError? {
        guard case .ready(.error(let error)) = handled.reply, handled.effects.isEmpty else { return nil }
        return error
    }

    private func send(_ count: Int) throws {
        for number in 0..<count {
            _ = try handle("notification.send", ["title": "T"], id: NotificationID("n\(number)"), now: Int64(number))
        }
    }

    private var total: Int64 {
        get throws { try database.run { connection throws(StoreError) in try History(connection).total() } }
    }

    @Test("send stores, shows, and pushes to every paired device, the caller too")
    func send() throws {
        let handled = try handle(
            "notification.send", ["title": "T", "body": "B", "urgency": "critical", "data": ["k": 1], "category": "c"])
        #expect(json(handled) == #"{"success":true,"notificationId":"n1","silenced":false,"timestamp":100}"#)
        var richer = RicherFields()
        richer.category = "c"
        let notification = Notification(
            id: "n1", title: "T", body: "B", priority: .urgent, source: .mobile, createdAt: 100, receivedAt: 100,
            data: ["k": 1], richer: richer)
        #expect(
            handled.effects == [.show(notification), .push(notification.event, to: ["did:key:a", "did:key:b"])])
        #expect(try total == 1)
    }

    @Test("what the desktop's own user sends comes from the desktop")
    func source() throws {
        _ = try handle("notification.send", ["title": "T"], from: .host)
        let page = try database.run { connection throws(StoreError) in
            try History(connection).page(HistoryQuery())
        }
        #expect(page?.notifications.first?.source == .pc)
    }

    @Test("a deployed phone's spellings are understood")
    func deployedSpellings() throws {
        let handled = try handle(
            "notification.send", ["title": "T", "message": "M", "data": #"{"k":"v"}"#, "userId": 7],
            from: .device("did:key:a", isBellwire: false))
        guard case .show(let notification)? = handled.effects.first else { Issue.record("not shown"); return }
        #expect(notification.body == "M")
        #expect(notification.data == ["k": "v"])
    }

    @Test(
        "sendToMobile goes to the one that is named, by any of its names, or to the caller",
        arguments: [
            (["deviceId": "did:key:b"], "did:key:b", "did:key:b"), (["deviceId": "phone-a"], "did:key:a", "phone-a"),
            (["targetDevices": ["did:key:b"]], "did:key:b", "did:key:b"), ([:], "did:key:a", "phone-a"),
        ] as [(JSONObject, PeerID, String)])
    func sendToMobile(target: JSONObject, peer: PeerID, name: String) throws {
        var params: JSONObject = ["title": "T", "body": "B"]
        params.merge(target)
        let handled = try handle("notification.sendToMobile", params)
        guard case .afterPush(let pending) = handled.reply else { Issue.record("answered at once"); return }
        #expect(pending.devices == [peer])
        #expect(handled.effects.count == 1)
        #expect(
            pending.complete(delivered: [peer])
                == .result([
                    "success": true, "delivered": true, "deviceId": .string(name), "notificationId": "n1",
                    "timestamp": 100,
                ]))
        #expect(
            pending.complete(delivered: [])
                == .result([
                    "success": true, "delivered": false, "deviceId": .string(name), "notificationId": "n1",
                    "error": "the device is not connected", "timestamp": 100,
                ]))
        #expect(try total == 1)
    }

    @Test("sendToMobile to an unknown device, or to nobody, is refused and leaves nothing")
    func unknownDevice() throws {
        let unknown = try handle("notification.sendToMobile", ["title": "T", "deviceId": "did:key:zz"])
        #expect(refusal(unknown)?.code == .invalidParams)
        #expect(refusal(unknown)?.message.contains("deviceId") == true)
        let nobody = try handle("notification.sendToMobile", ["title": "T"], from: .host)
        #expect(refusal(nobody)?.code == .invalidParams)
        #expect(try total == 0)
    }

    @Test("broadcast counts who was reached")
    func broadcast() throws {
        let handled = try handle("notification.broadcast", ["title": "T", "body": "B"])
        guard case .afterPush(let pending) = handled.reply else { Issue.record("answered at once"); return }
        #expect(
            pending.complete(delivered: ["did:key:b", "did:key:stranger"])
                == .result([
                    "success": true, "deliveredCount": 1, "failedCount": 1, "notificationId": "n1", "timestamp": 100,
                ]))
        #expect(try total == 1)
    }

    @Test("the history is newest first, paged, with true totals")
    func history() throws {
        try send(5)
        _ = try handle("notification.markAsRead", ["notificationId": "n3"], now: 50)
        func ids(_ params: JSONObject) throws -> (ids: [String?], total: JSONValue?, unread: JSONValue?) {
            guard case .ready(.result(let result)) = try handle("notification.getHistory", params).reply else {
                return ([], nil, nil)
            }
            return (
                (result["notifications"]?.array ?? []).map { $0["id"]?.string }, result["total"], result["unreadCount"]
            )
        }
        #expect(try ids([:]) == (["n4", "n3", "n2", "n1", "n0"], 5, 4))
        #expect(try ids(["limit": 2, "offset": 1]) == (["n3", "n2"], 5, 4))
        #expect(try ids(["unreadOnly": true, "limit": 2]) == (["n4", "n2"], 4, 4))
        #expect(try ids(["offset": 99]) == ([], 5, 4))
        #expect(try ids(["limit": 100_000]).ids.count == 5)
        #expect(try json(handle("notification.getUnreadCount")) == #"{"success":true,"count":4}"#)
    }

    @Test("an empty history is an empty page")
    func emptyHistory() throws {
        #expect(
            try json(handle("notification.getHistory"))
                == #"{"success":true,"notifications":[],"total":0,"unreadCount":0}"#)
    }

    @Test("a deployed phone's history items have text data, and nothing that it does not know")
    func deployedHistory() throws {
        _ = try handle("notification.send", ["title": "T", "data": ["k": 1], "category": "c"])
        #expect(
            try json(handle("notification.getHistory", from: .device("did:key:a", isBellwire: false)))
                == #"{"success":true,"notifications":[{"id":"n1","title":"T","body":"","priority":"normal","#
                + #""read":false,"source":"mobile","createdAt":100,"data":{"k":"1"}}],"total":1,"unreadCount":1}"#)
        guard case .ready(.result(let ours)) = try handle("notification.getHistory").reply else { return }
        #expect(ours["notifications"]?.array?.first?["category"] == "c")
        #expect(ours["notifications"]?.array?.first?["data"] == ["k": 1])
    }

    @Test("marking is idempotent and says how many it changed")
    func markAsRead() throws {
        try send(1)
        let marked = try handle("notification.markAsRead", ["id": "n0"])
        #expect(json(marked) == #"{"success":true,"markedCount":1}"#)
        #expect(
            try json(handle("notification.markAsRead", ["notificationId": "n0"]))
                == #"{"success":true,"markedCount":0}"#)
        #expect(
            try json(handle("notification.markAsRead", ["notificationId": "zz"]))
                == #"{"success":true,"markedCount":0}"#)
        #expect(try json(handle("notification.getUnreadCount")) == #"{"success":true,"count":0}"#)
    }

    @Test(
        "bad parameters are refused by name, and leave nothing",
        arguments: [
            ("notification.send", [:], "title"), ("notification.send", ["title": ""], "title"),
            ("notification.send", ["title": "T", "body": 7], "body"),
            ("notification.send", ["title": "T", "data": [1]], "data"),
            ("notification.send", ["title": "T", "data": "no json"], "data"),
            ("notification.broadcast", ["title": .string(String(repeating: "t", count: 1_025))], "title"),
            ("notification.sendToMobile", ["title": "T", "deviceId": 7], "deviceId"),
            ("notification.getHistory", ["limit": 0], "limit"), ("notification.getHistory", ["offset": -1], "offset"),
            ("notification.getHistory", ["limit": "x"], "limit"),
            ("notification.markAsRead", [:], "notificationId"),
            ("notification.markAsRead", ["notificationId": ""], "notificationId"),
        ] as [(String, JSONObject, String)])
    func badParams(method: String, params: JSONObject, field: String) throws {
        let error = refusal(try handle(method, params))
        #expect(error?.code == .invalidParams)
        #expect(error?.message.hasPrefix(field) == true)
        #expect(try total == 0)
    }

    @Test(
        "methods that are not here are refused by number",
        arguments: ["notification.explode", "notification.Send", "files.list", ""])
    func noSuchMethod(method: String) throws {
        #expect(refusal(try handle(method))?.code == .methodNotFound)
    }

    @Test("the counts stay true when rows go away")
    func counts() throws {
        try send(3)
        let counts = try database.run { connection throws(StoreError) in
            try connection.execute("UPDATE history SET read = 1 WHERE id = 'n1'")
            try connection.execute("DELETE FROM history WHERE id IN ('n0', 'n1')")
            try connection.execute("UPDATE history SET read = 0")
            // Rows that change behind the history's back are counted at the next open.
            #expect(try HistoryCounts(connection).repair())
            #expect(try !HistoryCounts(connection).repair())
            return (try History(connection).total(), try History(connection).unreadCount())
        }
        #expect(counts == (1, 1))
    }

    @Test("an id that is taken is the store's error, and nothing changes")
    func takenID() throws {
        try send(1)
        #expect(throws: StoreError.self) { try handle("notification.send", ["title": "T"], id: "n0") }
        #expect(try total == 1)
    }
}
