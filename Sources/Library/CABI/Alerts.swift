public import CBellwire
import Device
import Glibc
import Hosting
import JSON
import Sharing

// bellwire.h, "Alerts", "Reminders", and of "Push services" what comes in.

typealias TextResult = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// Calls the device's alerts, and returns the result to the caller. `result` may be NULL if the header says so.
private func ask(
    _ device: OpaquePointer?, _ result: TextResult?, mayBeNULL: Bool = true, _ name: String = "",
    _ request: () throws(HostError) -> HostCall
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        if !mayBeNULL { _ = try output(result, name) }
        let text = try endpoint.answer(try request()).json
        if let result { try give(text, to: result) }
    }
}

@_cdecl("bw_alerts_state") @implementation
public func bw_alerts_state(
    _ device: OpaquePointer?, _ state_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, state_json, mayBeNULL: false, "state_json") { HostCall(.alertsState) }
}

// MARK: Authorization

/// `{"provisional"?}`
private func authorizationRequest(
    _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32
) throws(HostError) -> HostCall {
    let params = try JSONObject(parameter: "params_json", try optionalText(params_json, "params_json"))
    var reader = OptionsReader(params)
    let isProvisional = try reader.flag("provisional") ?? false
    try reader.finish()
    return HostCall(.requestAlerts, .bool(isProvisional), .integer(try timeout(timeout_ms)))
}

@_cdecl("bw_alerts_request") @implementation
public func bw_alerts_request(
    _ device: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ authorization_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let text = try endpoint.answer(try authorizationRequest(params_json, timeout_ms)).json
        if let authorization_json { try give(text, to: authorization_json) }
    }
}

@_cdecl("bw_alerts_request_async") @implementation
public func bw_alerts_request_async(
    _ device: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        try endpoint.answer(try authorizationRequest(params_json, timeout_ms), completion, userData)
    }
}

@_cdecl("bw_alerts_authorize") @implementation
public func bw_alerts_authorize(
    _ device: OpaquePointer?, _ status: UnsafePointer<CChar>?, _ until_ms: Int64
) -> bw_status {
    ask(device, nil) { () throws(HostError) in
        HostCall(.authorizeAlerts, .string(try text(status, "status")), .integer(until_ms))
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
        try endpoint.role.requireHostPresenter()
        var hook: HostQueue.HookCallback?
        if let callback { hook = { callback($0, $1) } }
        try endpoint.queue.setHook(.present, hook, userData)
        endpoint.role.hostAnswers(.present, callback != nil)
    }
}

@_cdecl("bw_alerts_in_front") @implementation
public func bw_alerts_in_front(_ device: OpaquePointer?, _ in_front: Int32) -> bw_status {
    ask(device, nil) { HostCall(.inFront, .bool(in_front != 0)) }
}

@_cdecl("bw_alerts_respond") @implementation
public func bw_alerts_respond(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ action: UnsafePointer<CChar>?, _ text: UnsafePointer<CChar>?
) -> bw_status {
    ask(device, nil) { () throws(HostError) in
        HostCall(
            .respond, .text(try optionalText(desktop, "desktop")), .string(try CABI.text(id, "id")),
            .string(try CABI.text(action, "action")), .text(try optionalText(text, "text")))
    }
}

@_cdecl("bw_alerts_categories") @implementation
public func bw_alerts_categories(_ device: OpaquePointer?, _ categories_json: UnsafePointer<CChar>?) -> bw_status {
    ask(device, nil) { () throws(HostError) in
        let text = try text(categories_json, "categories_json")
        do throws(JSONError) { return HostCall(.categories, try JSONValue(parsing: text)) } catch {
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
    ask(device, settings_json, mayBeNULL: false, "settings_json") { HostCall(.alertSettings) }
}

@_cdecl("bw_alerts_set_settings") @implementation
public func bw_alerts_set_settings(
    _ device: OpaquePointer?, _ settings_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, result_json) { () throws(HostError) in
        let change = try JSONObject(parameter: "settings_json", try text(settings_json, "settings_json"))
        return HostCall(.changeAlertSettings, .object(change))
    }
}

@_cdecl("bw_alerts_settings_open") @implementation
public func bw_alerts_settings_open(_ device: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in
        try DeviceEndpoint.find(device).role.openNotificationSettings()
    }
}

