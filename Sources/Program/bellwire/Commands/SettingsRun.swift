import CBellwire
import JSON

/// One run of `bellwire settings`.
struct SettingsRun {
    private static let texts = ["quietHoursStart", "quietHoursEnd"]
    private static let desktopKeys =
        ["enabled", "quietHoursEnabled", "soundEnabled", "vibrationEnabled", "showPreview", "retentionRows"]
        + ["retentionDays"] + texts
    private static let deviceKeys =
        [AlertPermission.key, "enabled", "quietHoursEnabled", "soundEnabled", "showPreview", "burstLimit", "openLinks"]
        + texts

    private let arguments: Arguments
    private let json: Bool
    private let isDevice: Bool
    private let changes: JSONObject

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        json = arguments.has(.json)
        isDevice = arguments.has(Command.ofDevice)
        try arguments.exclude([Command.ofDevice, .desktop], of: "settings")
        try arguments.exclude([Command.ofDevice, Command.stored, DesktopChange.queueOnly], of: "settings")
        var changes = JSONObject()
        for word in arguments.operands { try SettingsRun.take(word, isDevice: isDevice, into: &changes) }
        self.changes = changes
        guard changes.isEmpty || !arguments.has(Command.stored) else {
            throw Failure(.usage, "--stored takes no KEY=VALUE (see bellwire settings --help)")
        }
        guard !changes.isEmpty || !arguments.has(DesktopChange.queueOnly) else {
            throw Failure(.usage, "--queue needs a KEY=VALUE (see bellwire settings --help)")
        }
    }

    // MARK: KEY=VALUE

    private static func take(_ word: String, isDevice: Bool, into changes: inout JSONObject) throws(Failure) {
        guard let (key, text) = word.assignment else {
            throw Failure(.usage, "\"\(word)\" is not KEY=VALUE (see bellwire settings --help)")
        }
        let known = isDevice ? deviceKeys : desktopKeys
        let path = key.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let isNested = isDevice && path.count == 2 && ["sources", "categories"].contains(path[0]) && !path[1].isEmpty
        guard known.contains(key) || isNested else {
            let nearest = Suggestion.nearest(to: key, in: known).map { ", did you mean \($0)?" } ?? ""
            throw Failure(.usage, "unknown setting \(key)\(nearest) (see bellwire settings --help)")
        }
        let value = try value(text, of: key)
        guard isNested else { return changes[key] = value }
        var group = changes[path[0]]?.object ?? [:]
        group[path[1]] = value
        changes[path[0]] = .object(group)
    }

    private static func value(_ text: String, of key: String) throws(Failure) -> JSONValue {
        if texts.contains(key) { return .string(text) }
        if key == AlertPermission.key { return .string(try AlertPermission(word: text).rawValue) }
        if key.hasPrefix("retention") || key == "burstLimit" {
            guard let number = Int64(text) else {
                throw Failure(.usage, "\(key): \"\(text)\" is not a whole number")
            }
            return .integer(number)
        }
        switch text.lowercased() {
        case "true", "on", "yes": return true
        case "false", "off", "no": return false
        default: throw Failure(.usage, "\(key): \"\(text)\" must be true or false")
        }
    }

    // MARK: What is done

    func run() throws(Failure) -> Exit {
        let session = try DeviceSession(arguments)
        if isDevice {
            show(try DeviceSettings.change(changes, session))
        } else if changes.isEmpty {
            let isStored = arguments.has(Command.stored)
            show(try DesktopSettings(session, arguments).load(stored: isStored))
        } else {
            let settings = try DesktopSettings(session, arguments)
            let answer = try settings.change(changes)
            try settings.checkStale(answer)
            guard let now = answer["settings"] else {
                DesktopChange.say(
                    answer, of: settings.desktop, json: json, done: "Changed on \(settings.desktop.name).")
                return .done
            }
            var all = now.object ?? [:]
            all["revision"] = answer["revision"]
            show(.object(all))
        }
        return .done
    }

    private func show(_ settings: JSONValue) {
        if json { return Output.json(settings) }
        for member in settings.object?.members ?? [] where member.key != "revision" {
            switch member.value {
            case .object(let group):
                for inner in group.members {
                    Output.line(Printable.line("\(member.key).\(inner.key)=\(text(of: inner.value))"))
                }
            case let value: Output.line(Printable.line("\(member.key)=\(text(of: value))"))
            }
        }
    }

    private func text(of value: JSONValue) -> String { value.string ?? value.serialized() }
}

/// This device's own.
enum DeviceSettings {
    /// Changes those that are named, if any are.
    ///
    /// - Returns: all of them.
    static func change(_ changes: JSONObject, _ session: DeviceSession) throws(Failure) -> JSONValue {
        var stored = changes
        stored[AlertPermission.key] = nil
        let settings: JSONValue
        if stored.isEmpty {
            settings = try result { bw_alerts_settings(session.pointer, $0) }
        } else {
            let text = JSONValue.object(stored).serialized()
            settings = try result { bw_alerts_set_settings(session.pointer, text, $0) }
        }
        if let permission = changes[AlertPermission.key]?.string.flatMap(AlertPermission.init(rawValue:)) {
            try permission.set(session.handle)
        }
        var all: JSONObject = [AlertPermission.key: .string(try AlertPermission.now(session.handle))]
        all.merge(settings.object ?? [:])
        return .object(all)
    }
}

/// A desktop's.
struct DesktopSettings {
    let desktop: PairedPeer
    private let session: DeviceSession
    private let arguments: Arguments

    init(_ session: DeviceSession, _ arguments: Arguments) throws(Failure) {
        self.session = session
        self.arguments = arguments
        desktop = try session.desktop(arguments)
    }

    /// - Parameter stored: as it told them last.
    func load(stored: Bool) throws(Failure) -> JSONValue {
        if stored { return try result { bw_inbox_settings(session.pointer, desktop.id, $0) }["settings"] ?? .null }
        let deadline = Clock.now &+ Int64(try arguments.milliseconds(DesktopChange.timeout))
        try session.connect(to: desktop, until: deadline)
        let answer = try session.answer(of: desktop, until: deadline) { left, completion, userData, destroy in
            bw_notification_get_settings_async(session.pointer, desktop.id, nil, left, completion, userData, destroy)
        }
        return answer
    }

    func change(_ changes: JSONObject) throws(Failure) -> JSONValue {
        let text = JSONValue.object(changes).serialized()
        return try DesktopChange(session, desktop, arguments).carryOut { left, completion, userData, destroy in
            bw_notification_update_settings_async(
                session.pointer, desktop.id, text, left, completion, userData, destroy)
        }
    }

    /// A change of settings that others have changed meanwhile was not made.
    func checkStale(_ answer: JSONValue) throws(Failure) {
        let stale = answer["stale"]?.array?.compactMap(\.string) ?? []
        guard stale.isEmpty else {
            throw Failure(
                .failed, "not changed, because someone else changed it first: \(stale.joined(separator: ", "))")
        }
    }
}
