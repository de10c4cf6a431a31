import Alerts
import Wire

extension AlertKey {
    /// Identifies the alert to a notification server. Ids of desktops have no space.
    var bannerID: String { "\(desktop?.text ?? "") \(id.text)" }

    init?(banner text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let id = parts.last, let desktop = parts.first, !id.isEmpty else { return nil }
        self.init(desktop: desktop.isEmpty ? nil : PeerID(String(desktop)), id: AlertID(String(id)))
    }
}
