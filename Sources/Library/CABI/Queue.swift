public import CBellwire
import Device
import Glibc
import Hosting
import JSON
import Sharing

// bellwire.h, "Queue".

@_cdecl("bw_queue_list") @implementation
public func bw_queue_list(
    _ device: OpaquePointer?, _ commands_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    onDevice(device, commands_json, required: "commands_json") { .queue }
}

@_cdecl("bw_queue_remove") @implementation
public func bw_queue_remove(_ device: OpaquePointer?, _ id: UnsafePointer<CChar>?) -> bw_status {
    onDevice(device) { () throws(HostError) in .removeQueued(try text(id, "id")) }
}

@_cdecl("bw_queue_retry") @implementation
public func bw_queue_retry(_ device: OpaquePointer?, _ id: UnsafePointer<CChar>?) -> bw_status {
    onDevice(device) { () throws(HostError) in .retryQueued(try optionalText(id, "id")) }
}

@_cdecl("bw_queue_clear") @implementation
public func bw_queue_clear(_ device: OpaquePointer?, _ older_than_ms: Int64) -> bw_status {
    onDevice(device) { () throws(HostError) in try .clearQueue(checking: older_than_ms) }
}
