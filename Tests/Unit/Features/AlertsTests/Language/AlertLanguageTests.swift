import Alerts
import JSON
import Testing

@Suite struct AlertLanguageTests {
    private static let choices: [([String: String], AlertLanguage)] = [
        ([:], .english), (["LANG": "de_DE.UTF-8"], .german), (["LANG": "de"], .german), (["LANG": "fr_FR"], .english),
        (["LANG": "de_AT@euro", "LC_ALL": ""], .german), (["LANG": "en_US.UTF-8", "LC_MESSAGES": "de_DE"], .german),
        (["LANG": "de_DE", "LC_ALL": "C"], .english), (["LANG": "C", "LANGUAGE": "de"], .english),
        (["LANG": "en_US.UTF-8", "LANGUAGE": "de:en"], .german), (["LANG": "de_DE", "LANGUAGE": "fr:en:de"], .english),
        (["LANG": "de_DE", "LANGUAGE": "fr"], .german), (["LANG": "def_DE"], .english), (["LANG": "\u{0}:="], .english),
    ]

    @Test("the language is the locale's, as gettext chooses it", arguments: choices)
    func choice(_ variables: [String: String], _ language: AlertLanguage) {
        #expect(AlertLanguage { variables[$0] } == language)
    }

    @Test("a digest, the question and the built-in action are in the user's language; the host's own texts stay")
    func texts() throws {
        let held = (0..<7).map { AlertContent(title: "Titel \($0)") }
        let digest = Digest.content(of: held, count: 7, hold: .quietHours, in: .german)
        #expect(digest.title == "7 Nachrichten während der Ruhezeit" && digest.body.hasSuffix("\nund 2 weitere"))
        #expect(Digest.content(of: [], count: 1, hold: .tooMany, in: .german).title.hasPrefix("1 Nachricht während"))
        #expect(AlertLanguage.german.question(of: "Uhr") == "Uhr möchte Ihnen Nachrichten anzeigen")
        let builtIn = Categories()
        #expect(builtIn.actions(of: "REMOTE_NOTIFICATION", in: .german).map(\.title) == ["Als gelesen markieren"])
        #expect(builtIn.actions(of: "REMOTE_NOTIFICATION", in: .english).map(\.title) == ["Mark as read"])
        #expect(builtIn.actions(of: nil, in: .german).isEmpty && builtIn.actions(of: "x", in: .german).isEmpty)
        // As it was stored, and as the host has replaced it.
        let stored = Categories(stored: builtIn.json)
        #expect(stored.actions(of: "REMOTE_NOTIFICATION", in: .german).map(\.title) == ["Als gelesen markieren"])
        let own = try Categories(parsing: [
            ["id": "REMOTE_NOTIFICATION", "actions": [["id": "MARK_READ_ACTION", "title": "Seen"]]]
        ])
        #expect(own.actions(of: "REMOTE_NOTIFICATION", in: .german).map(\.title) == ["Seen"])
    }
}
