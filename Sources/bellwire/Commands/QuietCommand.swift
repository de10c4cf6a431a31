import JSON

extension Command {
    static let quiet = Command(
        name: "quiet",
        summary: "Shows and changes quiet hours, of a desktop or of this device.",
        about: [
            """
            Without HOURS it says when the desktop is quiet. With HOURS, such as 22:00-08:00, it is quiet each day from \
            the first time to the second, local to the desktop; off and on switch that without changing the times. In \
            quiet hours notifications are kept without being shown, unless they are urgent.
            """,
            """
            A change for a desktop that is away within --timeout waits in the queue (see bellwire queue). With --device \
            they are this device's own quiet hours, in its own time, which no desktop sees.
            """,
        ],
        operands: [Operand(name: "HOURS", help: "HH:mm-HH:mm, off or on.", choices: ["off", "on"])],
        ownOptions: [ofDevice] + DesktopChange.options + DeviceSession.options,
        examples: [
            Example(line: "bellwire quiet 22:00-08:00", says: "Quiet at night."),
            Example(line: "bellwire quiet off --device", says: "No quiet hours here."),
        ],
        run: { arguments throws(Failure) in try runQuiet(arguments) })

    private static func runQuiet(_ arguments: Arguments) throws(Failure) -> Exit {
        try arguments.exclude([ofDevice, .desktop], of: "quiet")
        try arguments.exclude([ofDevice, DesktopChange.queueOnly], of: "quiet")
        let changes = try arguments.operands.first.map { text throws(Failure) in try hours(text) } ?? [:]
        guard !changes.isEmpty || !arguments.has(DesktopChange.queueOnly) else {
            throw Failure(.usage, "--queue belongs to a change (see bellwire quiet --help)")
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
            DesktopChange.say(answer, of: settings.desktop, json: json, done: "Changed at \(settings.desktop.name).")
        }
        return .done
    }

    private static func hours(_ text: String) throws(Failure) -> JSONObject {
        if text == "off" || text == "on" { return ["quietHoursEnabled": .bool(text == "on")] }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy(isTimeOfDay) else {
            throw Failure(.usage, "\"\(text)\" is neither HH:mm-HH:mm nor off nor on (see bellwire quiet --help)")
        }
        guard parts[0] != parts[1] else {
            throw Failure(.usage, "\(text): it ends when it begins; bellwire quiet off switches quiet hours off")
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
