import JSON
import Wire

/// A command with its parameters checked, as the desktop carries it out.
enum HandlerCommand {
    case send(PushRequest)
    case sendToMobile(PushRequest, to: MethodHandler.PairedDevice)
    case broadcast(PushRequest)
    case getHistory(limit: Int64, offset: Int64, unreadOnly: Bool)
    case markAsRead(NotificationID)
    case getUnreadCount

    /// `nil` for a method that this desktop does not have. Unknown parameters are ignored: senders may know more.
    init?(
        _ method: String, _ params: JSONObject, from caller: MethodHandler.Caller,
        devices: [MethodHandler.PairedDevice]
    ) throws(NotificationsError) {
        guard let method = NotificationMethod(name: method) else { return nil }
        let reader = ParameterReader(params)
        switch method {
        case .send: self = .send(try PushRequest(peer: reader))
        case .sendToMobile:
            self = .sendToMobile(
                try PushRequest(peer: reader), to: try HandlerCommand.target(reader, caller, among: devices))
        case .broadcast: self = .broadcast(try PushRequest(peer: reader))
        case .getHistory: self = try HandlerCommand.getHistory(reader)
        case .markAsRead:
            // With no id a deployed desktop marks everything; here that is an error.
            let id = try reader.required("notificationId", "id", limit: MethodParameters.idLimit)
            self = .markAsRead(NotificationID(id))
        case .getUnreadCount: self = .getUnreadCount
        case .markAllAsRead, .delete, .clearAll, .getSettings, .updateSettings: return nil
        }
    }

    private static func getHistory(_ reader: ParameterReader) throws(NotificationsError) -> HandlerCommand {
        let limit = try reader.integer("limit") ?? 50
        guard limit >= 1 else { throw .parameter("limit", "must be from 1 to 500") }
        let offset = try reader.integer("offset") ?? 0
        guard offset >= 0 else { throw .parameter("offset", "must not be negative") }
        return .getHistory(
            // Whoever wants more gets the largest page; `total` tells that there is more.
            limit: min(limit, MethodParameters.pageLimit.upperBound), offset: offset,
            unreadOnly: try reader.flag("unreadOnly") ?? false)
    }

    /// `deviceId`, or the first of `targetDevices`, or the caller itself.
    private static func target(
        _ reader: ParameterReader, _ caller: MethodHandler.Caller, among devices: [MethodHandler.PairedDevice]
    ) throws(NotificationsError) -> MethodHandler.PairedDevice {
        let named = try reader.text("deviceId", limit: MethodParameters.idLimit)
        let id = named ?? reader.present("targetDevices")?.array?.first?.string
        switch (id, caller) {
        case (let id?, _):
            guard let device = devices.first(where: { $0.peer.text == id || $0.deviceID == id }) else {
                throw .parameter("deviceId", "names no paired device")
            }
            return device
        case (nil, .device(let peer, _)):
            return devices.first { $0.peer == peer } ?? MethodHandler.PairedDevice(peer: peer)
        case (nil, .host): throw .parameter("deviceId", "is missing")
        }
    }
}
