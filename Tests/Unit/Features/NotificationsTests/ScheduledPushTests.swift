import JSON
import Store
import Testing
import Wire

@testable import History
@testable import Notifications

@Suite("Pushes for later, and for groups")
struct ScheduledPushTests {
    private let fixture: DesktopFixture

    init() throws { fixture = try DesktopFixture() }

    private func table<T: Sendable>(
        _ body: @escaping @Sendable (ScheduleTable) throws(StoreError) -> T
    ) throws -> T {
        try fixture.database.run { (connection) throws(StoreError) in try body(ScheduleTable(connection)) }
    }

    private func setGroup(_ name: String, _ devices: [PeerID]) throws -> Bool {
        try fixture.database.run { (connection) throws(StoreError) in
            try GroupTable(connection).set(name, to: devices)
        }
    }

    @Test("one for later is kept, and is no notification yet")
    func kept() throws {
        let handled = try fixture.handle(
            .broadcast, ["title": "T", "scheduledAt": 500, "group": nil], from: .host, now: 100)
        #expect(
            handled.reply
                == .ready(
                    .result([
                        "success": true, "notificationId": "n1", "scheduledAt": 500, "timestamp": 100,
                        "deliveredCount": 0, "failedCount": 0,
                    ])))
        #expect(handled.effects == [.scheduled(500)] && handled.row == nil)
        #expect(try fixture.counts.total == 0)
        let push = ScheduledPush(
            id: "n1", at: 500, method: "notification.broadcast", params: ["title": "T"], caller: .host)
        let early = try table { (table) throws(StoreError) in try table.due(at: 499, limit: 10) }
        #expect(early.pushes.isEmpty && early.next == 500)
        // A clock that jumps far ahead finds it, and one that is set back before that does not.
        for now in [500, 10_000_000] {
            let due = try table { (table) throws(StoreError) in try table.due(at: Int64(now), limit: 10) }
            #expect(due.pushes == [push] && due.next == nil)
        }
        #expect(try table { (table) throws(StoreError) in try table.remove("n1") })
        #expect(try !table { (table) throws(StoreError) in try table.remove("n1") })
    }

    @Test("one whose time is past goes out now")
    func past() throws {
        let handled = try fixture.handle(.broadcast, ["title": "T", "scheduledAt": 100], from: .host, now: 100)
        guard case .afterPush = handled.reply else { Issue.record("\(handled.reply)"); return }
        #expect(try fixture.counts.total == 1)
    }

    @Test("what cannot be is refused, with the field")
    func refused() throws {
        let day: Int64 = 86_400_000
        for (params, field) in [
            (["title": "T", "scheduledAt": .integer(367 * day)], "scheduledAt"),
            (["title": "T", "scheduledAt": 500, "expiresAt": 500], "expiresAt"),
            (["title": "T", "scheduledAt": 500, "group": "none"], "group"), (["title": "T", "group": "none"], "group"),
            (["title": "T", "scheduledAt": "soon"], "scheduledAt"),
        ] as [(JSONObject, String)] {
            #expect(try fixture.refusal(.broadcast, params)?.message.hasPrefix(field) == true, "\(params)")
        }
        #expect(try table { (table) throws(StoreError) in try table.due(at: .max, limit: 10) }.pushes.isEmpty)
    }

    @Test("a desktop keeps at most 1,000 for later")
    func limit() throws {
        for number in 0..<Int(ScheduledPush.limit) {
            _ = try fixture.handle(
                .send, ["title": "T", "scheduledAt": 500], id: NotificationID("n\(number)"), now: 100)
        }
        #expect(try fixture.refusal(.send, ["title": "T", "scheduledAt": 500]) != nil)
        #expect(try fixture.refusal(.send, ["title": "T"]) == nil)
    }

    @Test("a publisher has a share of that, all publishers have one, and the rest is the user's")
    func shares() throws {
        func schedule(_ count: Int, by publisher: String?, _ name: String) throws {
            for number in 0..<count {
                _ = try fixture.handle(
                    .broadcast, ["title": "T", "scheduledAt": 500, "publisher": publisher.map(JSONValue.string)],
                    from: .host, id: NotificationID("\(name)\(number)"), now: 100)
            }
        }
        func refusal(by publisher: String?) throws -> RemoteError? {
            try fixture.refusal(
                .broadcast, ["title": "T", "scheduledAt": 500, "publisher": publisher.map(JSONValue.string)],
                from: .host)
        }
        try schedule(Int(ScheduledPush.publisherLimit), by: "backup", "backup")
        #expect(try refusal(by: "backup")?.message == "scheduledAt: would schedule more than 100 notifications")
        #expect(try refusal(by: "backup")?.data == ["reason": "too_many_scheduled"])
        for token in ["a", "b", "c", ""] {
            try schedule(Int(ScheduledPush.publisherLimit), by: token, "token-\(token)-")
        }
        #expect(try refusal(by: "another")?.message == "scheduledAt: would schedule more than 500 notifications")
        // The user's own, of a program and of a device.
        try schedule(100, by: nil, "own")
        for number in 0..<400 {
            _ = try fixture.handle(
                .send, ["title": "T", "scheduledAt": 500, "publisher": "backup"], id: NotificationID("d\(number)"),
                now: 100)
        }
        #expect(try refusal(by: nil)?.message == "scheduledAt: would schedule more than 1000 notifications")
        // What has gone out makes room.
        _ = try table { (table) throws(StoreError) in try table.remove("backup0") }
        #expect(try refusal(by: "another") == nil)
    }

    @Test("delete withdraws one for later, once")
    func withdrawn() throws {
        _ = try fixture.handle(.send, ["title": "T", "scheduledAt": 500])
        #expect(try fixture.result(.delete, ["notificationId": "n1"]) == ["success": true, "deletedCount": 1])
        #expect(try fixture.result(.delete, ["notificationId": "n1"])["deletedCount"] == 0)
    }

    @Test("what a device has scheduled goes with its pairing, and follows its key")
    func devices() throws {
        _ = try fixture.handle(.send, ["title": "T", "scheduledAt": 500], id: "n1")
        _ = try fixture.handle(.send, ["title": "T", "scheduledAt": 500], from: .host, id: "n2")
        let due = try table { (table) throws(StoreError) in
            try table.move("did:key:a", to: "did:key:c")
            return try table.due(at: 500, limit: 10).pushes
        }
        #expect(due.map(\.caller) == [.device("did:key:c", isBellwire: true), .host])
        let left = try table { (table) throws(StoreError) in
            try table.forget("did:key:c")
            return try table.due(at: 500, limit: 10).pushes
        }
        #expect(left.map(\.id) == ["n2"])
    }

    @Test("a group is its paired devices; each device leaves its groups with its pairing")
    func groups() throws {
        #expect(try setGroup("family", ["did:key:b", "did:key:gone"]))
        let handled = try fixture.handle(.broadcast, ["title": "T", "group": "family"], from: .host)
        guard case .push(_, let devices)? = handled.effects.first else { Issue.record("no push"); return }
        #expect(devices == ["did:key:b"])
        try fixture.database.run { (connection) throws(StoreError) in
            try GroupTable(connection).move("did:key:b", to: "did:key:a")
            try GroupTable(connection).forget("did:key:gone")
        }
        let json = try fixture.database.run { (connection) throws(StoreError) in try GroupTable(connection).json() }
        #expect(json == [["name": "family", "devices": ["did:key:a"]]])
        #expect(try setGroup("family", []))
        #expect(try fixture.refusal(.broadcast, ["title": "T", "group": "family"]) != nil)
    }

    @Test("there are at most 256 groups, and those can be changed")
    func groupLimit() throws {
        for number in 0..<GroupTable.limit { #expect(try setGroup("g\(number)", ["did:key:a"])) }
        #expect(try !setGroup("one more", ["did:key:a"]))
        #expect(try setGroup("g7", ["did:key:b"]))
    }

    @Test("a push with a key replaces one to the same group, not one to all")
    func collapse() throws {
        #expect(try setGroup("g", ["did:key:a"]))
        for (id, group) in [("n1", nil), ("n2", "g"), ("n3", "g")] as [(NotificationID, JSONValue?)] {
            _ = try fixture.handle(
                .broadcast, ["title": "T", "collapseKey": "k", "group": group], from: .host, id: id)
        }
        #expect(try fixture.counts.total == 2)
    }

    @Test("with answerWhen stored it answers at once")
    func stored() throws {
        let handled = try fixture.handle(.broadcast, ["title": "T", "answerWhen": "stored"], from: .host)
        #expect(
            handled.reply
                == .ready(
                    .result([
                        "success": true, "notificationId": "n1", "timestamp": 100, "deliveredCount": 0,
                        "failedCount": 0,
                    ])))
        #expect(handled.row != nil && handled.effects.count == 1)
    }
}