@_cdecl("bw_alerts_delivered") @implementation
public func bw_alerts_delivered(
    _ device: OpaquePointer?, _ alerts_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, alerts_json, mayBeNULL: false, "alerts_json") { HostCall(.deliveredAlerts) }
}

@_cdecl("bw_alerts_remove") @implementation
public func bw_alerts_remove(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ thread: UnsafePointer<CChar>?
) -> bw_status {
    ask(device, nil) { () throws(HostError) in
        HostCall(
            .removeAlerts, .text(try optionalText(desktop, "desktop")), .text(try optionalText(id, "id")),
            .text(try optionalText(thread, "thread")))
    }
}

@_cdecl("bw_alerts_badge") @implementation
public func bw_alerts_badge(_ device: OpaquePointer?, _ badge: Int64) -> bw_status {
    ask(device, nil) { () throws(HostError) in
        guard badge >= 0 else {
            throw HostError(.invalid, "badge must not be negative; 0 clears it", detail: ["field": "badge"])
        }
        return HostCall(.badge, .integer(badge))
    }
}

// MARK: Reminders

@_cdecl("bw_reminder_add") @implementation
public func bw_reminder_add(
    _ device: OpaquePointer?, _ reminder_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, result_json) { () throws(HostError) in
        let reminder = try JSONObject(parameter: "reminder_json", try text(reminder_json, "reminder_json"))
        return HostCall(.addReminder, .object(reminder))
    }
}

@_cdecl("bw_reminder_list") @implementation
public func bw_reminder_list(
    _ device: OpaquePointer?, _ reminders_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, reminders_json, mayBeNULL: false, "reminders_json") { HostCall(.reminders) }
}

@_cdecl("bw_reminder_remove") @implementation
public func bw_reminder_remove(
    _ device: OpaquePointer?, _ id: UnsafePointer<CChar>?, _ thread: UnsafePointer<CChar>?
) -> bw_status {
    ask(device, nil) { () throws(HostError) in
        HostCall(
            .removeReminders, .text(try optionalText(id, "id")), .text(try optionalText(thread, "thread")))
    }
}

@_cdecl("bw_reminder_position") @implementation
public func bw_reminder_position(
    _ device: OpaquePointer?, _ latitude: Double, _ longitude: Double, _ accuracy_m: Double
) -> bw_status {
    ask(device, nil) { () throws(HostError) in
        HostCall(.position, .number(latitude), .number(longitude), .number(accuracy_m))
    }
}

// MARK: What a push service brings

@_cdecl("bw_device_receive") @implementation
public func bw_device_receive(
    _ device: OpaquePointer?, _ service: UnsafePointer<CChar>?, _ payload_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let service = try text(service, "service")
        let payload = try JSONObject(parameter: "payload_json", try text(payload_json, "payload_json"))
        let result = try endpoint.call(.receive, .string(service), .object(payload))
        if let result_json { try give(result, to: result_json) }
    }
}

@_cdecl("bw_device_complete") @implementation
public func bw_device_complete(
    _ device: OpaquePointer?, _ id: UnsafePointer<CChar>?, _ result: UnsafePointer<CChar>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let id = try text(id, "id")
        let result = try text(result, "result")
        _ = try endpoint.call(.complete, .string(id), .string(result))
    }
}

extension JSONValue {
    /// JSON has no infinity and no NaN.
    fileprivate static func number(_ number: Double) -> JSONValue { number.isFinite ? .double(number) : .null }
}
