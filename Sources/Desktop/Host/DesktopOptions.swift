import History
import Hosting
import JSON
import Notifications
import Pairing
import Relay
import Wire

/// What a host sets when it opens a desktop; `bellwire.h`, `bw_desktop_open`, has the list.
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

    init(parsing text: String?) throws(HostError) {
        var reader = try OptionsReader(parsing: text)
        common = try CommonOptions(&reader, role: "desktop")
        if let object = try reader.rawObject("relay") {
            do throws(RelayError) { relay = try RelayOptions(json: object) } catch {
                throw HostError(.invalid, "option \"relay\": \(error.message)", detail: ["field": "relay"])
            }
            // Beside the desktop's own, unless the host says where, or that nothing is kept.
            if object["state_dir"] == nil { relay?.stateDirectory = common.stateDirectory.map { "\($0)/relay" } }
        }
        signalingURL = try reader.relayURL("signaling_url")
        confirms = try reader.flag("confirm") ?? false
        commandsPerSecond = UInt32(clamping: try reader.integer("max_commands_per_second", in: 1...100_000) ?? 200)
        // The wire knows three platforms of desktops; a name that is none of them makes phones refuse the code.
        guard ["linux", "darwin", "win32"].contains(common.platform) else {
            throw reader.invalid("platform", "must be \"linux\", \"darwin\" or \"win32\" for a desktop")
        }
        try reader.finish()
    }
}

extension DesktopOptions {
    /// A device that was quiet may give ten times as many at once: more than it may have under way.
    var rateLimiter: RateLimiter { RateLimiter(perSecond: commandsPerSecond, burst: commandsPerSecond * 10) }

    var legacyPairing: LegacyPairing { LegacyPairing(rawValue: common.legacy.rawValue) ?? .none }
}
