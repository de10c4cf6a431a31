public import CBellwire
import Desktop
import Glibc
import History
import Hosting
import JSON
import Notifications

// bellwire.h, "Desktop": what its devices may do.

@_cdecl("bw_desktop_permissions") @implementation
public func bw_desktop_permissions(
    _ desktop: OpaquePointer?, _ permissions_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let permissions = try output(permissions_json, "permissions_json")
        try give(try endpoint.queue.call { endpoint.role.permissions(then: $0) }, to: permissions)
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
        guard let allowance = Permissions.Allowance(name: try text(allowance, "allowance")) else {
            throw HostError(
                .invalid, "allowance must be \"nothing\", \"safe\", \"mutating\" or \"privileged\"",
                detail: ["field": "allowance"])
        }
        _ = try endpoint.queue.call { endpoint.role.allow(allowance, skill, to: device, then: $0) }
    }
}

@_cdecl("bw_desktop_skill_enable") @implementation
public func bw_desktop_skill_enable(
    _ desktop: OpaquePointer?, _ skill: UnsafePointer<CChar>?, _ enabled: Int32
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DesktopEndpoint.find(desktop)
        let skill = try text(skill, "skill")
        _ = try endpoint.queue.call { endpoint.role.enable(skill, enabled != 0, then: $0) }
    }
}
