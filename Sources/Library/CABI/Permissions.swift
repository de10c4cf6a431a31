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
    onDesktop(desktop, permissions_json, required: "permissions_json") { .permissions }
}

@_cdecl("bw_desktop_allow") @implementation
public func bw_desktop_allow(
    _ desktop: OpaquePointer?, _ device: UnsafePointer<CChar>?, _ skill: UnsafePointer<CChar>?,
    _ allowance: UnsafePointer<CChar>?
) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in
        let (device, skill) = (try text(device, "device"), try text(skill, "skill"))
        return try .allow(checking: try text(allowance, "allowance"), skill: skill, to: device)
    }
}

@_cdecl("bw_desktop_skill_enable") @implementation
public func bw_desktop_skill_enable(
    _ desktop: OpaquePointer?, _ skill: UnsafePointer<CChar>?, _ enabled: Int32
) -> bw_status {
    onDesktop(desktop) { () throws(HostError) in
        .enableSkill(try text(skill, "skill"), enabled != 0)
    }
}
