import Alerts
import Calendar
import JSON
import TestSupport
import Testing
import Wire

@Suite struct AlertSettingsTests {
    @Test("a change changes what it names, and nothing when a part of it cannot be")
    func change() throws {
        var settings = AlertSettings()
        #expect(settings.enabled && settings.soundEnabled && settings.showPreview && !settings.quietHoursEnabled)
        try settings.apply(["enabled": false, "sources": ["pc": false, "mobile": true], "quietHoursStart": "21:30"])
        #expect(!settings.enabled && settings.quietHoursStart == "21:30" && settings.quietHoursEnd == "08:00")
        #expect(!settings.allows(source: "pc") && settings.allows(source: "mobile") && settings.allows(source: "x"))
        try settings.apply(["sources": ["pc": .null], "categories": ["BUILD": false]])
        #expect(settings.allows(source: "pc") && !settings.allows(category: "BUILD"))
        #expect(settings.json["sources"] == ["mobile": true])
        let before = settings
        #expect(throws: AlertsError.self) { try settings.apply(["enabled": true, "quietHoursEnd": "8:00"]) }
        #expect(settings == before)
    }

    @Test("a burst limit that the user has not set is the program's, also after other changes are stored")
    func burstLimit() throws {
        var settings = AlertSettings()
        try settings.apply(["enabled": false])
        #expect(settings.burstLimit == nil && AlertSettings(stored: settings.json).burstLimit == nil)
        try settings.apply(["burstLimit": 0, "openLinks": true])
        #expect(settings.burstLimit == 0 && settings.openLinks)
        let stored = AlertSettings(stored: settings.json)
        #expect(stored.burstLimit == 0 && stored == settings)
    }

    private static let wrong: [(JSONObject, String?)] = [
        ([:], nil), (["enabled": 1], "enabled"), (["enabled": .null], "enabled"),
        (["quietHoursStart": "24:00"], "quietHoursStart"), (["quietHoursEnd": "x"], "quietHoursEnd"),
        (["sources": []], "sources"), (["sources": ["pc": 1]], "sources.pc"), (["sources": ["": true]], "sources"),
        (["categories": ["a\n": true]], "categories"), (["vibrationEnabled": true], "vibrationEnabled"),
        (["burstLimit": 101], "burstLimit"), (["openLinks": 1], "openLinks"),
    ]

    @Test("what cannot be is an error that names its field", arguments: wrong)
    func errors(_ change: JSONObject, field: String?) {
        var settings = AlertSettings()
        let error = #expect(throws: AlertsError.self) { try settings.apply(change) }
        #expect(error?.field == field)
    }

    @Test("so many names and no more")
    func bound() throws {
        var settings = AlertSettings()
        for index in 0..<256 { try settings.apply(["sources": ["s\(index)": false]]) }
        try settings.apply(["sources": ["s7": true]])
        let error = #expect(throws: AlertsError.self) { try settings.apply(["sources": ["one more": false]]) }
        #expect(error?.field == "sources")
        #expect(AlertSettings(stored: settings.json) == settings)
    }

