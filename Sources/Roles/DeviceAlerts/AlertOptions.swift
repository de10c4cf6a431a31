import Addresses
package import Hosting
import SystemServices

/// The options of a device that are about its alerts.
package struct AlertOptions: Sendable {
    /// Who shows alerts.
    package enum Kind: String, CaseIterable, Sendable {
        /// The desktop environment.
        case system
        /// The program itself.
        case host
        case none
    }

    package let kind: Kind
    /// The name of the program's .desktop file, without its extension; also its name on the session bus.
    package let applicationID: String?
    /// The program's name for people; `nil` = the role knows one.
    package let applicationName: String?
    /// A name of the icon theme, or a path.
    let icon: String?
    /// The setting `burstLimit` until the user changes it.
    let burstLimit: Int64
    /// A click on an alert opens its link, if the user's settings allow it, and does nothing else.
    let opensLinks: Bool
    let images: Images

    /// Fetching the images that pushes name.
    struct Images: Sendable {
        var isEnabled = true
        /// In milliseconds.
        var timeout: UInt64 = 5_000
        /// Private addresses that may be fetched from.
        var allowed: [String] = []
    }

    package init(_ reader: inout OptionsReader) throws(HostError) {
        kind = try reader.choice("alerts", of: Kind.self) ?? .none
        applicationID = try reader.text("application_id", maximumBytes: 255)
        if let applicationID, ApplicationID(applicationID) == nil {
            throw reader.invalid(
                "application_id", "must be like org.example.App: at least two parts of letters, digits, _ and -")
        }
        applicationName = try reader.text("application_name", maximumBytes: 256)
        guard applicationName?.isEmpty != true else { throw reader.invalid("application_name", "is empty; omit it") }
        icon = try reader.text("icon")
        burstLimit = try reader.integer("burst_limit", in: 0...100) ?? 0
        opensLinks = try reader.flag("opens_links") ?? false
        var images = Images()
        guard var object = try reader.object("images") else {
            self.images = images
            return
        }
        images.isEnabled = try object.flag("enabled") ?? true
        images.timeout = UInt64(clamping: try object.integer("timeout_ms", in: 100...30_000) ?? 5_000)
        images.allowed = try object.texts("allow", maximum: 64) ?? []
        guard images.allowed.allSatisfy({ AddressRange($0) != nil }) else {
            throw object.invalid("allow", "must contain addresses or ranges such as 10.0.0.0/8")
        }
        try object.finish()
        self.images = images
    }
}
