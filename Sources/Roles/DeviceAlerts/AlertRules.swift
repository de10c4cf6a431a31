import Alerts
import Calendar
import Signalling
import Transport
import Wire

/// The rules for whether and how an alert is shown: the options, the settings, the categories and the authorization.
@EventLoop
final class AlertRules {
    let configuration: AlertConfiguration
    var preferences: Preferences
    var authorization: AuthorizationPrompt

    init(_ configuration: AlertConfiguration, _ stored: StoredAlertState?) {
        self.configuration = configuration
        preferences = Preferences(configuration)
        authorization = AuthorizationPrompt(configuration, stored: stored?.authorization ?? .notDetermined)
        if let stored { preferences.load(stored) }
    }

    /// Takes over what the store has, once. Returns whether it did.
    func load(_ stored: StoredAlertState) -> Bool {
        guard !preferences.isLoaded else { return false }
        preferences.load(stored)
        authorization.load(stored.authorization)
        return true
    }

    /// By the rules of this moment.
    var judge: AlertJudge {
        let now = EpochMilliseconds.now
        return AlertJudge(
            settings: preferences.effective, authorization: authorization.current(now).status,
            lateAlerts: configuration.lateAlerts, fetchesImages: configuration.fetchesImages,
            programName: configuration.programName, now: now, expiry: ExpiryMoment.current.now)
    }

    var isQuiet: Bool { preferences.settings.isQuiet(at: .now, .system) }

    /// When quiet hours or the authorization end.
    var nextEnd: EpochMilliseconds? {
        [preferences.settings.quietEnd(after: .now, .system), authorization.nextEnd].compactMap { $0 }.min()
    }
}
