import Alerts
import Calendar
import JSON
import Testing

@Suite struct AlertDecisionTests {
    private static let noon = WallClock { _ in 12 * 60 }
    private static let midnight = WallClock { _ in 0 }

    private func settings(_ change: JSONObject) throws -> AlertSettings {
        var settings = AlertSettings()
        try settings.apply(["quietHoursEnabled": true])
        if !change.isEmpty { try settings.apply(change) }
        return settings
    }

    @Test("each thing that speaks against an alert has its reason")
    func reasons() throws {
        let settings = try settings(["sources": ["pc": false], "categories": ["AD": false]])
        func decide(
            _ subject: AlertSubject, _ authorization: Authorization.Status = .authorized,
            _ late: LateAlerts = .none, _ clock: WallClock = Self.noon
        ) -> AlertDecision {
            settings.decide(subject, authorization: authorization, lateAlerts: late, at: 0, clock)
        }
        #expect(decide(AlertSubject()) == .show(quietly: false))
        #expect(decide(AlertSubject(), .ephemeral) == .show(quietly: false))
        #expect(decide(AlertSubject(), .provisional) == .show(quietly: true))
        #expect(decide(AlertSubject(), .denied) == .hide(.denied))
        #expect(decide(AlertSubject(), .notDetermined) == .hide(.notDetermined))
        #expect(decide(AlertSubject(isSilenced: true)) == .hide(.silenced))
        #expect(decide(AlertSubject(source: "pc")) == .hide(.sourceDisabled))
        #expect(decide(AlertSubject(source: "mobile")) == .show(quietly: false))
        #expect(decide(AlertSubject(category: "AD")) == .hide(.categoryDisabled))
        #expect(decide(AlertSubject(isLate: true)) == .hide(.late))
        #expect(decide(AlertSubject(isLate: true), .authorized, .summary) == .hold(.late))
        let urgent = AlertSubject(isLate: true, level: .timeSensitive)
        #expect(decide(urgent, .authorized, .summary) == .show(quietly: false), "no summary asks for attention")
        #expect(decide(urgent, .authorized, .none) == .hide(.late))
        #expect(decide(AlertSubject(isLate: true), .authorized, .each) == .show(quietly: false))
        // The option is about pushes: a reminder that is late is shown.
        #expect(decide(AlertSubject(isLate: true, isReminder: true)) == .show(quietly: false))
        #expect(decide(AlertSubject(), .authorized, .none, Self.midnight) == .hold(.quietHours))
        #expect(decide(AlertSubject(isReminder: true), .authorized, .none, Self.midnight) == .hold(.quietHours))
        #expect(decide(AlertSubject(level: .timeSensitive), .authorized, .none, Self.midnight) == .show(quietly: false))
        #expect(AlertDecision.hold(.quietHours).reason == "quiet_hours")
        #expect(AlertDecision.hide(.sourceDisabled).reason == "source_disabled")
        #expect(AlertDecision.show(quietly: true).reason == nil)
    }

    @Test("the first reason in the order decides, in all combinations; urgent passes quiet hours and nothing else")
    func order() throws {
        for mask in 0..<256 {
            func has(_ bit: Int) -> Bool { mask & (1 << bit) != 0 }
            let settings = try settings([
                "enabled": .bool(!has(1)), "sources": ["pc": .bool(!has(2))], "categories": ["AD": .bool(!has(3))],
            ])
            let authorization: Authorization.Status = has(4) ? .denied : .authorized
            for late in LateAlerts.allCases {
                let subject = AlertSubject(
                    isSilenced: has(0), isLate: has(5), level: has(7) ? .timeSensitive : .active, source: "pc",
                    category: "AD")
                let reasons: [(Bool, AlertDecision)] = [
                    (has(0), .hide(.silenced)), (has(1), .hide(.disabled)), (has(2), .hide(.sourceDisabled)),
                    (has(3), .hide(.categoryDisabled)), (has(4), .hide(.denied)),
                    (has(5) && late == .none, .hide(.late)), (has(5) && late == .summary && !has(7), .hold(.late)),
                    (has(6) && !has(7), .hold(.quietHours)),
                ]
                let expected = reasons.first { $0.0 }?.1 ?? .show(quietly: false)
                let decision = settings.decide(
                    subject, authorization: authorization, lateAlerts: late, at: 0,
                    has(6) ? Self.midnight : Self.noon)
                #expect(decision == expected, "\(mask) \(late)")
            }
        }
    }
}
