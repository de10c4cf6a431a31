public import CBellwire
import Desktop
import Glibc
import Hosting
import JSON
import Sharing

// bellwire.h, "Desktop".

final class DesktopEndpoint: SharedEndpoint {
    let role: SharedRole
    let queue: HostQueue

    init(_ role: SharedRole, _ queue: HostQueue) { (self.role, self.queue) = (role, queue) }
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
    entry { () throws(HostError) in _ = try DesktopEndpoint.find(desktop).call(.start) }
}

@_cdecl("bw_desktop_stop") @implementation
public func bw_desktop_stop(_ desktop: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DesktopEndpoint.find(desktop).start(.stop) }
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
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let state = try output(state_json, "state_json")
        try give(try endpoint.call(.state), to: state)
    }
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
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let offer = try output(offer_json, "offer_json")
        let timeout = try timeout(timeout_ms)
        try give(try endpoint.call(.offer, .integer(timeout)), to: offer)
    }
}

@_cdecl("bw_desktop_offer_async") @implementation
public func bw_desktop_offer_async(
    _ desktop: OpaquePointer?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let timeout = try timeout(timeout_ms)
        try endpoint.answer(HostCall(.offer, .integer(timeout)), completion, userData)
    }
}

@_cdecl("bw_desktop_scan") @implementation
public func bw_desktop_scan(
    _ desktop: OpaquePointer?, _ qr_text: UnsafePointer<CChar>?,
    _ device_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let text = try text(qr_text, "qr_text")
        let device = try endpoint.call(.scan, .string(text))
        if let device_json { try give(device, to: device_json) }
    }
}

@_cdecl("bw_desktop_code") @implementation
public func bw_desktop_code(
    _ desktop: OpaquePointer?, _ timeout_ms: Int32,
    _ code_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let code = try output(code_json, "code_json")
        let timeout = try timeout(timeout_ms)
        try give(try endpoint.call(.code, .integer(timeout)), to: code)
    }
}

@_cdecl("bw_desktop_code_async") @implementation
public func bw_desktop_code_async(
    _ desktop: OpaquePointer?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let timeout = try timeout(timeout_ms)
        try endpoint.answer(HostCall(.code, .integer(timeout)), completion, userData)
    }
}

@_cdecl("bw_desktop_pairing_cancel") @implementation
public func bw_desktop_pairing_cancel(_ desktop: OpaquePointer?, _ flow: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        try endpoint.start(.cancel, .text(try optionalText(flow, "flow")))
    }
}

@_cdecl("bw_desktop_confirm") @implementation
public func bw_desktop_confirm(
    _ desktop: OpaquePointer?, _ flow: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        _ = try endpoint.call(.confirm, .text(try optionalText(flow, "flow")), .bool(accept != 0))
    }
}

@_cdecl("bw_desktop_devices") @implementation
public func bw_desktop_devices(
    _ desktop: OpaquePointer?, _ devices_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let devices = try output(devices_json, "devices_json")
        try give(try endpoint.call(.devices), to: devices)
    }
}

@_cdecl("bw_desktop_tokens") @implementation
public func bw_desktop_tokens(
    _ desktop: OpaquePointer?, _ tokens_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let tokens = try output(tokens_json, "tokens_json")
        try give(try endpoint.call(.tokens), to: tokens)
    }
}

@_cdecl("bw_desktop_seal_push") @implementation
public func bw_desktop_seal_push(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ id: UnsafePointer<CChar>?,
    _ options_json: UnsafePointer<CChar>?, _ payload_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let payload = try output(payload_json, "payload_json")
        let (device, id) = (try text(device, "device"), try text(id, "id"))
        let options = try optionalText(options_json, "options_json")
        try give(try endpoint.call(.sealPush, .string(device), .string(id), .text(options)), to: payload)
    }
}

@_cdecl("bw_desktop_rename") @implementation
public func bw_desktop_rename(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let device = try text(device, "device")
        let name = try text(name, "name")
        _ = try endpoint.call(.rename, .string(device), .string(name))
    }
}

@_cdecl("bw_desktop_unpair") @implementation
public func bw_desktop_unpair(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let device = try text(device, "device")
        _ = try endpoint.call(.unpair, .string(device))
    }
}

@_cdecl("bw_desktop_clear") @implementation
public func bw_desktop_clear(_ desktop: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        _ = try endpoint.call(.unpairAll)
    }
}

@_cdecl("bw_desktop_notify") @implementation
public func bw_desktop_notify(
    _ desktop: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let params = try optionalText(params_json, "params_json")
        let result = try endpoint.call(.notify, .text(params), .integer(try timeout(timeout_ms)))
        if let result_json { try give(result, to: result_json) }
    }
}

@_cdecl("bw_desktop_notify_async") @implementation
public func bw_desktop_notify_async(
    _ desktop: OpaquePointer?, _ params_json: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let params = try optionalText(params_json, "params_json")
        let call = HostCall(.notify, .text(params), .integer(try timeout(timeout_ms)))
        try endpoint.answer(call, completion, userData)
    }
}

@_cdecl("bw_desktop_history") @implementation
public func bw_desktop_history(
    _ desktop: OpaquePointer?, _ params_json: UnsafePointer<CChar>?,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let result = try output(result_json, "result_json")
        let params = try optionalText(params_json, "params_json")
        try give(try endpoint.call(.history, .text(params)), to: result)
    }
}

@_cdecl("bw_desktop_invoke") @implementation
public func bw_desktop_invoke(
    _ desktop: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let result = try endpoint.answer(try ownCommand(method, params_json, timeout_ms)).json
        if let result_json { try give(result, to: result_json) }
    }
}

@_cdecl("bw_desktop_invoke_async") @implementation
public func bw_desktop_invoke_async(
    _ desktop: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ params_json: UnsafePointer<CChar>?,
    _ timeout_ms: Int32, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        try endpoint.answer(try ownCommand(method, params_json, timeout_ms), completion, userData)
    }
}

/// A method for the desktop's own user, or a request that only its program can make.
private func ownCommand(
    _ method: UnsafePointer<CChar>?, _ params: UnsafePointer<CChar>?, _ timeout_ms: Int32
) throws(HostError) -> HostCall {
    let name = try text(method, "method")
    let params = try optionalText(params, "params_json")
    return HostCall(.invoke, .string(name), .text(params), .integer(try timeout(timeout_ms)))
}
