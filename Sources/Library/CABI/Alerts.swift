public import CBellwire
import Device
import DeviceAlerts
import Glibc
import Hosting
import JSON
import Sharing

// bellwire.h, "Alerts", "Reminders", and of "Push services" what comes in.

@_cdecl("bw_alerts_state") @implementation
public func bw_alerts_state(
    _ device: OpaquePointer?, _ state_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, state_json, required: "state_json") { .alerts(.state) }
}

// MARK: Authorization

/// `{"provisional"?}`
private func authorizationRequest(
    _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32
) throws(HostError) -> DeviceCall {
    var reader = OptionsReader(try object(params_json, "params_json"))
    let isProvisional = try reader.flag("provisional") ?? false
    try reader.finish()
    return .alerts(.requestAuthorization(isProvisional: isProvisional, try CallTimeout(Int64(timeout_ms))))
}

@_cdecl("bw_alerts_request") @implementation
public func bw_alerts_request(
    _ device: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ authorization_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, authorization_json) { () throws(HostError) in
        try authorizationRequest(params_json, timeout_ms)
    }
}

@_cdecl("bw_alerts_request_async") @implementation
public func bw_alerts_request_async(
    _ device: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDevice(device, completion, user_data, destroy) { () throws(HostError) in
        try authorizationRequest(params_json, timeout_ms)
    }
}

@_cdecl("bw_alerts_authorize") @implementation
public func bw_alerts_authorize(
    _ device: OpaquePointer?, _ status: UnsafePointer<CChar>?, _ until_ms: Int64
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .alerts(.authorize(status: try text(status, "status"), until: until_ms))
    }
}

// MARK: The host's part in showing

@_cdecl("bw_alerts_on_authorize") @implementation
public func bw_alerts_on_authorize(
    _ device: OpaquePointer?, _ callback: bw_authorize_callback?, _ user_data: UnsafeMutableRawPointer?,
    _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        var hook: HostQueue.HookCallback?
        if let callback {
            hook = { pointer, json in
                callback(pointer, json)
                return 0
            }
        }
        try endpoint.queue.setHook(.authorize, hook, userData)
        endpoint.role.hostAnswers(.authorize, callback != nil)
    }
}

@_cdecl("bw_alerts_on_will_present") @implementation
public func bw_alerts_on_will_present(
    _ device: OpaquePointer?, _ callback: bw_will_present_callback?, _ user_data: UnsafeMutableRawPointer?,
    _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        var hook: HostQueue.HookCallback?
        if let callback { hook = { callback($0, $1) } }
        try endpoint.queue.setHook(.willPresent, hook, userData)
        endpoint.role.hostAnswers(.willPresent, callback != nil)
    }
}

@_cdecl("bw_alerts_on_present") @implementation
public func bw_alerts_on_present(
    _ device: OpaquePointer?, _ callback: bw_present_callback?, _ user_data: UnsafeMutableRawPointer?,
    _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        try endpoint.role.held().requireHostPresenter()
        var hook: HostQueue.HookCallback?
        if let callback { hook = { callback($0, $1) } }
        try endpoint.queue.setHook(.present, hook, userData)
        endpoint.role.hostAnswers(.present, callback != nil)
    }
}

@_cdecl("bw_alerts_in_front") @implementation
public func bw_alerts_in_front(_ device: OpaquePointer?, _ in_front: Int32) -> bw_status {
    onDevice(device) { .alerts(.inFront(in_front != 0)) }
}

@_cdecl("bw_alerts_respond") @implementation
public func bw_alerts_respond(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ action: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .alerts(
            .respond(
                desktop: try optionalText(desktop, "desktop"), id: try CABI.text(id, "id"),
                action: try CABI.text(action, "action"), text: try optionalText(text, "text")))
    }
}

