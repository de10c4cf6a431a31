import Calendar
import JSON
@testable import Notifications
import Testing
import Wire

/// An object that is nested so deep.
private func nested(_ levels: Int) -> JSONValue {
    (1..<levels).reduce(["k": 1]) { inner, _ in ["k": inner] }
}

@Suite struct MethodParametersTests {
    private func wire(_ method: NotificationMethod, _ params: String) throws -> String {
        let params = try #require(JSONValue(parsing: params).object)
        return JSONValue.object(try method.row.wire(from: params)).serialized()
    }

    private func fault(_ method: NotificationMethod, _ params: JSONObject) -> String? {
        do throws(NotificationsError) { _ = try method.row.wire(from: params) } catch {
            #expect(error.code == .invalidParams)
            return error.field ?? "-"
        }
        return nil
    }

    @Test(
        "what leaves is what every desktop understands",
        arguments: [
            (
                NotificationMethod.send, #"{"title":"T","body":"B","priority":"urgent"}"#,
                #"{"title":"T","body":"B","priority":"urgent","urgency":"critical","respectQuietHours":true}"#
            ),
            (
                .broadcast, #"{"title":"T","respectQuietHours":false}"#,
                #"{"title":"T","body":"","priority":"normal","urgency":"normal","respectQuietHours":false}"#
            ),
            (
                .send, #"{"title":"T","icon":"i","respectQuietHours":false,"data":{"k":1},"category":"c","badge":2}"#,
                #"{"title":"T","body":"","icon":"i","priority":"normal","urgency":"normal","data":{"k":1},"#
                    + #""respectQuietHours":false,"category":"c","badge":2}"#
            ),
            (
                .sendToMobile, #"{"title":"T","body":"B","deviceId":"did:key:z"}"#,
                #"{"title":"T","body":"B","priority":"normal","urgency":"normal","deviceId":"did:key:z","#
                    + #""targetDevices":["did:key:z"]}"#
            ),
            (
                .sendToMobile, #"{"title":"T","body":"B","deviceId":null}"#,
                #"{"title":"T","body":"B","priority":"normal","urgency":"normal"}"#
            ),
            (
                .broadcast, #"{"title":"T","body":"B"}"#,
                #"{"title":"T","body":"B","priority":"normal","urgency":"normal"}"#
            ),
            (.getHistory, "{}", #"{"limit":50,"offset":0,"unreadOnly":false}"#),
            (
                .getHistory, #"{"limit":500.0,"offset":3,"unreadOnly":true}"#,
                #"{"limit":500,"offset":3,"unreadOnly":true}"#
            ),
            (
                .getHistory,
                #"{"query":"a b*","priority":"critical","source":"mobile","since":1,"until":2,"before":"n","#
                    + #""sort":"unread"}"#,
                #"{"limit":50,"offset":0,"unreadOnly":false,"query":"a b*","priority":"urgent","source":"mobile","#
                    + #""since":1,"startDate":1,"until":2,"before":"n","sort":"unread"}"#
            ),
            (.getHistory, #"{"sort":"newest","before":null}"#, #"{"limit":50,"offset":0,"unreadOnly":false}"#),
            (.markAsRead, #"{"notificationId":"n"}"#, #"{"notificationId":"n","id":"n"}"#),
            (.delete, #"{"notificationId":"n"}"#, #"{"notificationId":"n","id":"n"}"#),
            (.markAllAsRead, "{}", "{}"), (.clearAll, "{}", "{}"), (.getUnreadCount, "{}", "{}"),
            (.getSettings, "{}", "{}"),
            (
                .updateSettings, #"{"quietHoursEnabled":true,"quietHoursStart":"22:00","quietHoursEnd":"07:30"}"#,
                #"{"quietHoursEnabled":true,"quietHoursStart":"22:00","quietHoursEnd":"07:30","#
                    + #""quietHours":{"enabled":true,"start":"22:00","end":"07:30"}}"#
            ),
            (
                .updateSettings, #"{"soundEnabled":false,"quietHoursEnd":"00:00"}"#,
                #"{"quietHoursEnd":"00:00","soundEnabled":false,"quietHours":{"end":"00:00"}}"#
            ),
            (
                .updateSettings, #"{"enabled":true,"retentionRows":0,"retentionDays":7,"revision":3}"#,
                #"{"enabled":true,"retentionRows":0,"retentionDays":7,"revision":3}"#
            ),
            (
                .updateSettings, #"{"quietHoursEnabled":true,"quietHoursStart":"08:00","quietHoursEnd":"08:00"}"#,
                #"{"quietHoursEnabled":false,"quietHours":{"enabled":false}}"#
            ),
        ])
    func wire(method: NotificationMethod, params: String, expected: String) throws {
        #expect(try wire(method, params) == expected)
    }

    @Test(
        "each refusal names its field",
        arguments: [
            (NotificationMethod.send, [:], "title"), (.send, ["title": ""], "title"), (.send, ["title": 7], "title"),
            (.send, ["title": .string(String(repeating: "t", count: 1_025))], "title"),
            (.send, ["title": .string(String(repeating: "ü", count: 513))], "title"),
            (.send, ["title": "T", "body": .string(String(repeating: "b", count: 65_537))], "body"),
            (.send, ["title": "T", "priority": "loud"], "priority"),
            (.send, ["title": "T", "respectQuietHours": "yes"], "respectQuietHours"),
            (.send, ["title": "T", "data": "x"], "data"),
            (.send, ["title": "T", "data": nested(65)], "data"), (.send, ["title": "T", "badge": 1.5], "badge"),
            (.send, ["title": "T", "silenced": 1], "silenced"), (.send, ["title": "T", "sound": true], "sound"),
            (.send, ["title": "T", "colour": "red"], "colour"), (.broadcast, ["title": "T", "icon": "i"], "icon"),
            (.sendToMobile, ["title": "T", "deviceId": ""], "deviceId"),
            (.getHistory, ["limit": 0], "limit"), (.getHistory, ["limit": 501], "limit"),
            (.getHistory, ["limit": "50"], "limit"), (.getHistory, ["limit": 1.5], "limit"),
            (.getHistory, ["offset": -1], "offset"), (.getHistory, ["unreadOnly": 1], "unreadOnly"),
            (.markAsRead, [:], "notificationId"), (.markAsRead, ["notificationId": ""], "notificationId"),
            (.delete, ["id": "n"], "id"), (.clearAll, ["all": true], "all"),
            (.updateSettings, [:], "-"), (.updateSettings, ["enabled": .null], "-"),
            (.updateSettings, ["quietHoursStart": "24:00"], "quietHoursStart"),
            (.updateSettings, ["quietHoursEnd": "7:30"], "quietHoursEnd"),
            (.getHistory, ["query": true], "query"), (.getHistory, ["priority": "loud"], "priority"),
            (.getHistory, ["source": "moon"], "source"), (.getHistory, ["sort": "title"], "sort"),
            (.getHistory, ["since": -1], "since"), (.getHistory, ["until": "now"], "until"),
            (.getHistory, ["before": ""], "before"), (.getHistory, ["before": "n", "offset": 1], "offset"),
            (.getHistory, ["startDate": 1], "startDate"), (.markAllAsRead, ["id": "n"], "id"),
            (.getUnreadCount, ["of": "n"], "of"), (.getSettings, ["field": "n"], "field"),
            (.delete, [:], "notificationId"),
            (.broadcast, ["title": "T", "respectQuietHours": 1], "respectQuietHours"),
            (.updateSettings, ["revision": 1], "-"), (.updateSettings, ["enabled": true, "revision": -1], "revision"),
            (.updateSettings, ["retentionRows": -1], "retentionRows"),
            (.updateSettings, ["retentionDays": 36_501], "retentionDays"),
            (.updateSettings, ["quietHours": ["enabled": true]], "quietHours"),
            (.updateSettings, ["enabled": 1], "enabled"), (.updateSettings, ["volume": 3], "volume"),
        ] as [(NotificationMethod, JSONObject, String)])
    func refusals(method: NotificationMethod, params: JSONObject, field: String) {
        #expect(fault(method, params) == field)
    }

    @Test("the longest title and body pass")
    func limits() {
        let params: JSONObject = [
            "title": .string(String(repeating: "t", count: 1_024)),
            "body": .string(String(repeating: "b", count: 65_536)),
        ]
        #expect(fault(.send, params) == nil)
    }

    @Test("a message never repeats a value")
    func silence() {
        do {
            _ = try NotificationMethod.send.row.wire(from: ["title": "T", "priority": "hunter2"])
            Issue.record("accepted")
        } catch { #expect(!error.message.contains("hunter2")) }
        do {
            _ = try NotificationMethod.send.row.wire(from: ["title": "T", "a name\nwith more": 1])
            Issue.record("accepted")
        } catch { #expect(!error.message.contains("with more")) }
    }

    @Test(
        "times of day",
        arguments: [
            ("00:00", true), ("23:59", true), ("24:00", false), ("12:60", false), ("1:00", false), ("12-00", false),
            ("12:0a", false), ("", false), ("12:000", false), ("１2:00", false),
        ])
    func timesOfDay(text: String, isValid: Bool) { #expect(TimeOfDay.isValid(text) == isValid) }
}
