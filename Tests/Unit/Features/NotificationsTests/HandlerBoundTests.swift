import Delivery
@testable import History
import JSON
import Notifications
import Store
import Testing
import Wire

/// Commands about everything that end at what their user saw (WireMessages, "Commands about everything").
@Suite struct HandlerBoundTests {
    private let desktop: DesktopFixture

    init() throws { desktop = try DesktopFixture() }

    private func json(_ handled: Handled) -> String? {
        guard case .ready(.result(let result)) = handled.reply else { return nil }
        return result.serialized()
    }

    private var ids: [String] {
        get throws {
            (try desktop.result(.getHistory)["notifications"]?.array ?? []).compactMap { $0["id"]?.string }
        }
    }

    @Test("marking all ends at the newest that was seen, and what came later stays unread")
    func mark() throws {
        try desktop.fill(5)
        let marked = try desktop.handle(.markAllAsRead, ["throughIds": ["n1", "n2"], "throughAt": 2], now: 9)
        #expect(json(marked) == #"{"success":true,"markedCount":3}"#)
        #expect(marked.announcements.map(\.event) == [.read(["n2", "n1", "n0"], at: 9)])
        #expect(try desktop.counts == (5, 2))
        let unread = try desktop.result(.getHistory, ["unreadOnly": true])["notifications"]?.array ?? []
        #expect(unread.compactMap { $0["id"]?.string } == ["n4", "n3"])
    }

    @Test("clearing ends there too: what came later is in the history, in the search and in the counts")
    func clear() throws {
        try desktop.fill(5)
        #expect(try desktop.result(.getHistory, ["query": "t1"])["total"] == 1)
        let cleared = try desktop.handle(.clearAll, ["throughIds": ["n2"], "throughAt": 2], now: 50)
        #expect(json(cleared) == #"{"success":true,"clearedCount":3}"#)
        #expect(cleared.announcements.map(\.event) == [.cleared(before: 3)])
        #expect(try ids == ["n4", "n3"])
        #expect(try desktop.counts == (2, 2))
        #expect(try desktop.result(.getHistory, ["query": "t1"])["total"] == 0)
        #expect(try desktop.result(.getHistory, ["query": "t3"])["total"] == 1)
        // Nothing is left of what was seen.
        let again = try desktop.handle(.clearAll, ["throughIds": ["n2"], "throughAt": 2])
        #expect(json(again) == #"{"success":true,"clearedCount":0}"# && again.announcements.isEmpty)
        #expect(try desktop.counts == (2, 2))
    }

    @Test("a bound at the newest row clears everything")
    func everything() throws {
        try desktop.fill(3)
        let cleared = try desktop.handle(.clearAll, ["throughIds": ["n2"], "throughAt": 2], now: 50)
        #expect(json(cleared) == #"{"success":true,"clearedCount":3}"#)
        #expect(try desktop.counts == (0, 0))
    }

    @Test("the order is the desktop's, also within one millisecond and after its clock was set back")
    func order() throws {
        for (id, moment) in [("a", 100), ("b", 100), ("c", 20), ("d", 30)] as [(NotificationID, Int64)] {
            _ = try desktop.handle(.send, ["title": "T"], id: id, now: moment)
        }
        // The user has seen three of them; the device can't know that "c" is the last.
        let cleared = try desktop.handle(
            .clearAll, ["throughIds": ["b", "a", "c"], "throughAt": 100], now: 50)
        #expect(json(cleared) == #"{"success":true,"clearedCount":3}"#)
        // Other devices keep "d", which is older by the clock than what is gone.
        #expect(cleared.announcements.map(\.event) == [.cleared(before: 30), .deleted(["b", "a"])])
        #expect(try ids == ["d"])
    }

    @Test("where none of them is left, the time counts")
    func time() throws {
        try desktop.fill(5)
        for id in ["n2", "n1"] as [JSONValue] { _ = try desktop.handle(.delete, ["notificationId": id]) }
        let marked = try desktop.handle(.markAllAsRead, ["throughIds": ["n2", "n1"], "throughAt": 2], now: 9)
        #expect(json(marked) == #"{"success":true,"markedCount":1}"#)
        let nothing = try desktop.handle(.clearAll, ["throughIds": ["gone"]])
        #expect(json(nothing) == #"{"success":true,"clearedCount":0}"#)
        #expect(try desktop.counts == (3, 2))
    }

