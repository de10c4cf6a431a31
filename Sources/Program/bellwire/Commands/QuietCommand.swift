import JSON

extension Command {
    static let quiet = Command(
        name: "quiet",
        summary: "Shows and sets quiet hours of a desktop or of this device.",
        about: [
            """
            Without HOURS it shows the desktop's quiet hours. HOURS such as 22:00-08:00 sets them, for every day, in \
            the desktop's time zone; off and on switch them without changing the times. During quiet hours the desktop \
            stores notifications without showing them, unless they are urgent.
            """,
            """
            If the desktop is not reachable within --timeout, the change waits in the queue (see bellwire queue). With \
            --device it shows or sets this device's own quiet hours, in the device's time zone, which no desktop sees.
            """,
        ],
        operands: [Operand(name: "HOURS", help: "HH:mm-HH:mm, off or on.", choices: ["off", "on"])],
        ownOptions: [ofDevice] + DesktopChange.options + DeviceSession.options,
        examples: [
            Example(line: "bellwire quiet 22:00-08:00", says: "Sets quiet hours at night."),
            Example(line: "bellwire quiet off --device", says: "Switches off this device's quiet hours."),
        ],
        run: { arguments throws(Failure) in try runQuiet(arguments) })

    private static func runQuiet(_ arguments: Arguments) throws(Failure) -> Exit {
        try arguments.exclude([ofDevice, .desktop], of: "quiet")
        try arguments.exclude([ofDevice, DesktopChange.queueOnly], of: "quiet")
        let changes = try arguments.operands.first.map { text throws(Failure) in try hours(text) } ?? [:]
        guard !changes.isEmpty || !arguments.has(DesktopChange.queueOnly) else {
            throw Failure(.usage, "--queue needs HOURS (see bellwire quiet --help)")
        }
        let json = arguments.has(.json)
        let session = try DeviceSession(arguments)
        if arguments.has(ofDevice) {
            showQuiet(try DeviceSettings.change(changes, session), of: "this device", json: json)
            return .done
        }
        let settings = try DesktopSettings(session, arguments)
        guard !changes.isEmpty else {
            showQuiet(try settings.load(stored: false), of: settings.desktop.name, json: json)
            return .done
        }
        let answer = try settings.change(changes)
        try settings.checkStale(answer)
        if let now = answer["settings"] {
            showQuiet(now, of: settings.desktop.name, json: json)
        } else {
            DesktopChange.say(answer, of: settings.desktop, json: json, done: "Changed on \(settings.desktop.name).")
        }
        return .done
    }

    private static func hours(_ text: String) throws(Failure) -> JSONObject {
        if text == "off" || text == "on" { return ["quietHoursEnabled": .bool(text == "on")] }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy(isTimeOfDay) else {
            throw Failure(.usage, "\"\(text)\" must be HH:mm-HH:mm, off or on (see bellwire quiet --help)")
        }
        guard parts[0] != parts[1] else {
            throw Failure(.usage, "\(text): start and end are equal; use bellwire quiet off to switch quiet hours off")
        }
        return [
            "quietHoursEnabled": true, "quietHoursStart": .string(parts[0]), "quietHoursEnd": .string(parts[1]),
        ]
    }

    private static func isTimeOfDay(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return false }
        return Int(parts[0]).map { $0 < 24 } == true && Int(parts[1]).map { $0 < 60 } == true
    }

    private static func showQuiet(_ settings: JSONValue, of whose: String, json: Bool) {
        let keys = ["quietHoursEnabled", "quietHoursStart", "quietHoursEnd"]
        if json {
            var found = JSONObject()
            for key in keys { found[key] = settings[key] }
            return Output.json(.object(found))
        }
        let times = keys.dropFirst().compactMap { settings[$0]?.string }.map { Printable.line($0) }
        let range = times.count == 2 ? times.joined(separator: "-") : "no times are set"
        let isOn = settings["quietHoursEnabled"]?.bool == true
        Output.line(
            isOn ? "Quiet hours of \(whose): \(range)." : "Quiet hours of \(whose) are off (\(range)).")
    }
}
