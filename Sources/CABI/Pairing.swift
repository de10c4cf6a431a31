public import CBellwire
import Device
import Glibc
import Hosting

// bellwire.h, "Pairing".

@_cdecl("bw_pairing_scan") @implementation
public func bw_pairing_scan(
    _ device: OpaquePointer?, _ qr_text: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ desktop_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let text = try text(qr_text, "qr_text")
        let timeout = try timeout(timeout_ms)
        let desktop = try endpoint.queue.call { endpoint.role.scan(text, timeout: timeout, then: $0) }
        if let desktop_json { try give(desktop, to: desktop_json) }
    }
}

@_cdecl("bw_pairing_scan_async") @implementation
public func bw_pairing_scan_async(
    _ device: OpaquePointer?, _ qr_text: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let text = try text(qr_text, "qr_text")
        let timeout = try timeout(timeout_ms)
        let completion = try CABI.completion(completion, userData)
        try endpoint.queue.call(completion) { endpoint.role.scan(text, timeout: timeout, then: $0) }
    }
}

@_cdecl("bw_pairing_cancel") @implementation
public func bw_pairing_cancel(_ device: OpaquePointer?, _ flow: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.find(device).role.cancelScan() }
}

@_cdecl("bw_pairing_list") @implementation
public func bw_pairing_list(
    _ device: OpaquePointer?, _ desktops_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktops = try output(desktops_json, "desktops_json")
        try give(try endpoint.queue.call { endpoint.role.desktops(then: $0) }, to: desktops)
    }
}
