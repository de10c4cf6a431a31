import Alerts
import Calendar
import JSON
import TestSupport
import Testing
import Wire

@Suite struct ReminderScheduleTests {
    private let start = utc("2026-06-01T12:00:00")
    private let daily: JSONValue = ["type": "calendar", "hour": 9, "repeats": true]
    private let minute: JSONValue = ["type": "interval", "seconds": 60, "repeats": true]
    private let place: JSONValue = [
        "type": "region", "latitude": 0, "longitude": 0, "radius_m": 1_000, "on": "both", "repeats": true,
    ]

    private func schedule(_ triggers: [(String, JSONValue?)]) throws -> ReminderSchedule {
        var schedule = ReminderSchedule()
        for (id, trigger) in triggers { _ = schedule.add(try reminder(AlertID(id), trigger)) }
        return schedule
    }

    private func reminder(_ id: AlertID, _ trigger: JSONValue?, thread: String? = nil) throws -> Reminder {
        try AlertsTests.reminder(id.text, trigger, thread: thread, at: start)
    }

    private func passed(
        _ schedule: inout ReminderSchedule, _ moment: EpochMilliseconds, isStart: Bool = false
    ) -> ReminderSchedule.Change { schedule.passed(moment, isStart: isStart, in: greenwich) }

    // MARK: In and out

    @Test("the next is first, those of one moment in their order, those of regions last")
    func list() throws {
        var schedule = try schedule([
            ("region", place), ("b", ["type": "interval", "seconds": 5]), ("a", ["type": "interval", "seconds": 5]),
            ("now", nil), ("daily", daily),
        ])
        #expect(schedule.list.map(\.id) == ["now", "b", "a", "daily", "region"])
        #expect(schedule.nextAt == start && schedule.hasRegions)
        #expect(schedule.remove("now").writes == [.remove("now")])
        #expect(schedule.nextAt == start + 5_000)
        #expect(schedule.remove("region").isEmpty == false && !schedule.hasRegions)
    }

    @Test("the same id replaces, also when there is no room for another")
    func limit() throws {
        var schedule = ReminderSchedule()
        for number in 0..<ReminderSchedule.limit {
            #expect(schedule.add(try reminder(AlertID("\(number)"), minute)) != nil)
        }
        #expect(schedule.add(try reminder("more", nil)) == nil && schedule.count == 500)
        let changed = try reminder("7", daily)
        #expect(schedule.add(changed)?.writes == [.save(changed)])
        #expect(schedule.count == 500 && schedule["7"]?.nextAt == utc("2026-06-02T09:00:00"))
        #expect(!schedule.remove("8").isEmpty)
        #expect(schedule.add(try reminder("more", nil)) != nil)
    }

    @Test("all together fit into a list; one that takes another's place needs no more than its own")
    func byteLimit() throws {
        func large(_ id: AlertID) throws -> Reminder {
            // Six bytes each in JSON.
            let body = String(repeating: "\u{1}", count: 60_000)
            return try Reminder(
                parsing: ["id": .string(id.text), "title": "T", "body": .string(body), "trigger": minute], newID: "new",
                now: 0, in: greenwich)
        }
        var schedule = ReminderSchedule()
        var count = 0
        while schedule.add(try large(AlertID("\(count)"))) != nil { count += 1 }
        #expect(count == ReminderSchedule.byteLimit / 360_600)
        let list = JSONValue.array(schedule.list.map { .object($0.json) })
        #expect(list.serializedCount <= ReminderSchedule.byteLimit)
        #expect(schedule.add(try large("0")) != nil && schedule.count == count)
        #expect(schedule.add(try reminder("small", minute)) != nil)
        _ = schedule.remove("0")
        #expect(schedule.add(try large("more")) != nil)
    }

    @Test("they leave by id, by thread, or all; who is not there changes nothing")
    func removal() throws {
        var schedule = ReminderSchedule()
        for (id, thread) in [("1", "a"), ("2", nil), ("3", "b"), ("4", "a")] {
            _ = schedule.add(try reminder(AlertID(id), daily, thread: thread))
        }
        #expect(schedule.remove("5").isEmpty && schedule.remove(thread: "c").isEmpty)
        #expect(schedule.remove(thread: "a").writes == [.remove("1"), .remove("4")])
        #expect(schedule.remove("2").writes == [.remove("2")])
        #expect(schedule.removeAll().writes == [.remove("3")] && schedule.removeAll().isEmpty)
        #expect(schedule.nextAt == nil && passed(&schedule, .max).isEmpty)
    }

    // MARK: Time