@_cdecl("bw_alerts_categories") @implementation
public func bw_alerts_categories(_ device: OpaquePointer?, _ categories_json: UnsafePointer<CChar>?) -> bw_status {
    onDevice(device) { () throws(HostError) in
        let text = try text(categories_json, "categories_json")
        do throws(JSONError) { return .alerts(.categories(try JSONValue(parsing: text))) } catch {
            throw HostError(
                .invalid, "categories_json is not JSON: \(error.message)", detail: ["field": "categories_json"])
        }
    }
}

// MARK: Settings, the screen, the badge

@_cdecl("bw_alerts_settings") @implementation
public func bw_alerts_settings(
    _ device: OpaquePointer?, _ settings_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, settings_json, required: "settings_json") { .alerts(.settings) }
}

@_cdecl("bw_alerts_set_settings") @implementation
public func bw_alerts_set_settings(
    _ device: OpaquePointer?, _ settings_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, result_json) { () throws(HostError) in
        let text = try text(settings_json, "settings_json")
        return .alerts(.change(try JSONObject(parameter: "settings_json", text)))
    }
}

@_cdecl("bw_alerts_settings_open") @implementation
public func bw_alerts_settings_open(_ device: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.find(device).role.held().openNotificationSettings() }
}

@_cdecl("bw_alerts_delivered") @implementation
public func bw_alerts_delivered(
    _ device: OpaquePointer?, _ alerts_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, alerts_json, required: "alerts_json") { .alerts(.delivered) }
}

@_cdecl("bw_alerts_remove") @implementation
public func bw_alerts_remove(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ thread: UnsafePointer<CChar>?
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .alerts(
            .remove(
                desktop: try optionalText(desktop, "desktop"), id: try optionalText(id, "id"),
                thread: try optionalText(thread, "thread")))
    }
}

@_cdecl("bw_alerts_badge") @implementation
public func bw_alerts_badge(_ device: OpaquePointer?, _ badge: Int64) -> bw_status {
    onDevice(device) { () throws(HostError) in .alerts(try .badge(checking: badge)) }
}

// MARK: Reminders

@_cdecl("bw_reminder_add") @implementation
public func bw_reminder_add(
    _ device: OpaquePointer?, _ reminder_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, result_json) { () throws(HostError) in
        let text = try text(reminder_json, "reminder_json")
        return .alerts(.addReminder(try JSONObject(parameter: "reminder_json", text)))
    }
}

@_cdecl("bw_reminder_list") @implementation
public func bw_reminder_list(
    _ device: OpaquePointer?, _ reminders_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, reminders_json, required: "reminders_json") { .alerts(.reminders) }
}

@_cdecl("bw_reminder_remove") @implementation
public func bw_reminder_remove(
    _ device: OpaquePointer?, _ id: UnsafePointer<CChar>?, _ thread: UnsafePointer<CChar>?
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .alerts(.removeReminders(id: try optionalText(id, "id"), thread: try optionalText(thread, "thread")))
    }
}

@_cdecl("bw_reminder_position") @implementation
public func bw_reminder_position(
    _ device: OpaquePointer?, _ latitude: Double, _ longitude: Double, _ accuracy_m: Double
) -> bw_status {
    onDevice(device) { .alerts(.position(latitude: latitude, longitude: longitude, accuracy: accuracy_m)) }
}

// MARK: What a push service brings

@_cdecl("bw_device_receive") @implementation
public func bw_device_receive(
    _ device: OpaquePointer?, _ service: UnsafePointer<CChar>?, _ payload_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, result_json) { () throws(HostError) in
        let service = try text(service, "service")
        let payload = try text(payload_json, "payload_json")
        return try .receive(service: service, payload: try JSONObject(parameter: "payload_json", payload))
    }
}

@_cdecl("bw_device_complete") @implementation
public func bw_device_complete(
    _ device: OpaquePointer?, _ id: UnsafePointer<CChar>?, _ result: UnsafePointer<CChar>?
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .complete(try text(id, "id"), result: try text(result, "result"))
    }
}
