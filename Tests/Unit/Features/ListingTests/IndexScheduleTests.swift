import Listing
import Testing

@Suite struct IndexScheduleTests {
    @Test("a step waits until nothing was written for a while, and the next ones follow")
    func quiet() {
        var schedule = IndexSchedule()
        #expect(schedule.deadline == nil)
        schedule.wrote(now: 1_000)
        #expect(schedule.deadline == 1_250)
        schedule.wrote(now: 1_200)
        #expect(schedule.deadline == 1_450)
        let begun1 = schedule.begin(now: 1_449)
        #expect(!begun1)
        let begun2 = schedule.begin(now: 1_450)
        #expect(begun2)
        #expect(schedule.deadline == nil)
        schedule.stepped(.more, now: 1_451)
        #expect(schedule.deadline == 1_459)
        let begun3 = schedule.begin(now: 1_459)
        #expect(begun3)
        schedule.stepped(.done, now: 1_460)
        #expect(schedule.deadline == nil)
    }

    @Test("beside writes that never end, steps come slowly, but they come")
    func busy() {
        var schedule = IndexSchedule()
        var steps: [UInt64] = []
        for now in stride(from: UInt64(0), through: 6_000, by: 10) {
            schedule.wrote(now: now)
            if schedule.begin(now: now) {
                steps.append(now)
                schedule.stepped(.more, now: now + 2)
            }
        }
        #expect(steps.first == 5_000)
        #expect((15...20).contains(steps.count))
    }

    @Test("what comes during the last step has its own; a failed one is tried again")
    func again() {
        var schedule = IndexSchedule()
        schedule.opened(now: 0)
        let begun4 = schedule.begin(now: 250)
        #expect(begun4)
        schedule.wrote(now: 251)
        schedule.stepped(.done, now: 252)
        #expect(schedule.deadline == 502)
        let begun5 = schedule.begin(now: 502)
        #expect(begun5)
        schedule.stepped(nil, now: 503)
        #expect(schedule.deadline == 60_503)
    }
}
