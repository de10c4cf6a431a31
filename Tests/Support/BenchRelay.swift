#if DEBUG
    package import Signalling
    package import Transport

    /// The relay of one test, in memory, at a url that no other test uses.
    @EventLoop
    package final class BenchRelay {
        private static let relays = MemoryRelays()
        private static var count = 0

        package let memory: MemoryRelay

        package init() {
            Self.count += 1
            memory = Self.relays.relay("ws://bench-\(Self.count).test")
        }

        package var url: String { memory.url }

        package func stop() { memory.kill() }

        /// Takes connections again; links that it had lost connect at once.
        package func restart() { memory.revive() }

        /// The relay in memory of that url; `nil` = it is on a socket.
        package static func find(_ url: String) -> MemoryRelay? { isInMemory(url) ? relays.relay(url) : nil }

        /// Links to relays in memory, and to all others over WebSockets.
        package nonisolated static var links: RelayLinkMaker {
            RelayLinkMaker { (request, handler) throws(TransportError) in
                let maker = isInMemory(request.url) ? relays.maker : .webSockets(trusting: nil)
                return try maker.make(request, handler)
            }
        }

        private nonisolated static func isInMemory(_ url: String) -> Bool {
            url.hasPrefix("ws://bench-") && url.hasSuffix(".test")
        }
    }
#endif
