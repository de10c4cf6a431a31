import Alerts
import Calendar
import Wire

extension Authorization {
    /// Whether an alert that nothing else speaks against is shown.
    var allowsAlerts: Bool {
        let decision = AlertSettings().decide(
            AlertSubject(), authorization: status, lateAlerts: .each, at: 0, WallClock { _ in 0 })
        if case .show = decision { return true }
        return false
    }
}

extension AlertTable.Which {
    /// An id at any of the tests' desktops.
    static func id(_ id: AlertID) -> Self {
        .keys(([nil, "d", "e"] as [PeerID?]).map { AlertKey(desktop: $0, id: id) })
    }
}

extension ReminderSchedule {
    var hasRegions: Bool { list.contains { $0.trigger.region != nil } }
}
