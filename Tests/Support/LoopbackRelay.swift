import JSON
import Relay
package import Transport

/// A relay on a socket of loopback.
@EventLoop
package final class LoopbackRelay {
    private let relay: Relay

    /// On that port, or on any.
    package init(port: UInt16 = 0) throws {
        relay = try Relay.start(RelayOptions(json: ["listen": .string("127.0.0.1:\(port)")]))
    }

    package var port: UInt16 { relay.port }
    package var url: String { "ws://127.0.0.1:\(port)" }

    package func stop() async {
        await withCheckedContinuation { continuation in relay.stop { continuation.resume() } }
    }
}
