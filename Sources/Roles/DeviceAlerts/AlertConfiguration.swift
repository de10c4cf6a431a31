package import Alerts

/// The part of a device's options that concerns alerts.
package struct AlertConfiguration: Sendable {
    let options: AlertOptions
    let lateAlerts: LateAlerts
    /// The program's name for people: in its alerts, as the title of a push without one, and in the question whether
    /// alerts may be shown.
    let programName: String
    let language: AlertLanguage
    /// Where images are kept; `nil` = nowhere, so none are fetched.
    let imageDirectory: String?
    let caFile: String?

    /// - Parameter stateDirectory: `nil` = the device keeps nothing on the disk.
    package init(
        _ options: AlertOptions, lateAlerts: LateAlerts, programName: String, language: AlertLanguage = .english,
        stateDirectory: String?, caFile: String?
    ) {
        self.options = options
        self.lateAlerts = lateAlerts
        (self.programName, self.language) = (programName, language)
        imageDirectory = stateDirectory.map { "\($0)/images" }
        self.caFile = caFile
    }

    /// Whether anybody shows alerts.
    var isOn: Bool { options.kind != .none }

    var fetchesImages: Bool { options.images.isEnabled && imageDirectory != nil }
}
