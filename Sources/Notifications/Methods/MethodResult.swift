package import JSON
package import Wire

/// The answer to one of the eleven methods, in the one shape that our hosts see.
package struct MethodResult: Sendable, Equatable {
    /// The members of the table in `protocol.md` 3.
    package var json: JSONObject
    /// For `getHistory`.
    package var page: HistoryPage?

    /// The desktop did what was asked. When not, `json` has its `error`.
    package var isSuccess: Bool { json["success"] == true }

    /// `getHistory` without an `unreadCount`: `json` lacks it until ``complete(unreadCount:)``.
    package var needsUnreadCount: Bool { page.map { $0.unreadCount == nil } ?? false }

    package mutating func complete(unreadCount: Int64) {
        page?.unreadCount = unreadCount
        json["unreadCount"] = .integer(unreadCount)
    }

    /// Reads what any desktop answers. An answer that cannot be understood is an error, and nothing has changed here.
    package init(
        decoding result: JSONValue, of method: NotificationMethod, now: EpochMilliseconds
    ) throws(NotificationsError) {
        guard let answer = result.object else { throw .answer(nil, "is no object but \(result.typeName)") }
        let members = AnswerMembers(answer)
        let success = try members.flag("success")
        if success == false {
            json = try MethodResult.refused(answer, members, of: method, now: now)
            return
        }
        switch method {
        case .send: json = try MethodResult.sent(members, silenced: nil, now: now)
        case .sendToMobile:
            json = [
                "success": true,
                "delivered": .bool(try members.flag("delivered") ?? true),
                "deviceId": try members.text("deviceId").map(JSONValue.string),
                // Done, but not delivered: the desktop says why.
                "error": members.errorText.map(JSONValue.string),
            ]
        case .broadcast:
            json = [
                "success": true,
                "deliveredCount": .integer(try members.count("deliveredCount", "delivered") ?? 0),
                "failedCount": .integer(try members.count("failedCount", "failed") ?? 0),
            ]
        case .getHistory:
            let page = try HistoryPage(decoding: result)
            json = page.json(unreadCount: page.unreadCount, now: now)
            self.page = page
        case .markAsRead, .markAllAsRead:
            json = ["success": true, "markedCount": try members.countOrAll("markedCount")]
        case .clearAll: json = ["success": true, "clearedCount": try members.countOrAll("clearedCount")]
        case .delete:
            json = [
                "success": true,
                "deletedCount": try members.count("deletedCount").map(JSONValue.integer),
                // Done, but there was nothing to do: the desktop says so.
                "error": members.errorText.map(JSONValue.string),
            ]
        case .getUnreadCount:
            guard let count = try members.count("count", "unreadCount") else { throw .answer("count", "has no count") }
            json = ["success": true, "count": .integer(count)]
        case .getSettings:
            json = try Settings(decoding: answer["settings"]?.object ?? answer).json
            json["revision"] = try members.count("revision").map(JSONValue.integer)
        case .updateSettings: json = try MethodResult.updated(answer, members, success: true)
        }
    }

    /// `success:false`. Quiet hours are no failure of `send` (tolerance 7).
    private static func refused(
        _ answer: JSONObject, _ members: AnswerMembers, of method: NotificationMethod, now: EpochMilliseconds
    ) throws(NotificationsError) -> JSONObject {
        let reason = try members.text("reason")
        if method == .send, reason == "quiet_hours" || reason == "type_disabled" {
            return try sent(members, silenced: true, now: now)
        }
        let error = members.errorText ?? reason ?? "the desktop did not say why"
        var json: JSONObject = ["success": false]
        switch method {
        case .send:
            json["silenced"] = false
            json["timestamp"] = .integer(try members.integer("timestamp") ?? now)
        case .sendToMobile:
            json["delivered"] = .bool(try members.flag("delivered") ?? false)
            json["deviceId"] = try members.text("deviceId").map(JSONValue.string)
        case .broadcast:
            json["deliveredCount"] = .integer(try members.count("deliveredCount") ?? 0)
            json["failedCount"] = .integer(try members.count("failedCount") ?? 0)
        case .markAsRead, .markAllAsRead: json["markedCount"] = 0
        case .clearAll: json["clearedCount"] = 0
        case .updateSettings: json = try updated(answer, members, success: false)
        case .getHistory, .delete, .getUnreadCount, .getSettings: break
        }
        json["error"] = .string(error)
        return json
    }

    private static func sent(
        _ members: AnswerMembers, silenced: Bool?, now: EpochMilliseconds
    ) throws(NotificationsError) -> JSONObject {
        let said = try members.flag("silenced")
        return [
            "success": true,
            "notificationId": try members.text("notificationId", "id").map(JSONValue.string),
            "silenced": .bool(silenced ?? said ?? false),
            "timestamp": .integer(try members.integer("timestamp") ?? now),
        ]
    }
    /// The settings as they are now, and which fields kept them because a newer change is in force (`protocol.md` 4.6).
    private static func updated(
        _ answer: JSONObject, _ members: AnswerMembers, success: Bool
    ) throws(NotificationsError) -> JSONObject {
        var json: JSONObject = ["success": .bool(success)]
        if let settings = answer["settings"]?.object {
            json["settings"] = .object(try Settings(decoding: settings).json)
        }
        json["revision"] = try members.count("revision").map(JSONValue.integer)
        if let stale = answer["stale"]?.array {
            json["stale"] = .array(stale.filter { $0.string != nil })
        }
        json["error"] = members.errorText.map(JSONValue.string)
        return json
    }
}
