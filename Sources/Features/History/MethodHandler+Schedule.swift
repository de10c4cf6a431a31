import JSON
import Notifications
import Store
import Wire

// Pushes for later, and for groups.
extension MethodHandler {
    /// Keeps a push whose time has not come; `nil` = push it now.
    func schedule(
        _ request: PushRequest, _ method: NotificationMethod, _ params: JSONObject
    ) throws(StoreError) -> Handled? {
        guard let moment = request.scheduledAt, moment > context.now else { return nil }
        guard moment &- context.now <= ScheduledPush.horizon else {
            return refuse(.parameter("scheduledAt", "is more than 366 days ahead"))
        }
        if let end = request.richer.expiresAt, end <= moment {
            return refuse(.parameter("expiresAt", "is not after scheduledAt"))
        }
        if let group = request.group, try groupDevices(group) == nil { return refuse(.noSuchGroup) }
        var later: JSONObject = params
        later["scheduledAt"] = nil
        let push = ScheduledPush(
            id: context.newID, at: moment, method: method.name, params: later, caller: caller)
        if let limit = try ScheduleTable(history.connection).insert(push) {
            let error = NotificationsError.parameter("scheduledAt", "would schedule more than \(limit) notifications")
            return refuse(
                RemoteError(.invalidParams, error.message, data: ["reason": "too_many_scheduled"]))
        }
        var result: JSONObject = [
            "success": true, "notificationId": .string(push.id.text), "scheduledAt": .integer(moment),
            "timestamp": .integer(context.now),
        ]
        switch method {
        case .sendToMobile: result.merge(["delivered": false, "deviceId": params["deviceId"]])
        case .broadcast: result.merge(["deliveredCount": 0, "failedCount": 0])
        default: break
        }
        return answer(result, effects: [.scheduled(moment)])
    }

    /// The paired devices of a group; `nil` = there is no such group.
    func groupDevices(_ name: String) throws(StoreError) -> [PeerID]? {
        let members = try GroupTable(history.connection).members(of: name)
        return members.isEmpty ? nil : context.devices.map(\.peer).filter(members.contains)
    }

    func broadcast(_ request: PushRequest, to group: String) throws(StoreError) -> Handled {
        guard let devices = try groupDevices(group) else { return refuse(.noSuchGroup) }
        // No peer's id contains a space: a push to a group replaces pushes to that group alone.
        return try afterPush(request, target: PeerID("group \(group)"), to: devices, .broadcast)
    }
}

extension NotificationsError {
    fileprivate static var noSuchGroup: NotificationsError { .parameter("group", "is not a group of this desktop") }
}
