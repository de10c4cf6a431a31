import Alerts
import DeviceAlerts
import Hosting
import Wire

/// What a host sets when it opens a device; `bellwire.h`, `bw_device_open`, has the list.
struct DeviceOptions: Sendable {
    var common: CommonOptions
    var lateAlerts: LateAlerts
    var alerts: AlertOptions
    /// Other programs may have the same state directory open.
    var isShared: Bool
    /// Whether a program with other options may have the device for the asking.
    var yields: Bool

    init(parsing text: String?) throws(HostError) {
        var reader = try OptionsReader(parsing: text)
        common = try CommonOptions(&reader, role: "device")
        guard PairAck.isPlain(common.platform) else {
            throw reader.invalid("platform", "must have at most 256 letters, digits and _ : . # @ -")
        }
        lateAlerts = try reader.choice("late_alerts", of: LateAlerts.self) ?? .none
        alerts = try AlertOptions(&reader)
        isShared = try reader.flag("shared") ?? true
        yields = try reader.flag("yields") ?? false
        guard isShared || !yields else {
            throw reader.invalid("yields", "has no meaning with \"shared\":false; omit it")
        }
        try reader.finish()
    }
}