    @Test("one that comes once comes at its moment, not before, and leaves")
    func once() throws {
        var schedule = try schedule([("r", ["type": "moment", "at": .integer(start + 1_000)])])
        #expect(passed(&schedule, start + 999).isEmpty)
        let change = passed(&schedule, start + 1_000)
        #expect(change.firings.map(\.dueAt) == [start + 1_000] && change.firings[0].isLate == false)
        #expect(change.writes == [.remove("r")] && schedule.count == 0)
        #expect(passed(&schedule, .max).isEmpty)
    }

    @Test("an interval keeps step, however late it was looked at, and comes once for all that was missed")
    func interval() throws {
        var schedule = try schedule([("r", minute)])
        let late = passed(&schedule, start + 60_000 * 5 + 59_000)
        #expect(late.firings.map(\.dueAt) == [start + 300_000])
        #expect(schedule.nextAt == start + 360_000)
        let onTime = passed(&schedule, start + 360_000)
        #expect(onTime.firings.map(\.dueAt) == [start + 360_000] && schedule.nextAt == start + 420_000)
        // What was written is what is to come.
        #expect(onTime.writes == [.save(try #require(schedule["r"]))])
        // Once, after ten thousand years.
        #expect(passed(&schedule, 315_569_520_000_000).firings.count == 1)
        #expect(passed(&schedule, .max).firings.count == 1)
    }

    @Test("a match each second of a year that nobody looked comes once, and takes no time")
    func missed() throws {
        var schedule = ReminderSchedule()
        for number in 0..<500 {
            let trigger: JSONValue = ["type": "calendar", "second": .integer(Int64(number % 60)), "repeats": true]
            _ = schedule.add(try reminder(AlertID("\(number)"), trigger))
        }
        let time = processorTime {
            let change = passed(&schedule, utc("2027-06-01T12:00:00"), isStart: true)
            #expect(change.firings.count == 500 && change.writes.count == 500)
            // Each had its second within the last minute.
            #expect(change.firings.filter(\.isLate).isEmpty)
        }
        #expect(time < .seconds(5))
    }

    @Test("late is what was due for more than a minute at the start, and nothing else")
    func late() throws {
        for (moment, isStart, isLate, dueAt) in [
            ("2026-06-02T09:00:30", true, false, "2026-06-02T09:00:00"),
            ("2026-06-02T09:01:00", true, false, "2026-06-02T09:00:00"),
            ("2026-06-02T09:01:01", true, true, "2026-06-02T09:00:00"),
            ("2026-06-02T10:00:00", false, false, "2026-06-02T09:00:00"),
            // Of several that were missed the first; but one that is due just now is on time.
            ("2026-06-07T12:00:00", true, true, "2026-06-02T09:00:00"),
            ("2026-06-07T09:00:59", true, false, "2026-06-07T09:00:00"),
        ] {
            var schedule = try schedule([("r", daily)])
            let firings = passed(&schedule, utc(moment), isStart: isStart).firings
            #expect(firings.map(\.isLate) == [isLate], "\(moment)")
            #expect(firings.map { utc($0.dueAt) } == [dueAt], "\(moment)")
        }
    }

    @Test("what is due together comes in the order in which it was due")
    func order() throws {
        var schedule = try schedule([
            ("c", ["type": "interval", "seconds": 30]), ("a", ["type": "interval", "seconds": 10]), ("later", daily),
            ("b", ["type": "interval", "seconds": 20]), ("now", nil),
        ])
        let change = passed(&schedule, start + 30_000)
        #expect(change.firings.map(\.reminder.id) == ["now", "a", "b", "c"])
        #expect(schedule.list.map(\.id) == ["later"])
    }

    @Test("a calendar's repeats come each time, and end with its year")
    func repeats() throws {
        var schedule = try schedule([("r", daily)])
        #expect(schedule.run(3) == ["2026-06-02T09:00:00", "2026-06-03T09:00:00", "2026-06-04T09:00:00"])
        schedule = try self.schedule([
            ("r", ["type": "calendar", "year": 2026, "month": 12, "day": 31, "hour": 22, "minute": 0, "repeats": true])
        ])
        #expect(schedule.run(3) == ["2026-12-31T22:00:00"] && schedule.count == 0)
        schedule = try self.schedule([("r", ["type": "calendar", "month": 2, "day": 29, "repeats": true])])
        #expect(schedule.run(3) == ["2028-02-29T00:00:00", "2032-02-29T00:00:00", "2036-02-29T00:00:00"])
    }

    // MARK: The clock

    @Test("a clock that is put forward makes due what it passed over")
    func forward() throws {
        var schedule = try schedule([("r", daily), ("i", ["type": "interval", "seconds": 600])])
        let now = utc("2026-06-02T09:30:00")
        #expect(schedule.clockChanged(now, in: greenwich).isEmpty)
        #expect(passed(&schedule, now).firings.map(\.reminder.id) == ["i", "r"])
    }

