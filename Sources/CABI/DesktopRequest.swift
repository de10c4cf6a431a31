import CBellwire
import Device
import Glibc
import Hosting

/// What a device asks of one of its desktops, its parameters checked.
enum DesktopRequest {
    case command(Device.Command)
    case change(Device.InboxRequest)
    case refresh

    fileprivate func send(
        by device: Device, to desktop: String?, timeout: Int64, _ end: @escaping @Sendable (Outcome) -> Void
    ) {
        switch self {
        case .command(let command):
            device.invoke(command, desktop: desktop, timeout: timeout) { end($0.map { Answer($0) }) }
        case .change(let request):
            device.change(request, desktop: desktop, timeout: timeout) { end($0.map { Answer($0) }) }
        case .refresh: device.refresh(desktop, timeout: timeout) { end($0.map { Answer($0) }) }
        }
    }
}

/// Asks a desktop and waits for its answer.
func ask(
    _ device: OpaquePointer?, _ desktop: UnsafePointer<CChar>?, _ timeout_ms: Int32,
    _ result_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ request: () throws(HostError) -> DesktopRequest
) -> bw_status {
    statusEntry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let desktop = try optionalText(desktop, "desktop")
        let timeout = try timeout(timeout_ms)
        let request = try request()
        let answer = try endpoint.queue.answer { end in
            request.send(by: endpoint.role, to: desktop, timeout: timeout, end)
        }
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
        let desktop = try optionalText(desktop, "desktop")
        let timeout = try timeout(timeout_ms)
        let request = try request()
        let completion = try CABI.completion(completion, userData)
        try endpoint.queue.answer(completion) { end in
            request.send(by: endpoint.role, to: desktop, timeout: timeout, end)
        }
    }
}
