#if DEBUG
    package import Signalling
    package import Transport

    /// The relays that roles can reach in a test, by URL.
    ///
    /// ```swift
    /// let relays = MemoryRelays()
    /// let home = await relays.relay("ws://home.test")
    /// let device = try Device.open(options, channel, links: relays.maker)
    /// await home.kill()
    /// ```
    ///
    /// A URL without a relay refuses connections.
    @EventLoop
    package final class MemoryRelays {
        private var relays: [String: MemoryRelay] = [:]

        package nonisolated init() {}

        /// The relay at that URL, created on first use.
        package func relay(_ url: String) -> MemoryRelay {
            if let relay = relays[url] { return relay }
            let relay = MemoryRelay(url)
            relays[url] = relay
            return relay
        }

        /// Makes links to these relays. An invalid URL throws `invalid_url`.
        package nonisolated var maker: RelayLinkMaker {
            RelayLinkMaker { [self] (request, handler) throws(TransportError) in
                MemoryLink(request, at: try WebSocketURL(request.url), in: self, handler)
            }
        }

        func find(_ url: String) -> MemoryRelay? { relays[url] }
    }
#endif
