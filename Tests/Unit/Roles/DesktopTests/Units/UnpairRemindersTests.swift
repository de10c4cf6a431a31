import TestSupport
import Testing
import Wire

@testable import Desktop

/// Who is told that it is not paired, and when.
@Suite
struct UnpairRemindersTests {
    @Test("a device is told once over each relay, and again when it speaks, at most every ten seconds")
    func told() {
        var reminders = UnpairReminders(["old"])
        reminders.begin("new", now: 5_000)
        #expect(reminders.due(over: "r") == ["old", "new"])
        reminders.told("new", over: "r")
        #expect(reminders.due(over: "r") == ["old"])
        #expect(reminders.due(over: "s") == ["old", "new"])
        let told = [
            reminders.spoke("stranger", now: 100_000), reminders.spoke("new", now: 14_999),
            reminders.spoke("new", now: 15_000), reminders.spoke("new", now: 24_999),
        ]
        #expect(told == [false, false, true, false])
    }

    @Test("one that is paired again is told nothing; one that is unpaired again is told anew")
    func again() {
        var reminders = UnpairReminders([])
        reminders.begin("d", now: 0)
        reminders.told("d", over: "r")
        reminders.forget("d")
        let hasSpoken = reminders.spoke("d", now: 60_000)
        #expect(reminders.due(over: "s").isEmpty && !hasSpoken)
        reminders.begin("d", now: 60_000)
        #expect(reminders.due(over: "r") == ["d"])
    }

    @Test("after pairings were lost, whoever speaks and is not pairing is told, every ten seconds; 128 are remembered")
    func strangers() {
        var calm = UnpairReminders([])
        let isTold = calm.spoke("stranger", now: 0, asStranger: true)
        #expect(!isTold)
        var reminders = UnpairReminders([], strangers: true)
        let told = [
            reminders.spoke("pairing", now: 0), reminders.spoke("stranger", now: 0, asStranger: true),
            reminders.spoke("stranger", now: 9_999, asStranger: true), reminders.spoke("stranger", now: 10_000),
        ]
        #expect(told == [false, true, false, true])
        for number in 0..<200 { _ = reminders.spoke(PeerID("\(number)"), now: 0, asStranger: true) }
        #expect(reminders.due(over: "r").count == 128)
    }
}
