/// Which late pushes, such as those after an absence, may show an alert (`bellwire.h`, "late_alerts").
package enum LateAlerts: String, Sendable, CaseIterable {
    case none
    /// One alert says how many; an urgent one is shown by itself.
    case summary
    case each
}
