public import CBellwire
import Relay
import Glibc
import Hosting

// bellwire.h, "Relay".

final class RelayEndpoint: Endpoint {
    let role: RelayRole
    let queue: HostQueue

    init(_ role: RelayRole, _ queue: HostQueue) { (self.role, self.queue) = (role, queue) }
}

@_cdecl("bw_relay_open") @implementation
public func bw_relay_open(
    _ options_json: UnsafePointer<CChar>?, _ relay: UnsafeMutablePointer<OpaquePointer?>?
) -> bw_status {
    entry { () throws(HostError) in
        let options = try optionalText(options_json, "options_json")
        try RelayEndpoint.open(
            to: relay, { (channel) throws(HostError) in try RelayRole.open(options, channel) }, RelayEndpoint.init)
    }
}

@_cdecl("bw_relay_start") @implementation
public func bw_relay_start(_ relay: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try RelayEndpoint.find(relay)
        _ = try endpoint.queue.call { endpoint.role.start(then: $0) }
    }
}

@_cdecl("bw_relay_stop") @implementation
public func bw_relay_stop(_ relay: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try RelayEndpoint.find(relay).role.stop() }
}

@_cdecl("bw_relay_close") @implementation
public func bw_relay_close(_ relay: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try RelayEndpoint.close(relay) }
}

@_cdecl("bw_relay_fd") @implementation
public func bw_relay_fd(_ relay: OpaquePointer?) -> Int32 { RelayEndpoint.descriptor(relay) }

@_cdecl("bw_relay_dispatch") @implementation
public func bw_relay_dispatch(_ relay: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try RelayEndpoint.dispatch(relay) }
}

@_cdecl("bw_relay_run") @implementation
public func bw_relay_run(_ relay: OpaquePointer?, _ timeout_ms: Int32) -> bw_status {
    entry { () throws(HostError) in try RelayEndpoint.run(relay, timeout_ms) }
}

@_cdecl("bw_relay_quit") @implementation
public func bw_relay_quit(_ relay: OpaquePointer?) -> bw_status {
    entry { () throws(HostError) in try RelayEndpoint.find(relay).queue.quit() }
}

@_cdecl("bw_relay_state") @implementation
public func bw_relay_state(
    _ relay: OpaquePointer?, _ state_json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let endpoint = try RelayEndpoint.find(relay)
        let state = try output(state_json, "state_json")
        try give(try endpoint.queue.call { endpoint.role.state(then: $0) }, to: state)
    }
}

@_cdecl("bw_relay_subscribe") @implementation
public func bw_relay_subscribe(
    _ relay: OpaquePointer?, _ event: UnsafePointer<CChar>?, _ callback: bw_event_callback?,
    _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?,
    _ subscription: UnsafeMutablePointer<bw_subscription>?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        try RelayEndpoint.subscribe(relay, event, callback, userData, subscription)
    }
}

@_cdecl("bw_relay_unsubscribe") @implementation
public func bw_relay_unsubscribe(_ relay: OpaquePointer?, _ subscription: bw_subscription) -> bw_status {
    entry { () throws(HostError) in try RelayEndpoint.unsubscribe(relay, subscription) }
}
