import Hosting
import Synchronization

/// The open handles, by number.
///
/// A handle's value is its number here, never an address: a stale or foreign one is not found. Numbers are not reused.
enum HandleTable {
    private struct State {
        var endpoints: [UInt: any Endpoint] = [:]
        // Odd, and away from small integers and page boundaries: a stray value is unlikely to be a handle's.
        var next: UInt = 0x6277_0001
    }

    private static let state = Mutex(State())

    static func insert(_ endpoint: any Endpoint) -> OpaquePointer? {
        state.withLock { state in
            let number = state.next
            state.next &+= 2
            state.endpoints[number] = endpoint
            return OpaquePointer(bitPattern: number)
        }
    }

    static func find<Kind: Endpoint>(_ handle: OpaquePointer?, as kind: Kind.Type) throws(HostError) -> Kind {
        let found = state.withLock { $0.endpoints[UInt(bitPattern: handle)] }
        guard let endpoint = found as? Kind else { throw unknown(handle, found) }
        return endpoint
    }

    /// Removes the handle, so that lookups no longer find it.
    static func remove<Kind: Endpoint>(_ handle: OpaquePointer?, as kind: Kind.Type) throws(HostError) -> Kind {
        let found = state.withLock { state -> (any Endpoint)? in
            let number = UInt(bitPattern: handle)
            let found = state.endpoints[number]
            if found is Kind { state.endpoints[number] = nil }
            return found
        }
        guard let endpoint = found as? Kind else { throw unknown(handle, found) }
        return endpoint
    }

    private static func unknown(_ handle: OpaquePointer?, _ found: (any Endpoint)?) -> HostError {
        if handle == nil { return HostError(.handle, "the handle is NULL; open one first") }
        if found != nil { return HostError(.handle, "the handle is of the wrong kind") }
        return HostError(.handle, "the handle is closed or was never valid")
    }
}
