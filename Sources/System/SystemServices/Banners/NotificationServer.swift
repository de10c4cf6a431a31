/// The properties of an `org.freedesktop.Notifications` server, read once after each of its starts.
struct NotificationServer: Sendable, Equatable {
    static let name = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"

    /// The version of the Desktop Notifications Specification.
    struct Version: Sendable, Comparable {
        let major: UInt16
        let minor: UInt16

        init(_ major: UInt16, _ minor: UInt16) { (self.major, self.minor) = (major, minor) }

        /// "1.2"; what is no version counts as 1.2, of 2010, which all servers of today have.
        init(_ text: String) {
            let parts = text.split(separator: ".").map { UInt16($0) }
            if let major = parts.first ?? nil, major > 0 || parts.count > 1, let minor = parts.dropFirst().first ?? 0 {
                self.init(major, minor)
            } else {
                self.init(1, 2)
            }
        }

        static func < (left: Version, right: Version) -> Bool { (left.major, left.minor) < (right.major, right.minor) }
    }

    /// For people.
    let name: String
    let version: Version
    let capabilities: [String]
    /// This life of it: the bus, and its name on that.
    let life: String

    init(name: String, version: Version = Version(1, 2), capabilities: [String], life: String = "") {
        self.name = name
        self.version = version
        self.capabilities = capabilities
        self.life = life
    }

    /// Out of the answers to `GetServerInformation` and `GetCapabilities`. What of them cannot be read is taken as the
    /// least: a server that can show a text.
    init(information: [BusValue], capabilities: [BusValue], life: String) {
        var fields = BusFields(information)
        let name = BannerText.line((try? fields.text()) ?? "", limit: 64)
        _ = try? fields.text()
        _ = try? fields.text()
        let version = Version((try? fields.text()) ?? "")
        fields = BusFields(capabilities)
        var offered: [String] = []
        for value in ((try? fields.array()) ?? []).prefix(64) {
            if case .text(let text) = value, text.utf8.count <= 128 { offered.append(text) }
        }
        self.init(
            name: name.isEmpty ? Self.name : name, version: version, capabilities: offered, life: life)
    }

    func offers(_ capability: String) -> Bool { capabilities.contains(capability) }
}
