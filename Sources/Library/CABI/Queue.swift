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
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let commands = try output(commands_json, "commands_json")
        try give(try endpoint.call(.queue), to: commands)
    }
}

@_cdecl("bw_queue_remove") @implementation
public func bw_queue_remove(_ device: OpaquePointer?, _ id: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let id = try text(id, "id")
        _ = try endpoint.call(.removeQueued, .string(id))
    }
}

@_cdecl("bw_queue_retry") @implementation
public func bw_queue_retry(_ device: OpaquePointer?, _ id: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let id = try optionalText(id, "id")
        _ = try endpoint.call(.retryQueued, .text(id))
    }
}

@_cdecl("bw_queue_clear") @implementation
public func bw_queue_clear(_ device: OpaquePointer?, _ older_than_ms: Int64) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        guard older_than_ms >= 0 else {
            throw HostError(.invalid, "older_than_ms must not be negative", detail: ["field": "older_than_ms"])
        }
        _ = try endpoint.call(.clearQueue, .integer(older_than_ms))
    }
}
