import History
import Hosting
import JSON
import Notifications
import Pairing
import Relay
import Sharing
import SystemServices
import Wire

/// The options of a desktop; `bellwire.h`, `bw_desktop_open`, has the list.
struct DesktopOptions: Sendable {
    var common: CommonOptions
    /// The relay that it carries itself.
    var relay: RelayOptions?
    /// What its codes name instead of that relay's own address.
    var signalingURL: String?
    /// Whether a person accepts each device.
    var confirms: Bool
    /// Commands a second of one device, on the long run.
    var commandsPerSecond: UInt32
    var sharing: SharingOptions
    /// The program's name among those that share the desktop.
    var applicationID: String?

    init(parsing text: String?) throws(HostError) {
        var reader = try OptionsReader(parsing: text)
        common = try CommonOptions(&reader, role: "desktop")
        if let object = try reader.rawObject("relay") {
            do throws(RelayError) { relay = try RelayOptions(json: object) } catch {
                throw HostError(.invalid, "option \"relay\": \(error.message)", detail: ["field": "relay"])
            }
            // Inside the desktop's own directory, unless the options name another, or the desktop stores nothing.
            if object["state_dir"] == nil { relay?.stateDirectory = common.stateDirectory.map { "\($0)/relay" } }
        }
        signalingURL = try reader.relayURL("signaling_url")
        confirms = try reader.flag("confirm") ?? false
        commandsPerSecond = UInt32(clamping: try reader.integer("max_commands_per_second", in: 1...100_000) ?? 200)
        sharing = try SharingOptions(&reader)
        applicationID = try reader.text("application_id", maximumBytes: 255)
        if let applicationID, ApplicationID(applicationID) == nil {
            throw reader.invalid(
                "application_id", "must be like org.example.App: at least two parts of letters, digits, _ and -")
        }
        // The wire protocol defines three desktop platforms; phones refuse codes with any other.
        guard ["linux", "darwin", "win32"].contains(common.platform) else {
            throw reader.invalid("platform", "must be \"linux\", \"darwin\" or \"win32\" for a desktop")
        }
        try reader.finish()
    }
}

extension DesktopOptions {
    /// An idle device may send ten times as many at once, which is more than it may have in progress.
    var rateLimiter: RateLimiter { RateLimiter(perSecond: commandsPerSecond, burst: commandsPerSecond * 10) }

    var legacyPairing: LegacyPairing { LegacyPairing(rawValue: common.legacy.rawValue) ?? .none }
}
