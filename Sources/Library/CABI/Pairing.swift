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
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let text = try text(qr_text, "qr_text")
        let timeout = try timeout(timeout_ms)
        let desktop = try endpoint.call(.scan, .string(text), .integer(timeout))
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
        try endpoint.answer(HostCall(.scan, .string(text), .integer(timeout)), completion, userData)
    }
}

@_cdecl("bw_pairing_cancel") @implementation
public func bw_pairing_cancel(_ device: OpaquePointer?, _ flow: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        try endpoint.start(.cancel, .text(try CABI.flow(flow, of: DevicePairingFlow.self)?.rawValue))
    }
}

@_cdecl("bw_pairing_confirm") @implementation
public func bw_pairing_confirm(
    _ device: OpaquePointer?, _ flow: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let flow = try CABI.flow(flow, of: DevicePairingFlow.self)
        _ = try endpoint.call(.confirm, .text(flow?.rawValue), .bool(accept != 0))
    }
}

@_cdecl("bw_pairing_list") @implementation
public func bw_pairing_list(
    _ device: OpaquePointer?, _ desktops_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktops = try output(desktops_json, "desktops_json")
        try give(try endpoint.call(.desktops), to: desktops)
    }
}

@_cdecl("bw_pairing_show") @implementation
public func bw_pairing_show(
    _ device: OpaquePointer?, _ timeout_ms: Int32, _ offer_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let offer = try output(offer_json, "offer_json")
        let timeout = try timeout(timeout_ms)
        try give(try endpoint.call(.show, .integer(timeout)), to: offer)
    }
}

@_cdecl("bw_pairing_show_async") @implementation
public func bw_pairing_show_async(
    _ device: OpaquePointer?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let timeout = try timeout(timeout_ms)
        try endpoint.answer(HostCall(.show, .integer(timeout)), completion, userData)
    }
}

@_cdecl("bw_pairing_type") @implementation
public func bw_pairing_type(
    _ device: OpaquePointer?, _ code: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ desktop_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let code = try text(code, "code")
        let timeout = try timeout(timeout_ms)
        let desktop = try endpoint.call(.type, .string(code), .integer(timeout))
        if let desktop_json { try give(desktop, to: desktop_json) }
    }
}

@_cdecl("bw_pairing_type_async") @implementation
public func bw_pairing_type_async(
    _ device: OpaquePointer?, _ code: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let code = try text(code, "code")
        let timeout = try timeout(timeout_ms)
        try endpoint.answer(HostCall(.type, .string(code), .integer(timeout)), completion, userData)
    }
}

@_cdecl("bw_pairing_rename") @implementation
public func bw_pairing_rename(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktop = try text(desktop, "desktop")
        let name = try peerName(name)
        _ = try endpoint.call(.rename, .string(desktop), .string(name))
    }
}

@_cdecl("bw_pairing_unpair") @implementation
public func bw_pairing_unpair(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktop = try text(desktop, "desktop")
        _ = try endpoint.call(.unpair, .string(desktop))
    }
}

@_cdecl("bw_pairing_clear") @implementation
public func bw_pairing_clear(_ device: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        _ = try endpoint.call(.unpairAll)
    }
}

/// The name that a user gives a peer.
func peerName(_ pointer: UnsafePointer<CChar>?) throws(HostError) -> String {
    let name = try text(pointer, "name")
    guard (1...256).contains(name.utf8.count) else {
        throw HostError(.invalid, "name must have 1 to 256 bytes", detail: ["field": "name"])
    }
    return name
}

/// The name of a flow; `nil` = all.
func flow<Flow: RawRepresentable & CaseIterable>(
    _ pointer: UnsafePointer<CChar>?, of type: Flow.Type
) throws(HostError) -> Flow? where Flow.RawValue == String {
    guard let name = try optionalText(pointer, "flow") else { return nil }
    guard let flow = Flow(rawValue: name) else {
        let names = Flow.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw HostError(.invalid, "flow must be one of \(names), or NULL", detail: ["field": "flow"])
    }
    return flow
}
