public import CBellwire
import Desktop
import Glibc
import Hosting
import JSON
import Sharing

// bellwire.h, "Desktop".

final class DesktopEndpoint: SharedEndpoint {
    typealias Shared = Desktop

    let role: SharedRole<Desktop>
    let queue: HostQueue

    init(_ role: SharedRole<Desktop>, _ queue: HostQueue) { (self.role, self.queue) = (role, queue) }
}

@_cdecl("bw_desktop_open") @implementation
public func bw_desktop_open(
    _ options_json: UnsafePointer<CChar>?, _ desktop: UnsafeMutablePointer<OpaquePointer?>?
) -> bw_status {
    entry { () throws(HostError) in
        let options = try optionalText(options_json, "options_json")
        try DesktopEndpoint.open(
            to: desktop, { (channel) throws(HostError) in try SharedDesktop.open(options, channel) },
            DesktopEndpoint.init)
    }
}

@_cdecl("bw_desktop_start") @implementation
public func bw_desktop_start(_ desktop: OpaquePointer?) -> bw_status {
    onDesktop(desktop) { .start }
}

@_cdecl("bw_desktop_stop") @implementation
public func bw_desktop_stop(_ desktop: OpaquePointer?) -> bw_status {
    DesktopEndpoint.start(desktop) { .stop }
}

@_cdecl("bw_desktop_close") @implementation
public func bw_desktop_close(_ desktop: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DesktopEndpoint.close(desktop) }
}

@_cdecl("bw_desktop_fd") @implementation
public func bw_desktop_fd(_ desktop: OpaquePointer?) -> Int32 { DesktopEndpoint.descriptor(desktop) }

@_cdecl("bw_desktop_dispatch") @implementation
public func bw_desktop_dispatch(_ desktop: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DesktopEndpoint.dispatch(desktop) }
}

@_cdecl("bw_desktop_run") @implementation
public func bw_desktop_run(_ desktop: OpaquePointer?, _ timeout_ms: Int32) -> bw_status {
    entry { () throws(HostError) in try DesktopEndpoint.run(desktop, timeout_ms) }
}

@_cdecl("bw_desktop_quit") @implementation
public func bw_desktop_quit(_ desktop: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DesktopEndpoint.find(desktop).queue.quit() }
}

@_cdecl("bw_desktop_state") @implementation
public func bw_desktop_state(
    _ desktop: OpaquePointer?, _ state_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, state_json, required: "state_json") { .state }
}

@_cdecl("bw_desktop_subscribe") @implementation
public func bw_desktop_subscribe(
    _ desktop: OpaquePointer?, _ event: UnsafePointer<CChar>?, _ callback: bw_event_callback?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?,
    _ subscription: UnsafeMutablePointer<bw_subscription>?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        try DesktopEndpoint.subscribe(desktop, event, callback, userData, subscription)
    }
}

@_cdecl("bw_desktop_unsubscribe") @implementation
public func bw_desktop_unsubscribe(_ desktop: OpaquePointer?, _ subscription: bw_subscription) -> bw_status {
    entry { () throws(HostError) in try DesktopEndpoint.unsubscribe(desktop, subscription) }
}

@_cdecl("bw_desktop_post") @implementation
public func bw_desktop_post(
    _ desktop: OpaquePointer?, _ topic: UnsafePointer<CChar>?, _ data_json: UnsafePointer<CChar>?
) -> bw_status {
    entry { () throws(HostError) in try DesktopEndpoint.post(desktop, topic, data_json) }
}

