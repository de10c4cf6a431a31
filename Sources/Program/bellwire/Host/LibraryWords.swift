/// The library's messages in the words of the command line.
///
/// The library speaks to programs: its messages name the options of `bw_device_open()` and its siblings, and functions.
/// A user of the command line has other names for them. Values and texts of peers stay as they are.
enum LibraryWords {
    /// Advice that the command line gives in other words.
    private static let phrases: [(library: String, user: String)] = [
        ("Set relay_url, or", "Pass --relay-url, or"),
        (
            "allow unencrypted pairing: legacy \"qr\" for QR codes, \"all\" for six digits",
            "allow unencrypted pairing: --legacy qr for QR codes, --legacy all for six digits"
        ),
        ("open it with \"relay\" or \"relay_url\"", "run bellwire desktop, or pass --relay-url"),
        ("open with \"keys\":\"file\"", "unlock the keyring"),
        ("with \"state_dir\":\":memory:\" the key", "with --state-dir :memory: the key"),
        ("; call bw_device_start() first", ""),
        ("; see bw_queue_list()", " (see bellwire queue)"),
        ("; see bw_inbox_load()", " (see bellwire inbox)"),
        ("; see bw_pairing_list()", " (see bellwire peers)"),
        ("; see bw_desktop_permissions()", ""),
        ("set a callback with bw_alerts_on_authorize()", allowAlerts),
        ("to let the user change this, offer a switch in your settings that calls bw_alerts_authorize()", allowAlerts),
        ("needs \"nats\"", "needs --nats"),
        // A desktop's own relay has one option.
        ("option \"relay\": relay options: \"listen\"", "--relay"),
        ("option \"relay\": relay options: ", "relay options: "),
    ]

    private static let allowAlerts = "to allow alerts, run: bellwire settings --device alerts=allowed"

    /// Options whose names on the command line are not those of the library with dashes.
    private static let others = [
        "tls.ca_file": "ca-file", "late_alerts": "late", "burst_limit": "burst", "origins": "origin",
        "trusted_proxies": "trusted-proxy", "tls": "tls-certificate", "tls.certificate_file": "tls-certificate",
        "tls.key_file": "tls-key",
    ]

    /// The words before an option's name in the library's messages.
    private static let introductions = ["option ", "relay options: "]

    static func text(_ message: String) -> String {
        var message = message
        for (library, user) in phrases { message.replace(library, with: user) }
        // Every second part was in quotes.
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        guard parts.count % 2 == 1 else { return message }
        var text = parts[0]
        for index in stride(from: 1, to: parts.count, by: 2) {
            let introduction = introductions.first { text.hasSuffix($0) }
            if let option = option(parts[index], isNamed: introduction != nil) {
                text.removeLast(introduction?.count ?? 0)
                text += option
                // `option "relay_url" : the URL …`
                text += parts[index + 1].hasPrefix(" :") ? parts[index + 1].dropFirst() : parts[index + 1][...]
            } else {
                text += "\"\(parts[index])\"\(parts[index + 1])"
            }
        }
        return text
    }

    /// - Parameter isNamed: whether the message says that it is an option. If not, only a name with an underscore can be one.
    private static func option(_ key: String, isNamed: Bool) -> String? {
        guard isNamed || key.contains("_") else { return nil }
        let name = name(of: key)
        let isKnown = Bellwire.commands.contains { $0.option(named: name) != nil }
        return isKnown ? "--\(name)" : nil
    }

    /// The name on the command line of one of the library's options.
    static func name(of key: String) -> String { others[key] ?? String(key.map { $0 == "_" ? "-" : $0 }) }
}
