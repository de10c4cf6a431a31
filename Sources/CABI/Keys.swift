public import CBellwire
import Desktop
import Device
import Hosting
import JSON
import Peering
import Sharing

// Keys that are revoked, and keys that are replaced (WireRekey, "Overview").

extension Endpoint where Kind: KeyOwner {
    /// - Parameter parameter: what the header calls `peer`.
    fileprivate static func revoke(
        _ handle: OpaquePointer?, _ peer: UnsafePointer<CChar>?, _ parameter: String
    ) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            let peer = try text(peer, parameter)
            _ = try endpoint.queue.call { endpoint.role.revoke(peer, then: $0) }
        }
    }

    fileprivate static func readmit(
        _ handle: OpaquePointer?, _ peer: UnsafePointer<CChar>?, _ parameter: String
    ) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            let peer = try text(peer, parameter)
            _ = try endpoint.queue.call { endpoint.role.readmit(peer, then: $0) }
        }
    }

    fileprivate static func revoked(_ handle: OpaquePointer?, _ keys_json: TextResult?) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            let output = try output(keys_json, "keys_json")
            try give(try endpoint.queue.call { endpoint.role.revoked(then: $0) }, to: output)
        }
    }

    fileprivate static func rekey(_ handle: OpaquePointer?, _ status_json: TextResult?) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            let next = try endpoint.role.nextKey()
            let status = try endpoint.queue.call { endpoint.role.rekey(to: next, then: $0) }
            if let status_json { try give(status, to: status_json) }
        }
    }

    fileprivate static func cancelRekey(_ handle: OpaquePointer?) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            _ = try endpoint.queue.call { endpoint.role.cancelRekey(then: $0) }
            try endpoint.role.dropNextKey()
        }
    }

    fileprivate static func rekeyStatus(_ handle: OpaquePointer?, _ status_json: TextResult?) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            let output = try output(status_json, "status_json")
            try give(try endpoint.queue.call { endpoint.role.rekeyState(then: $0) }, to: output)
        }
    }

    /// - Parameter parameter: what the header calls `peer`.
    fileprivate static func confirmRekey(
        _ handle: OpaquePointer?, _ peer: UnsafePointer<CChar>?, _ parameter: String,
        _ new_id: UnsafePointer<CChar>?, _ accept: Int32
    ) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            let peer = try text(peer, parameter)
            let new = try text(new_id, "new_id")
            _ = try endpoint.queue.call { endpoint.role.confirmRekey(peer, to: new, accept != 0, then: $0) }
        }
    }
}

// A device's calls may go to another program.

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
    DesktopEndpoint.revoke(desktop, device, "device")
}

@_cdecl("bw_desktop_readmit") @implementation
public func bw_desktop_readmit(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    DesktopEndpoint.readmit(desktop, device, "device")
}

@_cdecl("bw_desktop_revoked") @implementation
public func bw_desktop_revoked(
    _ desktop: OpaquePointer?, _ keys_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status { DesktopEndpoint.revoked(desktop, keys_json) }

@_cdecl("bw_desktop_rekey") @implementation
public func bw_desktop_rekey(
    _ desktop: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status { DesktopEndpoint.rekey(desktop, status_json) }

@_cdecl("bw_desktop_rekey_cancel") @implementation
public func bw_desktop_rekey_cancel(_ desktop: OpaquePointer?) -> bw_status { DesktopEndpoint.cancelRekey(desktop) }

@_cdecl("bw_desktop_rekey_status") @implementation
public func bw_desktop_rekey_status(
    _ desktop: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status { DesktopEndpoint.rekeyStatus(desktop, status_json) }

@_cdecl("bw_desktop_rekey_confirm") @implementation
public func bw_desktop_rekey_confirm(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ new_id: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status { DesktopEndpoint.confirmRekey(desktop, device, "device", new_id, accept) }
