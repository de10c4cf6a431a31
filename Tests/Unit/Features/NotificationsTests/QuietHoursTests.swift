import Calendar
import Glibc
@testable import History
import JSON
@testable import Notifications
import Testing
import Wire

@Suite struct QuietHoursTests {
    private let desktop: DesktopFixture

    init() throws {
        desktop = try DesktopFixture()
        _ = try desktop.handle(.updateSettings, ["quietHoursEnabled": true])
    }

    private func send(_ params: JSONObject = [:], minute: Int) throws -> Handled {
        var all: JSONObject = ["title": "T"]
        all.merge(params)
        let id = NotificationID("\(UInt64.random(in: 0 ... .max))")
        return try desktop.handle(.send, all, id: id, minute: minute)
    }

    private func isSilenced(_ handled: Handled) -> Bool? {
        guard case .ready(.result(let result)) = handled.reply else { return nil }
        return result["silenced"]?.bool
    }

    @Test(
        "a range holds its start and not its end, across midnight too; start = end is never",
        arguments: [
            (1_320, 480, [1_320, 1_439, 0, 479], [1_319, 480, 720]), (60, 120, [60, 119], [59, 120, 0, 1_439]),
            (0, 1_439, [0, 1_438], [1_439]), (720, 720, [], [0, 719, 720, 721, 1_439]),
            (1_439, 0, [1_439], [0, 1_438]),
        ])
    func range(start: Int, end: Int, inside: [Int], outside: [Int]) {
        let hours = QuietHours(start: start, end: end)
        for minute in inside { #expect(hours.contains(minute: minute)) }
        for minute in outside { #expect(!hours.contains(minute: minute)) }
    }

    @Test("every range holds as many minutes as lie between its ends")
    func measure() {
        for start in stride(from: 0, to: 1_440, by: 97) {
            for end in stride(from: 0, to: 1_440, by: 89) {
                let count = (0..<1_440).count { QuietHours(start: start, end: end).contains(minute: $0) }
                #expect(count == (end - start + 1_440) % 1_440)
            }
        }
    }

    @Test("in quiet hours a push is kept and pushed as silenced, and not shown")
    func silenced() throws {
        let handled = try send(minute: 1_320)
        #expect(isSilenced(handled) == true)
        guard handled.effects.count == 1, case .push(let event, let peers) = handled.effects.first else {
            Issue.record("\(handled.effects)")
            return
        }
        #expect(event.richer.silenced == true)
        #expect(peers == ["did:key:a", "did:key:b"])
        #expect(try desktop.counts == (1, 1))
        let item = try desktop.result(.getHistory)["notifications"]?.array?.first
        #expect(item?["silenced"] == true)
        let shown = try send(minute: 480)
        #expect(isSilenced(shown) == false)
        #expect(shown.effects.count == 2)
    }

    @Test("urgent passes, and so does a sender who does not respect them")
    func passes() throws {
        for params in [["priority": "urgent"], ["urgency": "critical"], ["respectQuietHours": false]] as [JSONObject] {
            #expect(isSilenced(try send(params, minute: 0)) == false)
        }
        #expect(isSilenced(try send(["priority": "high", "respectQuietHours": true], minute: 0)) == true)
    }

    @Test("switched off, everything is silenced, urgent pushes too")
    func disabled() throws {
        _ = try desktop.handle(.updateSettings, ["enabled": false])
        for params in [[:], ["priority": "urgent"], ["respectQuietHours": false]] as [JSONObject] {
            let handled = try send(params, minute: 720)
            #expect(isSilenced(handled) == true)
            #expect(handled.effects.count == 1)
        }
        #expect(try desktop.counts == (3, 3))
    }

    @Test("sendToMobile and broadcast heed quiet hours as well, and say so")
    func others() throws {
        for method in [NotificationMethod.sendToMobile, .broadcast] {
            let handled = try desktop.handle(
                method, ["title": "T"], id: NotificationID(method.name), minute: 0)
            guard case .afterPush(let pending) = handled.reply,
                case .result(let result) = pending.complete(delivered: []),
                case .push(let event, _)? = handled.effects.first
            else {
                Issue.record("\(handled)")
                continue
            }
            #expect(result["silenced"] == true)
            #expect(event.richer.silenced == true)
        }
    }

    @Test("start = end is never, and a range that is switched off is none")
    func never() throws {
        _ = try desktop.handle(.updateSettings, ["quietHoursStart": "08:00"])
        for minute in [0, 479, 480, 481] { #expect(isSilenced(try send(minute: minute)) == false) }
        _ = try desktop.handle(.updateSettings, ["quietHoursStart": "22:00", "quietHoursEnabled": false])
        #expect(isSilenced(try send(minute: 0)) == false)
    }

    /// Rules of POSIX, which need no files: moments on both sides of each change of clocks, of midnight, and of 1970.
    static let zones: [(rule: String, moments: [(EpochMilliseconds, String)])] = [
        (
            "UTC0",
            [
                (-1, "23:59"), (0, "00:00"), (1_735_689_599_999, "23:59"), (1_735_689_600_000, "00:00"),
                (1_751_327_999_999, "23:59"), (1_751_328_000_000, "00:00"),
            ]
        ),
        (
            "CET-1CEST,M3.5.0,M10.5.0/3",
            [
                (-1, "00:59"), (0, "01:00"), (1_735_689_599_999, "00:59"), (1_735_689_600_000, "01:00"),
                (1_743_296_399_999, "01:59"), (1_743_296_400_000, "03:00"), (1_761_440_399_999, "02:59"),
                (1_761_440_400_000, "02:00"), (1_751_320_799_999, "23:59"), (1_751_320_800_000, "00:00"),
            ]
        ),
        (
            "EST5EDT,M3.2.0,M11.1.0",
            [
                (-1, "18:59"), (0, "19:00"), (1_735_689_599_999, "18:59"), (1_735_689_600_000, "19:00"),
                (1_741_503_599_999, "01:59"), (1_741_503_600_000, "03:00"), (1_762_063_199_999, "01:59"),
                (1_762_063_200_000, "01:00"), (1_751_342_399_999, "23:59"), (1_751_342_400_000, "00:00"),
            ]
        ),
        (
            "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
            [
                (-1, "10:59"), (0, "11:00"), (1_735_689_599_999, "10:59"), (1_735_689_600_000, "11:00"),
                (1_743_865_199_999, "01:59"), (1_743_865_200_000, "01:30"), (1_759_591_799_999, "01:59"),
                (1_759_591_800_000, "02:30"), (1_751_290_199_999, "23:59"), (1_751_290_200_000, "00:00"),
            ]
        ),
        (
            "<+0545>-5:45",
            [
                (-1, "05:44"), (0, "05:45"), (1_735_689_599_999, "05:44"), (1_735_689_600_000, "05:45"),
                (1_751_307_299_999, "23:59"), (1_751_307_300_000, "00:00"),
            ]
        ),
        (
            "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
            [
                (-1, "13:44"), (0, "13:45"), (1_735_689_599_999, "13:44"), (1_735_689_600_000, "13:45"),
                (1_743_861_599_999, "03:44"), (1_743_861_600_000, "02:45"), (1_758_981_599_999, "02:44"),
                (1_758_981_600_000, "03:45"), (1_751_282_099_999, "23:59"), (1_751_282_100_000, "00:00"),
            ]
        ),
        (
            "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
            [
                (-1, "20:59"), (0, "21:00"), (1_735_689_599_999, "20:59"), (1_735_689_600_000, "21:00"),
                (1_743_908_399_999, "23:59"), (1_743_908_400_000, "23:00"), (1_757_217_599_999, "23:59"),
                (1_757_217_600_000, "01:00"), (1_751_342_399_999, "23:59"), (1_751_342_400_000, "00:00"),
            ]
        ),
        (
            "<+14>-14",
            [
                (-1, "13:59"), (0, "14:00"), (1_735_689_599_999, "13:59"), (1_735_689_600_000, "14:00"),
                (1_751_277_599_999, "23:59"), (1_751_277_600_000, "00:00"),
            ]
        ),
        (
            "<-12>12",
            [
                (-1, "11:59"), (0, "12:00"), (1_735_689_599_999, "11:59"), (1_735_689_600_000, "12:00"),
                (1_751_371_199_999, "23:59"), (1_751_371_200_000, "00:00"),
            ]
        ),
    ]

    @Test("the wall clock of the system follows its time zone, across changes of the clocks and midnight")
    func wallClock() async {
        // A process of its own: the zone belongs to the whole process.
        await #expect(processExitsWith: .success) {
            for (rule, moments) in QuietHoursTests.zones {
                setenv("TZ", rule, 1)
                for (moment, text) in moments where WallClock.system.minuteOfDay(moment) != TimeOfDay.minute(of: text) {
                    print("\(rule) at \(moment): not \(text)")
                    exit(1)
                }
            }
        }
    }

    @Test("quiet hours follow the wall clock when it jumps")
    func daylightSaving() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            var settings = DesktopSettings()
            settings.quietHoursEnabled = true
            func quietMinutes(_ start: String, _ end: String, from first: EpochMilliseconds, hours: Int64) -> Int {
                settings.quietHoursStart = start
                settings.quietHoursEnd = end
                return (0..<hours * 60).count { settings.isQuiet(at: first + $0 * 60_000, .system) }
            }
            // 30 March 2025, 23 hours long, begins at 29 March 23:00 UTC: 02:00 to 03:00 is not there.
            let spring: EpochMilliseconds = 1_743_289_200_000
            // 26 October 2025, 25 hours long, begins at 25 October 22:00 UTC: 02:00 to 03:00 comes twice.
            let autumn: EpochMilliseconds = 1_761_429_600_000
            let expected = [
                (quietMinutes("02:15", "02:45", from: spring, hours: 23), 0),
                (quietMinutes("02:15", "02:45", from: autumn, hours: 25), 60),
                (quietMinutes("22:00", "08:00", from: spring, hours: 23), 9 * 60),
                (quietMinutes("22:00", "08:00", from: autumn, hours: 25), 11 * 60),
                (quietMinutes("01:30", "03:30", from: spring, hours: 23), 60),
                (quietMinutes("03:00", "03:00", from: autumn, hours: 25), 0),
            ]
            for (index, (minutes, wanted)) in expected.enumerated() where minutes != wanted {
                print("\(index): \(minutes) minutes, not \(wanted)")
                exit(1)
            }
        }
    }
}