    @Test("a clock that is put back a little brings nothing twice")
    func backALittle() throws {
        var schedule = try schedule([("r", daily)])
        #expect(passed(&schedule, utc("2026-06-02T09:00:00")).firings.count == 1)
        let back = utc("2026-06-02T08:59:00")
        _ = schedule.clockChanged(back, in: greenwich)
        #expect(passed(&schedule, back).isEmpty)
        #expect(schedule.run(1) == ["2026-06-03T09:00:00"])
    }

    @Test("a clock that was years ahead holds up nothing once it is right")
    func backFar() throws {
        var schedule = try schedule([("r", daily), ("i", minute)])
        #expect(passed(&schedule, utc("2036-06-01T12:00:00")).firings.count == 2)
        let now = start + 30_000
        let change = schedule.clockChanged(now, in: greenwich)
        #expect(change.writes.count == 2)
        #expect(schedule["r"]?.nextAt == utc("2026-06-02T09:00:00"))
        #expect(schedule["i"]?.nextAt == now + 60_000)
        // It was added by the wrong clock, and never came.
        schedule = ReminderSchedule()
        _ = schedule.add(try AlertsTests.reminder("n", daily, at: utc("2036-06-01T12:00:00")))
        _ = schedule.add(try AlertsTests.reminder("now", nil, at: utc("2036-06-01T12:00:00")))
        _ = schedule.clockChanged(now, in: greenwich)
        #expect(schedule["n"]?.nextAt == utc("2026-06-02T09:00:00") && schedule["now"]?.nextAt == now)
    }

    @Test("a zone that changes moves local times, and not intervals and moments")
    func zone() throws {
        var schedule = try schedule([
            ("r", daily), ("i", ["type": "interval", "seconds": 90_000]),
            ("m", ["type": "moment", "at": .integer(start + 90_000_000)]),
        ])
        let newYork = LocalTime { $0 - 4 * 3_600 }
        let change = schedule.clockChanged(start, in: newYork)
        #expect(change.writes.count == 1)
        // It is 08:00 there.
        #expect(schedule["r"].flatMap(\.nextAt).map(utc) == "2026-06-01T13:00:00")
        #expect(schedule["i"]?.nextAt == start + 90_000_000 && schedule["m"]?.nextAt == start + 90_000_000)
        #expect(schedule.run(1, in: newYork) == ["2026-06-01T13:00:00"])
        // Back again: 09:00 has been today, and comes tomorrow.
        _ = schedule.clockChanged(utc("2026-06-01T14:00:00"), in: greenwich)
        #expect(schedule["r"].flatMap(\.nextAt).map(utc) == "2026-06-02T09:00:00")
    }

    @Test("a zone in which the time is over already brings it at once, and once")
    func zoneAhead() throws {
        let trigger: JSONObject = ["type": "calendar", "year": 2026, "month": 6, "day": 1, "hour": 22]
        for repeats in [false, true] {
            var json = trigger
            json["repeats"] = .bool(repeats)
            var schedule = try schedule([("r", .object(json))])
            // It is 02:00 of the next day there; 22:00 was four hours ago.
            let kiritimati = LocalTime { $0 + 14 * 3_600 }
            _ = schedule.clockChanged(start, in: kiritimati)
            #expect(schedule.run(2, from: start, in: kiritimati) == ["2026-06-01T08:00:00"])
            #expect(schedule.count == 0)
        }
    }

    @Test("what was due by the old zone, and is still to come by the new one, waits for it")
    func zoneBehind() throws {
        var schedule = try schedule([("r", daily)])
        let newYork = LocalTime { $0 - 4 * 3_600 }
        // It is 05:30 there.
        let now = utc("2026-06-02T09:30:00")
        let change = schedule.passed(now, isStart: true, in: newYork)
        #expect(change.firings.isEmpty && change.writes == schedule["r"].map { [.save($0)] })
        #expect(schedule.run(2, in: newYork) == ["2026-06-02T13:00:00", "2026-06-03T13:00:00"])
    }

    @Test("a start after the zone has changed is one with the new zone")
    func startElsewhere() throws {
        var schedule = try schedule([("r", daily)])
        let tokyo = LocalTime { $0 + 9 * 3_600 }
        // 09:00 in Tokyo is midnight in Greenwich: it was due for half a minute.
        #expect(schedule.passed(utc("2026-06-02T00:00:30"), isStart: true, in: tokyo).firings.map(\.isLate) == [false])
        #expect(schedule["r"].flatMap(\.nextAt).map(utc) == "2026-06-03T00:00:00")
    }

    // MARK: Places

