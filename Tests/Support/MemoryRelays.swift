#if DEBUG
    package import Signalling
    package import Transport

    /// Relays in memory, by their urls: what a role reaches in a test.
    ///
    /// ```swift
    /// let relays = MemoryRelays()
    /// let home = await relays.relay("ws://home.test")
    /// let device = try Device.open(options, channel, links: relays.maker)
    /// await home.kill()
    /// ```
    ///
    /// A url at which no relay was made refuses connections.
    @EventLoop
    package final class MemoryRelays {
        private var relays: [String: MemoryRelay] = [:]

        package nonisolated init() {}

        /// The relay of that url, which begins when it is asked for first.
        package func relay(_ url: String) -> MemoryRelay {
            if let relay = relays[url] { return relay }
            let relay = MemoryRelay(url)
            relays[url] = relay
            return relay
        }

        /// Makes links to these relays. As to a real one, an address that is none throws `invalid_url`.
        package nonisolated var maker: RelayLinkMaker {
            RelayLinkMaker { [self] (request, handler) throws(TransportError) in
                MemoryLink(request, at: try WebSocketURL(request.url), in: self, handler)
            }
        }

        func find(_ url: String) -> MemoryRelay? { relays[url] }
    }
#endif
