/// The library's own words in alerts, in the user's language.
///
/// For another language, add a case with its ISO 639 code: the compiler names the texts that it needs.
package enum AlertLanguage: String, CaseIterable, Sendable {
    case english = "en"
    case german = "de"

    /// The first language of the locale that has texts, as gettext chooses it; English if there is none.
    ///
    /// - Parameter variable: the value of an environment variable.
    package init(environment variable: (String) -> String?) {
        let locales = ["LC_ALL", "LC_MESSAGES", "LANG"].map { variable($0) ?? "" }
        let locale = locales.first { !$0.isEmpty } ?? "C"
        guard locale != "C", locale != "POSIX" else {
            self = .english
            return
        }
        let wanted = (variable("LANGUAGE") ?? "").split(separator: ":") + [locale[...]]
        let known = wanted.compactMap { Self(rawValue: String($0.prefix { $0.isLetter })) }
        self = known.first ?? .english
    }

    /// What a click on an alert does.
    package var open: String {
        switch self {
        case .english: "Open"
        case .german: "Öffnen"
        }
    }

    package var markRead: String {
        switch self {
        case .english: "Mark as read"
        case .german: "Als gelesen markieren"
        }
    }

    // MARK: The question for permission

    package func question(of program: String) -> String {
        switch self {
        case .english: "\(program) would like to send you notifications"
        case .german: "\(program) möchte Ihnen Nachrichten anzeigen"
        }
    }

    package var questionNote: String {
        switch self {
        case .english: "You can change this later in the program's settings."
        case .german: "Sie können das später in den Einstellungen des Programms ändern."
        }
    }

    package var allow: String {
        switch self {
        case .english: "Allow"
        case .german: "Erlauben"
        }
    }

    package var deny: String {
        switch self {
        case .english: "Don't allow"
        case .german: "Nicht erlauben"
        }
    }

    // MARK: Digests

    func digest(_ count: Int64, _ hold: AlertDecision.Hold) -> String {
        switch self {
        case .english:
            let reason =
                switch hold {
                case .quietHours: "during quiet hours"
                case .late: "while you were away"
                case .tooMany: "while too many were waiting"
                case .burst: "in a short time"
                }
            return "\(count) \(count == 1 ? "notification" : "notifications") \(reason)"
        case .german:
            let reason =
                switch hold {
                case .quietHours: "während der Ruhezeit"
                case .late: "während Ihrer Abwesenheit"
                case .tooMany: "während zu viele warteten"
                case .burst: "in kurzer Zeit"
                }
            return "\(count) \(count == 1 ? "Nachricht" : "Nachrichten") \(reason)"
        }
    }

    func more(_ count: Int64) -> String {
        switch self {
        case .english: "and \(count) more"
        case .german: "und \(count) weitere"
        }
    }
}
