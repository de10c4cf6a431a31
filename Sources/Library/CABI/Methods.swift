public import CBellwire
import Device
import Glibc
import Hosting
import JSON
import Notifications
import Sharing

// bellwire.h, "Methods".

/// A notification method.
private func command(
    _ method: NotificationMethod, _ params_json: UnsafePointer<CChar>?
) throws(HostError) -> DeviceCall.Request {
    .notification(try Device.Command(method, try object(params_json, "params_json")))
}

/// Any other method.
private func command(
    _ method: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?
) throws(HostError) -> DeviceCall.Request {
    .invoke(try Device.Command(try text(method, "method"), try object(params_json, "params_json")))
}

@_cdecl("bw_notification_send") @implementation
public func bw_notification_send(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.send, params_json) }
}

@_cdecl("bw_notification_send_async") @implementation
public func bw_notification_send_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.send, params_json)
    }
}

@_cdecl("bw_notification_send_to_mobile") @implementation
public func bw_notification_send_to_mobile(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.sendToMobile, params_json) }
}

@_cdecl("bw_notification_send_to_mobile_async") @implementation
public func bw_notification_send_to_mobile_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.sendToMobile, params_json)
    }
}

@_cdecl("bw_notification_broadcast") @implementation
public func bw_notification_broadcast(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.broadcast, params_json) }
}

@_cdecl("bw_notification_broadcast_async") @implementation
public func bw_notification_broadcast_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.broadcast, params_json)
    }
}

@_cdecl("bw_notification_get_history") @implementation
public func bw_notification_get_history(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.getHistory, params_json) }
}

@_cdecl("bw_notification_get_history_async") @implementation
public func bw_notification_get_history_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.getHistory, params_json)
    }
}

@_cdecl("bw_notification_mark_as_read") @implementation
public func bw_notification_mark_as_read(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.markAsRead, params_json) }
}

@_cdecl("bw_notification_mark_as_read_async") @implementation
public func bw_notification_mark_as_read_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.markAsRead, params_json)
    }
}

@_cdecl("bw_notification_mark_all_as_read") @implementation
public func bw_notification_mark_all_as_read(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.markAllAsRead, params_json) }
}

@_cdecl("bw_notification_mark_all_as_read_async") @implementation
public func bw_notification_mark_all_as_read_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.markAllAsRead, params_json)
    }
}

@_cdecl("bw_notification_delete") @implementation
public func bw_notification_delete(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.delete, params_json) }
}

@_cdecl("bw_notification_delete_async") @implementation
public func bw_notification_delete_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.delete, params_json)
    }
}

@_cdecl("bw_notification_clear_all") @implementation
public func bw_notification_clear_all(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.clearAll, params_json) }
}

@_cdecl("bw_notification_clear_all_async") @implementation
public func bw_notification_clear_all_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.clearAll, params_json)
    }
}

@_cdecl("bw_notification_get_unread_count") @implementation
public func bw_notification_get_unread_count(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.getUnreadCount, params_json) }
}

@_cdecl("bw_notification_get_unread_count_async") @implementation
public func bw_notification_get_unread_count_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.getUnreadCount, params_json)
    }
}

@_cdecl("bw_notification_get_settings") @implementation
public func bw_notification_get_settings(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.getSettings, params_json) }
}

@_cdecl("bw_notification_get_settings_async") @implementation
public func bw_notification_get_settings_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.getSettings, params_json)
    }
}

@_cdecl("bw_notification_update_settings") @implementation
public func bw_notification_update_settings(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(.updateSettings, params_json) }
}

@_cdecl("bw_notification_update_settings_async") @implementation
public func bw_notification_update_settings_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(.updateSettings, params_json)
    }
}

@_cdecl("bw_device_invoke") @implementation
public func bw_device_invoke(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in try command(method, params_json) }
}

@_cdecl("bw_device_invoke_async") @implementation
public func bw_device_invoke_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?,
    _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        try command(method, params_json)
    }
}
