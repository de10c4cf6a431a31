import JSON
import OfflineQueue
import Testing
import Wire

/// A command as a device queues it.
func queued(
    _ id: RequestID, _ method: String = "notification.delete", _ params: JSONObject? = nil, to desktop: PeerID = "d",
    at now: EpochMilliseconds = 1_000
) -> QueuedCommand {
    let params = params ?? ["notificationId": .string("n-\(id.text)"), "id": .string("n-\(id.text)")]
    return QueuedCommand(
        id: id, desktop: desktop, method: method, params: params, createdAt: now,
        expiresAt: now + OfflineQueue.lifetime)
}

@Suite struct OfflineQueueTests {
    @Test("commands go one at a time for each desktop, in order, and leave with their answers")
    func order() {
        var queue = OfflineQueue()
        for id in ["1", "2", "3"] { _ = queue.add(queued(RequestID(id), to: id == "2" ? "e" : "d")) }
        #expect(queue.next(for: "d")?.id == "1" && queue.next(for: "e")?.id == "2")
        #expect(queue.begin("1").writes.count == 1)
        #expect(queue.next(for: "d") == nil && queue.next(for: "e")?.id == "2")
        #expect(queue.begin("1").isEmpty)
        let change = queue.answered("1", ["success": true])
        #expect(change.ends.map(\.outcome) == [.done(["success": true])] && change.writes == [.remove("1")])
        #expect(queue.next(for: "d")?.id == "3")
        #expect(queue.isBusy(with: "d") && !queue.isBusy(with: "x"))
    }

    @Test("three tries without an answer fail a command; an absent desktop is no try; a failed one lets others pass")
    func tries() {
        var queue = OfflineQueue([queued("1"), queued("2")])
        let failure = QueueFailure("timeout", "no answer")
        for _ in 0..<10 {
            _ = queue.begin("1")
            #expect(queue.unanswered("1", failure, counts: false).ends.isEmpty)
        }
        for _ in 0..<2 {
            _ = queue.begin("1")
            #expect(queue.unanswered("1", failure, counts: true).ends.isEmpty)
        }
        _ = queue.begin("1")
        #expect(queue.unanswered("1", failure, counts: true).ends.map(\.outcome) == [.failed(failure)])
        #expect(queue["1"]?.isFailed == true && queue.next(for: "d")?.id == "2")
        // What was decided stays, whatever comes late.
        #expect(queue.refused("1", failure).isEmpty)
        #expect(queue.begin("1").isEmpty)
        #expect(queue.retry("1", now: 5).writes.count == 1)
        #expect(queue["1"]?.tries == 0 && queue["1"]?.expiresAt == 5 + OfflineQueue.lifetime)
        #expect(queue.next(for: "d")?.id == "1")
    }

    @Test("a full queue loses its oldest pending one, then its oldest failed one, never one under way")
    func full() {
        #expect(OfflineQueue.limit == 100)
        var queue = OfflineQueue()
        for number in 0..<OfflineQueue.limit { _ = queue.add(queued(RequestID("\(number)"))) }
        _ = queue.begin("0")
        let change = queue.add(queued("new"))
        #expect(change.ends.map(\.command.id) == ["1"] && change.ends.map(\.outcome) == [.displaced])
        #expect(queue.commands.count == OfflineQueue.limit && queue.commands.last?.id == "new")
        _ = queue.failAll(of: "d", QueueFailure("unsupported", "no"))
        #expect(queue.add(queued("newer")).ends.map(\.command.id) == ["2"])
        #expect(queue["0"]?.isSending == true)
    }

