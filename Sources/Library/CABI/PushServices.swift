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
    onDevice(device) { () throws(HostError) in
        let service = try PushService(parameter: try text(service, "service"))
        guard let token else { throw HostError(.invalid, "token is NULL", detail: ["field": "token"]) }
        // A length beyond Int is negative here.
        guard (1...PushToken.maximumBytes).contains(length),
            let token = PushToken(UnsafeRawBufferPointer(start: token, count: length))
        else {
            throw HostError(
                .invalid, "a token must have 1 to \(PushToken.maximumBytes) bytes", detail: ["field": "length"])
        }
        return .give(service, token)
    }
}

@_cdecl("bw_device_clear_token") @implementation
public func bw_device_clear_token(_ device: OpaquePointer?, _ service: UnsafePointer<CChar>?) -> bw_status {
    onDevice(device) { () throws(HostError) in
        guard let service = try optionalText(service, "service") else { return .takeBackToken(nil) }
        return .takeBackToken(try PushService(parameter: service))
    }
}
