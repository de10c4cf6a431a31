import Addresses
import Hosting
import SystemServices

/// Of a device's options, what is about its alerts.
struct AlertOptions: Sendable {
    /// Who shows alerts.
    enum Kind: String, CaseIterable, Sendable {
        /// The desktop environment.
        case system
        /// The program itself.
        case host
        case none
    }

    var kind: Kind
    /// The name of the program's .desktop file, without its ending; also its name on the session's bus.
    var applicationID: String?
    /// A name of the icon theme, or a path.
    var icon: String?
    var images: Images

    /// Fetching of images that pushes name.
    struct Images: Sendable {
        var isEnabled = true
        /// In milliseconds.
        var timeout: UInt64 = 5_000
        /// Addresses that are fetched from though they are private.
        var allowed: [String] = []
    }

    init(_ reader: inout OptionsReader) throws(HostError) {
        kind = try reader.choice("alerts", of: Kind.self) ?? .none
        applicationID = try reader.text("application_id", maximumBytes: 255)
        if let applicationID, ApplicationID(applicationID) == nil {
            throw reader.invalid(
                "application_id", "must be like org.example.App: two or more parts of letters, digits, _ and -")
        }
        icon = try reader.text("icon")
        images = Images()
        guard var object = try reader.object("images") else { return }
        images.isEnabled = try object.flag("enabled") ?? true
        images.timeout = UInt64(clamping: try object.integer("timeout_ms", in: 100...30_000) ?? 5_000)
        images.allowed = try object.texts("allow", maximum: 64) ?? []
        guard images.allowed.allSatisfy({ AddressRange($0) != nil }) else {
            throw object.invalid("allow", "must be addresses, or ranges such as 10.0.0.0/8")
        }
        try object.finish()
    }
}
