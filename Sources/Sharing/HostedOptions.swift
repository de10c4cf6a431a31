import Glibc
package import Hosting
package import JSON

/// The options that a program gave and that belong to the role, not to the program's handle: guests take over the holder's.
package struct HostedOptions: Sendable, Equatable {
    /// Each handle has its own.
    private static let ofHandle = ["state_dir", "shared", "threaded", "yields", "application_id"]
    /// What the options are that a holder did not give.
    private static let defaults: JSONObject = [
        "platform": "linux", "keys": "file", "legacy": "qr", "follow_system": true, "late_alerts": "none",
        "alerts": "none",
    ]

    package let given: JSONObject

    package init(_ options: JSONObject) {
        var given = options
        for name in Self.ofHandle { given[name] = nil }
        for member in given.members where member.value.isNull { given[member.key] = nil }
        self.given = given
    }

    /// A guest's options must be the holder's, or be left out.
    ///
    /// - Parameter name: the holder's, which has a default that only the role knows.
    package func admit(_ guest: JSONObject, name: String) throws(HostError) {
        for member in guest.members {
            let standard = member.key == "name" ? .string(name) : HostedOptions.defaults[member.key]
            guard let own = given[member.key] ?? standard, own == member.value else {
                throw HostError(
                    .invalid,
                    "option \"\(member.key)\" differs from that of the program that has the state directory; omit it, or "
                        + "use the same",
                    detail: ["field": .string(member.key), "reason": "shared_option"])
            }
        }
    }

    /// The options of a guest that becomes the holder: as the role was opened before, and by its own handle's options.
    package static func taken(over holder: JSONObject, by own: JSONObject) -> JSONObject {
        var options = own
        for member in holder.members { options[member.key] = member.value }
        return options
    }

    /// The file name of the running program.
    package static func executableName() -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { return "program" }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let name = path.split(separator: "/").last.map(String.init) ?? "program"
        return String(name.prefix(128))
    }
}
