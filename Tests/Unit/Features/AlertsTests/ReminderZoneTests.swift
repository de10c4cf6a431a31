import Alerts
import Foundation
import JSON
import Store
import Testing
import Wire

/// Every trigger in the zones of this process, each in a process of its own, by a mock clock: a restart lies between each
/// two steps, the store being what is left.
@Suite struct ReminderZoneTests {
    struct Scene: Sendable {
        let zone: String
        let trigger: String
        /// When it is added, and when it comes, in UTC.
        let addedAt: String
        let expected: [String]

        init(_ zone: String, _ trigger: String, _ addedAt: String, _ expected: [String]) {
            (self.zone, self.trigger, self.addedAt, self.expected) = (zone, trigger, addedAt, expected)
        }
    }

    private static func daily(_ hour: Int, _ minute: Int) -> String {
        #"{"type":"calendar","hour":\#(hour),"minute":\#(minute),"repeats":true}"#
    }

    static let scenes: [Scene] = [
        // 02:30 is skipped on 29 March, and comes twice on 25 October.
        Scene(
            "Europe/Berlin", daily(2, 30), "2026-03-27T12:00:00",
            ["2026-03-28T01:30:00", "2026-03-29T01:00:00", "2026-03-30T00:30:00"]),
        Scene(
            "Europe/Berlin", daily(2, 30), "2026-10-23T12:00:00",
            ["2026-10-24T00:30:00", "2026-10-25T00:30:00", "2026-10-26T01:30:00"]),
        Scene(
            "Europe/Berlin", #"{"type":"calendar","weekday":7,"hour":2,"minute":30,"repeats":true}"#,
            "2026-03-21T12:00:00", ["2026-03-22T01:30:00", "2026-03-29T01:00:00", "2026-04-05T00:30:00"]),
        Scene(
            "Europe/Berlin", #"{"type":"calendar","month":2,"day":29,"repeats":true}"#, "2026-01-01T00:00:00",
            ["2028-02-28T23:00:00", "2032-02-28T23:00:00"]),
        // Added while the hour comes for the second time: 02:30 has been.
        Scene(
            "Europe/Berlin", daily(2, 30), "2026-10-25T01:10:00", ["2026-10-26T01:30:00", "2026-10-27T01:30:00"]),
        // Neither an interval nor a moment knows of it.
        Scene(
            "Europe/Berlin", #"{"type":"interval","seconds":86400,"repeats":true}"#, "2026-03-28T01:30:00",
            ["2026-03-29T01:30:00", "2026-03-30T01:30:00"]),
        Scene(
            "Europe/Berlin", #"{"type":"moment","at":1774747800000}"#, "2026-03-28T12:00:00", ["2026-03-29T01:30:00"]),
        Scene("Europe/Berlin", #"{"type":"now"}"#, "2026-03-29T01:00:00", ["2026-03-29T01:00:00"]),
        Scene(
            "America/New_York", daily(2, 15), "2026-03-07T00:00:00",
            ["2026-03-07T07:15:00", "2026-03-08T07:00:00", "2026-03-09T06:15:00"]),
        Scene(
            "America/New_York", daily(1, 15), "2026-10-31T00:00:00",
            ["2026-10-31T05:15:00", "2026-11-01T05:15:00", "2026-11-02T06:15:00"]),
        // Half an hour of summer time.
        Scene(
            "Australia/Lord_Howe", daily(2, 15), "2026-10-02T00:00:00",
            ["2026-10-02T15:45:00", "2026-10-03T15:30:00", "2026-10-04T15:15:00"]),
        Scene(
            "Australia/Lord_Howe", daily(1, 45), "2026-04-03T00:00:00",
            ["2026-04-03T14:45:00", "2026-04-04T14:45:00", "2026-04-05T15:15:00"]),
        // Midnight itself is skipped, and the last hour of a day comes twice.
        Scene(
            "America/Sao_Paulo", daily(0, 0), "2018-11-02T12:00:00",
            ["2018-11-03T03:00:00", "2018-11-04T03:00:00", "2018-11-05T02:00:00"]),
        Scene(
            "America/Sao_Paulo", daily(23, 30), "2019-02-15T12:00:00",
            ["2019-02-16T01:30:00", "2019-02-17T01:30:00", "2019-02-18T02:30:00"]),
        Scene(
            "America/Santiago", daily(0, 15), "2026-09-04T12:00:00",
            ["2026-09-05T04:15:00", "2026-09-06T04:00:00", "2026-09-07T03:15:00"]),
        Scene(
            "America/Santiago", daily(23, 45), "2026-04-03T12:00:00",
            ["2026-04-04T02:45:00", "2026-04-05T02:45:00", "2026-04-06T03:45:00"]),
        Scene("Asia/Kathmandu", daily(0, 0), "2026-03-01T00:00:00", ["2026-03-01T18:15:00", "2026-03-02T18:15:00"]),
        // There was no 30 December 2011: the moment after it is the midnight of the 31st.
        Scene(
            "Pacific/Apia", daily(9, 0), "2011-12-28T12:00:00",
            ["2011-12-28T19:00:00", "2011-12-29T19:00:00", "2011-12-30T10:00:00", "2011-12-30T19:00:00"]),
        Scene(
            "Pacific/Apia", #"{"type":"calendar","year":2011,"month":12,"day":30,"hour":9}"#, "2011-12-28T12:00:00",
            ["2011-12-30T10:00:00"]),
        Scene(
            "UTC", #"{"type":"calendar","month":2,"day":29,"hour":23,"minute":59,"second":59}"#, "2026-01-01T00:00:00",
            ["2028-02-29T23:59:59"]),
        // Ramadan puts the clock back, and its end forward.
        Scene(
            "Africa/Casablanca", daily(2, 30), "2026-02-13T12:00:00",
            ["2026-02-14T01:30:00", "2026-02-15T01:30:00", "2026-02-16T02:30:00"]),
        Scene(
            "Africa/Casablanca", daily(2, 30), "2026-03-20T12:00:00",
            ["2026-03-21T02:30:00", "2026-03-22T02:00:00", "2026-03-23T01:30:00"]),
        // A zone without a file, by its rule alone.
        Scene(
            "CET-1CEST,M3.5.0,M10.5.0/3", daily(2, 30), "2026-03-28T12:00:00",
            ["2026-03-29T01:00:00", "2026-03-30T00:30:00"]),
    ]

    @Test(
        "in each zone every trigger comes when it should, whatever the clock does", arguments: Set(scenes.map(\.zone)))
    func zones(zone: String) async {
        await #expect(processExitsWith: .success) { [zone] in
            setenv("TZ", zone, 1)
            for scene in ReminderZoneTests.scenes where scene.zone == zone {
                let moments = try ReminderZoneTests.moments(of: scene)
                guard moments != scene.expected else { continue }
                print("\(zone), \(scene.trigger): \(moments), not \(scene.expected)")
                exit(1)
            }
        }
    }

    /// Adds it, and starts the program at each moment at which something is due.
    private static func moments(of scene: Scene) throws -> [String] {
        let database = try Database.open(path: ":memory:", migrations: ReminderTable.migrations).database
        defer { database.close() }
        let json: JSONObject = ["title": "T", "trigger": try JSONValue(parsing: scene.trigger)]
        let reminder = try Reminder(parsing: json, newID: "r", now: utc(scene.addedAt))
        try database.run { (connection) throws(StoreError) in
            var schedule = ReminderSchedule()
            if let change = schedule.add(reminder) { try ReminderTable(connection).save(change) }
        }
        var moments: [String] = []
        while moments.count < scene.expected.count {
            let change = try database.run { (connection) throws(StoreError) -> ReminderSchedule.Change? in
                let table = ReminderTable(connection)
                var schedule = ReminderSchedule(try table.all())
                guard let next = schedule.nextAt else { return nil }
                // A millisecond before there is nothing, and what an event of the clock says changes nothing.
                if utc(next) != scene.addedAt {
                    guard schedule.passed(next - 1, isStart: true).isEmpty else { return nil }
                    guard schedule.clockChanged(next - 1).isEmpty else { return nil }
                }
                let change = schedule.passed(next, isStart: true)
                try table.save(change)
                return change
            }
            guard let change, !change.firings.isEmpty else { break }
            moments += change.firings.map { utc($0.dueAt) }
        }
        return moments
    }
}
