public import CBellwire
import Device
import Hosting
import JSON
import Sharing
import Wire

// bellwire.h, "Push services".

@_cdecl("bw_device_token") @implementation
public func bw_device_token(
    _ device: OpaquePointer?, _ service: UnsafePointer<CChar>?, _ token: UnsafePointer<UInt8>?, _ length: Int
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        let service = try pushService(try text(service, "service"))
        guard let token else { throw HostError(.invalid, "token is NULL", detail: ["field": "token"]) }
        // A length beyond Int is negative here.
        guard (1...PushToken.maximumBytes).contains(length),
            let token = PushToken(UnsafeRawBufferPointer(start: token, count: length))
        else {
            throw HostError(
                .invalid, "a token must have 1 to \(PushToken.maximumBytes) bytes", detail: ["field": "length"])
        }
        _ = try endpoint.call(.token, .string(service.text), .string(token.hex))
    }
}

@_cdecl("bw_device_clear_token") @implementation
public func bw_device_clear_token(_ device: OpaquePointer?, _ service: UnsafePointer<CChar>?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try DeviceEndpoint.find(device)
        var named: PushService?
        if let text = try optionalText(service, "service") { named = try pushService(text) }
        _ = try endpoint.call(.clearToken, .text(named?.text))
    }
}

private func pushService(_ text: String) throws(HostError) -> PushService {
    guard let service = PushService(text) else {
        throw HostError(
            .invalid,
            "a service must have 1 to \(PushService.maximumBytes) letters, digits, dots, dashes and underscores",
            detail: ["field": "service"])
    }
    return service
}
