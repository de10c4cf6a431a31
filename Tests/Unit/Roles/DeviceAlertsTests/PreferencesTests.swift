import Alerts
import JSON
import Testing
import Wire

@testable import DeviceAlerts

/// What of an alert is shown, by the options and the settings.
@Suite struct PreferencesTests {
    private func shown(
        _ options: JSONObject, link: String?, _ settings: JSONObject = [:], from sender: String? = nil,
        language: AlertLanguage = .english
    ) throws -> (tapTitle: String?, link: String?, banner: PresentedAlert) {
        var preferences = Preferences(try sampleConfiguration("system", options, language: language))
        if !settings.isEmpty { _ = preferences.apply(settings, Replies().then) }
        let row = alert(1, AlertContent(title: "T", category: "REMOTE_NOTIFICATION", deepLink: link))
        let run = AlertRun(row, row.subject, number: 1, imageURL: nil)
        let presented = preferences.presented(AlertPipeline.Showing(run: run, presentation: .all), from: sender)
        return (presented.tapTitle, preferences.link(of: row.content), presented)
    }

    @Test("a program that does not open links offers Open for every alert, and nothing is opened for it")
    func ordinary() throws {
        for link in [nil, "https://example.org/", "app://x"] {
            let alert = try shown([:], link: link, ["openLinks": true])
            #expect(alert.tapTitle == "Open" && alert.link == nil)
        }
        let german = try shown([:], link: nil, language: .german)
        #expect(german.tapTitle == "Öffnen" && german.banner.actions.map(\.title) == ["Als gelesen markieren"])
    }

    @Test("one that opens links offers Open for web links, while the setting is on")
    func links() throws {
        let web = "https://example.org/"
        let off = try shown(["opens_links": true], link: web)
        #expect(off.tapTitle == nil && off.link == nil)
        let on = try shown(["opens_links": true], link: web, ["openLinks": true])
        #expect(on.tapTitle == "Open" && on.link == web)
        for link in [nil, "app://x", "file:///etc/passwd", "https://x/ y"] {
            let other = try shown(["opens_links": true], link: link, ["openLinks": true])
            #expect(other.tapTitle == nil && other.link == nil)
        }
    }

    @Test("the desktop that sent it is named where it must be")
    func sender() throws {
        #expect(try shown([:], link: nil, from: "Desk").banner.sender == "Desk")
        #expect(try shown([:], link: nil).banner.sender == nil)
    }
}
