public import CBellwire
import Desktop
import Device
import Hosting
import JSON
import Sharing

// Keys that are revoked, and keys that are replaced (WireRekey, "Overview").

@_cdecl("bw_device_revoke") @implementation
public func bw_device_revoke(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        _ = try DeviceEndpoint.find(device).call(.revoke, .string(try text(desktop, "desktop")))
    }
}

@_cdecl("bw_device_readmit") @implementation
public func bw_device_readmit(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        _ = try DeviceEndpoint.find(device).call(.readmit, .string(try text(desktop, "desktop")))
    }
}

@_cdecl("bw_device_revoked") @implementation
public func bw_device_revoked(
    _ device: OpaquePointer?, _ keys_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let output = try output(keys_json, "keys_json")
        try give(try endpoint.call(.revoked), to: output)
    }
}

@_cdecl("bw_device_rekey") @implementation
public func bw_device_rekey(
    _ device: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let status = try DeviceEndpoint.find(device).call(.rekey)
        if let status_json { try give(status, to: status_json) }
    }
}

@_cdecl("bw_device_rekey_cancel") @implementation
public func bw_device_rekey_cancel(_ device: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in _ = try DeviceEndpoint.find(device).call(.cancelRekey) }
}

@_cdecl("bw_device_rekey_status") @implementation
public func bw_device_rekey_status(
    _ device: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let output = try output(status_json, "status_json")
        try give(try endpoint.call(.rekeyState), to: output)
    }
}

@_cdecl("bw_device_rekey_confirm") @implementation
public func bw_device_rekey_confirm(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ new_id: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktop = try text(desktop, "desktop")
        let new = try text(new_id, "new_id")
        _ = try endpoint.call(.confirmRekey, .string(desktop), .string(new), .bool(accept != 0))
    }
}

@_cdecl("bw_desktop_revoke") @implementation
public func bw_desktop_revoke(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        _ = try DesktopEndpoint.find(desktop).call(.revoke, .string(try text(device, "device")))
    }
}

@_cdecl("bw_desktop_readmit") @implementation
public func bw_desktop_readmit(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        _ = try DesktopEndpoint.find(desktop).call(.readmit, .string(try text(device, "device")))
    }
}

@_cdecl("bw_desktop_revoked") @implementation
public func bw_desktop_revoked(
    _ desktop: OpaquePointer?, _ keys_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let output = try output(keys_json, "keys_json")
        try give(try endpoint.call(.revoked), to: output)
    }
}

@_cdecl("bw_desktop_rekey") @implementation
public func bw_desktop_rekey(
    _ desktop: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let status = try DesktopEndpoint.find(desktop).call(.rekey)
        if let status_json { try give(status, to: status_json) }
    }
}

@_cdecl("bw_desktop_rekey_cancel") @implementation
public func bw_desktop_rekey_cancel(_ desktop: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in _ = try DesktopEndpoint.find(desktop).call(.cancelRekey) }
}

@_cdecl("bw_desktop_rekey_status") @implementation
public func bw_desktop_rekey_status(
    _ desktop: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let output = try output(status_json, "status_json")
        try give(try endpoint.call(.rekeyState), to: output)
    }
}

@_cdecl("bw_desktop_rekey_confirm") @implementation
public func bw_desktop_rekey_confirm(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ new_id: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let device = try text(device, "device")
        let new = try text(new_id, "new_id")
        _ = try endpoint.call(.confirmRekey, .string(device), .string(new), .bool(accept != 0))
    }
}
