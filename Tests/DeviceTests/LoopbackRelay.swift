import JSON
import Relay
import Transport

/// A relay on loopback.
@EventLoop
final class LoopbackRelay {
    private let relay: Relay

    /// On that port, or on any.
    init(port: UInt16 = 0) throws {
        relay = try Relay.start(RelayOptions(json: ["listen": .string("127.0.0.1:\(port)")]))
    }

    var port: UInt16 { relay.port }
    var url: String { "ws://127.0.0.1:\(port)" }

    func stop() async {
        await withCheckedContinuation { continuation in relay.stop { continuation.resume() } }
    }
}
