package import Hosting
package import JSON

/// The options that a program gave and that belong to the role, not to the program's handle: guests take over the holder's.
package struct HostedOptions: Sendable, Equatable {
    /// What becomes of a program that wants to join a holder.
    package enum Admission: Sendable, Equatable {
        case welcome
        /// It becomes the holder, and the holder its guest.
        case handOver
        case refused(HostError)
    }

    /// Each handle has its own.
    private static let ofHandle = ["state_dir", "shared", "threaded", "yields", "application_id", "program"]
    /// Who shows alerts, and how.
    private static let ofAlerts = [
        "alerts", "late_alerts", "images", "icon", "application_name", "burst_limit", "opens_links",
    ]
    /// What the options are that a holder did not give.
    private static let defaults: JSONObject = [
        "platform": "linux", "keys": "file", "legacy": "qr", "follow_system": true, "late_alerts": "none",
        "alerts": "none", "burst_limit": 0, "opens_links": false, "confirm": false, "max_commands_per_second": 200,
    ]

    package let given: JSONObject

    package init(_ options: JSONObject) {
        var given = options
        for name in Self.ofHandle { given[name] = nil }
        for member in given.members where member.value.isNull { given[member.key] = nil }
        self.given = given
    }

    package var showsAlerts: Bool { given["alerts"].map { $0 != "none" } ?? false }

    /// What becomes of a program with these options: one that shows alerts takes over from a holder that shows none.
    /// Otherwise its options must be the holder's, or be left out.
    ///
    /// - Parameters:
    ///   - guestYields: it takes the holder's options as they are.
    ///   - yields: the holder gives way to a program with other options.
    ///   - name: the holder's, which has a default that only the role knows.
    package func admission(
        of guest: HostedOptions, guestYields: Bool, yields: Bool, name: String
    ) -> Admission {
        let takesOver = guest.showsAlerts && !showsAlerts
        let different = guest.given.members.first { member in
            if takesOver, Self.ofAlerts.contains(member.key) { return false }
            let standard = member.key == "name" ? .string(name) : Self.defaults[member.key]
            return given[member.key] ?? standard != member.value
        }
        guard let different, !guestYields else { return takesOver ? .handOver : .welcome }
        if yields { return .handOver }
        return .refused(
            HostError(
                .invalid,
                "option \"\(different.key)\" differs from that of the program that holds the state directory; omit it, or "
                    + "use the same",
                detail: ["field": .string(different.key), "reason": "shared_option"]))
    }

    /// The options of a program that becomes the holder: as the role was opened before, but for what it gave itself.
    ///
    /// Alerts that the program before showed itself are no matter of this one.
    package static func taken(over holder: JSONObject, by own: JSONObject) -> JSONObject {
        var options = holder
        if holder["alerts"] == "host" || own["alerts"] != nil { for name in ofAlerts { options[name] = nil } }
        for member in own.members { options[member.key] = member.value }
        return options
    }
}