    @Test("what is stored comes back, what is damaged has its default", arguments: 0..<4 as Range<UInt64>)
    func stored(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            let json = HostileJSON.object(of: AlertSettings().json.keys + ["burstLimit"], &random)
            let settings = AlertSettings(stored: json)
            #expect(AlertSettings(stored: settings.json) == settings)
            for member in AlertSettings().json.members where json[member.key] == nil {
                #expect(settings.json[member.key] == member.value)
            }
        }
    }

    // MARK: Quiet hours

    private static let hour: EpochMilliseconds = 3_600_000

    /// A clock that is put by so many minutes at a moment.
    private static func clock(shift: Int = 0, at moment: EpochMilliseconds = .max) -> WallClock {
        WallClock { now in
            let minutes = now / 60_000 + EpochMilliseconds(now >= moment ? shift : 0)
            return Int((minutes % 1_440 + 1_440) % 1_440)
        }
    }

    private func settings(_ start: String, _ end: String) throws -> AlertSettings {
        var settings = AlertSettings()
        try settings.apply([
            "quietHoursEnabled": true, "quietHoursStart": .string(start), "quietHoursEnd": .string(end),
        ])
        return settings
    }

    @Test("it is quiet until the end's minute, on any day, and never when the range is empty or switched off")
    func quiet() throws {
        let night = try settings("22:00", "08:00")
        let clock = Self.clock()
        #expect(!night.isQuiet(at: 12 * Self.hour, clock) && night.quietEnd(after: 12 * Self.hour, clock) == nil)
        #expect(night.quietEnd(after: 23 * Self.hour, clock) == 32 * Self.hour)
        #expect(night.quietEnd(after: 2 * Self.hour + 12_345, clock) == 8 * Self.hour)
        #expect(night.quietEnd(after: 8 * Self.hour - 1, clock) == 8 * Self.hour)
        #expect(night.quietEnd(after: -Self.hour - 1, clock) == 8 * Self.hour)
        #expect(try settings("07:00", "07:00").quietEnd(after: 7 * Self.hour, clock) == nil)
        var off = night
        try off.apply(["quietHoursEnabled": false])
        #expect(!off.isQuiet(at: 23 * Self.hour, clock))
    }

    @Test("a clock that is put forward or back in the night is heeded")
    func summerTime() throws {
        let night = try settings("22:00", "08:00")
        // At 2:00 it becomes 3:00: the night is an hour shorter; or 1:00: an hour longer.
        #expect(night.quietEnd(after: -Self.hour, Self.clock(shift: 60, at: 2 * Self.hour)) == 7 * Self.hour)
        #expect(night.quietEnd(after: -Self.hour, Self.clock(shift: -60, at: 2 * Self.hour)) == 9 * Self.hour)
        // The end itself is leapt over.
        #expect(
            try settings("22:00", "02:30").quietEnd(after: 0, Self.clock(shift: 60, at: 2 * Self.hour)) == 2 * Self.hour
        )
        // A short hour without quiet is not missed.
        #expect(
            try settings("08:30", "08:00").quietEnd(after: 0, Self.clock(shift: 60, at: 2 * Self.hour)) == 7 * Self.hour
        )
    }

    @Test(
        "against a search by the minute, with any range and any leap of the clock", arguments: 0..<16 as Range<UInt64>)
    func search(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            func time() -> String {
                let (hour, minute) = (Int.random(in: 0..<24, using: &random), Int.random(in: 0..<60, using: &random))
                return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
            }
            let settings = try settings(time(), time())
            let moment = EpochMilliseconds.random(in: 0..<3 * 86_400_000, using: &random)
            let clock = Self.clock(
                shift: [-120, -60, -30, 0, 30, 60, 120].randomElement(using: &random) ?? 0,
                at: EpochMilliseconds.random(in: 0..<4 * 24, using: &random) * Self.hour)
            guard let end = settings.quietEnd(after: moment, clock) else {
                #expect(!settings.isQuiet(at: moment, clock))
                continue
            }
            var expected = moment - moment % 60_000
            while settings.isQuiet(at: expected, clock) { expected += 60_000 }
            #expect(end == expected)
            #expect(end > moment && !settings.isQuiet(at: end, clock) && settings.isQuiet(at: end - 1, clock))
        }
    }

    @Test("a clock that stands still, and moments beyond all time, do no harm")
    func strangeClocks() throws {
        let night = try settings("00:01", "00:00")
        let still = WallClock { _ in 600 }
        for moment in [EpochMilliseconds.min, -1, 0, .max] { #expect(night.quietEnd(after: moment, still) != nil) }
        for moment in [EpochMilliseconds.min, -1, 0, .max] { _ = night.quietEnd(after: moment, .system) }
        for minute in [-1, 1_440, .min, .max] { _ = night.quietEnd(after: 0, WallClock { _ in minute }) }
    }

    // MARK: What is shown

    @Test("without preview the title alone is shown; without sound, or quietly, nothing is heard")
    func shown() throws {
        let content = AlertContent(
            title: "t", subtitle: "s", body: "b", badge: 1, sound: "default", userInfo: ["a": 1], deepLink: "x",
            attachments: ["/a"])
        var settings = AlertSettings()
        #expect(settings.shown(content) == content)
        try settings.apply(["showPreview": false])
        let bare = settings.shown(content)
        #expect(bare.title == "t" && bare.subtitle == nil && bare.body == "" && bare.attachments == [])
        #expect(bare.userInfo == content.userInfo && bare.badge == 1 && bare.sound == "default")
        try settings.apply(["soundEnabled": false])
        #expect(settings.shown(content).sound == nil)
        let quiet = AlertSettings().shown(content, quietly: true)
        #expect(quiet.sound == nil && quiet.level == .passive && quiet.body == "b")
        var passive = content
        passive.level = .passive
        #expect(AlertSettings().shown(passive).sound == nil)
    }
}
