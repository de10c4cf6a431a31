package import JSON

/// The parameters of the eleven methods as a device sends them: checked before anything leaves, and written so that
/// every desktop understands (`protocol.md` 3, "What a device sends").
package enum MethodParameters {
    /// An id has at most so many bytes.
    package static let idLimit = 1_024

    /// Checks the host's parameters, and gives those for the wire. The error names the field.
    package static func wire(
        _ method: NotificationMethod, from params: JSONObject
    ) throws(NotificationsError) -> JSONObject {
        switch method {
        case .send: try send(params)
        case .sendToMobile: try sendToMobile(params)
        case .broadcast: try PushRequest(host: ParameterReader(params, allowing: PushRequest.names)).wire
        case .getHistory: try HistoryQuery(host: params).wire
        case .markAsRead, .delete: try oneNotification(params)
        case .markAllAsRead, .clearAll, .getUnreadCount, .getSettings: try nothing(params)
        case .updateSettings: try SettingsChange(host: params).wire
        }
    }

    private static func send(_ params: JSONObject) throws(NotificationsError) -> JSONObject {
        let reader = try ParameterReader(params, allowing: PushRequest.names + ["icon"])
        var request = try PushRequest(host: reader)
        // The table gives this method a default, and deployed desktops read it.
        request.respectsQuietHours = request.respectsQuietHours ?? true
        return request.wire
    }

    private static func sendToMobile(_ params: JSONObject) throws(NotificationsError) -> JSONObject {
        let reader = try ParameterReader(params, allowing: PushRequest.names + ["deviceId"])
        var wire = try PushRequest(host: reader).wire
        if reader.present("deviceId") != nil {
            let device = try reader.required("deviceId", limit: idLimit)
            wire["deviceId"] = .string(device)
            wire["targetDevices"] = [.string(device)]
        }
        return wire
    }

    /// Both spellings: with neither, a deployed desktop marks everything.
    private static func oneNotification(_ params: JSONObject) throws(NotificationsError) -> JSONObject {
        let reader = try ParameterReader(params, allowing: ["notificationId"])
        let id = try reader.required("notificationId", limit: idLimit)
        return ["notificationId": .string(id), "id": .string(id)]
    }

    private static func nothing(_ params: JSONObject) throws(NotificationsError) -> JSONObject {
        _ = try ParameterReader(params, allowing: [])
        return [:]
    }
}
