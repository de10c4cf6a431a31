import Calendar
import Foundation
import Testing

@Suite struct CalendarOracleTests {
    /// Half-hour steps, changes at midnight, a day that never was, months without summer time, offsets in seconds, zones
    /// that changed sides, and ordinary ones.
    static let zones = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "America/Santiago",
        "Asia/Kathmandu", "Pacific/Apia", "UTC", "Africa/Casablanca", "Africa/Cairo", "Africa/Monrovia", "Asia/Amman",
        "Asia/Gaza", "Asia/Pyongyang", "Asia/Tehran", "America/Caracas", "America/Havana", "America/St_Johns",
        "Antarctica/Casey", "Antarctica/Troll", "Atlantic/Azores", "Europe/Dublin", "Europe/Istanbul", "Europe/Lisbon",
        "Europe/Moscow", "Europe/Volgograd", "Pacific/Chatham", "Pacific/Kiritimati", "Pacific/Kwajalein",
        "Pacific/Tongatapu",
    ]

    @Test("in every zone a match is when Python's zoneinfo says, around each change of the clocks")
    func zoneinfo() async {
        // A process of its own: the zone belongs to the whole process.
        await #expect(processExitsWith: .success) {
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracle/matches.py")
            let oracle = Process()
            let pipe = Pipe()
            oracle.executableURL = URL(filePath: "/usr/bin/env")
            // All zones there are: CALENDAR_ORACLE=all.
            let zones = ProcessInfo.processInfo.environment["CALENDAR_ORACLE"] == "all" ? [] : CalendarOracleTests.zones
            oracle.arguments = ["python3", script.path(percentEncoded: false), "100"] + zones
            oracle.standardOutput = pipe
            try oracle.run()
            let lines = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                .split(separator: "\n")
            oracle.waitUntilExit()
            guard oracle.terminationStatus == 0, lines.count >= 100 * zones.count, !lines.isEmpty else {
                print("the oracle failed after \(lines.count) lines")
                exit(1)
            }
            var wrong = 0
            for line in lines {
                let words = line.split(separator: " ")
                guard words.count == 10, let after = Int64(words[8]), let expected = Int64(words[9]) else {
                    print("not a case: \(line)")
                    exit(1)
                }
                setenv("TZ", String(words[0]), 1)
                var components = CalendarMatch.Components()
                for (component, word) in zip(CalendarMatch.Component.allCases, words[1...7]) {
                    components[component] = Int(word)
                }
                let next = try CalendarMatch(components).next(after: after * 1_000)
                guard next == expected * 1_000 else {
                    print("\(line): not \(next.map { String($0 / 1_000) } ?? "never")")
                    wrong += 1
                    continue
                }
            }
            print("\(lines.count) cases, \(wrong) wrong")
            exit(wrong == 0 ? 0 : 1)
        }
    }
}
