import JSON
import Notifications
import Store
import Wire

// What each method does. Its parameters are checked first: nothing touches the store for a command that is refused.
extension MethodHandler {
    typealias Execution = () throws(StoreError) -> Handled

    /// Unknown parameters are ignored, because senders may know more; but not a Bellwire device's unknown settings, whose
    /// change would be lost.
    func execution(of method: NotificationMethod, _ params: JSONObject) throws(NotificationsError) -> Execution {
        let reader = ParameterReader(params)
        switch method {
        case .send:
            let request = try PushRequest(peer: reader)
            return { () throws(StoreError) in
                if let later = try schedule(request, method, params) { return later }
                return try send(request)
            }
        case .sendToMobile:
            let request = try PushRequest(peer: reader)
            let device = try target(reader)
            return { () throws(StoreError) in
                if let later = try schedule(request, method, params) { return later }
                return try send(request, to: device)
            }
        case .broadcast:
            let request = try PushRequest(peer: reader)
            return { () throws(StoreError) in
                if let later = try schedule(request, method, params) { return later }
                return try broadcast(request)
            }
        case .getHistory:
            let query = try HistoryQuery(peer: params)
            return { () throws(StoreError) in try page(query) }
        case .markAsRead:
            let listed = try reader.ids("ids", limit: Self.idsPerEvent)?.map { NotificationID($0) }
            let ids = if let listed { listed } else { [try notification(reader)] }
            return { () throws(StoreError) in try markAsRead(ids) }
        case .markAllAsRead:
            let bound = try CommandBound.read(reader)
            return { () throws(StoreError) in try markAllAsRead(bound) }
        case .delete:
            let id = try notification(reader)
            return { () throws(StoreError) in try delete(id) }
        case .clearAll:
            let bound = try CommandBound.read(reader)
            return { () throws(StoreError) in try clearAll(bound) }
        case .getUnreadCount: return getUnreadCount
        case .getSettings: return getSettings
        case .updateSettings:
            let change = try SettingsChange(peer: params, ignoresUnknown: !isBellwire)
            return { () throws(StoreError) in try update(change) }
        }
    }

    /// With no id a deployed desktop marks everything; here that is an error.
    private func notification(_ reader: ParameterReader) throws(NotificationsError) -> NotificationID {
        NotificationID(try reader.value(.notificationID)?.string ?? "")
    }

    /// `deviceId`, or the first of `targetDevices`, or the caller itself.
    private func target(_ reader: ParameterReader) throws(NotificationsError) -> PairedDevice {
        let named = try reader.value(Parameter("deviceId", .text(limit: Parameter.idLimit)))?.string
        let id = named ?? reader.present("targetDevices")?.array?.first?.string
        switch (id, caller) {
        case (let id?, _):
            if let device = context.devices.first(where: { $0.peer.text == id }) { return device }
            // What a device calls itself: another one may say the same.
            let named = context.devices.filter { $0.deviceID == id }
            guard let device = named.first else { throw .parameter("deviceId", "is not a paired device") }
            guard named.count == 1 else { throw .parameter("deviceId", "matches more than one paired device") }
            return device
        case (nil, .device(let peer, _)):
            return context.devices.first { $0.peer == peer } ?? PairedDevice(peer: peer)
        case (nil, .host): throw .parameter("deviceId", "is missing")
        }
    }
}
