package import JSON
package import Store
package import Wire

/// The desktop's side of the skill: one command in, an answer and effects out.
///
/// Runs as one piece of work on the store, so what it changes is there once the answer leaves.
package struct MethodHandler {
    /// A paired device, by the id that it has on the wire and by the one that it told of itself.
    package struct PairedDevice: Sendable, Equatable {
        package let peer: PeerID
        package let deviceID: String?

        package init(peer: PeerID, deviceID: String? = nil) {
            self.peer = peer
            self.deviceID = deviceID
        }
    }

    /// Who asks.
    package enum Caller: Sendable, Equatable {
        case device(PeerID, isBellwire: Bool)
        /// The desktop's own user or program.
        case host
    }

    /// What a command may need of the world.
    package struct Context: Sendable {
        package let now: EpochMilliseconds
        /// For the notification that the command may make. Fresh for each command.
        package let newID: NotificationID
        package let devices: [PairedDevice]

        package init(now: EpochMilliseconds, newID: NotificationID, devices: [PairedDevice]) {
            self.now = now
            self.newID = newID
            self.devices = devices
        }
    }

    private let history: History
    private let caller: Caller
    private let context: Context

    package init(caller: Caller, context: Context, on connection: Connection) {
        history = History(connection)
        self.caller = caller
        self.context = context
    }

    /// Carries a command out, or answers why not. Throws only what the store throws; nothing has changed then.
    package func handle(_ method: String, _ params: JSONObject) throws(StoreError) -> Handled {
        let command: HandlerCommand?
        do throws(NotificationsError) {
            command = try HandlerCommand(method, params, from: caller, devices: context.devices)
        } catch {
            return refuse(.invalidParams, error.message)
        }
        guard let command else { return refuse(.methodNotFound, "this desktop has no such method") }
        return try carryOut(command)
    }

    private func carryOut(_ command: HandlerCommand) throws(StoreError) -> Handled {
        switch command {
        case .send(let request):
            let notification = try store(request, target: nil)
            let result: JSONValue = [
                "success": true,
                "notificationId": .string(notification.id.text),
                "silenced": .bool(notification.silenced),
                "timestamp": .integer(context.now),
            ]
            return answer(
                result, effects: [.show(notification), .push(notification.event, to: context.devices.map(\.peer))])
        case .sendToMobile(let request, let device):
            let notification = try store(request, target: device.peer)
            return afterPush(
                notification, to: [device.peer], .sendToMobile(deviceID: device.deviceID ?? device.peer.text))
        case .broadcast(let request):
            let notification = try store(request, target: nil)
            return afterPush(notification, to: context.devices.map(\.peer), .broadcast)
        case .getHistory(let limit, let offset, let unreadOnly):
            let page = try history.page(limit: limit, offset: offset, unreadOnly: unreadOnly)
            return answer([
                "success": true,
                "notifications": .array(page.notifications.map { .object($0.historyItem(isBellwire: isBellwire)) }),
                "total": .integer(page.total),
                "unreadCount": .integer(page.unreadCount),
            ])
        case .markAsRead(let id):
            let marked = try history.markAsRead(id, at: context.now)
            return answer(["success": true, "markedCount": .integer(Int64(marked))])
        case .getUnreadCount:
            return answer(["success": true, "count": .integer(try history.unreadCount())])
        }
    }

    private func afterPush(_ notification: Notification, to devices: [PeerID], _ kind: PendingReply.Kind) -> Handled {
        let reply = PendingReply(kind: kind, id: notification.id, moment: context.now, devices: devices)
        return Handled(.afterPush(reply), effects: [.push(notification.event, to: devices)])
    }

    private func store(_ request: PushRequest, target: PeerID?) throws(StoreError) -> Notification {
        let source: NotificationSource = caller == .host ? .pc : .mobile
        let notification = request.notification(id: context.newID, source: source, now: context.now)
        try history.insert(notification, icon: request.icon, target: target)
        return notification
    }

    private var isBellwire: Bool {
        switch caller {
        case .device(_, let isBellwire): isBellwire
        case .host: true
        }
    }

    private func answer(_ result: JSONValue, effects: [Handled.Effect] = []) -> Handled {
        Handled(.ready(.result(result)), effects: effects)
    }

    private func refuse(_ code: ErrorCode, _ message: String) -> Handled {
        Handled(.ready(.error(RemoteError(code, message))))
    }
}
