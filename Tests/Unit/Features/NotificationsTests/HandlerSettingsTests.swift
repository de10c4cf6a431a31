@testable import History
import JSON
@testable import Notifications
import Store
import TestSupport
import Testing
import Wire

@Suite struct HandlerSettingsTests {
    private let desktop: DesktopFixture
    private let other = MethodHandler.Caller.device("did:key:b", isBellwire: true)

    init() throws { desktop = try DesktopFixture() }

    @Test("a new desktop's settings, for a Bellwire device")
    func defaults() throws {
        #expect(
            JSONValue.object(try desktop.result(.getSettings)).serialized()
                == #"{"success":true,"enabled":true,"quietHoursEnabled":false,"quietHoursStart":"22:00","#
                + #""quietHoursEnd":"08:00","soundEnabled":true,"vibrationEnabled":true,"showPreview":true,"#
                + #""retentionRows":10000,"retentionDays":90,"#
                + #""quietHours":{"enabled":false,"start":"22:00","end":"08:00"},"revision":0}"#)
    }

    @Test("6: a deployed phone gets them flat and nested, and nothing that it does not know")
    func deployedAnswer() throws {
        let expected =
            #""enabled":true,"quietHoursEnabled":true,"quietHoursStart":"23:00","quietHoursEnd":"06:30","#
            + #""soundEnabled":true,"vibrationEnabled":true,"showPreview":true,"#
            + #""quietHours":{"enabled":true,"start":"23:00","end":"06:30"}"#
        let updated = try desktop.result(
            .updateSettings, ["quietHours": ["enabled": true, "start": "23:00", "end": "06:30"]],
            from: DesktopFixture.phone)
        #expect(JSONValue.object(updated).serialized() == #"{"success":true,"settings":{\#(expected)}}"#)
        let read = try desktop.result(.getSettings, from: DesktopFixture.phone)
        #expect(JSONValue.object(read).serialized() == #"{"success":true,\#(expected)}"#)
    }

    @Test(
        "6: quiet hours are understood flat, nested, and both, nested first",
        arguments: [
            ["quietHoursEnabled": true, "quietHoursStart": "01:00"],
            ["quietHours": ["enabled": true, "start": "01:00"]],
            ["quietHoursEnabled": false, "quietHours": ["enabled": true, "start": "01:00", "end": .null]],
        ] as [JSONObject])
    func forms(params: JSONObject) throws {
        let result = try desktop.result(.updateSettings, params)
        let settings = result["settings"]
        #expect(settings?["quietHoursEnabled"] == true)
        #expect(settings?["quietHoursStart"] == "01:00")
        #expect(settings?["quietHoursEnd"] == "08:00")
    }

    @Test("a change touches its own fields alone, and is there after it")
    func merge() throws {
        _ = try desktop.handle(.updateSettings, ["soundEnabled": false])
        _ = try desktop.handle(.updateSettings, ["showPreview": false], from: other)
        let settings = try desktop.result(.getSettings)
        #expect(settings["soundEnabled"] == false)
        #expect(settings["showPreview"] == false)
        #expect(settings["vibrationEnabled"] == true)
        #expect(settings["revision"] == 2)
    }

    @Test(
        "what is no setting is refused by its name, and nothing changes",
        arguments: [
            (["enabled": false, "volume": 3], "volume"), (["quietHours": ["from": "22:00"]], "quietHours.from"),
            (["quietHours": ["start": "7:30"]], "quietHours.start"), (["quietHours": "22:00-07:00"], "quietHours"),
            (["quietHoursStart": "24:00"], "quietHoursStart"), (["quietHoursEnd": "12:60"], "quietHoursEnd"),
            (["enabled": "yes"], "enabled"), (["showPreview": 1], "showPreview"), ([:], "no settings given"),
            (["enabled": .null], "no settings given"), (["retentionRows": -1], "retentionRows"),
            (["retentionRows": 10_000_001], "retentionRows"), (["retentionDays": 1.5], "retentionDays"),
            (["enabled": false, "revision": -1], "revision"), (["revision": 1], "no settings given"),
        ] as [(JSONObject, String)])
    func refused(params: JSONObject, start: String) throws {
        let error = try desktop.refusal(.updateSettings, params)
        #expect(error?.code == .invalidParams)
        #expect(error?.message.hasPrefix(start) == true, "\(error?.message ?? "-")")
        #expect(try desktop.result(.getSettings)["revision"] == 0)
    }

    @Test(
        "what is no setting is ignored when a deployed phone sends it; its other fields are not",
        arguments: [
            (["enabled": false, "volume": 3], 1), (["quietHours": ["from": "22:00", "start": "21:00"]], 1),
            (["filters": ["system": false]], 0), (["quietHours": ["from": "22:00"]], 0),
        ] as [(JSONObject, Int64)])
    func ignored(params: JSONObject, revision: Int64) throws {
        #expect(try desktop.result(.updateSettings, params, from: DesktopFixture.phone)["success"] == true)
        #expect(try desktop.result(.getSettings)["revision"] == .integer(revision))
    }

