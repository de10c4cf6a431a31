public import CBellwire
import Desktop
import Glibc
import Hosting
import JSON

// bellwire.h, "Desktop": what its devices may do.

@_cdecl("bw_desktop_permissions") @implementation
public func bw_desktop_permissions(
    _ desktop: OpaquePointer?, _ permissions_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let permissions = try output(permissions_json, "permissions_json")
        try give(try endpoint.call(.permissions), to: permissions)
    }
}

@_cdecl("bw_desktop_allow") @implementation
public func bw_desktop_allow(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ skill: UnsafePointer<CChar>?,
    _ allowance: UnsafePointer<CChar>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let device = try text(device, "device")
        let skill = try text(skill, "skill")
        let allowance = try text(allowance, "allowance")
        _ = try endpoint.call(.allow, .string(device), .string(skill), .string(allowance))
    }
}

@_cdecl("bw_desktop_skill_enable") @implementation
public func bw_desktop_skill_enable(
    _ desktop: OpaquePointer?, _ skill: UnsafePointer<CChar>?, _ enabled: Int32
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let skill = try text(skill, "skill")
        _ = try endpoint.call(.enableSkill, .string(skill), .bool(enabled != 0))
    }
}
