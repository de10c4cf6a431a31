package import JSON
package import Wire

/// The answer to a notification method, in the one shape that our hosts see.
package struct MethodResult: Sendable, Equatable {
    /// The members of the method's row.
    package var json: JSONObject
    /// For `getHistory`.
    package var page: HistoryPage?

    /// Reads what any desktop answers. An answer that cannot be understood is an error, and nothing has changed here.
    package init(
        decoding result: JSONValue, of method: NotificationMethod, now: EpochMilliseconds
    ) throws(NotificationsError) {
        guard let answer = result.object else { throw .answer(nil, "is not an object but \(result.typeName)") }
        let members = AnswerMembers(answer)
        if try members.flag("success") == false {
            json =
                method == .delete && members.errorText == MethodResult.notFound
                ? MethodResult.alreadyDeleted
                : try MethodResult.refusal(members, of: method.row.result, now: now)
            return
        }
        switch method.row.result {
        case .members(let rows): json = try MethodResult.success(members, rows, now: now)
        case .history:
            let page = try HistoryPage(decoding: result)
            json = page.json(unreadCount: page.unreadCount, now: now)
            self.page = page
        case .settings:
            json = try Settings(decoding: answer["settings"]?.object ?? answer).json
            json["revision"] = try members.count("revision").map(JSONValue.integer)
        }
    }

    /// What an error amounts to that is a success; `nil` = it is an error.
    package init?(success error: RemoteError, of method: NotificationMethod) {
        guard method == .delete, error.message == MethodResult.notFound, error.code != .methodNotFound else {
            return nil
        }
        json = MethodResult.alreadyDeleted
    }

    /// What a deployed desktop says of a row that it doesn't have (WireDeployedPeers, "What a device accepts").
    private static let notFound = "NOT_FOUND"
    /// As a Bellwire desktop says it: what was asked for is so.
    private static let alreadyDeleted: JSONObject = ["success": true, "deletedCount": 0, "error": .string(notFound)]

    private static func success(
        _ members: AnswerMembers, _ rows: [ResultMember], now: EpochMilliseconds
    ) throws(NotificationsError) -> JSONObject {
        var json: JSONObject = ["success": true]
        for row in rows { json[row.name] = try value(of: row, in: members, absent: row.absent, now: now) }
        return json
    }

    /// `success:false`. Quiet hours are no failure of a method that reports them (WireDeployedPeers,
    /// "What a device accepts").
    private static func refusal(
        _ members: AnswerMembers, of answer: MethodAnswer, now: EpochMilliseconds
    ) throws(NotificationsError) -> JSONObject {
        let reason = try members.text("reason")
        var json: JSONObject = ["success": false]
        if case .members(let rows) = answer {
            if reason == "quiet_hours" || reason == "type_disabled", rows.contains(where: { $0.name == silenced }) {
                json = try success(members, rows, now: now)
                json[silenced] = true
                return json
            }
            for row in rows {
                switch row.refused {
                case .leftOut: break
                case .value(let value): json[row.name] = value
                case .read(let absent):
                    json[row.name] = try value(of: row.unaliased, in: members, absent: absent, now: now)
                }
            }
        }
        json["error"] = .string(members.errorText ?? reason ?? "the desktop gave no reason")
        return json
    }

    private static func value(
        of row: ResultMember, in members: AnswerMembers, absent: ResultMember.Absent, now: EpochMilliseconds
    ) throws(NotificationsError) -> JSONValue? {
        if let value = try members.value(row) { return value }
        switch absent {
        case .leftOut: return nil
        case .value(let value): return value
        case .now: return .integer(now)
        case .fault: throw .answer(row.name, "has no \(row.name)")
        }
    }

    private static let silenced = "silenced"
}
