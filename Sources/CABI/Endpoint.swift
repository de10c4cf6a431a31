import CBellwire
import Hosting

/// What a handle stands for: a role, and the queue to its host.
protocol Endpoint: AnyObject, Sendable {
    associatedtype Kind: Role
    var role: Kind { get }
    var queue: HostQueue { get }
}

final class DeviceEndpoint: Endpoint { // filled below
    let role: Device
    let queue: HostQueue
    init(role: Device, queue: HostQueue) { (self.role, self.queue) = (role, queue) }
}
