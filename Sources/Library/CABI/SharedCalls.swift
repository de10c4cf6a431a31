import CBellwire
import Desktop
import Device
import Glibc
import Hosting
import JSON
import Sharing

// How the functions of a device or desktop reach it: as text, since another program may have it.

/// The object behind the handle of a role that programs can share.
protocol SharedEndpoint: Endpoint where Kind == SharedRole {}

extension SharedEndpoint {
    /// Carries out a call and waits for its result.
    func answer(_ call: HostCall) throws(HostError) -> Answer {
        let start = try role.prepare(call)
        return try queue.answer { end in start { end($0.map { Answer($0) }) } }
    }

    /// Carries out a call whose result goes to a completion. Wrong parameters are errors at once.
    func answer(
        _ call: HostCall, _ completion: bw_completion?, _ userData: UserData
    ) throws(HostError) {
        let start = try role.prepare(call)
        let completion = try CABI.completion(completion, userData)
        try queue.answer(completion) { end in start { end($0.map { Answer($0) }) } }
    }

    /// Starts a call without a result.
    func start(_ call: HostCall) throws(HostError) { try role.prepare(call)({ _ in }) }
}

extension DeviceEndpoint {
    /// Carries out a call and waits for its result.
    func call(_ call: DeviceCall, _ arguments: JSONValue...) throws(HostError) -> String {
        try answer(HostCall(call.rawValue, arguments)).json
    }

    /// Starts a call without a result.
    func start(_ call: DeviceCall, _ arguments: JSONValue...) throws(HostError) {
        try start(HostCall(call.rawValue, arguments))
    }
}

extension DesktopEndpoint {
    /// Carries out a call and waits for its result.
    func call(_ call: DesktopCall, _ arguments: JSONValue...) throws(HostError) -> String {
        try answer(HostCall(call.rawValue, arguments)).json
    }

    /// Starts a call without a result.
    func start(_ call: DesktopCall, _ arguments: JSONValue...) throws(HostError) {
        try start(HostCall(call.rawValue, arguments))
    }
}

/// A call from a device to one of its desktops: the call, and its arguments after the desktop and the timeout.
typealias DesktopRequest = (call: DeviceCall, arguments: [JSONValue])

private func desktopCall(
    _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ request: () throws(HostError) -> DesktopRequest
) throws(HostError) -> HostCall {
    let desktop = try optionalText(desktop, "desktop")
    let timeout = try timeout(timeout_ms)
    let request = try request()
    return HostCall(request.call.rawValue, [.text(desktop), .integer(timeout)] + request.arguments)
}

/// Asks a desktop and waits for its answer.
func ask(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ request: () throws(HostError) -> DesktopRequest
) -> bw_status {
    statusEntry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let answer = try endpoint.answer(try desktopCall(desktop, timeout_ms, request))
        if let result_json { try give(answer.json, to: result_json) }
        return answer.status
    }
}

/// Asks a desktop; its answer goes to a completion.
func ask(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32, _ completion: bw_completion?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?,
    _ request: () throws(HostError) -> DesktopRequest
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        try endpoint.answer(try desktopCall(desktop, timeout_ms, request), completion, userData)
    }
}
