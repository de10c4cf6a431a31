import Alerts
import Hosting
import JSON
import Store
import Testing
import Wire

@testable import DeviceAlerts

/// Reminders, without a clock or a store.
@Suite struct ReminderSchedulerTests {
    private let now: EpochMilliseconds = 1_000_000

    private func add(
        _ reminders: inout ReminderScheduler, _ id: String, seconds: Int64, _ replies: Replies
    ) -> [ReminderScheduler.Action] {
        let object: JSONObject = [
            "id": .string(id), "title": "Tea", "trigger": ["type": "interval", "seconds": .integer(seconds)],
        ]
        return reminders.add(object, newID: "new", now: now, replies.then)
    }

    private func work(_ actions: [ReminderScheduler.Action]) throws -> ReminderWork {
        try #require(actions.compactMap { if case .store(let work) = $0 { work } else { nil } }.first)
    }

    /// Carries replies out, and names what else there is to do.
    private func run(_ actions: [ReminderScheduler.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .store(.save): return "save"
            case .store(.reload): return "reload"
            case .reply(let then, let result):
                then(result)
                return "reply"
            case .entered(let judged): return "entered \(judged.alert.key.id.text)"
            case .armClock: return "clock"
            case .rest: return "rest"
            case .report: return "report"
            }
        }
    }

    @Test("what was added is stored before it is answered, and comes once it is due")
    func added() throws {
        var reminders = ReminderScheduler([])
        let replies = Replies()
        let actions = add(&reminders, "tea", seconds: 5, replies)
        #expect(run(actions) == ["clock", "save"] && reminders.nextAt == now + 5_000 && replies.count == 0)
        #expect(run(reminders.stored(try work(actions), .success(.judged([])))) == ["reply"])
        #expect(replies.json?["id"] == "tea")
        #expect(run(reminders.passed(now: now + 4_999, isStart: false)).isEmpty)
        let due = reminders.passed(now: now + 5_000, isStart: false)
        #expect(run(due) == ["clock", "save"] && reminders.nextAt == nil)
        let fired = NewAlert(key("tea", of: nil), AlertContent(title: "Tea"), dueAt: now, isReminder: true)
        let entered = reminders.stored(try work(due), .success(.judged([judge().judge(fired)])))
        #expect(run(entered) == ["entered tea"])
    }

    @Test("bad requests change nothing")
    func errors() {
        var reminders = ReminderScheduler([])
        let replies = Replies()
        #expect(run(reminders.add([:], newID: "new", now: now, replies.then)) == ["reply"])
        #expect(replies.error?.code == .invalid)
        #expect(run(reminders.remove(id: "tea", thread: nil, replies.then)) == ["reply"])
        #expect(replies.error?.code == .notFound)
        #expect(run(reminders.remove(id: "tea", thread: "t", replies.then)) == ["reply"])
        #expect(replies.error?.code == .invalid)
        #expect(run(reminders.move(to: 91, 0, accuracy: 1, now: now, replies.then)) == ["reply"])
        #expect(replies.error?.code == .invalid && replies.count == 4)
        for index in 0..<ReminderSchedule.limit { _ = add(&reminders, "r\(index)", seconds: 60, replies) }
        #expect(run(add(&reminders, "more", seconds: 60, replies)) == ["reply"])
        #expect(replies.error?.code == .limit)
    }

    @Test("a change that is not stored is undone: the store is read until nothing has changed meanwhile")
    func storeFails() throws {
        var reminders = ReminderScheduler([])
        let (first, second) = (Replies(), Replies())
        let kept = add(&reminders, "kept", seconds: 9, first)
        _ = run(reminders.stored(try work(kept), .success(.judged([]))))
        let stored = reminders.list
        let actions = add(&reminders, "tea", seconds: 5, second)
        let failed = reminders.stored(try work(actions), .failure(storeError))
        #expect(run(failed) == ["reload"])
        // Something changes before the store answers.
        _ = reminders.remove(id: nil, thread: "t", first.then)
        let again = reminders.stored(try work(failed), .success(.reminders(stored)))
        #expect(run(again) == ["reload"] && reminders.list.count == 2)
        #expect(run(reminders.stored(try work(again), .success(.reminders(stored)))) == ["rest", "reply"])
        #expect(reminders.list == stored && second.error?.code == .store)
        // One that was due is also reported: nobody waits for it.
        let due = reminders.passed(now: now + 9_000, isStart: false)
        #expect(run(reminders.stored(try work(due), .failure(storeError))) == ["report", "reload"])
    }
}
