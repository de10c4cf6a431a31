public import CBellwire
import Desktop
import Device
import Hosting

// Keys that are revoked, and keys that are replaced (WireRekey, "Overview").

@_cdecl("bw_device_revoke") @implementation
public func bw_device_revoke(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktop = try text(desktop, "desktop")
        _ = try endpoint.queue.call { endpoint.role.revoke(desktop, then: $0) }
    }
}

@_cdecl("bw_device_readmit") @implementation
public func bw_device_readmit(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktop = try text(desktop, "desktop")
        _ = try endpoint.queue.call { endpoint.role.readmit(desktop, then: $0) }
    }
}

@_cdecl("bw_device_revoked") @implementation
public func bw_device_revoked(
    _ device: OpaquePointer?, _ keys_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let output = try output(keys_json, "keys_json")
        try give(try endpoint.queue.call { endpoint.role.revoked(then: $0) }, to: output)
    }
}

@_cdecl("bw_desktop_revoke") @implementation
public func bw_desktop_revoke(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let device = try text(device, "device")
        _ = try endpoint.queue.call { endpoint.role.revoke(device, then: $0) }
    }
}

@_cdecl("bw_desktop_readmit") @implementation
public func bw_desktop_readmit(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let device = try text(device, "device")
        _ = try endpoint.queue.call { endpoint.role.readmit(device, then: $0) }
    }
}

@_cdecl("bw_desktop_revoked") @implementation
public func bw_desktop_revoked(
    _ desktop: OpaquePointer?, _ keys_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let output = try output(keys_json, "keys_json")
        try give(try endpoint.queue.call { endpoint.role.revoked(then: $0) }, to: output)
    }
}