    @Test(
        "what is wrong with a setting is refused to a deployed phone, too",
        arguments: [
            (["volume": 3, "enabled": "yes"], "enabled"), ([:], "no settings given"),
            (["quietHours": ["start": "7:30"]], "quietHours.start"), (["quietHours": "22:00-07:00"], "quietHours"),
        ] as [(JSONObject, String)])
    func refusedToPhones(params: JSONObject, start: String) throws {
        let error = try desktop.refusal(.updateSettings, params, from: DesktopFixture.phone)
        #expect(error?.code == .invalidParams)
        #expect(error?.message.hasPrefix(start) == true, "\(error?.message ?? "-")")
    }

    @Test("a change is announced with the whole settings and their revision, an empty one is not")
    func announced() throws {
        let handled = try desktop.handle(.updateSettings, ["enabled": false])
        guard let announcement = handled.announcements.first, handled.announcements.count == 1,
            case .settingsChanged(let settings, revision: 1) = announcement.event
        else {
            Issue.record("\(handled.announcements)")
            return
        }
        #expect(announcement.devices == ["did:key:b"])
        #expect(settings["enabled"] == false)
        #expect(settings.count == 10)
        let same = try desktop.handle(.updateSettings, ["enabled": false])
        #expect(same.announcements.isEmpty)
    }

    @Test("a change that is older than the desktop's for a field loses there, and is reported")
    func stale() throws {
        _ = try desktop.handle(.updateSettings, ["enabled": false], from: other)
        let partly = try desktop.result(
            .updateSettings, ["enabled": true, "soundEnabled": false, "revision": 0, "showPreview": true])
        // What has that value already is neither changed nor stale.
        #expect(partly["success"] == true)
        #expect(partly["stale"] == ["enabled"])
        #expect(partly["settings"]?["enabled"] == false)
        #expect(partly["settings"]?["soundEnabled"] == false)
        #expect(partly["revision"] == 2)
        // `other` has not seen revision 2, which touched another field.
        let fine = try desktop.result(.updateSettings, ["enabled": true, "revision": 1], from: other)
        #expect(fine["stale"] == nil)
        let lost = try desktop.handle(.updateSettings, ["enabled": false, "revision": 2])
        guard case .ready(.result(let result)) = lost.reply else { return }
        #expect(result["success"] == false)
        #expect(result["error"] == "a newer change takes precedence")
        #expect(result["settings"]?["enabled"] == true)
        #expect(lost.announcements.isEmpty)
    }

    @Test("a queue of one device's changes, all made on one revision, is taken in its order")
    func queue() throws {
        for start in ["20:00", "21:00", "22:30"] as [JSONValue] {
            let result = try desktop.result(.updateSettings, ["quietHoursStart": start, "revision": 0])
            #expect(result["stale"] == nil)
        }
        #expect(try desktop.result(.getSettings)["quietHoursStart"] == "22:30")
        // One that it made on an older revision than its own last one comes too late all the same.
        _ = try desktop.handle(.updateSettings, ["quietHoursStart": "23:00", "revision": 3])
        let late = try desktop.result(.updateSettings, ["quietHoursStart": "19:00", "revision": 0])
        #expect(late["stale"] == ["quietHoursStart"])
    }

    @Test("who knows no revisions, and the desktop's own user, always win")
    func withoutRevision() throws {
        _ = try desktop.handle(.updateSettings, ["enabled": false], from: other)
        #expect(
            try desktop.result(.updateSettings, ["enabled": true], from: DesktopFixture.phone)["success"] == true)
        #expect(try desktop.result(.updateSettings, ["enabled": false], from: .host)["success"] == true)
        #expect(try desktop.result(.getSettings)["enabled"] == false)
        let lost = try desktop.result(.updateSettings, ["enabled": true, "revision": 1])
        #expect(lost["success"] == false)
    }

    @Test("field by field, the settings are what a list of all changes would give", arguments: 1...30)
    func model(seed: UInt64) throws {
        struct Entry { var value: Bool, revision: Int64, author: PeerID?, base: Int64 }
        var random = SeededGenerator(seed: seed)
        let fields: [SettingsField] = [.enabled, .soundEnabled, .vibrationEnabled, .showPreview]
        var model: [SettingsField: Entry] = [:]
        var revision: Int64 = 0
        for _ in 0..<60 {
            let author: PeerID? = ["did:key:a", "did:key:b", nil].randomElement(using: &random) ?? nil
            let base: Int64? =
                author == nil || Bool.random(using: &random)
                ? nil : Int64.random(in: 0...revision + 1, using: &random)
            var params: JSONObject = [:]
            var stale: [String] = []
            var next = model
            for field in fields where Bool.random(using: &random) {
                let value = Bool.random(using: &random)
                params[field.rawValue] = .bool(value)
                guard value != model[field]?.value ?? true else { continue }
                if let base, let entry = model[field], entry.revision > base,
                    entry.author != author || entry.base > base
                {
                    stale.append(field.rawValue)
                } else {
                    next[field] = Entry(
                        value: value, revision: revision + 1, author: author, base: base ?? revision + 1)
                }
            }
            guard !params.isEmpty else { continue }
            if next.contains(where: { $0.value.revision == revision + 1 }) { revision += 1 }
            model = next
            params["revision"] = base.map(JSONValue.integer)
            let result = try desktop.result(
                .updateSettings, params, from: author.map { .device($0, isBellwire: true) } ?? .host)
            #expect(result["revision"] == .integer(revision))
            #expect((result["stale"]?.array ?? []).compactMap(\.string) == stale)
            for field in fields {
                #expect(result["settings"]?[field.rawValue] == .bool(model[field]?.value ?? true))
            }
        }
    }
}
