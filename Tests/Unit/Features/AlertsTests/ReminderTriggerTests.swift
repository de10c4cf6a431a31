import Alerts
import Calendar
import JSON
import Testing
import Wire

@Suite struct ReminderTriggerTests {
    /// The field that an error names.
    private func fault(_ trigger: JSONValue?) -> String? {
        do throws(AlertsError) {
            _ = try Trigger(parsing: trigger)
            return nil
        } catch { return error.field ?? "?" }
    }

    @Test(
        "every trigger is read as it was written, and written as it is read",
        arguments: [
            ["type": "now"], ["type": "interval", "seconds": 1, "repeats": false],
            ["type": "interval", "seconds": 60, "repeats": true], ["type": "moment", "at": 1_790_000_000_123],
            ["type": "calendar", "weekday": 7, "hour": 23, "minute": 59, "second": 59, "repeats": true],
            ["type": "calendar", "year": 9_999, "month": 12, "day": 31, "repeats": false],
            [
                "type": "region", "latitude": 52.52, "longitude": -13.4, "radius_m": 10.0, "on": "both",
                "repeats": true,
            ],
        ] as [JSONValue])
    func roundTrip(json: JSONValue) throws {
        let trigger = try Trigger(parsing: json)
        #expect(.object(trigger.json) == json)
        #expect(try Trigger(parsing: try JSONValue(parsing: JSONValue.object(trigger.json).serialized())) == trigger)
    }

    @Test("what is absent has its default")
    func defaults() throws {
        #expect(try Trigger(parsing: nil) == .now)
        #expect(try Trigger(parsing: ["type": "interval", "seconds": 1]) == .interval(seconds: 1, repeats: false))
        #expect(try Trigger(parsing: ["type": "calendar", "hour": 1]).repeats == false)
        let region = try Trigger(parsing: ["type": "region", "latitude": 1, "longitude": 2, "radius_m": 100])
        #expect(region.region?.crossing == .enter && !region.repeats)
    }

