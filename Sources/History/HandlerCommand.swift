import JSON
import Notifications
import Wire

/// A command with its parameters checked, as the desktop carries it out.
enum HandlerCommand {
    case send(PushRequest)
    case sendToMobile(PushRequest, to: MethodHandler.PairedDevice)
    case broadcast(PushRequest)
    case getHistory(HistoryQuery)
    case markAsRead(NotificationID)
    case markAllAsRead
    case delete(NotificationID)
    case clearAll
    case getUnreadCount
    case getSettings
    case updateSettings(SettingsChange)

    /// Whether it stores a notification.
    var isPush: Bool {
        switch self {
        case .send, .sendToMobile, .broadcast: true
        case .getHistory, .markAsRead, .markAllAsRead, .delete, .clearAll, .getUnreadCount, .getSettings,
            .updateSettings:
            false
        }
    }

    /// Unknown parameters are ignored, because senders may know more; but not unknown settings, whose change would be lost.
    init(
        _ method: NotificationMethod, _ params: JSONObject, from caller: MethodHandler.Caller,
        devices: [MethodHandler.PairedDevice]
    ) throws(NotificationsError) {
        let reader = ParameterReader(params)
        switch method {
        case .send: self = .send(try PushRequest(peer: reader))
        case .sendToMobile:
            self = .sendToMobile(
                try PushRequest(peer: reader), to: try HandlerCommand.target(reader, caller, among: devices))
        case .broadcast: self = .broadcast(try PushRequest(peer: reader))
        case .getHistory: self = .getHistory(try HistoryQuery(peer: params))
        case .markAsRead: self = .markAsRead(try HandlerCommand.notification(reader))
        case .markAllAsRead: self = .markAllAsRead
        case .delete: self = .delete(try HandlerCommand.notification(reader))
        case .clearAll: self = .clearAll
        case .getUnreadCount: self = .getUnreadCount
        case .getSettings: self = .getSettings
        case .updateSettings: self = .updateSettings(try SettingsChange(peer: params))
        }
    }

    /// With no id a deployed desktop marks everything; here that is an error.
    private static func notification(_ reader: ParameterReader) throws(NotificationsError) -> NotificationID {
        NotificationID(try reader.required("notificationId", "id", limit: MethodParameters.idLimit))
    }

    /// `deviceId`, or the first of `targetDevices`, or the caller itself.
    private static func target(
        _ reader: ParameterReader, _ caller: MethodHandler.Caller, among devices: [MethodHandler.PairedDevice]
    ) throws(NotificationsError) -> MethodHandler.PairedDevice {
        let named = try reader.text("deviceId", limit: MethodParameters.idLimit)
        let id = named ?? reader.present("targetDevices")?.array?.first?.string
        switch (id, caller) {
        case (let id?, _):
            if let device = devices.first(where: { $0.peer.text == id }) { return device }
            // What a device calls itself: another one may say the same.
            let named = devices.filter { $0.deviceID == id }
            guard let device = named.first else { throw .parameter("deviceId", "names no paired device") }
            guard named.count == 1 else { throw .parameter("deviceId", "names more than one paired device") }
            return device
        case (nil, .device(let peer, _)):
            return devices.first { $0.peer == peer } ?? MethodHandler.PairedDevice(peer: peer)
        case (nil, .host): throw .parameter("deviceId", "is missing")
        }
    }
}
