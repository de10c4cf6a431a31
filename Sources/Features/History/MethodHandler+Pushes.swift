import JSON
import Notifications
import Store
import Wire

// What is sent: kept, shown, and pushed.
extension MethodHandler {
    func send(_ request: PushRequest) throws(StoreError) -> Handled {
        let (notification, row) = try keep(request, target: nil)
        let push = Handled.Effect.push(notification.event, to: context.devices.map(\.peer))
        return answer(
            [
                "success": true,
                "notificationId": .string(notification.id.text),
                "silenced": .bool(notification.silenced),
                "timestamp": .integer(context.now),
            ], effects: notification.silenced ? [push] : [.show(notification), push], row: row)
    }

    func send(_ request: PushRequest, to device: PairedDevice) throws(StoreError) -> Handled {
        try afterPush(
            request, target: device.peer, to: [device.peer],
            .sendToMobile(deviceID: device.deviceID ?? device.peer.text))
    }

    func broadcast(_ request: PushRequest) throws(StoreError) -> Handled {
        if let group = request.group { return try broadcast(request, to: group) }
        return try afterPush(request, target: nil, to: context.devices.map(\.peer), .broadcast)
    }

    func afterPush(
        _ request: PushRequest, target: PeerID?, to devices: [PeerID], _ kind: PendingReply.Kind
    ) throws(StoreError) -> Handled {
        let (notification, row) = try keep(request, target: target)
        let push = Handled.Effect.push(notification.event, to: devices)
        if request.answersWhenStored {
            var result: JSONObject = [
                "success": true, "notificationId": .string(notification.id.text), "timestamp": .integer(context.now),
            ]
            switch kind {
            case .sendToMobile(let id): result.merge(["delivered": false, "deviceId": .string(id)])
            case .broadcast: result.merge(["deliveredCount": 0, "failedCount": 0])
            }
            if notification.silenced { result["silenced"] = true }
            return answer(result, effects: [push], row: row)
        }
        let reply = PendingReply(
            kind: kind, id: notification.id, moment: context.now, silenced: notification.silenced, devices: devices)
        return Handled(.afterPush(reply), effects: [push], row: row)
    }

    /// Puts it in the history, silenced if the settings say so. Gives its row as well.
    private func keep(_ request: PushRequest, target: PeerID?) throws(StoreError) -> (Notification, row: Int64) {
        let settings = try work.currentSettings()
        let source: NotificationSource = caller == .host ? .pc : .mobile
        var notification = request.notification(id: context.newID, source: source, now: context.now)
        if settings.silences(
            request.priority, respectsQuietHours: request.respectsQuietHours ?? true, at: context.now, context.clock)
        {
            notification.silenced = true
            // It travels as one of the richer fields.
            notification.richer.silenced = true
        }
        let row = try work.insert(notification, icon: request.icon, target: target, pruning: context.pruning)
        return (notification, row)
    }
}
