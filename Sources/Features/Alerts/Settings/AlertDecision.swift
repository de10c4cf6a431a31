package import Calendar
package import Wire

/// The properties of an alert that decide whether it is shown.
package struct AlertSubject: Sendable, Equatable {
    /// The desktop silenced it: only for the history.
    package var isSilenced: Bool
    /// It did not come at once.
    package var isLate: Bool
    package var level: AlertLevel
    /// Of a push: whose it is, such as `pc`.
    package var source: String?
    package var category: String?
    /// The program's own: it is late when nothing ran at its time, and shown all the same.
    package var isReminder: Bool
    /// From then on it is not shown.
    package var expiresAt: EpochMilliseconds?

    package init(
        isSilenced: Bool = false, isLate: Bool = false, level: AlertLevel = .active, source: String? = nil,
        category: String? = nil, isReminder: Bool = false, expiresAt: EpochMilliseconds? = nil
    ) {
        self.isSilenced = isSilenced
        self.isLate = isLate
        self.level = level
        self.source = source
        self.category = category
        self.isReminder = isReminder
        self.expiresAt = expiresAt
    }
}

/// The decision about an alert.
package enum AlertDecision: Sendable, Equatable {
    /// `quietly`: without a sound, and without asking for attention.
    case show(quietly: Bool)
    /// Not now: it is in the digest.
    case hold(Hold)
    case hide(HideReason)

    /// What it waits for.
    package enum Hold: String, Sendable, CaseIterable {
        /// The end of quiet hours.
        case quietHours = "quiet_hours"
        /// The others that come late.
        case late
        /// Room for others: too many alerts wait for a screen that shows none.
        case tooMany = "too_many"
        /// The end of a burst: too many of one source came at once.
        case burst
    }

    /// Why it is in the inbox alone.
    package enum HideReason: String, Sendable, CaseIterable {
        case silenced
        case disabled
        case sourceDisabled = "source_disabled"
        case categoryDisabled = "category_disabled"
        case notDetermined = "not_determined"
        case denied
        case late
        /// Its author, or the library, has set an end to it.
        case expired
    }

    /// As `notification.presented` says it; `nil` = it is shown.
    package var reason: String? {
        switch self {
        case .show: nil
        case .hold(let hold): hold.rawValue
        case .hide(let reason): reason.rawValue
        }
    }
}

extension AlertSettings {
    /// The first that speaks against an alert decides: its desktop, the settings, the person, its lateness, the hour.
    ///
    /// - Parameter authorization: as it is at `now`.
    package func decide(
        _ subject: AlertSubject, authorization: Authorization.Status, lateAlerts: LateAlerts,
        at now: EpochMilliseconds, _ clock: WallClock
    ) -> AlertDecision {
        if subject.isSilenced { return .hide(.silenced) }
        if let end = subject.expiresAt, end <= now { return .hide(.expired) }
        if !enabled { return .hide(.disabled) }
        if let source = subject.source, !allows(source: source) { return .hide(.sourceDisabled) }
        if let category = subject.category, !allows(category: category) { return .hide(.categoryDisabled) }
        let isQuiet: Bool
        switch authorization {
        case .notDetermined: return .hide(.notDetermined)
        case .denied: return .hide(.denied)
        case .provisional: isQuiet = true
        case .authorized, .ephemeral: isQuiet = false
        }
        if subject.isLate, !subject.isReminder {
            switch lateAlerts {
            case .none: return .hide(.late)
            // A summary doesn't ask for attention as an urgent alert does.
            case .summary where subject.level != .timeSensitive: return .hold(.late)
            case .summary, .each: break
            }
        }
        if subject.level != .timeSensitive, self.isQuiet(at: now, clock) { return .hold(.quietHours) }
        return .show(quietly: isQuiet)
    }

    /// What of an alert is shown under these settings. Its author's words are kept where they came from.
    package func shown(_ content: AlertContent, quietly: Bool = false) -> AlertContent {
        var content = content
        if !showPreview {
            content.subtitle = nil
            content.body = ""
            content.attachments = []
        }
        if quietly { content.level = .passive }
        if !soundEnabled || content.level == .passive { content.sound = nil }
        return content
    }
}
