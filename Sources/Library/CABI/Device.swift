public import CBellwire
import Device
import Glibc
import Hosting
import Sharing

// bellwire.h, "Device" and "Events".

final class DeviceEndpoint: SharedEndpoint {
    typealias Shared = Device

    let role: SharedRole<Device>
    let queue: HostQueue

    init(_ role: SharedRole<Device>, _ queue: HostQueue) { (self.role, self.queue) = (role, queue) }
}

@_cdecl("bw_device_open") @implementation
public func bw_device_open(
    _ options_json: UnsafePointer<CChar>?, _ device: UnsafeMutablePointer<OpaquePointer?>?
) -> bw_status {
    entry { () throws(HostError) in
        let options = try optionalText(options_json, "options_json")
        try DeviceEndpoint.open(
            to: device, { (channel) throws(HostError) in try SharedDevice.open(options, channel) }, DeviceEndpoint.init)
    }
}

@_cdecl("bw_device_start") @implementation
public func bw_device_start(_ device: OpaquePointer?) -> bw_status {
    DeviceEndpoint.start(device) { .start }
}

@_cdecl("bw_device_stop") @implementation
public func bw_device_stop(_ device: OpaquePointer?) -> bw_status {
    DeviceEndpoint.start(device) { .stop }
}

@_cdecl("bw_device_suspend") @implementation
public func bw_device_suspend(_ device: OpaquePointer?) -> bw_status {
    DeviceEndpoint.start(device) { .suspend }
}

@_cdecl("bw_device_resume") @implementation
public func bw_device_resume(_ device: OpaquePointer?) -> bw_status {
    DeviceEndpoint.start(device) { .resume }
}

@_cdecl("bw_device_close") @implementation
public func bw_device_close(_ device: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.close(device) }
}

@_cdecl("bw_device_fd") @implementation
public func bw_device_fd(_ device: OpaquePointer?) -> Int32 { DeviceEndpoint.descriptor(device) }

@_cdecl("bw_device_dispatch") @implementation
public func bw_device_dispatch(_ device: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.dispatch(device) }
}

@_cdecl("bw_device_run") @implementation
public func bw_device_run(_ device: OpaquePointer?, _ timeout_ms: Int32) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.run(device, timeout_ms) }
}

@_cdecl("bw_device_quit") @implementation
public func bw_device_quit(_ device: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.find(device).queue.quit() }
}

@_cdecl("bw_device_state") @implementation
public func bw_device_state(
    _ device: OpaquePointer?, _ state_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, state_json, required: "state_json") { .state }
}

@_cdecl("bw_device_subscribe") @implementation
public func bw_device_subscribe(
    _ device: OpaquePointer?, _ event: UnsafePointer<CChar>?, _ callback: bw_event_callback?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?,
    _ subscription: UnsafeMutablePointer<bw_subscription>?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        try DeviceEndpoint.subscribe(device, event, callback, userData, subscription)
    }
}

@_cdecl("bw_device_unsubscribe") @implementation
public func bw_device_unsubscribe(_ device: OpaquePointer?, _ subscription: bw_subscription) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.unsubscribe(device, subscription) }
}

@_cdecl("bw_device_post") @implementation
public func bw_device_post(
    _ device: OpaquePointer?, _ topic: UnsafePointer<CChar>?, _ data_json: UnsafePointer<CChar>?
) -> bw_status {
    entry { () throws(HostError) in try DeviceEndpoint.post(device, topic, data_json) }
}
