public import CBellwire
import Device
import Glibc
import Hosting
import JSON
import Sharing

// bellwire.h, "Inbox".

@_cdecl("bw_inbox_load") @implementation
public func bw_inbox_load(
    _ device: OpaquePointer?, _ params_json: UnsafePointer<CChar>?,
    _ page_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, page_json, required: "page_json") { () throws(HostError) in
        .loadInbox(try Device.InboxQuery(try object(params_json, "params_json")))
    }
}

@_cdecl("bw_inbox_state") @implementation
public func bw_inbox_state(
    _ device: OpaquePointer?, _ state_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, state_json, required: "state_json") { .inboxState }
}

@_cdecl("bw_inbox_settings") @implementation
public func bw_inbox_settings(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?,
    _ settings_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, settings_json, required: "settings_json") { () throws(HostError) in
        .inboxSettings(of: try optionalText(desktop, "desktop"))
    }
}

@_cdecl("bw_inbox_refresh") @implementation
public func bw_inbox_refresh(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { .refresh }
}

@_cdecl("bw_inbox_refresh_async") @implementation
public func bw_inbox_refresh_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { .refresh }
}

// MARK: Changes

@_cdecl("bw_inbox_mark_read") @implementation
public func bw_inbox_mark_read(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in
        .change(try .markRead(try text(id, "id")))
    }
}

@_cdecl("bw_inbox_mark_read_async") @implementation
public func bw_inbox_mark_read_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        .change(try .markRead(try text(id, "id")))
    }
}

@_cdecl("bw_inbox_mark_all_read") @implementation
public func bw_inbox_mark_all_read(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in .change(try .markAllRead()) }
}

@_cdecl("bw_inbox_mark_all_read_async") @implementation
public func bw_inbox_mark_all_read_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        .change(try .markAllRead())
    }
}

@_cdecl("bw_inbox_delete") @implementation
public func bw_inbox_delete(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in
        .change(try .delete(try text(id, "id")))
    }
}

@_cdecl("bw_inbox_delete_async") @implementation
public func bw_inbox_delete_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        .change(try .delete(try text(id, "id")))
    }
}

@_cdecl("bw_inbox_clear") @implementation
public func bw_inbox_clear(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    ask(device, desktop, timeout_ms, result_json) { () throws(HostError) in .change(try .clear()) }
}

@_cdecl("bw_inbox_clear_async") @implementation
public func bw_inbox_clear_async(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    ask(device, desktop, timeout_ms, completion, user_data, destroy) { () throws(HostError) in
        .change(try .clear())
    }
}
