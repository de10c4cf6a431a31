import Alerts
import DeviceAlerts
import Hosting
import Sharing
import Wire

/// What a host sets when it opens a device; `bellwire.h`, `bw_device_open`, has the list.
struct DeviceOptions: Sendable {
    var common: CommonOptions
    var lateAlerts: LateAlerts
    var alerts: AlertOptions
    var sharing: SharingOptions

    init(parsing text: String?) throws(HostError) {
        var reader = try OptionsReader(parsing: text)
        common = try CommonOptions(&reader, role: "device")
        guard PairAck.isPlain(common.platform) else {
            throw reader.invalid("platform", "must have at most 256 letters, digits and _ : . # @ -")
        }
        lateAlerts = try reader.choice("late_alerts", of: LateAlerts.self) ?? .none
        alerts = try AlertOptions(&reader)
        sharing = try SharingOptions(&reader)
        try reader.finish()
    }

    /// The program's name for people.
    var programName: String {
        if let name = alerts.applicationName ?? common.givenName { return name }
        let (name, separator): (String, Character) =
            alerts.applicationID.map { ($0, ".") } ?? (FeedTaker.ofProgram(sharing.program).application, ":")
        return name.split(separator: separator).last.map(String.init) ?? name
    }
}