    @Test(
        "what a newer command makes needless leaves, for the same desktop alone",
        arguments: [
            ("markAsRead", "markAsRead", true), ("markAsRead", "markAllAsRead", true), ("markAsRead", "delete", true),
            ("markAsRead", "clearAll", true), ("markAllAsRead", "markAllAsRead", true),
            ("markAllAsRead", "clearAll", true), ("delete", "delete", true), ("delete", "clearAll", true),
            ("clearAll", "clearAll", true), ("delete", "markAsRead", false), ("delete", "markAllAsRead", false),
            ("markAllAsRead", "markAsRead", false), ("clearAll", "delete", false), ("markAllAsRead", "delete", false),
            ("clearAll", "markAllAsRead", false),
        ])
    func superseded(old: String, new: String, isNeedless: Bool) {
        let target: JSONObject = ["notificationId": "x", "id": "x"]
        var queue = OfflineQueue()
        _ = queue.add(queued("other", "notification.\(old)", target, to: "e"))
        _ = queue.add(queued("old", "notification.\(old)", target))
        let change = queue.add(queued("new", "notification.\(new)", target))
        #expect(change.ends.map(\.outcome) == (isNeedless ? [.superseded(by: "new")] : []))
        #expect(queue.commands.map(\.id) == (isNeedless ? ["other", "new"] : ["other", "old", "new"]))
    }

    @Test("another notification's mark stays, and one that is under way too")
    func notSuperseded() {
        var queue = OfflineQueue()
        _ = queue.add(queued("a", "notification.markAsRead", ["notificationId": "a"]))
        _ = queue.add(queued("b", "notification.markAsRead", ["notificationId": "b"]))
        #expect(queue.commands.count == 2)
        _ = queue.begin("a")
        _ = queue.add(queued("all", "notification.clearAll", [:]))
        #expect(queue.commands.map(\.id) == ["a", "all"])
    }

    @Test("a setting that is set again is set once; what is left of an older change stays")
    func settings() {
        var queue = OfflineQueue()
        let first: JSONObject = [
            "enabled": false, "quietHoursEnabled": true, "quietHoursStart": "22:00",
            "quietHours": ["enabled": true, "start": "22:00"], "revision": 3,
        ]
        _ = queue.add(queued("1", "notification.updateSettings", first))
        _ = queue.add(
            queued(
                "2", "notification.updateSettings",
                ["quietHoursStart": "23:00", "quietHours": ["start": "23:00"], "revision": 4]))
        #expect(
            queue["1"]?.params == [
                "enabled": false, "quietHoursEnabled": true, "quietHours": ["enabled": true], "revision": 3,
            ])
        let change = queue.add(
            queued(
                "3", "notification.updateSettings",
                ["enabled": true, "quietHoursEnabled": false, "quietHours": ["enabled": false], "revision": 4]))
        #expect(change.ends.map(\.command.id) == ["1"])
        #expect(queue.commands.map(\.id) == ["2", "3"])
    }

    @Test("what is too old fails; after a start what was under way waits again, and that try does not count")
    func timeAndStarts() {
        var queue = OfflineQueue([queued("1", at: 0), queued("2", at: 10)])
        #expect(queue.nextExpiry == OfflineQueue.lifetime)
        #expect(queue.expire(now: ExpiryMoment(OfflineQueue.lifetime - 1)).isEmpty)
        #expect(queue.expire(now: ExpiryMoment(OfflineQueue.lifetime)).ends.map(\.outcome) == [.failed(.expired)])
        _ = queue.begin("2")
        #expect(queue.expire(now: ExpiryMoment(.max)).isEmpty)
        #expect(queue.recover().writes.count == 1)
        #expect(queue["2"]?.isPending == true && queue["2"]?.tries == 0)
    }

    @Test("the host takes out what is not under way, and clears what has failed and is old")
    func host() {
        var queue = OfflineQueue([queued("1", at: 1), queued("2", at: 2), queued("3", at: 3)])
        _ = queue.begin("1")
        #expect(queue.remove("1").refusal == .sending && queue.remove("x").refusal == .notFound)
        #expect(queue.retry("x", now: 0).refusal == .notFound)
        _ = queue.failAll(of: "d", .expired)
        #expect(queue.clear(before: 3).ends.map(\.command.id) == ["2"])
        #expect(queue.clear(before: nil).ends.map(\.outcome) == [.removed])
        #expect(queue.commands.map(\.id) == ["1"])
        #expect(queue.forget("d").ends.map(\.outcome) == [.removed])
        #expect(queue.commands.isEmpty)
    }
}
