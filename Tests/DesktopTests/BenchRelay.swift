import Signalling
import TestSupport
import Transport

/// The relay of one test, in memory.
@EventLoop
final class BenchRelay {
    private static let relays = MemoryRelays()
    private static var count = 0

    let memory: MemoryRelay

    init() {
        Self.count += 1
        memory = Self.relays.relay("ws://bench-\(Self.count).test")
    }

    var url: String { memory.url }

    func stop() { memory.kill() }

    /// The relay in memory of that url; `nil` = it is on a socket.
    static func find(_ url: String) -> MemoryRelay? { isInMemory(url) ? relays.relay(url) : nil }

    /// Links to relays in memory, and to all others over WebSockets.
    nonisolated static var links: RelayLinkMaker {
        RelayLinkMaker { (request, handler) throws(TransportError) in
            let maker = isInMemory(request.url) ? relays.maker : .webSockets(trusting: nil)
            return try maker.make(request, handler)
        }
    }

    private nonisolated static func isInMemory(_ url: String) -> Bool {
        url.hasPrefix("ws://bench-") && url.hasSuffix(".test")
    }
}
