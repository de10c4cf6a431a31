import JSON
@testable import Notifications
import Testing
import Wire

/// How a device completes a page of a desktop that does not count.
extension MethodResult {
    fileprivate var needsUnreadCount: Bool { page.map { $0.unreadCount == nil } ?? false }

    fileprivate mutating func complete(unreadCount: Int64) {
        page?.unreadCount = unreadCount
        json["unreadCount"] = .integer(unreadCount)
    }
}

@Suite struct MethodResultTests {
    private func result(_ method: NotificationMethod, _ text: String) throws -> MethodResult {
        try MethodResult(decoding: JSONValue(parsing: text), of: method, now: 99)
    }

    private func json(_ method: NotificationMethod, _ text: String) throws -> String {
        JSONValue.object(try result(method, text).json).serialized()
    }

    @Test(
        "answers of any desktop become one shape",
        arguments: [
            (
                NotificationMethod.send, #"{"success":true,"notificationId":"n","silenced":false,"timestamp":5}"#,
                #"{"success":true,"notificationId":"n","silenced":false,"timestamp":5}"#
            ),
            // 4: the deployed desktop's {success,id,timestamp}.
            (
                .send, #"{"success":true,"id":"n","timestamp":5.9}"#,
                #"{"success":true,"notificationId":"n","silenced":false,"timestamp":5}"#
            ),
            // 2: neither result nor error.
            (.send, "{}", #"{"success":true,"silenced":false,"timestamp":99}"#),
            // 7: silenced, not failed.
            (
                .send, #"{"success":false,"reason":"quiet_hours"}"#,
                #"{"success":true,"silenced":true,"timestamp":99}"#
            ),
            (
                .send, #"{"success":false,"reason":"type_disabled","id":"n"}"#,
                #"{"success":true,"notificationId":"n","silenced":true,"timestamp":99}"#
            ),
            (
                .send, #"{"success":false,"error":"disk"}"#,
                #"{"success":false,"silenced":false,"timestamp":99,"error":"disk"}"#
            ),
            (
                .sendToMobile, #"{"success":true,"delivered":false,"deviceId":"d","extra":1}"#,
                #"{"success":true,"delivered":false,"deviceId":"d"}"#
            ),
            (
                .sendToMobile, #"{"success":true,"delivered":false,"error":"the device is not connected"}"#,
                #"{"success":true,"delivered":false,"error":"the device is not connected"}"#
            ),
            // A deployed desktop doesn't say whether the push was delivered.
            (.sendToMobile, #"{"success":1}"#, #"{"success":true}"#),
            (.sendToMobile, #"{"success":true,"id":"n","timestamp":7}"#, #"{"success":true}"#),
            (
                .sendToMobile, #"{"success":false,"error":{"message":"gone"}}"#,
                #"{"success":false,"delivered":false,"error":"gone"}"#
            ),
            (
                .broadcast, #"{"success":true,"notificationId":"n1","deliveredCount":2,"failedCount":1}"#,
                #"{"success":true,"notificationId":"n1","deliveredCount":2,"failedCount":1}"#
            ),
            (.markAsRead, #"{"success":true,"markedCount":1}"#, #"{"success":true,"markedCount":1}"#),
            (.markAsRead, #"{"success":true,"markedCount":"all"}"#, #"{"success":true,"markedCount":"all"}"#),
            (.markAsRead, #"{"success":true}"#, #"{"success":true}"#),
            (
                .markAsRead, #"{"success":false}"#,
                #"{"success":false,"markedCount":0,"error":"the desktop gave no reason"}"#
            ),
            (.markAllAsRead, #"{"markedCount":"all"}"#, #"{"success":true,"markedCount":"all"}"#),
            (.clearAll, #"{"success":true,"clearedCount":7}"#, #"{"success":true,"clearedCount":7}"#),
            (.delete, #"{"success":true}"#, #"{"success":true}"#),
            (
                .delete, #"{"success":true,"deletedCount":0,"error":"no notification has this id"}"#,
                #"{"success":true,"deletedCount":0,"error":"no notification has this id"}"#
            ),
            (.delete, #"{"success":false,"error":"unknown"}"#, #"{"success":false,"error":"unknown"}"#),
            (
                .delete, #"{"success":false,"error":"NOT_FOUND"}"#,
                #"{"success":true,"deletedCount":0,"error":"NOT_FOUND"}"#
            ),
            (
                .markAsRead, #"{"success":false,"error":"NOT_FOUND"}"#,
                #"{"success":false,"markedCount":0,"error":"NOT_FOUND"}"#
            ),
            (.getUnreadCount, #"{"success":true,"count":3}"#, #"{"success":true,"count":3}"#),
            (.getUnreadCount, #"{"unreadCount":3}"#, #"{"success":true,"count":3}"#),
            // 6: flat and nested.
            (
                .getSettings,
                #"{"enabled":true,"quietHoursEnabled":true,"quietHoursStart":"22:00","quietHoursEnd":"07:00"}"#,
                #"{"enabled":true,"quietHoursEnabled":true,"quietHoursStart":"22:00","quietHoursEnd":"07:00","#
                    + #""soundEnabled":true,"vibrationEnabled":true,"showPreview":true}"#
            ),
            (
                .getSettings,
                #"{"success":true,"settings":{"quietHours":{"enabled":true,"start":"22:00","end":"07:00"},"showPreview":false}}"#,
                #"{"enabled":true,"quietHoursEnabled":true,"quietHoursStart":"22:00","quietHoursEnd":"07:00","#
                    + #""soundEnabled":true,"vibrationEnabled":true,"showPreview":false}"#
            ),
            (
                .getSettings, #"{"success":true,"enabled":false,"retentionRows":5,"retentionDays":0,"revision":7}"#,
                #"{"enabled":false,"quietHoursEnabled":false,"soundEnabled":true,"vibrationEnabled":true,"#
                    + #""showPreview":true,"retentionRows":5,"retentionDays":0,"revision":7}"#
            ),
            // A database's 0 and 1; nested wins over flat.
            (
                .getSettings, #"{"enabled":1,"quietHoursEnabled":0,"quietHours":{"enabled":true,"start":"22:00"}}"#,
                #"{"enabled":true,"quietHoursEnabled":true,"quietHoursStart":"22:00","soundEnabled":true,"#
                    + #""vibrationEnabled":true,"showPreview":true}"#
            ),
            (.clearAll, #"{"clearedCount":"all"}"#, #"{"success":true,"clearedCount":"all"}"#),
            (
                .markAllAsRead, #"{"success":false,"error":"busy"}"#,
                #"{"success":false,"markedCount":0,"error":"busy"}"#
            ),
            (
                .clearAll, #"{"success":false,"error":"busy"}"#,
                #"{"success":false,"clearedCount":0,"error":"busy"}"#
            ),
            (
                .broadcast, #"{"success":false,"error":"busy"}"#,
                #"{"success":false,"deliveredCount":0,"failedCount":0,"error":"busy"}"#
            ),
            (.getSettings, #"{"success":false,"error":"busy"}"#, #"{"success":false,"error":"busy"}"#),
            (.getUnreadCount, #"{"success":false,"reason":"busy"}"#, #"{"success":false,"error":"busy"}"#),
            (.updateSettings, #"{"success":true}"#, #"{"success":true}"#),
            (.updateSettings, #"{"success":false,"error":"busy"}"#, #"{"success":false,"error":"busy"}"#),
            // WireMessages, "State changes": a newer change is in force for one field, or for all.
            (
                .updateSettings, #"{"success":true,"revision":4,"stale":["enabled"],"error":"a newer change"}"#,
                #"{"success":true,"revision":4,"stale":["enabled"],"error":"a newer change"}"#
            ),
            (
                .updateSettings,
                #"{"success":false,"settings":{"enabled":false},"revision":4,"stale":["enabled"],"error":"newer"}"#,
                #"{"success":false,"settings":{"enabled":false,"quietHoursEnabled":false,"soundEnabled":true,"#
                    + #""vibrationEnabled":true,"showPreview":true},"revision":4,"stale":["enabled"],"error":"newer"}"#
            ),
            (
                .updateSettings, #"{"success":true,"settings":{"enabled":false}}"#,
                #"{"success":true,"settings":{"enabled":false,"quietHoursEnabled":false,"soundEnabled":true,"#
                    + #""vibrationEnabled":true,"showPreview":true}}"#
            ),
        ])
    func canonical(method: NotificationMethod, answer: String, expected: String) throws {
        #expect(try json(method, answer) == expected)
    }

    @Test("5: a history of items, with everything that the table names")
    func history() throws {
        let answer =
            #"{"success":true,"notifications":[{"id":"n","title":"T","body":"B","priority":"high","read":true,"#
            + #""source":"mobile","createdAt":5,"readAt":6,"data":{"k":1}}],"total":7,"unreadCount":2,"#
            + #""skipped":0,"next":"~5.1.2.1"}"#
        let result = try result(.getHistory, answer)
        #expect(JSONValue.object(result.json).serialized() == answer)
        #expect(!result.needsUnreadCount)
        #expect(result.page?.rows.count == 1)
    }

    @Test("5: database rows, bad ones skipped and counted, a missing unreadCount asked for")
    func databaseRows() throws {
        var result = try result(
            .getHistory,
            #"{"items":[{"id":"n","title":"T","created_at":5,"read":1,"urgency":"critical","data":"{\"k\":\"v\"}"},"#
                + #"{"title":"no id"},7,{"id":"m","read":"maybe"}],"total":40}"#)
        #expect(result.page?.skipped == 3)
        #expect(result.needsUnreadCount)
        result.complete(unreadCount: 4)
        #expect(!result.needsUnreadCount)
        #expect(
            JSONValue.object(result.json).serialized()
                == #"{"success":true,"notifications":[{"id":"n","title":"T","body":"","priority":"urgent","read":true,"#
                + #""source":"pc","createdAt":5,"data":{"k":"v"}}],"total":40,"skipped":3,"unreadCount":4}"#)
    }

    @Test("5: a history without a total has as many as it shows; an empty one is fine")
    func noTotal() throws {
        #expect(try result(.getHistory, #"{"notifications":null,"items":[{"id":"n"},{"id":"m"}]}"#).page?.total == 2)
        #expect(
            try json(.getHistory, #"{"notifications":[],"total":0,"unreadCount":0}"#)
                == #"{"success":true,"notifications":[],"total":0,"unreadCount":0,"skipped":0}"#)
    }

    @Test(
        "each method has an answer that cannot be understood",
        arguments: [
            (NotificationMethod.send, #"{"success":"yes"}"#), (.send, #"{"notificationId":7}"#), (.send, "[]"),
            (.sendToMobile, #"{"delivered":"no"}"#), (.broadcast, #"{"deliveredCount":"two"}"#),
            (.getHistory, "{}"), (.getHistory, #"{"notifications":{}}"#), (.getHistory, #""rows""#),
            (.markAsRead, #"{"markedCount":"some"}"#), (.markAllAsRead, #"{"markedCount":[]}"#),
            (.delete, "true"), (.clearAll, #"{"clearedCount":{}}"#), (.getUnreadCount, "{}"),
            (.getUnreadCount, #"{"count":"3"}"#), (.getSettings, "{}"), (.getSettings, #"{"enabled":"on"}"#),
            (.updateSettings, "7"), (.updateSettings, #"{"settings":{"enabled":"on"}}"#),
        ])
    func undecodable(method: NotificationMethod, answer: String) throws {
        let value = try JSONValue(parsing: answer)
        let error = #expect(throws: NotificationsError.self) { try MethodResult(decoding: value, of: method, now: 0) }
        #expect(error?.code == .undecodable)
    }
}
