public import CBellwire
import Device
import Glibc
import Hosting
import JSON
import Sharing

// bellwire.h, "Pairing".

@_cdecl("bw_pairing_scan") @implementation
public func bw_pairing_scan(
    _ device: OpaquePointer?, _ qr_text: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ desktop_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, desktop_json) { () throws(HostError) in
        .scan(try text(qr_text, "qr_text"), try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_pairing_scan_async") @implementation
public func bw_pairing_scan_async(
    _ device: OpaquePointer?, _ qr_text: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDevice(device, completion, user_data, destroy) { () throws(HostError) in
        .scan(try text(qr_text, "qr_text"), try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_pairing_cancel") @implementation
public func bw_pairing_cancel(_ device: OpaquePointer?, _ flow: UnsafePointer<CChar>?) -> bw_status {
    DeviceEndpoint.start(device) { () throws(HostError) in
        .cancel(try .named(try optionalText(flow, "flow"), "flow"))
    }
}

@_cdecl("bw_pairing_confirm") @implementation
public func bw_pairing_confirm(
    _ device: OpaquePointer?, _ flow: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .confirm(try .named(try optionalText(flow, "flow"), "flow"), accept: accept != 0)
    }
}

@_cdecl("bw_pairing_list") @implementation
public func bw_pairing_list(
    _ device: OpaquePointer?, _ desktops_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, desktops_json, required: "desktops_json") { .desktops }
}

@_cdecl("bw_pairing_show") @implementation
public func bw_pairing_show(
    _ device: OpaquePointer?, _ timeout_ms: Int32, _ offer_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, offer_json, required: "offer_json") { () throws(HostError) in
        .show(try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_pairing_show_async") @implementation
public func bw_pairing_show_async(
    _ device: OpaquePointer?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDevice(device, completion, user_data, destroy) { () throws(HostError) in
        .show(try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_pairing_type") @implementation
public func bw_pairing_type(
    _ device: OpaquePointer?, _ code: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ desktop_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, desktop_json) { () throws(HostError) in
        .type(try text(code, "code"), try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_pairing_type_async") @implementation
public func bw_pairing_type_async(
    _ device: OpaquePointer?, _ code: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    onDevice(device, completion, user_data, destroy) { () throws(HostError) in
        .type(try text(code, "code"), try CallTimeout(Int64(timeout_ms)))
    }
}

@_cdecl("bw_pairing_rename") @implementation
public func bw_pairing_rename(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .rename(try text(desktop, "desktop"), to: try text(name, "name"))
    }
}

@_cdecl("bw_pairing_unpair") @implementation
public func bw_pairing_unpair(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    onDevice(device) { () throws(HostError) in .unpair(try text(desktop, "desktop")) }
}

@_cdecl("bw_pairing_clear") @implementation
public func bw_pairing_clear(_ device: OpaquePointer?) -> bw_status {
    onDevice(device) { .unpairAll }
}