    private static let wrong: [(String, String)] = [
        ("null", "trigger"), (#""now""#, "trigger"), ("[]", "trigger"), ("7", "trigger"),
        ("{}", "trigger.type"), (#"{"type":"NOW"}"#, "trigger.type"), (#"{"type":1}"#, "trigger.type"),
        (#"{"type":"now","at":1}"#, "trigger.at"),
        (#"{"type":"interval"}"#, "trigger.seconds"), (#"{"type":"interval","seconds":0}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":-5}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":59,"repeats":true}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":1.5}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":"60"}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":9223372036854775807}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":3155760001}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":1e300}"#, "trigger.seconds"),
        (#"{"type":"interval","seconds":60,"repeats":1}"#, "trigger.repeats"),
        (#"{"type":"interval","seconds":60,"hour":1}"#, "trigger.hour"),
        (#"{"type":"moment"}"#, "trigger.at"), (#"{"type":"moment","at":9223372036854775807}"#, "trigger.at"),
        (#"{"type":"moment","at":-9223372036854775808}"#, "trigger.at"),
        (#"{"type":"moment","at":"now"}"#, "trigger.at"), (#"{"type":"moment","at":null}"#, "trigger.at"),
        (#"{"type":"moment","at":1,"repeats":true}"#, "trigger.repeats"),
        (#"{"type":"calendar"}"#, "trigger"), (#"{"type":"calendar","repeats":true}"#, "trigger"),
        (#"{"type":"calendar","hour":24}"#, "trigger.hour"), (#"{"type":"calendar","month":0}"#, "trigger.month"),
        (#"{"type":"calendar","day":32}"#, "trigger.day"), (#"{"type":"calendar","weekday":0}"#, "trigger.weekday"),
        (#"{"type":"calendar","minute":60}"#, "trigger.minute"),
        (#"{"type":"calendar","second":60}"#, "trigger.second"),
        (#"{"type":"calendar","second":9223372036854775807}"#, "trigger.second"),
        (#"{"type":"calendar","year":9223372036854775807}"#, "trigger.year"),
        (#"{"type":"calendar","year":-9223372036854775808}"#, "trigger.year"),
        (#"{"type":"calendar","year":1969}"#, "trigger.year"), (#"{"type":"calendar","year":10000}"#, "trigger.year"),
        (#"{"type":"calendar","hour":null}"#, "trigger.hour"),
        (#"{"type":"calendar","hour":1,"era":1}"#, "trigger.era"),
        (#"{"type":"region","longitude":0,"radius_m":10}"#, "trigger.latitude"),
        (#"{"type":"region","latitude":0,"radius_m":10}"#, "trigger.longitude"),
        (#"{"type":"region","latitude":0,"longitude":0}"#, "trigger.radius_m"),
        (#"{"type":"region","latitude":90.000001,"longitude":0,"radius_m":10}"#, "trigger.latitude"),
        (#"{"type":"region","latitude":1e308,"longitude":0,"radius_m":10}"#, "trigger.latitude"),
        (#"{"type":"region","latitude":0,"longitude":-180.1,"radius_m":10}"#, "trigger.longitude"),
        (#"{"type":"region","latitude":0,"longitude":"0","radius_m":10}"#, "trigger.longitude"),
        (#"{"type":"region","latitude":0,"longitude":0,"radius_m":9.9}"#, "trigger.radius_m"),
        (#"{"type":"region","latitude":0,"longitude":0,"radius_m":1000001}"#, "trigger.radius_m"),
        (#"{"type":"region","latitude":0,"longitude":0,"radius_m":10,"on":"leave"}"#, "trigger.on"),
        (#"{"type":"region","latitude":0,"longitude":0,"radius_m":10,"on":true}"#, "trigger.on"),
        (#"{"type":"region","latitude":0,"longitude":0,"radius_m":10,"repeats":0}"#, "trigger.repeats"),
        (#"{"type":"region","latitude":0,"longitude":0,"radius_m":10,"radius":10}"#, "trigger.radius"),
    ]

    @Test("what cannot be is an error that names the field", arguments: ReminderTriggerTests.wrong)
    func faults(text: String, field: String) throws {
        #expect(fault(try JSONValue(parsing: text)) == field)
    }

    @Test("a number that is none has no place on the earth", arguments: [Double.nan, .infinity, -.infinity])
    func notANumber(number: Double) {
        for field in ["latitude", "longitude", "radius_m"] {
            var object: JSONObject = ["type": "region", "latitude": 0, "longitude": 0, "radius_m": 100]
            object[field] = .double(number)
            #expect(fault(.object(object)) == "trigger." + field)
        }
        #expect(fault(["type": "interval", "seconds": .double(number)]) == "trigger.seconds")
        #expect(fault(["type": "moment", "at": .double(number)]) == "trigger.at")
        #expect(fault(["type": "calendar", "hour": .double(number)]) == "trigger.hour")
    }

    @Test("a reminder is an alert with a trigger, and comes back with its id and its next time")
    func reminders() throws {
        let json: JSONObject = [
            "title": "Report", "body": "B", "userInfo": ["taskID": "42"], "thread": "tasks",
            "trigger": ["type": "interval", "seconds": 90],
        ]
        let added = try Reminder(parsing: json, newID: "made", now: 1_000, in: greenwich)
        #expect(added.id == "made" && added.nextAt == 91_000 && added.addedAt == 1_000)
        #expect(added.json["id"] == "made" && added.json["nextAt"] == 91_000)
        #expect(added.json["userInfo"]?["taskID"] == "42" && added.json["trigger"]?["seconds"] == 90)
        #expect(try reminder("own", nil).id == "own")
        #expect(
            try reminder("own", ["type": "region", "latitude": 0, "longitude": 0, "radius_m": 10]).json["nextAt"] == nil
        )
        for (field, value) in [
            ("id", ""), ("id", 1), ("id", "a\u{0}b"), ("id", .string(String(repeating: "x", count: 257))),
            ("title", .null), ("triggers", [:]), ("nextAt", 1),
        ] as [(String, JSONValue)] {
            var wrong = json
            wrong[field] = value
            #expect { try Reminder(parsing: wrong, newID: "n", now: 0) } throws: {
                ($0 as? AlertsError)?.field == field
            }
        }
    }

    @Test("a time that never comes, or is past, is refused; a moment that is past comes at once")
    func never() throws {
        let now = utc("2026-06-01T12:00:00")
        for trigger in [
            ["type": "calendar", "month": 2, "day": 30, "repeats": true], ["type": "calendar", "year": 2025],
            ["type": "calendar", "year": 2026, "month": 6, "day": 1, "hour": 12],
        ] as [JSONValue] {
            #expect { try reminder("r", trigger, at: now) } throws: { ($0 as? AlertsError)?.field == "trigger" }
        }
        #expect(try reminder("r", ["type": "moment", "at": -1], at: now).nextAt == now)
        #expect(try reminder("r", ["type": "moment", "at": .integer(now + 1)], at: now).nextAt == now + 1)
        #expect(try reminder("r", nil, at: now).nextAt == now)
        // The farthest interval from the farthest moment.
        let far = try reminder("r", ["type": "interval", "seconds": .integer(Trigger.longestInterval)], at: .max - 1)
        #expect(far.nextAt == .max)
    }
}