@_cdecl("bw_desktop_offer") @implementation
public func bw_desktop_offer(
    _ desktop: OpaquePointer?, _ timeout_ms: Int32,
    _ offer_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, offer_json, required: "offer_json") { () throws(HostError) in
        .offer(try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_desktop_offer_async") @implementation
public func bw_desktop_offer_async(
    _ desktop: OpaquePointer?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDesktop(desktop, completion, user_data, destroy) { () throws(HostError) in
        .offer(try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_desktop_scan") @implementation
public func bw_desktop_scan(
    _ desktop: OpaquePointer?, _ qr_text: UnsafePointer<CChar>?,
    _ device_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, device_json) { () throws(HostError) in .scan(try text(qr_text, "qr_text")) }
}

@_cdecl("bw_desktop_code") @implementation
public func bw_desktop_code(
    _ desktop: OpaquePointer?, _ timeout_ms: Int32,
    _ code_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, code_json, required: "code_json") { () throws(HostError) in
        .code(try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_desktop_code_async") @implementation
public func bw_desktop_code_async(
    _ desktop: OpaquePointer?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDesktop(desktop, completion, user_data, destroy) { () throws(HostError) in
        .code(try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_desktop_pairing_cancel") @implementation
public func bw_desktop_pairing_cancel(_ desktop: OpaquePointer?, _ flow: UnsafePointer<CChar>?) -> bw_status {
    DesktopEndpoint.start(desktop) { () throws(HostError) in
        .cancel(try .named(try optionalText(flow, "flow"), "flow"))
    }
}

@_cdecl("bw_desktop_confirm") @implementation
public func bw_desktop_confirm(
    _ desktop: OpaquePointer?, _ flow: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in
        .confirm(try .named(try optionalText(flow, "flow"), "flow"), accept: accept != 0)
    }
}

@_cdecl("bw_desktop_devices") @implementation
public func bw_desktop_devices(
    _ desktop: OpaquePointer?, _ devices_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, devices_json, required: "devices_json") { .devices }
}

@_cdecl("bw_desktop_tokens") @implementation
public func bw_desktop_tokens(
    _ desktop: OpaquePointer?, _ tokens_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, tokens_json, required: "tokens_json") { .tokens }
}

@_cdecl("bw_desktop_seal_push") @implementation
public func bw_desktop_seal_push(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ options_json: UnsafePointer<CChar>?, _ payload_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, payload_json, required: "payload_json") { () throws(HostError) in
        let (device, id) = (try text(device, "device"), try text(id, "id"))
        return .sealPush(try Desktop.SealRequest(device: device, id: id, try object(options_json, "options_json")))
    }
}

@_cdecl("bw_desktop_rename") @implementation
public func bw_desktop_rename(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?
) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in
        .rename(try text(device, "device"), to: try text(name, "name"))
    }
}

@_cdecl("bw_desktop_unpair") @implementation
public func bw_desktop_unpair(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in .unpair(try text(device, "device")) }
}

@_cdecl("bw_desktop_clear") @implementation
public func bw_desktop_clear(_ desktop: OpaquePointer?) -> bw_status {
    onDesktop(desktop) { .unpairAll }
}

@_cdecl("bw_desktop_notify") @implementation
public func bw_desktop_notify(
    _ desktop: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, result_json) { () throws(HostError) in try notice(params_json, timeout_ms) }
}

@_cdecl("bw_desktop_notify_async") @implementation
public func bw_desktop_notify_async(
    _ desktop: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDesktop(desktop, completion, user_data, destroy) { () throws(HostError) in
        try notice(params_json, timeout_ms)
    }
}

@_cdecl("bw_desktop_history") @implementation
public func bw_desktop_history(
    _ desktop: OpaquePointer?, _ params_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, result_json, required: "result_json") { () throws(HostError) in
        .history(try Desktop.HistoryQuery(try object(params_json, "params_json")))
    }
}

@_cdecl("bw_desktop_invoke") @implementation
public func bw_desktop_invoke(
    _ desktop: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, result_json) { () throws(HostError) in
        try ownCommand(method, params_json, timeout_ms)
    }
}

@_cdecl("bw_desktop_invoke_async") @implementation
public func bw_desktop_invoke_async(
    _ desktop: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDesktop(desktop, completion, user_data, destroy) { () throws(HostError) in
        try ownCommand(method, params_json, timeout_ms)
    }
}

private func notice(_ params: UnsafePointer<CChar>?, _ timeout_ms: Int32) throws(HostError) -> DesktopCall {
    let params = try object(params, "params_json")
    let timeout = try CallTimeout(Int64(timeout_ms))
    return .notify(try Desktop.Notice(params), timeout)
}

/// A method for the desktop's own user, or a request that only its program can make.
private func ownCommand(
    _ method: UnsafePointer<CChar>?, _ params: UnsafePointer<CChar>?, _ timeout_ms: Int32
) throws(HostError) -> DesktopCall {
    let name = try text(method, "method")
    let params = try object(params, "params_json")
    let timeout = try CallTimeout(Int64(timeout_ms))
    return .invoke(try Desktop.OwnCommand(name, params), timeout)
}