    @Test("a region is entered and left, once each time, and only with certainty")
    func region() throws {
        var schedule = try schedule([("r", place)])
        func moved(_ longitude: Double, _ accuracy: Double = 0) throws -> ReminderSchedule.Change {
            let position = try Position(latitude: 0, longitude: longitude, accuracy: accuracy)
            return schedule.moved(to: position, at: start + 5, in: greenwich)
        }
        // The first position outside is no leaving; it is remembered.
        let first = try moved(1)
        #expect(first.firings.isEmpty)
        #expect(first.writes == [.save(try #require(schedule["r"]))])
        #expect(schedule["r"]?.side == .outside)
        #expect(try moved(1).isEmpty)
        #expect(try moved(0, 5_000).isEmpty)
        let entered = try moved(0)
        #expect(entered.firings.map(\.dueAt) == [start + 5])
        #expect(entered.writes == [.save(try #require(schedule["r"]))])
        #expect(try moved(0).isEmpty)
        #expect(try moved(0.02, 5_000).isEmpty)
        #expect(try moved(0.02).firings.count == 1)
        #expect(try moved(0, 10).firings.count == 1)
        #expect(schedule.nextAt == nil && passed(&schedule, .max).isEmpty && schedule.count == 1)
    }

    @Test("a region that does not repeat comes once; others stay as they are")
    func regionOnce() throws {
        var once = place.object ?? [:]
        once["repeats"] = false
        var exit = once
        exit["on"] = "exit"
        var schedule = try schedule([("once", .object(once)), ("exit", .object(exit)), ("time", minute)])
        let centre = try Position(latitude: 0, longitude: 0)
        let change = schedule.moved(to: centre, at: start, in: greenwich)
        #expect(change.firings.map(\.reminder.id) == ["once"])
        #expect(Set(schedule.list.map(\.id)) == ["time", "exit"])
        #expect(change.writes.count == 2)
        #expect(
            schedule.moved(to: try Position(latitude: 1, longitude: 0), at: start).firings.map(\.reminder.id) == [
                "exit"
            ])
        #expect(schedule.list.map(\.id) == ["time"])
        // Time alone brings none of them.
        var waiting = try self.schedule([("once", .object(once))])
        #expect(passed(&waiting, .max).isEmpty && waiting.count == 1)
    }

    // MARK: At random

    @Test("whatever happens, each comes once when it is due, and what is written is what is known", arguments: 0..<40)
    func random(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var schedule = ReminderSchedule()
        var stored: [AlertID: Reminder] = [:]
        var now = start
        let triggers: [JSONValue?] = [
            nil, minute, daily, place, ["type": "interval", "seconds": 100], ["type": "calendar", "second": 30],
            ["type": "moment", "at": .integer(start + 3_600_000)], ["type": "calendar", "minute": 30, "repeats": true],
            ["type": "calendar", "weekday": 3, "hour": 0, "repeats": true],
        ]
        for _ in 0..<400 {
            let before = schedule
            var change = ReminderSchedule.Change()
            switch Int.random(in: 0..<10, using: &chance) {
            case 0...2:
                let id = AlertID("\(Int.random(in: 0..<20, using: &chance))")
                let trigger = triggers[Int.random(in: 0..<triggers.count, using: &chance)]
                let added = try AlertsTests.reminder(id.text, trigger, at: now)
                change = schedule.add(added) ?? change
            case 3: change = schedule.remove(AlertID("\(Int.random(in: 0..<20, using: &chance))"))
            case 4:
                now += Int64.random(in: -7_200_000...86_400_000, using: &chance)
                change = schedule.clockChanged(now, in: greenwich)
                #expect(change.firings.isEmpty)
            case 5:
                let position = try Position(
                    latitude: Double.random(in: -0.02...0.02, using: &chance), longitude: 0,
                    accuracy: Double.random(in: 0...500, using: &chance))
                change = schedule.moved(to: position, at: now, in: greenwich)
                #expect(change.firings.allSatisfy { $0.reminder.trigger.region != nil })
            default:
                now += Int64.random(in: 0...200_000, using: &chance)
                let due = before.list.filter { ($0.nextAt ?? .max) <= now }.map(\.id)
                change = schedule.passed(now, in: greenwich)
                #expect(change.firings.map(\.reminder.id) == due)
                #expect((schedule.nextAt ?? .max) > now)
                #expect(schedule.passed(now, in: greenwich).isEmpty)
            }
            for firing in change.firings {
                #expect(firing.dueAt <= now)
                #expect(firing.reminder.trigger.repeats == (schedule[firing.reminder.id] != nil))
            }
            for write in change.writes {
                switch write {
                case .save(let reminder): stored[reminder.id] = reminder
                case .remove(let id): stored[id] = nil
                }
            }
            #expect(Dictionary(uniqueKeysWithValues: schedule.list.map { ($0.id, $0) }) == stored)
        }
    }
}
