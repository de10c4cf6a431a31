public import CBellwire
import Desktop
import Device
import Hosting
import Peering
import Sharing

// Keys that are revoked, and keys that are replaced (WireRekey, "Overview").

@_cdecl("bw_device_revoke") @implementation
public func bw_device_revoke(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    onDevice(device) { () throws(HostError) in .key(.revoke(try text(desktop, "desktop"))) }
}

@_cdecl("bw_device_readmit") @implementation
public func bw_device_readmit(_ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?) -> bw_status {
    onDevice(device) { () throws(HostError) in .key(.readmit(try text(desktop, "desktop"))) }
}

@_cdecl("bw_device_revoked") @implementation
public func bw_device_revoked(
    _ device: OpaquePointer?, _ keys_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, keys_json, required: "keys_json") { .key(.revoked) }
}

@_cdecl("bw_device_rekey") @implementation
public func bw_device_rekey(
    _ device: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, status_json) { .key(.rekey) }
}

@_cdecl("bw_device_rekey_cancel") @implementation
public func bw_device_rekey_cancel(_ device: OpaquePointer?) -> bw_status {
    onDevice(device) { .key(.cancelRekey) }
}

@_cdecl("bw_device_rekey_status") @implementation
public func bw_device_rekey_status(
    _ device: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, status_json, required: "status_json") { .key(.rekeyState) }
}

@_cdecl("bw_device_rekey_confirm") @implementation
public func bw_device_rekey_confirm(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ new_id: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    onDevice(device) { () throws(HostError) in
        .key(.confirmRekey(try text(desktop, "desktop"), to: try text(new_id, "new_id"), accept: accept != 0))
    }
}

@_cdecl("bw_desktop_revoke") @implementation
public func bw_desktop_revoke(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in .key(.revoke(try text(device, "device"))) }
}

@_cdecl("bw_desktop_readmit") @implementation
public func bw_desktop_readmit(_ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in .key(.readmit(try text(device, "device"))) }
}

@_cdecl("bw_desktop_revoked") @implementation
public func bw_desktop_revoked(
    _ desktop: OpaquePointer?, _ keys_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, keys_json, required: "keys_json") { .key(.revoked) }
}

@_cdecl("bw_desktop_rekey") @implementation
public func bw_desktop_rekey(
    _ desktop: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, status_json) { .key(.rekey) }
}

@_cdecl("bw_desktop_rekey_cancel") @implementation
public func bw_desktop_rekey_cancel(_ desktop: OpaquePointer?) -> bw_status {
    onDesktop(desktop) { .key(.cancelRekey) }
}

@_cdecl("bw_desktop_rekey_status") @implementation
public func bw_desktop_rekey_status(
    _ desktop: OpaquePointer?, _ status_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDesktop(desktop, status_json, required: "status_json") { .key(.rekeyState) }
}

@_cdecl("bw_desktop_rekey_confirm") @implementation
public func bw_desktop_rekey_confirm(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ new_id: UnsafePointer<CChar>?, _ accept: Int32
) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in
        .key(.confirmRekey(try text(device, "device"), to: try text(new_id, "new_id"), accept: accept != 0))
    }
}