    @Test("a bound that cannot be read is an error, and nothing happens")
    func malformed() throws {
        try desktop.fill(1)
        let params: [JSONObject] = [
            ["throughIds": []], ["throughIds": "n0"], ["throughIds": [7]], ["throughAt": "now"],
            ["throughIds": .array((0...16).map { .string("n\($0)") })],
        ]
        for params in params {
            for method in [NotificationMethod.markAllAsRead, .clearAll] {
                #expect(try desktop.refusal(method, params)?.code == .invalidParams)
            }
        }
        #expect(try desktop.counts == (1, 1))
    }

    // MARK: The outbox

    /// Keeps a push, which waits for both devices.
    private func push(_ id: NotificationID, at moment: Int64) throws {
        let sent = try desktop.handle(.send, ["title": "T"], from: .host, id: id, now: moment)
        let recipients = desktop.devices.map { Outbox.Recipient($0.peer, isSealed: true) }
        guard case .push(let event, _)? = sent.effects.last else { return }
        try desktop.database.run { connection throws(StoreError) in
            _ = try Outbox(connection).enqueue(event, row: sent.row, to: recipients, now: moment)
        }
    }

    private func waiting(for device: PeerID) throws -> [String] {
        try desktop.database.run { connection throws(StoreError) in
            try Outbox(connection).page(of: device, from: 1, through: 99, now: ExpiryMoment(1)).entries.map { entry in
                entry.event.id.text
            }
        }
    }

    @Test("pushes that the user has not seen are not taken back from any device")
    func outbox() throws {
        for number in 0..<4 { try push(NotificationID("n\(number)"), at: Int64(number)) }
        // A copy: its row has left the history before.
        try desktop.database.run { connection throws(StoreError) in
            try Outbox(connection).release("SELECT row FROM history WHERE id = 'n0'", [])
        }
        _ = try desktop.handle(.clearAll, ["throughIds": ["n1"], "throughAt": 1])
        #expect(try waiting(for: "did:key:a") == ["n2", "n3"])
        #expect(try waiting(for: "did:key:b") == ["n2", "n3"])
        _ = try desktop.handle(.clearAll)
        #expect(try waiting(for: "did:key:b").isEmpty)
    }

    /// Keeps a push that waits for the second device alone.
    private func pushToOther(_ id: NotificationID, at moment: Int64) throws {
        let sent = try desktop.handle(.send, ["title": "T"], from: .host, id: id, now: moment)
        guard case .push(let event, _)? = sent.effects.last else { return }
        try desktop.database.run { connection throws(StoreError) in
            _ = try Outbox(connection).enqueue(
                event, row: sent.row, to: [Outbox.Recipient("did:key:b", isSealed: true)], now: moment)
        }
    }

    private static let bounds: [JSONObject] = [["throughIds": ["n2"], "throughAt": 3], [:]]

    @Test("a push that waits for another device alone stays, with a bound and without one", arguments: bounds)
    func ofOthers(bound: JSONObject) throws {
        try push("n0", at: 1)
        try pushToOther("other", at: 2)
        try push("n2", at: 3)
        let marked = try desktop.handle(.markAllAsRead, bound, now: 9)
        #expect(marked.announcements.map(\.event) == [.read(["n2", "n0"], at: 9)])
        #expect(try desktop.counts == (3, 1))
        let cleared = try desktop.handle(.clearAll, bound, now: 50)
        #expect(json(cleared) == #"{"success":true,"clearedCount":2}"#)
        #expect(cleared.announcements.map(\.event) == [.cleared(before: 2), .deleted(["n2"])])
        #expect(try ids == ["other"])
        #expect(try desktop.counts == (1, 1))
        #expect(try waiting(for: "did:key:b") == ["other"])
        // The desktop's own program means everything.
        _ = try desktop.handle(.clearAll, from: .host, now: 60)
        #expect(try ids.isEmpty && waiting(for: "did:key:b").isEmpty)
    }

    @Test("a device that has seen nothing clears what was there when it asked, and nothing that still waits for it")
    func nothingSeen() throws {
        _ = try desktop.handle(.send, ["title": "T"], id: "old", now: 5)
        try push("waits", at: 10)
        let marked = try desktop.handle(.markAllAsRead, ["throughAt": 99], now: 100)
        #expect(json(marked) == #"{"success":true,"markedCount":1}"#)
        _ = try desktop.handle(.clearAll, ["throughAt": 99], now: 100)
        #expect(try ids == ["waits"])
        #expect(try waiting(for: "did:key:a") == ["waits"])
    }
}
