/// Avahi's names and numbers, as its D-Bus interface has them.
enum Avahi {
    static let name = "org.freedesktop.Avahi"
    static let server = "org.freedesktop.Avahi.Server"
    static let browser = "org.freedesktop.Avahi.ServiceBrowser"
    static let group = "org.freedesktop.Avahi.EntryGroup"

    /// The name under which relays are announced (Wire, "Relays on the local network").
    static let serviceType = "_chainlesschain-signaling._tcp"

    /// Every interface, every protocol.
    static let any: Int32 = -1
    static let ipv4: Int32 = 0
    static let ipv6: Int32 = 1

    /// The service is of this machine.
    static let isLocal: UInt32 = 8

    enum ServerState {
        static let registering: Int32 = 1
        static let running: Int32 = 2
        static let collision: Int32 = 3
    }

    enum GroupState {
        static let established: Int32 = 2
        static let collision: Int32 = 3
        static let failure: Int32 = 4
    }

    /// The longest name that a service can have, in bytes (RFC 6763).
    static let maximumName = 63

    /// A name within the limit, cut between characters.
    static func cut(_ name: String) -> String {
        var cut = name
        while cut.utf8.count > maximumName { cut.removeLast() }
        return cut
    }

    /// Without what a terminal or a label could be misled by: control characters and those that turn the direction.
    static func shown(_ name: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in cut(name).unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x7f..<0xa0, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: continue
            default: shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// How notes begin where there is no Avahi.
    static func absence(_ error: BusError) -> String { "no Avahi: \(error.message)" }
}
