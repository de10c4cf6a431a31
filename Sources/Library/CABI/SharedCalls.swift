import CBellwire
import Desktop
import Device
import Glibc
import Hosting
import JSON
import Sharing

// How the functions of a device or desktop reach it.

typealias TextResult = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// The object behind the handle of a role that programs can share.
protocol SharedEndpoint: Endpoint where Kind == SharedRole<Shared> {
    associatedtype Shared: SharableRole
}

extension SharedEndpoint {
    /// Executes a call, waits for its result and gives it to the caller.
    ///
    /// - Parameters:
    ///   - result: `nil` = the caller doesn't want it.
    ///   - required: the name of a result parameter that must not be NULL.
    static func call(
        _ handle: OpaquePointer?, _ result: TextResult?, required: String?,
        _ call: () throws(HostError) -> Shared.Call
    ) -> bw_status {
        statusEntry { () throws(HostError) in
            let endpoint = try find(handle)
            if let required { _ = try output(result, required) }
            let call = try call()
            let reply = try endpoint.queue.call { endpoint.role.perform(call, then: $0) }
            if let result { try give(reply.value.serialized(), to: result) }
            return reply.status
        }
    }

    /// Executes a call whose result goes to a completion. Wrong parameters are errors at once.
    static func call(
        _ handle: OpaquePointer?, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?,
        _ destroy: bw_destroy?, _ call: () throws(HostError) -> Shared.Call
    ) -> bw_status {
        let userData = UserData(user_data, destroy)
        return entry { () throws(HostError) in
            let endpoint = try find(handle)
            let call = try call()
            let completion = try CABI.completion(completion, userData)
            try endpoint.queue.call(completion) { endpoint.role.perform(call, then: $0) }
        }
    }

    /// Starts a call without waiting for its end.
    static func start(_ handle: OpaquePointer?, _ call: () throws(HostError) -> Shared.Call) -> bw_status {
        entry { () throws(HostError) in
            let endpoint = try find(handle)
            endpoint.role.perform(try call()) { _ in }
        }
    }
}

/// Calls a device and waits.
func onDevice(
    _ device: OpaquePointer?, _ result: TextResult? = nil, required: String? = nil,
    _ call: () throws(HostError) -> DeviceCall
) -> bw_status { DeviceEndpoint.call(device, result, required: required, call) }

/// Calls a device; the result goes to a completion.
func onDevice(
    _ device: OpaquePointer?, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?,
    _ destroy: bw_destroy?, _ call: () throws(HostError) -> DeviceCall
) -> bw_status { DeviceEndpoint.call(device, completion, user_data, destroy, call) }

/// Calls a desktop and waits.
func onDesktop(
    _ desktop: OpaquePointer?, _ result: TextResult? = nil, required: String? = nil,
    _ call: () throws(HostError) -> DesktopCall
) -> bw_status { DesktopEndpoint.call(desktop, result, required: required, call) }

/// Calls a desktop; the result goes to a completion.
func onDesktop(
    _ desktop: OpaquePointer?, _ completion: bw_completion?, _ user_data: UnsafeMutableRawPointer?,
    _ destroy: bw_destroy?, _ call: () throws(HostError) -> DesktopCall
) -> bw_status { DesktopEndpoint.call(desktop, completion, user_data, destroy, call) }

private func call(
    _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ request: () throws(HostError) -> DeviceCall.Request
) throws(HostError) -> DeviceCall {
    let desktop = try optionalText(desktop, "desktop")
    let timeout = try CallTimeout(Int64(timeout_ms))
    return .ask(try request(), of: desktop, timeout)
}

/// Asks a desktop and waits for its answer.
func ask(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ result_json: TextResult?,
    _ request: () throws(HostError) -> DeviceCall.Request
) -> bw_status {
    onDevice(device, result_json) { () throws(HostError) in try call(desktop, timeout_ms, request) }
}

/// Asks a desktop; its answer goes to a completion.
func ask(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?,
    _ request: () throws(HostError) -> DeviceCall.Request
) -> bw_status {
    onDevice(device, completion, user_data, destroy) { () throws(HostError) in
        try call(desktop, timeout_ms, request)
    }
}
